//! German. A sentence tree comes in; a German sentence goes out. This module refuses to know how trees are drawn.

mod articles;
mod clause;
mod phrase;
mod verbs;

#[cfg(test)]
pub use self::phrase::noun_phrase;

use super::text::Text;
use super::tree::{Clause, ClauseOrder, CommaBefore, Coordinator, CoordinatorPlace, InfinitiveLink, Sentence};
use super::verbs::Tense;

pub fn sentence(sentence: &Sentence) -> String {
    match sentence {
        Sentence::Statement(clause) => clause::main_clause(clause, None).finish('.'),
        Sentence::Question(clause, adverbial) => {
            clause::question(clause, adverbial.map(|question| question.german)).finish('?')
        }
        Sentence::Joined(first, coordinator, second) => joined(first, coordinator, second).finish('.'),
        Sentence::Subordinated {
            main,
            subordinator,
            subordinate,
            order,
        } => {
            let subordinate = clause::subordinate(subordinate, Some(subordinator.german));
            subordinated(main, subordinate, *order).finish('.')
        }
        Sentence::Infinitive(main, link, goal) => with_infinitive(main, *link, goal).finish('.'),
        Sentence::Existential { place, tense, what } => clause::existential(place, there_is(*tense), what).finish('.'),
    }
}

fn joined(first: &Clause, coordinator: &Coordinator, second: &Clause) -> Text {
    let mut text = clause::main_clause(first, None);
    if coordinator.comma == CommaBefore::Yes {
        text.comma();
    }
    match coordinator.german_place {
        CoordinatorPlace::BetweenClauses => {
            text.push(coordinator.german).append(&clause::main_clause(second, None));
        }
        CoordinatorPlace::BeforeTheVerb => {
            text.append(&clause::main_clause(second, Some(&Text::of(coordinator.german))));
        }
    }
    text
}

/// A subordinate clause that comes first takes the place before the finite verb.
fn subordinated(main: &Clause, mut subordinate: Text, order: ClauseOrder) -> Text {
    match order {
        ClauseOrder::MainFirst => {
            let mut text = clause::main_clause(main, None);
            text.comma().append(&subordinate);
            text
        }
        ClauseOrder::SubordinateFirst => {
            subordinate.comma();
            clause::main_clause(main, Some(&subordinate))
        }
    }
}

fn with_infinitive(main: &Clause, link: InfinitiveLink, goal: &Clause) -> Text {
    let opening = match link {
        InfinitiveLink::Governed => "",
        InfinitiveLink::Purpose => "um",
    };
    let mut text = clause::main_clause(main, None);
    text.comma().append(&clause::infinitive(goal, opening));
    text
}

fn there_is(tense: Tense) -> &'static str {
    match tense {
        Tense::Past => "gab",
        Tense::Present | Tense::Future => "gibt",
    }
}
