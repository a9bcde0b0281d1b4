//! The search against exhaustive enumeration, on a fake model whose probabilities depend on everything read so far.

use dfdx::prelude::Cpu;

use super::*;
use crate::model::{
    AdamStep, Architecture, AttentionMaps, Batch, BatchLoss, NamedArray, RestoreError, Session, Trainable,
    TrainingPass, Transformer, UNK,
};
use crate::ops::{Of, RankedRow};

const VOCABULARY: usize = 5;

/// Probabilities from a hash of the source sentence and the tokens said so far.
struct Oracle;

impl Oracle {
    fn row(source: &[u32], said: &[u32]) -> Vec<f32> {
        let logits: Vec<f64> = (0..VOCABULARY)
            .map(|token| {
                let digest = blake3::hash(format!("{source:?}{said:?}{token}").as_bytes());
                f64::from(digest.as_bytes()[0]) / 64.0
            })
            .collect();
        let normaliser = logits.iter().map(|logit| logit.exp()).sum::<f64>().ln();
        logits.iter().map(|logit| (logit - normaliser) as f32).collect()
    }
}

struct OracleSession {
    rows: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Session for OracleSession {
    fn step(&mut self, rows: &[Continuation], k: usize) -> Vec<RankedRow> {
        let go_on = |row: &Continuation| {
            let (source, mut said) = self.rows[row.parent].clone();
            said.push(row.token);
            (source, said)
        };
        self.rows = rows.iter().map(go_on).collect();
        self.rows
            .iter()
            .map(|(source, said)| RankedRow::of(&Oracle::row(source, said), k, EOS))
            .collect()
    }
}

impl Decoder for Oracle {
    fn session(&self, source: &Packed) -> Box<dyn Session + '_> {
        let rows = (0..source.sentences()).map(|index| (source.sentence(index).to_vec(), Vec::new()));
        Box::new(OracleSession { rows: rows.collect() })
    }

    fn attention(&self, _: &[u32], _: &[u32]) -> AttentionMaps {
        unreachable!("the search looks at nothing but probabilities")
    }
}

impl Seq2Seq for Oracle {
    fn decoder(&self) -> Box<dyn Decoder + '_> {
        Box::new(Self)
    }

    fn vocabulary_size(&self) -> usize {
        VOCABULARY
    }

    fn accumulate(&mut self, _: &Batch, _: &TrainingPass) -> BatchLoss {
        unreachable!("decoding trains nothing")
    }

    fn gradient_norm(&mut self) -> f64 {
        unreachable!("decoding trains nothing")
    }

    fn update(&mut self, _: &AdamStep) {
        unreachable!("decoding trains nothing")
    }

    fn loss(&self, _: &Batch, _: f32) -> BatchLoss {
        unreachable!("decoding has no references")
    }

    fn weights(&mut self) -> Vec<NamedArray> {
        Vec::new()
    }

    fn moments(&mut self) -> [Vec<NamedArray>; 2] {
        [Vec::new(), Vec::new()]
    }

    fn gradients(&mut self) -> Vec<NamedArray> {
        Vec::new()
    }

    fn restore_weights(&mut self, _: &[NamedArray]) -> Result<(), RestoreError> {
        Ok(())
    }

    fn restore_moments(&mut self, _: [&[NamedArray]; 2]) -> Result<(), RestoreError> {
        Ok(())
    }
}

fn decoding(beam: usize, length_penalty: f64, max_extra_tokens: usize) -> Decoding {
    Decoding {
        beam,
        length_penalty,
        max_extra_tokens,
    }
}

fn translated(sources: &[Vec<u32>], decoding: &Decoding) -> Vec<Vec<Hypothesis>> {
    translate(&Oracle, sources, decoding, |_| ControlFlow::Continue(())).expect("nobody breaks")
}

fn best_of(sources: &[Vec<u32>], decoding: &Decoding, wanted: usize) -> Vec<Vec<Hypothesis>> {
    n_best(&Oracle, sources, decoding, wanted, |_| ControlFlow::Continue(())).expect("nobody breaks")
}

/// Sources of one to three tokens, all different.
fn sources(count: u32) -> Vec<Vec<u32>> {
    (0..count)
        .map(|i| (0..=i % 3).map(|j| 3 + i * 7 + j).collect())
        .collect()
}

/// All translations of up to `longest` tokens.
fn all(source: &[u32], longest: usize, alpha: f64) -> Vec<Hypothesis> {
    let closed = [source, &[EOS]].concat();
    let mut done = Vec::new();
    let mut open = vec![(Vec::new(), 0.0)];
    while let Some((tokens, log_probability)) = open.pop() {
        let row = Oracle::row(&closed, &[&[BOS], &tokens[..]].concat());
        for (token, next) in row.iter().enumerate() {
            let total = log_probability + f64::from(*next);
            if token as u32 == EOS {
                let penalty = ((5 + tokens.len() + 1) as f64 / 6.0).powf(alpha);
                done.push(Hypothesis {
                    tokens: tokens.clone(),
                    log_probability: total,
                    score: total / penalty,
                });
            } else if tokens.len() < longest {
                open.push(([&tokens[..], &[token as u32]].concat(), total));
            }
        }
    }
    done
}

#[test]
fn a_beam_as_wide_as_the_language_finds_the_best_of_all_in_their_order() {
    for (alpha, wanted) in [(0.0, 2), (0.6, 1), (0.6, 7), (1.0, 40), (2.0, 3)] {
        for source in sources(12).into_iter().filter(|source| source.len() == 1) {
            let mut right = all(&source, 4, alpha);
            right.sort_by(|a, b| b.score.total_cmp(&a.score));
            right.truncate(wanted);
            let found = best_of(&[source], &decoding(5usize.pow(5), alpha, 3), wanted);
            assert_eq!(found[0], right);
        }
    }
}

#[test]
fn stopping_early_changes_none_of_the_wanted_hypotheses() {
    let sources = sources(40);
    for (beam, alpha) in [(2, 0.0), (4, 0.6), (7, 1.0), (7, 3.0)] {
        // Whoever wants as many as the beam is wide waits until all have ended.
        let to_the_end = best_of(&sources, &decoding(beam, alpha, 5), beam);
        for wanted in 1..beam {
            let early = best_of(&sources, &decoding(beam, alpha, 5), wanted);
            for (early, whole) in early.iter().zip(&to_the_end) {
                assert_eq!(early[..], whole[..wanted]);
            }
        }
    }
}

#[test]
fn there_are_fewer_hypotheses_only_where_no_more_are_possible() {
    // One token of the source, none extra: five translations of at most one token.
    let found = best_of(&sources(1), &decoding(9, 0.6, 0), 8);
    assert_eq!(found[0].len(), VOCABULARY);
    for (beam, wanted) in [(9, 8), (4, 4), (1, 1), (3, 5)] {
        let found = best_of(&sources(40)[1..2], &decoding(beam, 0.6, 2), wanted);
        assert_eq!(found[0].len(), wanted.min(beam));
    }
    assert_eq!(best_of(&[vec![]], &decoding(4, 0.6, 5), 4), [[Hypothesis::empty()]]);
}

#[test]
fn a_beam_of_one_is_greedy() {
    for source in sources(30) {
        let closed = [&source[..], &[EOS]].concat();
        let mut greedy = Vec::new();
        while greedy.len() < source.len() + 6 {
            let row = Oracle::row(&closed, &[&[BOS], &greedy[..]].concat());
            let likeliest = (0..VOCABULARY).rev().max_by(|&a, &b| row[a].total_cmp(&row[b]));
            match likeliest.map(|token| token as u32) {
                Some(EOS) | None => break,
                Some(token) => greedy.push(token),
            }
        }
        let found = translated(&[source], &decoding(1, 0.6, 6));
        assert_eq!(
            found[0].iter().map(|hypothesis| &hypothesis.tokens).collect::<Vec<_>>(),
            [&greedy]
        );
    }
}

#[test]
fn a_sentence_is_translated_alike_alone_and_in_company() {
    let sources = sources(40);
    let together = best_of(&sources, &decoding(4, 0.6, 5), 4);
    for (source, hypotheses) in sources.iter().zip(&together) {
        let alone = best_of(std::slice::from_ref(source), &decoding(4, 0.6, 5), 4);
        assert_eq!(&alone[0], hypotheses);
    }
}

#[test]
fn no_hypothesis_is_longer_than_allowed_and_one_is_always_found() {
    for (source, hypotheses) in sources(40).iter().zip(best_of(&sources(40), &decoding(3, 0.6, 0), 3)) {
        assert!(!hypotheses.is_empty());
        assert!(
            hypotheses
                .iter()
                .all(|hypothesis| hypothesis.tokens.len() <= source.len())
        );
        assert!(hypotheses.is_sorted_by(|a, b| a.score >= b.score));
    }
    let empty = translated(&[vec![]], &decoding(3, 0.6, 0));
    assert_eq!(
        empty[0][0].tokens, [0u32; 0],
        "nothing may be said for an empty source without extra tokens"
    );
}

/// A real model with the weights it began with, whose hypotheses are close to one another.
fn untrained() -> Box<dyn Seq2Seq> {
    let architecture = Architecture::new(2, 2, 31);
    let model = Transformer::<Cpu, Of<16, 24, 12, 20>>::new(&Cpu::default(), architecture, 1);
    Box::new(Trainable::new(model))
}

#[test]
fn company_and_order_change_no_bit_of_what_a_real_model_says() {
    let model = untrained();
    let sources: Vec<Vec<u32>> = (0..90)
        .map(|i| (0..=i * 7 % 13).map(|j| 3 + (i * 5 + j * j) % 28).collect())
        .collect();
    let bits = |sources: &[Vec<u32>], wanted| -> Vec<Vec<(Vec<u32>, u64, u64)>> {
        let found = n_best(&*model, sources, &decoding(4, 0.6, 5), wanted, |_| {
            ControlFlow::Continue(())
        });
        let of_one = |hypothesis: Hypothesis| {
            let Hypothesis {
                tokens,
                log_probability,
                score,
            } = hypothesis;
            (tokens, log_probability.to_bits(), score.to_bits())
        };
        let found = found.expect("nobody breaks").into_iter();
        found
            .map(|hypotheses| hypotheses.into_iter().map(of_one).collect())
            .collect()
    };
    let together = bits(&sources, 4);
    let mut reversed = sources.clone();
    reversed.reverse();
    let mut backwards = bits(&reversed, 4);
    backwards.reverse();
    assert!(together == backwards, "in another order");
    for (some, right) in sources.chunks(7).zip(together.chunks(7)) {
        assert!(bits(some, 4) == right, "in less company");
    }
    for (index, source) in sources.iter().enumerate() {
        let alone = bits(std::slice::from_ref(source), 4).remove(0);
        assert!(alone == together[index], "sentence {index} alone");
        let best = bits(std::slice::from_ref(source), 1).remove(0);
        assert!(
            best == together[index][..1],
            "sentence {index}, the best of one and of four"
        );
    }
}

#[test]
fn progress_is_told_until_all_are_done() {
    let long: Vec<Vec<u32>> = (0..9).map(|i| vec![UNK + i; 400]).collect();
    let mut heard = Vec::new();
    translate(&Oracle, &long, &decoding(2, 0.6, 0), |done| {
        heard.push(done);
        ControlFlow::Continue(())
    });
    assert!(
        heard.is_sorted() && heard.last() == Some(&9) && heard.len() > 2,
        "{heard:?}"
    );
}

#[test]
fn a_translation_can_be_given_up() {
    let long: Vec<Vec<u32>> = (0..9).map(|i| vec![UNK + i; 400]).collect();
    let mut batches = 0;
    let given_up = translate(&Oracle, &long, &decoding(2, 0.6, 0), |_| {
        batches += 1;
        ControlFlow::Break(())
    });
    assert!(given_up.is_none() && batches == 1);
}
