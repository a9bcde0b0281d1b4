//! German noun phrases, prepositions and adverbials.

use super::articles::{contraction, definite, determiner, personal_pronoun, pronominal_adverb, relative_pronoun};
use crate::grammar::features::{Case, Declension};
use crate::grammar::numbers;
use crate::grammar::text::Text;
use crate::grammar::tree::{Common, Determiner, Gap, Natural, NounPhrase, Place, Pronoun, When};

/// A phrase without its relative clause; a gap is silent here, for it speaks at the front of the clause.
pub fn noun_phrase(phrase: &NounPhrase, case: Case) -> Text {
    match phrase {
        NounPhrase::Pronoun(pronoun) => Text::of(personal_pronoun(*pronoun, case)),
        NounPhrase::Named(name) => Text::of(&name.spelling),
        NounPhrase::Common(common) => common_phrase(common, case),
        NounPhrase::Both(first, second) => {
            let mut text = noun_phrase(first, case);
            text.push("und").append(&noun_phrase(second, case));
            text
        }
        NounPhrase::Gap(_) => Text::default(),
    }
}

/// The relative pronoun or question word of a gap.
pub fn gap_pronoun(gap: Gap, case: Case) -> &'static str {
    match (gap, case) {
        (Gap::Relative { gender, number, .. }, _) => relative_pronoun(Declension { gender, case, number }),
        (Gap::What, _) => "was",
        (Gap::Who, Case::Nominative) => "wer",
        (Gap::Who, Case::Accusative) => "wen",
        (Gap::Who, Case::Dative) => "wem",
        (Gap::Who, Case::Genitive) => unreachable!("no tree asks \"whose\""),
    }
}

/// What a verb governs: "auf den Mann", "vom Fest", "darauf". Only the dative contracts: one goes "ins Museum", but
/// thinks "an das Museum".
pub fn prepositional_phrase(preposition: &str, phrase: &NounPhrase, case: Case) -> Text {
    match phrase {
        NounPhrase::Pronoun(Pronoun::Third {
            english: Natural::It, ..
        }) => Text::of(&pronominal_adverb("da", preposition)),
        NounPhrase::Common(common)
            if case == Case::Dative && common.determiner == Determiner::Definite && common.relative.is_none() =>
        {
            contracted_phrase(preposition, common, case)
        }
        _ => {
            let mut text = Text::of(preposition);
            text.append(&noun_phrase(phrase, case));
            text
        }
    }
}

/// A gap after a preposition: "auf den", "worauf".
pub fn prepositional_gap(preposition: &str, gap: Gap, case: Case) -> Text {
    match gap {
        Gap::What => Text::of(&pronominal_adverb("wo", preposition)),
        Gap::Who | Gap::Relative { .. } => {
            let mut text = Text::of(preposition);
            text.push(gap_pronoun(gap, case));
            text
        }
    }
}

pub fn location(place: &Place) -> Text {
    match place {
        Place::Town(town) => Text::of(&format!("in {town}")),
        Place::Home => Text::of("zu Hause"),
        Place::Common(common) => common_place(common, common.prepositions().german_at, Case::Dative),
    }
}

pub fn goal(place: &Place) -> Text {
    match place {
        Place::Town(town) => Text::of(&format!("nach {town}")),
        Place::Home => Text::of("nach Hause"),
        Place::Common(common) => match common.prepositions().german_to {
            "zu" => common_place(common, "zu", Case::Dative),
            preposition => common_place(common, preposition, Case::Accusative),
        },
    }
}

pub fn time(when: When) -> String {
    match when {
        When::Adverb(adverb) => adverb.german.to_owned(),
        When::Clock(hour) => format!("um {} Uhr", numbers::german(hour)),
        When::Ago(count, unit) => format!("vor {} {}", numbers::german(count), unit.german),
        When::Ahead(count, unit) => format!("in {} {}", numbers::german(count), unit.german),
    }
}

fn common_place(common: &Common, preposition: &str, case: Case) -> Text {
    if common.determiner == Determiner::Definite {
        return contracted_phrase(preposition, common, case);
    }
    let mut text = Text::of(preposition);
    text.append(&common_phrase(common, case));
    text
}

fn common_phrase(common: &Common, case: Case) -> Text {
    match &common.determiner {
        Determiner::Genitive(owner) => owned_phrase(common, owner, case),
        Determiner::Definite => article_phrase(common, definite(common.declension(case)), case),
        _ => article_phrase(common, &determiner(&common.determiner, common.declension(case)).0, case),
    }
}

fn article_phrase(common: &Common, article: &str, case: Case) -> Text {
    let declension = common.declension(case);
    let mut text = Text::of(article);
    if let Some(adjective) = common.adjective {
        let (_, inflection) = determiner(&common.determiner, declension);
        text.push(&adjective.attributive(inflection, declension));
    }
    text.push(&common.noun.german(case, common.number));
    text
}

/// "Norinas Hund", but "der Hund des alten Mannes".
fn owned_phrase(common: &Common, owner: &NounPhrase, case: Case) -> Text {
    if let NounPhrase::Named(name) = owner {
        return article_phrase(common, &format!("{}s", name.spelling), case);
    }
    let owned = Common {
        determiner: Determiner::Definite,
        ..common.clone()
    };
    let mut text = common_phrase(&owned, case);
    text.append(&noun_phrase(owner, Case::Genitive));
    text
}

fn contracted_phrase(preposition: &str, common: &Common, case: Case) -> Text {
    let article = definite(common.declension(case));
    match contraction(preposition, article) {
        Some(contracted) => article_phrase(common, contracted, case),
        None => article_phrase(common, &format!("{preposition} {article}"), case),
    }
}

impl Common {
    fn declension(&self, case: Case) -> Declension {
        Declension {
            gender: self.noun.gender,
            case,
            number: self.number,
        }
    }
}
