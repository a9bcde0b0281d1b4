//! The closed word classes that sentences are tied together with.

use super::tree::{CommaBefore, Coordinator, CoordinatorPlace, EnglishModal, Modal, Words};

pub const COORDINATORS: &[Coordinator] = &[
    coordinator("and", "und", CoordinatorPlace::BetweenClauses, CommaBefore::No),
    coordinator("or", "oder", CoordinatorPlace::BetweenClauses, CommaBefore::No),
    coordinator("but", "aber", CoordinatorPlace::BetweenClauses, CommaBefore::Yes),
    coordinator("so", "deshalb", CoordinatorPlace::BeforeTheVerb, CommaBefore::Yes),
    coordinator("yet", "trotzdem", CoordinatorPlace::BeforeTheVerb, CommaBefore::Yes),
];

pub const SUBORDINATORS: &[Words] = &[
    words("because", "weil"),
    words("although", "obwohl"),
    words("before", "bevor"),
    words("while", "während"),
    words("until", "bis"),
    words("as soon as", "sobald"),
];

pub const IF: Words = words("if", "wenn");
/// "When" in the past, once.
pub const WHEN: Words = words("when", "als");
pub const THAT: Words = words("that", "dass");
pub const WHETHER: Words = words("whether", "ob");

pub const ADVERBIAL_QUESTIONS: &[Words] = &[
    words("where", "wo"),
    words("when", "wann"),
    words("why", "warum"),
    words("how often", "wie oft"),
];

pub const MODALS: &[Modal] = &[
    modal(
        EnglishModal::Auxiliary {
            present: "can",
            past: "could",
        },
        "können",
        "kann",
        "konnte",
    ),
    modal(
        EnglishModal::Full {
            base: "have to",
            third: "has to",
            past: "had to",
        },
        "müssen",
        "muss",
        "musste",
    ),
    modal(
        EnglishModal::Full {
            base: "want to",
            third: "wants to",
            past: "wanted to",
        },
        "wollen",
        "will",
        "wollte",
    ),
    modal(EnglishModal::WithBe("allowed to"), "dürfen", "darf", "durfte"),
    modal(EnglishModal::WithBe("supposed to"), "sollen", "soll", "sollte"),
];

/// Units of time; the German word is the dative plural.
pub const UNITS: &[Words] = &[
    words("days", "Tagen"),
    words("weeks", "Wochen"),
    words("months", "Monaten"),
    words("years", "Jahren"),
];

const fn coordinator(
    english: &'static str,
    german: &'static str,
    german_place: CoordinatorPlace,
    comma: CommaBefore,
) -> Coordinator {
    Coordinator {
        english,
        german,
        german_place,
        comma,
    }
}

const fn words(english: &'static str, german: &'static str) -> Words {
    Words { english, german }
}

const fn modal(
    english: EnglishModal,
    infinitive: &'static str,
    singular: &'static str,
    preterite: &'static str,
) -> Modal {
    Modal {
        english,
        infinitive,
        singular,
        preterite,
    }
}
