use super::*;
use crate::grammar::closed::MODALS;
use crate::grammar::features::{Agreement, Person};
use crate::grammar::tree::ModalTense;

/// Forms of ich, du, er, wir as the Duden conjugates them.
#[test]
fn present_forms_are_those_of_the_dictionary() {
    for (infinitive, forms) in [
        ("sehen", ["sehe", "siehst", "sieht", "sehen"]),
        ("lesen", ["lese", "liest", "liest", "lesen"]),
        ("essen", ["esse", "isst", "isst", "essen"]),
        ("arbeiten", ["arbeite", "arbeitest", "arbeitet", "arbeiten"]),
        ("öffnen", ["öffne", "öffnest", "öffnet", "öffnen"]),
        ("tanzen", ["tanze", "tanzt", "tanzt", "tanzen"]),
        ("reisen", ["reise", "reist", "reist", "reisen"]),
        ("lächeln", ["lächle", "lächelst", "lächelt", "lächeln"]),
        ("wandern", ["wandere", "wanderst", "wandert", "wandern"]),
        ("fahren", ["fahre", "fährst", "fährt", "fahren"]),
        ("einladen", ["lade", "lädst", "lädt", "laden"]),
        ("haben", ["habe", "hast", "hat", "haben"]),
        ("wissen", ["weiß", "weißt", "weiß", "wissen"]),
        ("beschließen", ["beschließe", "beschließt", "beschließt", "beschließen"]),
        ("finden", ["finde", "findest", "findet", "finden"]),
        ("geben", ["gebe", "gibst", "gibt", "geben"]),
    ] {
        let singular = |person| Agreement {
            person,
            number: Number::Singular,
        };
        let persons = [Person::First, Person::Second, Person::Third].map(singular);
        let agreements = persons.into_iter().chain([Agreement::third(Number::Plural)]);
        let made: Vec<_> = agreements
            .map(|agreement| verb(infinitive).german_present(agreement))
            .collect();
        assert_eq!(made, forms, "{infinitive}");
    }
}

#[test]
fn the_past_is_a_perfect_with_haben_or_sein() {
    says(
        act_on(the("woman"), "lesen", the("book")).in_future(),
        "The woman will read the book. / Die Frau wird das Buch lesen.",
    );
    says(
        act_on(I, "sehen", the("dog")).in_past(),
        "I saw the dog. / Ich habe den Hund gesehen.",
    );
    says(act(YOU, "schwimmen").in_past(), "You swam. / Du bist geschwommen.");
    says(
        act_on(the_many("child"), "folgen", the("cat")).in_past(),
        "The children followed the cat. / Die Kinder sind der Katze gefolgt.",
    );
}

#[test]
fn some_verbs_prefer_the_preterite() {
    says(
        act_on(YOU, "haben", a("dog")).in_past(),
        "You had a dog. / Du hattest einen Hund.",
    );
    says(be(THEY, "tired").in_past(), "They were tired. / Sie waren müde.");
}

#[test]
fn separable_prefixes_go_to_the_end() {
    says(
        act_on(the("boy"), "anrufen", the("aunt")),
        "The boy calls the aunt. / Der Junge ruft die Tante an.",
    );
    says(
        act_on(the("boy"), "anrufen", the("aunt")).in_past(),
        "The boy called the aunt. / Der Junge hat die Tante angerufen.",
    );
    says(act(the("train"), "ankommen"), "The train arrives. / Der Zug kommt an.");
}

#[test]
fn english_particles_let_pronouns_pass() {
    says(act_on(I, "abholen", HE), "I pick him up. / Ich hole ihn ab.");
    says(
        act_on(I, "abholen", the("guest")),
        "I pick up the guest. / Ich hole den Gast ab.",
    );
    says(act_on(SHE, "suchen", THEY), "She looks for them. / Sie sucht sie.");
}

#[test]
fn modal_verbs_send_the_infinitive_to_the_end() {
    let modal = |infinitive: &str| MODALS.iter().find(|modal| modal.infinitive == infinitive).unwrap();
    let with = |clause: Clause, infinitive, tense| Clause {
        form: Form::Modal(modal(infinitive), tense),
        ..clause
    };
    let clause = || act_on(the("judge"), "einladen", the("queen"));
    says(
        with(clause(), "können", ModalTense::Present).negated(),
        "The judge cannot invite the queen. / Der Richter kann die Königin nicht einladen.",
    );
    says(
        with(clause(), "müssen", ModalTense::Present).negated(),
        "The judge does not have to invite the queen. / Der Richter muss die Königin nicht einladen.",
    );
    says(
        with(clause(), "wollen", ModalTense::Past),
        "The judge wanted to invite the queen. / Der Richter wollte die Königin einladen.",
    );
    says(
        with(act(YOU, "singen"), "dürfen", ModalTense::Past).negated(),
        "You were not allowed to sing. / Du durftest nicht singen.",
    );
    says(
        with(act(YOU, "singen"), "müssen", ModalTense::Present),
        "You have to sing. / Du musst singen.",
    );
}

#[test]
fn likes_to_is_gern() {
    let fond = |clause: Clause| Clause {
        form: Form::Fond,
        ..clause
    };
    says(
        fond(act_on(the("girl"), "lesen", a("poem"))),
        "The girl likes to read a poem. / Das Mädchen liest gern ein Gedicht.",
    );
    says(
        fond(act_on(the("girl"), "lesen", the("poem"))),
        "The girl likes to read the poem. / Das Mädchen liest das Gedicht gern.",
    );
}

#[test]
fn reflexive_pronouns_agree_with_the_subject() {
    says(
        act_on(I, "freuen", the("party")),
        "I look forward to the party. / Ich freue mich auf die Feier.",
    );
    says(
        act_on(the("soldier"), "vorbereiten", the("exam")),
        "The soldier prepares for the exam. / Der Soldat bereitet sich auf die Prüfung vor.",
    );
}

#[test]
fn what_one_likes_is_the_german_subject() {
    says(
        act_on(the("child"), "gefallen", the_many("picture")),
        "The child likes the pictures. / Die Bilder gefallen dem Kind.",
    );
    says(
        act_on(I, "gefallen", the("car")).negated(),
        "I do not like the car. / Das Auto gefällt mir nicht.",
    );
    says(
        act_on(I, "gefallen", the("dress")).in_past().opened_by("yesterday"),
        "Yesterday I liked the dress. / Gestern hat mir das Kleid gefallen.",
    );
}
