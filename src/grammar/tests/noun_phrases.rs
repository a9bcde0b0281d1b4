use super::*;
use crate::grammar::features::Case;
use crate::grammar::numbers;
use crate::grammar::tree::Possessor;

/// Declined by hand after the tables of the Duden grammar: nominative, accusative, dative; genitive follows.
fn german(phrase: &NounPhrase) -> String {
    let cases = [Case::Nominative, Case::Accusative, Case::Dative, Case::Genitive].map(|case| {
        crate::grammar::german::noun_phrase(phrase, case)
            .finish(' ')
            .trim_end()
            .to_lowercase()
    });
    cases.join(", ")
}

#[track_caller]
fn declines(common: Common, forms: &str) {
    assert_eq!(german(&NounPhrase::Common(common)), forms);
}

#[test]
fn adjectives_are_weak_after_the_article() {
    let phrase = |noun, number| described("old", common(Determiner::Definite, noun, number));
    declines(
        phrase("man", Number::Singular),
        "der alte mann, den alten mann, dem alten mann, des alten mannes",
    );
    declines(
        phrase("woman", Number::Singular),
        "die alte frau, die alte frau, der alten frau, der alten frau",
    );
    declines(
        phrase("child", Number::Singular),
        "das alte kind, das alte kind, dem alten kind, des alten kindes",
    );
    declines(
        phrase("man", Number::Plural),
        "die alten männer, die alten männer, den alten männern, der alten männer",
    );
}

#[test]
fn adjectives_are_mixed_after_ein_kein_and_possessives() {
    let phrase = |determiner, noun, number| described("small", common(determiner, noun, number));
    declines(
        phrase(Determiner::Indefinite, "dog", Number::Singular),
        "ein kleiner hund, einen kleinen hund, einem kleinen hund, eines kleinen hundes",
    );
    declines(
        phrase(Determiner::Negative, "lamp", Number::Singular),
        "keine kleine lampe, keine kleine lampe, keiner kleinen lampe, keiner kleinen lampe",
    );
    declines(
        phrase(Determiner::Possessive(Possessor::Our), "house", Number::Singular),
        "unser kleines haus, unser kleines haus, unserem kleinen haus, unseres kleinen hauses",
    );
    declines(
        phrase(Determiner::Possessive(Possessor::His), "house", Number::Plural),
        "seine kleinen häuser, seine kleinen häuser, seinen kleinen häusern, seiner kleinen häuser",
    );
}

#[test]
fn adjectives_are_strong_where_nothing_else_shows_the_case() {
    let phrase = |determiner| described("new", common(determiner, "car", Number::Plural));
    declines(
        phrase(Determiner::Number(23)),
        "dreiundzwanzig neue autos, dreiundzwanzig neue autos, dreiundzwanzig neuen autos, dreiundzwanzig neuer autos",
    );
    declines(
        phrase(Determiner::Many),
        "viele neue autos, viele neue autos, vielen neuen autos, vieler neuer autos",
    );
    let owned = Determiner::Genitive(Box::new(named("Norina", Gender::Feminine)));
    let dog = NounPhrase::Common(described("old", common(owned, "dog", Number::Singular)));
    assert!(german(&dog).starts_with("norinas alter hund, norinas alten hund, norinas altem hund, "));
}

#[test]
fn dieser_jeder_and_alle_decline_like_the_article() {
    let every = |number| described("poor", common(Determiner::Every, "student", number));
    declines(
        every(Number::Singular),
        "jeder arme student, jeden armen studenten, jedem armen studenten, jedes armen studenten",
    );
    declines(
        every(Number::Plural),
        "alle armen studenten, alle armen studenten, allen armen studenten, aller armen studenten",
    );
    declines(
        common(Determiner::This, "window", Number::Singular),
        "dieses fenster, dieses fenster, diesem fenster, dieses fensters",
    );
}

#[test]
fn weak_masculines_take_their_ending_in_every_case_but_one() {
    for (noun, forms) in [
        ("boy", "der junge, den jungen, dem jungen, des jungen"),
        ("neighbor", "der nachbar, den nachbarn, dem nachbarn, des nachbarn"),
        ("bear", "der bär, den bären, dem bären, des bären"),
    ] {
        declines(common(Determiner::Definite, noun, Number::Singular), forms);
    }
}

#[test]
fn irregular_stems_appear_before_endings_only() {
    declines(
        described("expensive", common(Determiner::Indefinite, "coat", Number::Singular)),
        "ein teurer mantel, einen teuren mantel, einem teuren mantel, eines teuren mantels",
    );
    says(
        be(the("coat"), "expensive"),
        "The coat is expensive. / Der Mantel ist teuer.",
    );
    let dark = described("dark", common(Determiner::Definite, "forest", Number::Singular));
    says(
        act_on(I, "sehen", NounPhrase::Common(dark)),
        "I see the dark forest. / Ich sehe den dunklen Wald.",
    );
}

#[test]
fn owners_stand_before_the_english_noun_and_after_the_german_one() {
    let owner = NounPhrase::Common(described(
        "old",
        common(Determiner::Definite, "teacher", Number::Singular),
    ));
    let dog = common(Determiner::Genitive(Box::new(owner)), "dog", Number::Singular);
    says(
        act_on(SHE, "helfen", NounPhrase::Common(described("tired", dog))),
        "She helps the old teacher's tired dog. / Sie hilft dem müden Hund des alten Lehrers.",
    );
}

#[test]
fn number_words_swap_ones_and_tens() {
    for (number, english, german) in [
        (2, "two", "zwei"),
        (12, "twelve", "zwölf"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (66, "sixty-six", "sechsundsechzig"),
        (97, "ninety-seven", "siebenundneunzig"),
    ] {
        assert_eq!(
            (numbers::english(number).as_str(), numbers::german(number).as_str()),
            (english, german)
        );
    }
}

#[test]
fn english_articles_and_plurals_follow_the_spelling() {
    let carrots = common(Determiner::Indefinite, "potato", Number::Plural);
    says(
        act_on(I, "kaufen", NounPhrase::Common(carrots)),
        "I buy potatoes. / Ich kaufe Kartoffeln.",
    );
    let umbrella = described("old", common(Determiner::Indefinite, "umbrella", Number::Singular));
    says(
        act_on(HE, "verlieren", NounPhrase::Common(umbrella)),
        "He loses an old umbrella. / Er verliert einen alten Regenschirm.",
    );
    let boxes = common(Determiner::This, "box", Number::Plural);
    says(
        act_on(THEY, "tragen", NounPhrase::Common(boxes)),
        "They carry these boxes. / Sie tragen diese Kisten.",
    );
}
