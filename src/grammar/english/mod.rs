//! English. A sentence tree comes in; an English sentence goes out. This module refuses to know how trees are drawn.

mod clause;
mod phrase;
mod verbs;

use super::text::Text;
use super::tree::{Clause, ClauseOrder, CommaBefore, Coordinator, InfinitiveLink, Sentence, Words};

pub fn sentence(sentence: &Sentence) -> String {
    match sentence {
        Sentence::Statement(clause) => clause::statement(clause).finish('.'),
        Sentence::Question(clause, adverbial) => {
            clause::question(clause, adverbial.map(|question| question.english)).finish('?')
        }
        Sentence::Joined(first, coordinator, second) => joined(first, coordinator, second).finish('.'),
        Sentence::Subordinated {
            main,
            subordinator,
            subordinate,
            order,
        } => subordinated(main, subordinator, subordinate, *order).finish('.'),
        Sentence::Infinitive(main, link, goal) => with_infinitive(main, *link, goal).finish('.'),
        Sentence::Existential { place, tense, what } => clause::existential(place, *tense, what).finish('.'),
    }
}

fn joined(first: &Clause, coordinator: &Coordinator, second: &Clause) -> Text {
    let mut text = clause::statement(first);
    if coordinator.comma == CommaBefore::Yes {
        text.comma();
    }
    text.push(coordinator.english).append(&clause::statement(second));
    text
}

fn subordinated(main: &Clause, subordinator: &Words, subordinate: &Clause, order: ClauseOrder) -> Text {
    let mut second = Text::of(subordinator.english);
    second.append(&clause::statement(subordinate));
    let main = clause::statement(main);
    let (mut text, rest) = match order {
        ClauseOrder::MainFirst => (main, second),
        ClauseOrder::SubordinateFirst => {
            second.comma();
            (second, main)
        }
    };
    text.append(&rest);
    text
}

fn with_infinitive(main: &Clause, link: InfinitiveLink, goal: &Clause) -> Text {
    let opening = match link {
        InfinitiveLink::Governed => "to",
        InfinitiveLink::Purpose => "in order to",
    };
    let mut text = clause::statement(main);
    text.append(&clause::infinitive(goal, opening));
    text
}
