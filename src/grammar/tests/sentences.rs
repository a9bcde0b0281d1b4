use super::*;
use crate::grammar::closed::{ADVERBIAL_QUESTIONS, COORDINATORS, SUBORDINATORS, THAT, WHEN, WHETHER};
use crate::grammar::tree::{ClauseOrder, Coordinator, InfinitiveLink, Place, Words};

fn subordinated(main: Clause, subordinator: &'static Words, subordinate: Clause) -> Sentence {
    Sentence::Subordinated {
        main,
        subordinator,
        subordinate,
        order: ClauseOrder::MainFirst,
    }
}

fn because() -> &'static Words {
    SUBORDINATORS
        .iter()
        .find(|subordinator| subordinator.german == "weil")
        .unwrap()
}

fn joined(first: Clause, german: &str, second: Clause) -> Sentence {
    let coordinator: &'static Coordinator = COORDINATORS.iter().find(|entry| entry.german == german).unwrap();
    Sentence::Joined(first, coordinator, second)
}

#[test]
fn subordinate_clauses_end_with_their_verb() {
    check(
        &subordinated(
            act(SHE, "lachen"),
            because(),
            act_on(the("aunt"), "anrufen", the("boy")),
        ),
        "She laughs because the aunt calls the boy. / Sie lacht, weil die Tante den Jungen anruft.",
    );
    check(
        &subordinated(
            act(the("judge"), "wissen"),
            &THAT,
            act_on(THEY, "stehlen", the("car")).in_past(),
        ),
        "The judge knows that they stole the car. / Der Richter weiß, dass sie das Auto gestohlen haben.",
    );
    check(
        &subordinated(act(I, "fragen"), &WHETHER, be(the("cake"), "fresh")),
        "I ask whether the cake is fresh. / Ich frage, ob der Kuchen frisch ist.",
    );
}

#[test]
fn a_reflexive_precedes_a_noun_and_follows_a_pronoun() {
    check(
        &subordinated(
            act(HE, "lachen"),
            because(),
            act_on(the("woman"), "freuen", the("trip")),
        ),
        "He laughs because the woman looks forward to the trip. / Er lacht, weil sich die Frau auf die Reise freut.",
    );
    check(
        &subordinated(act(HE, "lachen"), because(), act_on(SHE, "freuen", the("trip"))),
        "He laughs because she looks forward to the trip. / Er lacht, weil sie sich auf die Reise freut.",
    );
}

#[test]
fn a_subordinate_clause_in_front_inverts_the_main_clause() {
    let sentence = Sentence::Subordinated {
        main: act_on(the("guest"), "zumachen", the("window")).in_past(),
        subordinator: &WHEN,
        subordinate: act(the("baker"), "einschlafen").in_past(),
        order: ClauseOrder::SubordinateFirst,
    };
    check(
        &sentence,
        "When the baker fell asleep, the guest closed the window. / Als der Bäcker eingeschlafen ist, hat der Gast das Fenster zugemacht.",
    );
}

#[test]
fn the_gender_of_it_is_that_of_the_noun_it_stands_for() {
    let lamp = the("lamp");
    let it = NounPhrase::Pronoun(lamp.pronoun().unwrap());
    check(
        &joined(be(lamp, "new"), "aber", act_on(I, "verkaufen", it)),
        "The lamp is new, but I sell it. / Die Lampe ist neu, aber ich verkaufe sie.",
    );
    let table = the("table");
    let it = NounPhrase::Pronoun(table.pronoun().unwrap());
    check(
        &joined(be(table, "old"), "und", be(it, "cheap")),
        "The table is old and it is cheap. / Der Tisch ist alt und er ist billig.",
    );
    assert_eq!(the("child").pronoun(), None);
}

#[test]
fn deshalb_takes_the_place_before_the_verb() {
    check(
        &joined(be(the_many("horse"), "tired"), "deshalb", act(THEY, "schlafen")),
        "The horses are tired, so they sleep. / Die Pferde sind müde, deshalb schlafen sie.",
    );
}

#[test]
fn infinitives_take_zu_even_inside_the_verb() {
    let decide = |infinitive| {
        let verb = verb_of(Frame::Infinitive, infinitive);
        let predicate = Predicate::Verbal {
            verb,
            indirect: None,
            object: None,
            goal: None,
        };
        Clause::plain(SHE, predicate, Form::Plain(Tense::Past))
    };
    let with = |main, link, goal| Sentence::Infinitive(main, link, goal);
    check(
        &with(
            decide("versuchen"),
            InfinitiveLink::Governed,
            act_on(SHE, "lesen", the("contract")),
        ),
        "She tried to read the contract. / Sie hat versucht, den Vertrag zu lesen.",
    );
    check(
        &with(
            decide("vergessen"),
            InfinitiveLink::Governed,
            act_on(SHE, "ausschalten", the("radio")),
        ),
        "She forgot to turn off the radio. / Sie hat vergessen, das Radio auszuschalten.",
    );
    check(
        &with(
            decide("anfangen"),
            InfinitiveLink::Governed,
            act_on(SHE, "erinnern", the("festival")),
        ),
        "She began to remember the festival. / Sie hat angefangen, sich an das Fest zu erinnern.",
    );
    check(
        &with(act(I, "aufstehen"), InfinitiveLink::Purpose, act_on(I, "anrufen", HE)),
        "I get up in order to call him. / Ich stehe auf, um ihn anzurufen.",
    );
}

#[test]
fn there_is_becomes_es_gibt_with_the_place_in_front() {
    let place = Place::Common(common(Determiner::Definite, "forest", Number::Singular));
    let wolf = NounPhrase::Common(described(
        "big",
        common(Determiner::Indefinite, "wolf", Number::Singular),
    ));
    check(
        &Sentence::Existential {
            place,
            tense: Tense::Past,
            what: wolf,
        },
        "In the forest there was a big wolf. / Im Wald gab es einen großen Wolf.",
    );
}

#[test]
fn adverbial_questions_invert_both_languages() {
    let question = ADVERBIAL_QUESTIONS
        .iter()
        .find(|question| question.german == "warum")
        .unwrap();
    check(
        &Sentence::Question(
            act_on(the("farmer"), "verkaufen", the("truck")).in_past(),
            Some(question),
        ),
        "Why did the farmer sell the truck? / Warum hat der Bauer den Lastwagen verkauft?",
    );
}

#[test]
fn two_people_make_a_plural() {
    let both = NounPhrase::Both(Box::new(named("Tarika", Gender::Feminine)), Box::new(the("boy")));
    says(
        act(both, "tanzen"),
        "Tarika and the boy dance. / Tarika und der Junge tanzen.",
    );
}
