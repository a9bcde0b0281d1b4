//! Beam search over many sentences at once.

use std::ops::ControlFlow;

use super::beam::{Beam, Hypothesis};
use crate::model::{BOS, Continuation, EOS, Seq2Seq};
use crate::ops::Packed;
use crate::spec::Decoding;

/// Source pieces per batch: enough rows to fill the products, few enough to stay in cache.
const BATCH_TOKENS: usize = 1024;

/// Translates `sources` (pieces without their end), each into its hypotheses, best first; nothing translates to nothing.
/// `advance` hears after every batch how many sentences are done; if it breaks, there is no result.
pub fn translate(
    model: &dyn Seq2Seq,
    sources: &[Vec<u32>],
    decoding: &Decoding,
    mut advance: impl FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<Vec<Hypothesis>>> {
    let mut translations = vec![vec![Hypothesis::empty()]; sources.len()];
    let mut done = 0;
    for batch in batches(sources) {
        let sentences: Vec<&[u32]> = batch.iter().map(|&index| sources[index].as_slice()).collect();
        for (&index, hypotheses) in batch.iter().zip(search(model, &sentences, decoding)) {
            translations[index] = hypotheses;
        }
        done += batch.len();
        if advance(done).is_break() {
            return None;
        }
    }
    Some(translations)
}

/// Sentences of like length together, without the empty ones, the longest first: what takes most memory and time comes first.
fn batches(sources: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sources.len()).filter(|&index| !sources[index].is_empty()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(sources[index].len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = usize::MAX;
    for index in order {
        let length = sources[index].len() + 1;
        if tokens.saturating_add(length) > BATCH_TOKENS {
            batches.push(Vec::new());
            tokens = 0;
        }
        tokens += length;
        batches.last_mut().expect("a batch was begun").push(index);
    }
    batches
}

/// One batch: all sentences advance together, and those that are decided leave.
fn search(model: &dyn Seq2Seq, sources: &[&[u32]], decoding: &Decoding) -> Vec<Vec<Hypothesis>> {
    let closed = sources.iter().map(|source| [source, &[EOS][..]].concat());
    let mut session = model.decode(&Packed::from_sentences(closed));
    let mut beams: Vec<Beam> = sources.iter().map(|source| Beam::new(decoding, source.len())).collect();
    let mut parents: Vec<usize> = (0..sources.len()).collect();
    while !parents.is_empty() {
        let tokens = beams
            .iter()
            .flat_map(Beam::last_tokens)
            .map(|token| token.unwrap_or(BOS));
        let rows: Vec<Continuation> = parents
            .iter()
            .zip(tokens)
            .map(|(&parent, token)| Continuation { parent, token })
            .collect();
        let mut log_probabilities = &session.step(&rows)[..];
        let mut first_row = 0;
        parents.clear();
        for beam in beams.iter_mut().filter(|beam| beam.width() > 0) {
            let width = beam.width();
            let (own, rest) = log_probabilities.split_at(width * model.vocabulary_size());
            log_probabilities = rest;
            parents.extend(beam.advance(own).into_iter().map(|parent| first_row + parent));
            first_row += width;
        }
    }
    beams.into_iter().map(Beam::into_hypotheses).collect()
}

#[cfg(test)]
mod tests;
