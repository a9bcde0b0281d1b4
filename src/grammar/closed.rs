//! The closed word classes that sentences are tied together with.

use super::tree::{
    AdverbialQuestion, CommaBefore, Coordinator, CoordinatorPlace, EnglishModal, Modal, Subordinator, Unit,
};

pub const COORDINATORS: &[Coordinator] = &[
    coordinator("and", "und", CoordinatorPlace::BetweenClauses, CommaBefore::No),
    coordinator("or", "oder", CoordinatorPlace::BetweenClauses, CommaBefore::No),
    coordinator("but", "aber", CoordinatorPlace::BetweenClauses, CommaBefore::Yes),
    coordinator("so", "deshalb", CoordinatorPlace::BeforeTheVerb, CommaBefore::Yes),
    coordinator("yet", "trotzdem", CoordinatorPlace::BeforeTheVerb, CommaBefore::Yes),
];

pub const SUBORDINATORS: &[Subordinator] = &[
    subordinator("because", "weil"),
    subordinator("although", "obwohl"),
    subordinator("before", "bevor"),
    subordinator("while", "während"),
    subordinator("until", "bis"),
    subordinator("as soon as", "sobald"),
];

pub const IF: Subordinator = subordinator("if", "wenn");
/// "When" in the past, once.
pub const WHEN: Subordinator = subordinator("when", "als");
pub const THAT: Subordinator = subordinator("that", "dass");
pub const WHETHER: Subordinator = subordinator("whether", "ob");

pub const ADVERBIAL_QUESTIONS: &[AdverbialQuestion] = &[
    AdverbialQuestion {
        english: "where",
        german: "wo",
    },
    AdverbialQuestion {
        english: "when",
        german: "wann",
    },
    AdverbialQuestion {
        english: "why",
        german: "warum",
    },
    AdverbialQuestion {
        english: "how often",
        german: "wie oft",
    },
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

pub const UNITS: &[Unit] = &[
    Unit {
        english: "days",
        german_dative: "Tagen",
    },
    Unit {
        english: "weeks",
        german_dative: "Wochen",
    },
    Unit {
        english: "months",
        german_dative: "Monaten",
    },
    Unit {
        english: "years",
        german_dative: "Jahren",
    },
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

const fn subordinator(english: &'static str, german: &'static str) -> Subordinator {
    Subordinator { english, german }
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
