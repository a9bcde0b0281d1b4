use super::*;
use crate::grammar::tree::{Comparison, Gap, Place, Words};

fn at(noun: &str) -> Place {
    Place::Common(common(Determiner::Definite, noun, Number::Singular))
}

#[test]
fn the_finite_verb_stays_second_when_time_comes_first() {
    says(
        act_on(the("man"), "kaufen", a("lamp")).in_past().opened_by("yesterday"),
        "Yesterday the man bought a lamp. / Gestern hat der Mann eine Lampe gekauft.",
    );
    says(
        act(SHE, "aufstehen").opened_by("in the morning"),
        "In the morning she gets up. / Am Morgen steht sie auf.",
    );
}

#[test]
fn german_says_time_before_manner_before_place() {
    let clause = act(the("farmer"), "arbeiten").at("today");
    says(
        Clause {
            manner: Some(adverb("slowly")),
            place: Some(at("garden")),
            ..clause
        },
        "The farmer works slowly in the garden today. / Der Bauer arbeitet heute langsam im Garten.",
    );
}

#[test]
fn definite_objects_come_early_and_indefinite_ones_late() {
    let in_park = |clause: Clause| Clause {
        place: Some(at("park")),
        ..clause.in_past()
    };
    says(
        in_park(act_on(HE, "finden", the("key"))),
        "He found the key in the park. / Er hat den Schlüssel im Park gefunden.",
    );
    says(
        in_park(act_on(HE, "finden", a("key"))),
        "He found a key in the park. / Er hat im Park einen Schlüssel gefunden.",
    );
}

#[test]
fn the_dative_precedes_the_accusative_unless_that_is_a_pronoun() {
    says(
        give(the("mother"), "geben", the("child"), the("apple")).in_past(),
        "The mother gave the child the apple. / Die Mutter hat dem Kind den Apfel gegeben.",
    );
    says(
        give(the("mother"), "geben", the("child"), IT_FEMININE).at("today"),
        "The mother gives it to the child today. / Die Mutter gibt sie heute dem Kind.",
    );
    says(
        give(the("mother"), "anbieten", HE, a("pear")),
        "The mother offers him a pear. / Die Mutter bietet ihm eine Birne an.",
    );
}

#[test]
fn nicht_follows_definite_objects_and_precedes_the_rest() {
    says(
        act_on(the("cat"), "sehen", the("mouse")).negated(),
        "The cat does not see the mouse. / Die Katze sieht die Maus nicht.",
    );
    says(
        act_on(the("cat"), "warten", the("mouse")).in_past().negated(),
        "The cat did not wait for the mouse. / Die Katze hat nicht auf die Maus gewartet.",
    );
    says(
        be(the("exam"), "long").negated(),
        "The exam is not long. / Die Prüfung ist nicht lang.",
    );
}

#[test]
fn not_a_is_kein() {
    let none = |noun, number| NounPhrase::Common(common(Determiner::Negative, noun, number));
    says(
        act_on(the("king"), "haben", none("dog", Number::Singular)).negated(),
        "The king does not have a dog. / Der König hat keinen Hund.",
    );
    says(
        act_on(I, "schreiben", none("letter", Number::Plural))
            .in_past()
            .negated(),
        "I did not write any letters. / Ich habe keine Briefe geschrieben.",
    );
}

#[test]
fn never_and_often_stand_before_the_english_verb_and_after_the_german_one() {
    let often = |clause: Clause| Clause {
        frequency: Some(adverb("often")),
        ..clause
    };
    says(
        often(act_on(the("cook"), "helfen", the("waiter"))),
        "The cook often helps the waiter. / Der Koch hilft oft dem Kellner.",
    );
    says(often(be(HE, "sad")), "He is often sad. / Er ist oft traurig.");
}

#[test]
fn a_thing_after_a_preposition_is_da() {
    says(act_on(SHE, "warten", HE), "She waits for him. / Sie wartet auf ihn.");
    says(
        act_on(SHE, "warten", IT_FEMININE),
        "She waits for it. / Sie wartet darauf.",
    );
    says(
        act_on(SHE, "träumen", IT_FEMININE),
        "She dreams of it. / Sie träumt davon.",
    );
}

#[test]
fn places_contract_with_their_article() {
    let go = |place| {
        let verb = verb("gehen");
        let predicate = Predicate::Verbal {
            verb,
            indirect: None,
            object: None,
            goal: Some(place),
        };
        Clause::plain(HE, predicate, Form::Plain(Tense::Past))
    };
    says(
        go(at("school")),
        "He went to the school. / Er ist in die Schule gegangen.",
    );
    says(go(at("cinema")), "He went to the cinema. / Er ist ins Kino gegangen.");
    says(
        go(at("station")),
        "He went to the station. / Er ist zum Bahnhof gegangen.",
    );
    says(go(at("bridge")), "He went to the bridge. / Er ist zur Brücke gegangen.");
    says(go(Place::Home), "He went home. / Er ist nach Hause gegangen.");
    let town = Place::Town("Falburg".to_owned());
    says(go(town.clone()), "He went to Falburg. / Er ist nach Falburg gegangen.");
    let works = |place| Clause {
        place: Some(place),
        ..act(HE, "arbeiten")
    };
    says(
        works(at("market")),
        "He works at the market. / Er arbeitet auf dem Markt.",
    );
    says(works(town), "He works in Falburg. / Er arbeitet in Falburg.");
}

#[test]
fn clock_and_calendar_are_said_with_number_words() {
    const WEEKS: &Words = &Words {
        english: "weeks",
        german: "Wochen",
    };
    let at = |when, clause: Clause| Clause {
        time: Some(Time {
            when,
            position: TimePosition::Inside,
        }),
        ..clause
    };
    says(
        at(When::Clock(5), act(the("bus"), "abfahren")),
        "The bus departs at five o'clock. / Der Bus fährt um fünf Uhr ab.",
    );
    says(
        at(When::Ago(3, WEEKS), act_on(I, "sehen", HE).in_past()),
        "I saw him three weeks ago. / Ich habe ihn vor drei Wochen gesehen.",
    );
}

#[test]
fn what_is_compared_follows_even_the_last_verb() {
    let compared = |comparison| {
        let Predicate::Adjectival { adjective, .. } = be(HE, "old").predicate else {
            unreachable!()
        };
        let predicate = Predicate::Adjectival {
            adjective,
            comparison: Some(comparison),
        };
        Clause::plain(the("castle"), predicate, Form::Plain(Tense::Future))
    };
    says(
        compared(Comparison::More(the("church"))),
        "The castle will be older than the church. / Das Schloss wird älter sein als die Kirche.",
    );
    says(
        compared(Comparison::Equal(the("church"))),
        "The castle will be as old as the church. / Das Schloss wird so alt sein wie die Kirche.",
    );
}

#[test]
fn relative_pronouns_take_gender_from_the_noun_and_case_from_the_clause() {
    let relative = |noun: &str, clause: fn(NounPhrase) -> Clause| {
        let plain = common(Determiner::Definite, noun, Number::Singular);
        let relative = Some(Box::new(clause(NounPhrase::Gap(plain.gap()))));
        NounPhrase::Common(Common { relative, ..plain })
    };
    says(
        be(relative("man", |gap| act(gap, "schlafen")), "old"),
        "The man who sleeps is old. / Der Mann, der schläft, ist alt.",
    );
    says(
        be(relative("man", |gap| act_on(SHE, "lieben", gap)), "old"),
        "The man whom she loves is old. / Der Mann, den sie liebt, ist alt.",
    );
    says(
        be(relative("woman", |gap| act_on(HE, "helfen", gap).in_past()), "old"),
        "The woman whom he helped is old. / Die Frau, der er geholfen hat, ist alt.",
    );
    says(
        act_on(
            I,
            "lesen",
            relative("letter", |gap| act_on(YOU, "warten", gap).in_past()),
        )
        .in_future(),
        "I will read the letter that you waited for. / Ich werde den Brief lesen, auf den du gewartet hast.",
    );
    says(
        be(relative("child", |gap| act_on(gap, "gefallen", the("dress"))), "happy"),
        "The child who likes the dress is happy. / Das Kind, dem das Kleid gefällt, ist glücklich.",
    );
}

#[test]
fn questions_put_the_verb_first_or_after_the_question_word() {
    let ask = |clause| Sentence::Question(clause, None);
    check(
        &ask(act_on(the("dog"), "sehen", the("cat")).in_past()),
        "Did the dog see the cat? / Hat der Hund die Katze gesehen?",
    );
    check(
        &ask(act(the("bus"), "ankommen")),
        "Does the bus arrive? / Kommt der Bus an?",
    );
    check(
        &ask(act_on(NounPhrase::Gap(Gap::Who), "einladen", the("guest"))),
        "Who invites the guest? / Wer lädt den Gast ein?",
    );
    check(
        &ask(act_on(the("guest"), "helfen", NounPhrase::Gap(Gap::Who))),
        "Whom does the guest help? / Wem hilft der Gast?",
    );
    check(
        &ask(act_on(YOU, "sprechen", NounPhrase::Gap(Gap::What)).in_past()),
        "What did you talk about? / Worüber hast du gesprochen?",
    );
    check(
        &ask(act_on(NounPhrase::Gap(Gap::Who), "gefallen", the("car"))),
        "Who likes the car? / Wem gefällt das Auto?",
    );
}
