//! The German clause: one set of fields, three orders.

use super::articles::{personal_pronoun, reflexive_pronoun};
use super::phrase::{gap_pronoun, goal, location, noun_phrase, prepositional_gap, prepositional_phrase, time};
use super::verbs::{Cluster, zu_infinitive};
use crate::grammar::features::Case;
use crate::grammar::text::Text;
use crate::grammar::tree::{
    Clause, Common, Comparison, Determiner, Form, NounPhrase, Place, Polarity, Predicate, TimePosition,
};
use crate::grammar::verbs::{Government, Reflexive};

/// Finite verb second, after the subject, a fronted time, or what the caller puts there.
pub fn main_clause(clause: &Clause, before: Option<&Text>) -> Text {
    let fields = Fields::of(clause);
    match (before, &fields.fronted_time) {
        (Some(before), _) => fields.inverted(before.clone()),
        (None, Some(time)) => fields.inverted(Text::of(time)),
        (None, None) => fields.subject_first(),
    }
}

/// Finite verb first, or second after the question word.
pub fn question(clause: &Clause, question_word: Option<&str>) -> Text {
    let fields = Fields::of(clause);
    let lead = question_word.map_or_else(|| fields.lead.clone(), Text::of);
    fields.inverted(lead)
}

/// Finite verb last. Without a subordinator, the clause's own gap opens it.
pub fn subordinate(clause: &Clause, subordinator: Option<&str>) -> Text {
    let fields = Fields::of(clause);
    let mut text = subordinator.map_or_else(|| fields.lead.clone(), Text::of);
    text.append(&fields.subject_and_middle());
    text.append(&fields.cluster.verb_final()).append(&fields.tail);
    text
}

/// "(um) das Buch zu lesen".
pub fn infinitive(clause: &Clause, opening: &str) -> Text {
    let fields = Fields::of(clause);
    let mut text = Text::of(opening);
    text.push(fields.early_pronoun).append(&fields.middle);
    text.push(&zu_infinitive(&clause.predicate)).append(&fields.tail);
    text
}

/// Commas and clause, for after the phrase or, across the verb, at the end.
pub fn relative(clause: &Clause) -> Text {
    let mut text = Text::default();
    text.comma().append(&subordinate(clause, None)).comma();
    text
}

/// The roles as German sees them: for most verbs as English does, for "gefallen" the other way round.
struct Roles<'a> {
    subject: &'a NounPhrase,
    accusative: Option<&'a NounPhrase>,
    dative: Option<&'a NounPhrase>,
    prepositional: Option<(&'static str, Case, &'a NounPhrase)>,
    /// Precedes even a noun subject: "weil sich die Frau freut", "weil ihm das Auto gefällt".
    early_pronoun: &'static str,
}

impl<'a> Roles<'a> {
    fn of(clause: &'a Clause) -> Self {
        let mut roles = Self {
            subject: &clause.subject,
            accusative: None,
            dative: None,
            prepositional: None,
            early_pronoun: "",
        };
        let Predicate::Verbal {
            verb, indirect, object, ..
        } = &clause.predicate
        else {
            return roles;
        };
        roles.dative = indirect.as_ref();
        if verb.reflexive == Reflexive::Yes {
            roles.early_pronoun = reflexive_pronoun(clause.subject.agreement());
        }
        match (verb.government, object) {
            (Government::Swapped, Some(object)) => {
                roles.subject = object;
                match &clause.subject {
                    NounPhrase::Pronoun(pronoun) => roles.early_pronoun = personal_pronoun(*pronoun, Case::Dative),
                    subject => roles.dative = Some(subject),
                }
            }
            (Government::Prepositional(preposition, case), Some(object)) => {
                roles.prepositional = Some((preposition, case, object));
            }
            (Government::Object(Case::Dative), object) => roles.dative = object.as_ref(),
            (_, object) => roles.accusative = object.as_ref(),
        }
        roles
    }

    fn objects(&self) -> impl Iterator<Item = &'a NounPhrase> {
        let prepositional = self.prepositional.map(|(_, _, object)| object);
        [self.dative, self.accusative, prepositional].into_iter().flatten()
    }

    /// The gap's pronoun in the case of the role it fills.
    fn lead(&self) -> Text {
        let bare = [
            (Some(self.subject), Case::Nominative),
            (self.accusative, Case::Accusative),
            (self.dative, Case::Dative),
        ];
        for (phrase, case) in bare {
            if let Some(NounPhrase::Gap(gap)) = phrase {
                return Text::of(gap_pronoun(*gap, case));
            }
        }
        match self.prepositional {
            Some((preposition, case, NounPhrase::Gap(gap))) => prepositional_gap(preposition, *gap, case),
            _ => Text::default(),
        }
    }
}

struct Fields {
    lead: Text,
    subject: Text,
    subject_is_pronoun: bool,
    early_pronoun: &'static str,
    fronted_time: Option<String>,
    middle: Text,
    cluster: Cluster,
    tail: Text,
}

impl Fields {
    fn of(clause: &Clause) -> Self {
        let roles = Roles::of(clause);
        let agreement = roles.subject.agreement();
        let mut subject = noun_phrase(roles.subject, Case::Nominative);
        subject.append(&roles.subject.relative().map(relative).unwrap_or_default());
        let fronted = clause
            .time
            .as_ref()
            .filter(|time| time.position == TimePosition::Fronted);
        Self {
            lead: roles.lead(),
            subject,
            subject_is_pronoun: matches!(roles.subject, NounPhrase::Pronoun(_)),
            early_pronoun: roles.early_pronoun,
            fronted_time: fronted.map(|fronted| time(fronted.when)),
            middle: middle(clause, &roles),
            cluster: Cluster::of(clause, agreement),
            tail: tail(clause, &roles),
        }
    }

    fn subject_first(&self) -> Text {
        let mut text = self.subject.clone();
        text.push(&self.cluster.finite)
            .push(self.early_pronoun)
            .append(&self.middle);
        self.close(text)
    }

    fn inverted(&self, prefield: Text) -> Text {
        let mut text = prefield;
        text.push(&self.cluster.finite).append(&self.subject_and_middle());
        self.close(text)
    }

    fn close(&self, mut text: Text) -> Text {
        text.push(self.cluster.end_of_main_clause()).append(&self.tail);
        text
    }

    fn subject_and_middle(&self) -> Text {
        let mut text = Text::default();
        if self.subject_is_pronoun {
            text.append(&self.subject).push(self.early_pronoun);
        } else {
            text.push(self.early_pronoun).append(&self.subject);
        }
        text.append(&self.middle);
        text
    }
}

/// Pronouns, time, definite objects, "nicht", manner, place, indefinite objects, goal, adjective.
fn middle(clause: &Clause, roles: &Roles) -> Text {
    let mut text = Text::default();
    append_objects(&mut text, roles, is_pronoun);
    if let Some(inside) = clause
        .time
        .as_ref()
        .filter(|time| time.position == TimePosition::Inside)
    {
        text.push(&time(inside.when));
    }
    text.push(clause.frequency.map_or("", |adverb| adverb.german));
    append_objects(&mut text, roles, |phrase| !is_pronoun(phrase) && phrase.is_definite());
    text.push(negation(clause, roles));
    text.push(if clause.form == Form::Fond { "gern" } else { "" });
    text.push(clause.manner.map_or("", |adverb| adverb.german));
    text.append(&clause.place.as_ref().map(location).unwrap_or_default());
    append_objects(&mut text, roles, |phrase| !phrase.is_definite());
    if let Some((preposition, case, phrase)) = roles.prepositional
        && !matches!(phrase, NounPhrase::Gap(_))
    {
        text.append(&prepositional_phrase(preposition, phrase, case));
    }
    text.append(&complement(&clause.predicate));
    text
}

/// Accusative before dative among pronouns, dative before accusative among nouns.
fn append_objects(text: &mut Text, roles: &Roles, belongs: impl Fn(&NounPhrase) -> bool) {
    let dative = (roles.dative, Case::Dative);
    let accusative = (roles.accusative, Case::Accusative);
    let pronouns_first = roles.accusative.is_some_and(is_pronoun);
    let ordered = if pronouns_first {
        [accusative, dative]
    } else {
        [dative, accusative]
    };
    for (phrase, case) in ordered {
        if let Some(phrase) = phrase.filter(|phrase| belongs(phrase)) {
            text.append(&noun_phrase(phrase, case));
        }
    }
}

fn is_pronoun(phrase: &NounPhrase) -> bool {
    matches!(phrase, NounPhrase::Pronoun(_))
}

/// "kein" in an object already says it.
fn negation(clause: &Clause, roles: &Roles) -> &'static str {
    let is_negative = |phrase: &NounPhrase| {
        matches!(
            phrase,
            NounPhrase::Common(Common {
                determiner: Determiner::Negative,
                ..
            })
        )
    };
    match clause.polarity {
        Polarity::Negative if !roles.objects().any(is_negative) => "nicht",
        Polarity::Negative | Polarity::Positive => "",
    }
}

fn complement(predicate: &Predicate) -> Text {
    match predicate {
        Predicate::Verbal { goal: to, .. } => to.as_ref().map(goal).unwrap_or_default(),
        Predicate::Adjectival { adjective, comparison } => match comparison {
            None => Text::of(adjective.german),
            Some(Comparison::More(_)) => Text::of(adjective.german_comparative),
            Some(Comparison::Equal(_)) => Text::of(&format!("so {}", adjective.german)),
        },
    }
}

/// Text after the verb cluster: relative clauses of objects, and the standard of a comparison.
fn tail(clause: &Clause, roles: &Roles) -> Text {
    let mut text = Text::default();
    for clause in roles.objects().filter_map(NounPhrase::relative) {
        text.append(&relative(clause));
    }
    if let Predicate::Adjectival {
        comparison: Some(comparison),
        ..
    } = &clause.predicate
    {
        let (word, phrase) = match comparison {
            Comparison::More(phrase) => ("als", phrase),
            Comparison::Equal(phrase) => ("wie", phrase),
        };
        text.push(word).append(&noun_phrase(phrase, Case::Nominative));
    }
    text
}

/// "Im Garten gibt es einen Hund".
pub fn existential(place: &Place, finite: &str, what: &NounPhrase) -> Text {
    let mut text = location(place);
    text.push(finite)
        .push("es")
        .append(&noun_phrase(what, Case::Accusative));
    text.append(&what.relative().map(relative).unwrap_or_default());
    text
}
