//! The beam of one sentence.

use crate::model::EOS;
use crate::ops::RankedRow;
use crate::spec::Decoding;

/// One translation.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// Target tokens, without the end of the sentence.
    pub tokens: Vec<u32>,
    /// Log-probability of the tokens and of the end after them, in nats.
    pub log_probability: f64,
    /// Score that hypotheses are ranked by: the log-probability over the length penalty.
    pub score: f64,
}

impl Hypothesis {
    /// Translation of an empty sentence, which needs no model.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            tokens: Vec::new(),
            log_probability: 0.0,
            score: 0.0,
        }
    }
}

/// A hypothesis that has not ended.
#[derive(Debug, Clone)]
struct Open {
    tokens: Vec<u32>,
    log_probability: f64,
}

/// A continuation: an open hypothesis, a token, and the log-probability of both together.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    parent: usize,
    token: u32,
    log_probability: f64,
}

/// The open and the finished hypotheses of one sentence.
///
/// A hypothesis that ends keeps its place: the beam narrows by one, and with width 1 this is greedy decoding.
#[derive(Debug)]
pub struct Beam<'a> {
    decoding: &'a Decoding,
    /// Number of hypotheses that are wanted.
    wanted: usize,
    /// Largest number of tokens of a hypothesis.
    longest: usize,
    open: Vec<Open>,
    finished: Vec<Hypothesis>,
}

impl<'a> Beam<'a> {
    /// `source_length` counts the tokens of the source without its end.
    pub fn new(decoding: &'a Decoding, wanted: usize, source_length: usize) -> Self {
        Self {
            decoding,
            wanted,
            longest: source_length + decoding.max_extra_tokens,
            open: vec![Open {
                tokens: Vec::new(),
                log_probability: 0.0,
            }],
            finished: Vec::new(),
        }
    }

    /// Rows that this sentence has in the next step.
    pub fn width(&self) -> usize {
        self.open.len()
    }

    /// The last token of each open hypothesis.
    pub fn last_tokens(&self) -> impl Iterator<Item = Option<u32>> {
        self.open.iter().map(|open| open.tokens.last().copied())
    }

    /// Goes one step on, given for each open hypothesis the likeliest next tokens, as many as the beam is wide. Returns,
    /// for each hypothesis that is now open, which of those before it continues.
    pub fn advance(&mut self, ranked: &[RankedRow]) -> Vec<usize> {
        let places = self.decoding.beam - self.finished.len();
        let mut best = Best::new(places);
        for (parent, (open, row)) in self.open.iter().zip(ranked).enumerate() {
            let candidate = |token: u32, log_probability: f64| Candidate {
                parent,
                token,
                log_probability: open.log_probability + log_probability,
            };
            if open.tokens.len() == self.longest {
                best.offer(candidate(EOS, row.asked));
            } else {
                // Whoever is not among the best of its own hypothesis is not among the best of all.
                for next in &row.best {
                    best.offer(candidate(next.class, next.log_probability));
                }
            }
        }
        let before = std::mem::take(&mut self.open);
        let mut parents = Vec::with_capacity(places);
        for Candidate {
            parent,
            token,
            log_probability,
        } in best.candidates
        {
            let mut tokens = before[parent].tokens.clone();
            if token == EOS {
                let score = log_probability / self.length_penalty(tokens.len());
                self.finished.push(Hypothesis {
                    tokens,
                    log_probability,
                    score,
                });
            } else {
                tokens.push(token);
                self.open.push(Open {
                    tokens,
                    log_probability,
                });
                parents.push(parent);
            }
        }
        if self.is_decided() {
            self.open.clear();
            parents.clear();
        }
        parents
    }

    /// The wanted hypotheses, best first; of equals, the one that ended first. Fewer if no more were found.
    pub fn into_hypotheses(mut self) -> Vec<Hypothesis> {
        self.finished.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.finished.truncate(self.wanted);
        self.finished
    }

    /// Whether as many hypotheses as are wanted have ended so well that no open one can still surpass them: more tokens
    /// can only lower a log-probability, and no length has a larger penalty than the longest.
    fn is_decided(&self) -> bool {
        let ceiling = self.length_penalty(self.longest);
        let is_safe = |ended: &&Hypothesis| {
            let mut open = self.open.iter();
            open.all(|open| open.log_probability / ceiling <= ended.score)
        };
        self.finished.iter().filter(is_safe).count() >= self.wanted
    }

    /// `((5 + n) / 6)^alpha`, `n` counting the end of the sentence (Wu et al. 2016, equation 14, without coverage).
    fn length_penalty(&self, tokens: usize) -> f64 {
        ((5 + tokens + 1) as f64 / 6.0).powf(self.decoding.length_penalty)
    }
}

/// The best candidates seen so far, best first; of equals, the one offered first.
struct Best {
    places: usize,
    candidates: Vec<Candidate>,
}

impl Best {
    fn new(places: usize) -> Self {
        Self {
            places,
            candidates: Vec::with_capacity(places + 1),
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        let beats = |other: &Candidate| candidate.log_probability > other.log_probability;
        if self.candidates.len() == self.places && !self.candidates.last().is_some_and(beats) {
            return;
        }
        let at = self.candidates.partition_point(|other| !beats(other));
        self.candidates.insert(at, candidate);
        self.candidates.truncate(self.places);
    }
}
