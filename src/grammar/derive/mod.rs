//! Derivation. A random stream comes in; sentence trees go out, with the words and the phenomena that meet in them. This
//! module refuses to know how either language says a tree.

mod clause;
mod draw;
mod phrase;
mod predicate;
mod relative;

pub use self::draw::Deriver;

use self::clause::{ClausePlan, FrontedTime};
use super::closed::{ADVERBIAL_QUESTIONS, COORDINATORS, IF, SUBORDINATORS, THAT, WHEN, WHETHER};
use super::nouns::Class;
use super::tree::{Clause, ClauseOrder, Gap, InfinitiveLink, NounPhrase, Predicate, Sentence, Words};
use super::verbs::{Frame, Tense};

impl Deriver {
    pub fn sentence(&mut self) -> Sentence {
        match self.weighted(&[44, 19, 11, 11, 7, 5, 3]) {
            0 => self.statement(),
            1 => self.question(),
            2 => self.joined(),
            3 => self.adverbial(),
            4 => self.reported(),
            5 => self.infinitive(),
            _ => self.existential(),
        }
    }

    fn statement(&mut self) -> Sentence {
        Sentence::Statement(self.clause(&ClausePlan {
            fronted_time: FrontedTime::Allowed,
            ..ClausePlan::default()
        }))
    }

    fn joined(&mut self) -> Sentence {
        let first = self.clause(&ClausePlan {
            fronted_time: FrontedTime::Allowed,
            ..ClausePlan::default()
        });
        let second = self.following_clause(&first, None);
        Sentence::Joined(first, self.choose(COORDINATORS), second)
    }

    /// Both clauses share a tense: "before she will go" is no English.
    fn adverbial(&mut self) -> Sentence {
        let tense = *self.choose(&[Tense::Present, Tense::Past]);
        let subordinator: &'static Words = match tense {
            _ if self.chance(75) => self.choose(SUBORDINATORS),
            Tense::Past => &WHEN,
            Tense::Present | Tense::Future => &IF,
        };
        let order = *self.choose(&[ClauseOrder::MainFirst, ClauseOrder::SubordinateFirst]);
        let first = self.clause(&ClausePlan {
            tense: Some(tense),
            ..ClausePlan::default()
        });
        let second = self.following_clause(&first, Some(tense));
        let (main, subordinate) = match order {
            ClauseOrder::MainFirst => (first, second),
            ClauseOrder::SubordinateFirst => (second, first),
        };
        Sentence::Subordinated {
            main,
            subordinator,
            subordinate,
            order,
        }
    }

    /// "She says that ..., he asks whether ..."
    fn reported(&mut self) -> Sentence {
        let (frame, subordinator): (_, &'static Words) = if self.chance(70) {
            (Frame::That, &THAT)
        } else {
            (Frame::Whether, &WHETHER)
        };
        let subject = self.subject(&[Class::Person]);
        let main = self.clause_with(subject, frame, &ClausePlan::default());
        let subordinate = self.following_clause(&main, None);
        Sentence::Subordinated {
            main,
            subordinator,
            subordinate,
            order: ClauseOrder::MainFirst,
        }
    }

    fn infinitive(&mut self) -> Sentence {
        let (link, frame) = if self.chance(60) {
            (InfinitiveLink::Governed, Frame::Infinitive)
        } else {
            (InfinitiveLink::Purpose, Frame::Motion)
        };
        let subject = self.subject(&[Class::Person]);
        let main = self.clause_with(subject, frame, &ClausePlan::default());
        let goal = self.bare_clause(main.subject.clone());
        Sentence::Infinitive(main, link, goal)
    }

    fn existential(&mut self) -> Sentence {
        let tense = *self.choose(&[Tense::Present, Tense::Past]);
        Sentence::Existential {
            place: self.common_place(),
            tense,
            what: self.news(tense),
        }
    }

    fn question(&mut self) -> Sentence {
        match self.weighted(&[45, 20, 20, 15]) {
            0 => Sentence::Question(self.clause(&ClausePlan::question()), None),
            1 => Sentence::Question(
                self.clause_about(NounPhrase::Gap(Gap::Who), &ClausePlan::question()),
                None,
            ),
            2 => Sentence::Question(self.object_question(), None),
            _ => self.adverbial_question(),
        }
    }

    fn adverbial_question(&mut self) -> Sentence {
        let subject = self.subject(&[Class::Person]);
        let frame = *self.choose(&[Frame::Intransitive, Frame::OneObject]);
        let question: &'static Words = self.choose(ADVERBIAL_QUESTIONS);
        let clause = self.clause_with(subject, frame, &ClausePlan::question());
        Sentence::Question(
            Clause {
                place: None,
                time: None,
                frequency: None,
                ..clause
            },
            Some(question),
        )
    }

    fn object_question(&mut self) -> Clause {
        let subject = self.subject(&[Class::Person]);
        let mut clause = self.clause_with(subject, Frame::OneObject, &ClausePlan::question());
        if let Predicate::Verbal { verb, object, .. } = &mut clause.predicate {
            let asks_for_person = verb.objects.contains(&Class::Person) && self.chance(60);
            let only_persons = verb.objects == [Class::Person];
            *object = Some(NounPhrase::Gap(if asks_for_person || only_persons {
                Gap::Who
            } else {
                Gap::What
            }));
        }
        clause
    }
}
