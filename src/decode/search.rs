//! Beam search over many sentences at once.

use std::ops::ControlFlow;

use super::beam::{Beam, Hypothesis};
use crate::model::{BOS, Continuation, Decoder, EOS, Seq2Seq};
use crate::ops::Packed;
use crate::spec::Decoding;
use crate::threads::{map, threads};

/// Source tokens per batch: enough rows to fill the products, few enough to stay in cache.
const BATCH_TOKENS: usize = 512;

/// More batches than one are a multiple of this, so that a few threads have equally much to do. Not the number of
/// threads there are: which sentences stand together must not depend on the machine.
const BATCHES: usize = 4;

/// Translates `sources` (tokens without their end), each into its best hypothesis, as [`n_best`] does.
pub fn translate(
    model: &dyn Seq2Seq,
    sources: &[Vec<u32>],
    decoding: &Decoding,
    advance: impl FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<Vec<Hypothesis>>> {
    n_best(model, sources, decoding, 1, advance)
}

/// Translates `sources` (tokens without their end), each into its `wanted` best hypotheses, best first: those that the
/// beam would hold if it were followed until every hypothesis has ended. There are fewer where the beam is narrower or
/// fewer translations are possible; nothing translates to nothing, once.
///
/// Every thread of the current pool works on a batch of its own, which changes no result. `advance` hears after every
/// batch how many sentences are done; if it breaks, there is no result.
///
/// # Panics
/// If none is wanted.
pub fn n_best(
    model: &dyn Seq2Seq,
    sources: &[Vec<u32>],
    decoding: &Decoding,
    wanted: usize,
    mut advance: impl FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<Vec<Hypothesis>>> {
    assert!(wanted > 0, "whoever translates wants a translation");
    let mut translations = vec![vec![Hypothesis::empty()]; sources.len()];
    let decoder = model.decoder();
    let translated = |batch: &Vec<usize>| {
        let sentences: Vec<&[u32]> = batch.iter().map(|&index| sources[index].as_slice()).collect();
        search(&*decoder, &sentences, decoding, wanted)
    };
    let mut done = 0;
    for wave in batches(sources).chunks(threads()) {
        let found = map(wave.iter().collect(), translated);
        for (batch, found) in wave.iter().zip(found) {
            for (&index, hypotheses) in batch.iter().zip(found) {
                translations[index] = hypotheses;
            }
            done += batch.len();
            if advance(done).is_break() {
                return None;
            }
        }
    }
    Some(translations)
}

/// Sentences of like length together, without the empty ones, the longest first: what takes most memory and time comes
/// first. All batches have about the same number of tokens.
fn batches(sources: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sources.len()).filter(|&index| !sources[index].is_empty()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(sources[index].len()));
    let length = |index: usize| sources[index].len() + 1;
    let total: usize = order.iter().copied().map(length).sum();
    let count = match total.div_ceil(BATCH_TOKENS) {
        0 | 1 => 1,
        several => several.next_multiple_of(BATCHES),
    };
    let mut batches = vec![Vec::new(); count];
    let mut before = 0;
    for index in order {
        batches[before * count / total].push(index);
        before += length(index);
    }
    batches.retain(|batch| !batch.is_empty());
    batches
}

/// One batch: all sentences advance together, and those that are decided leave.
fn search(decoder: &dyn Decoder, sources: &[&[u32]], decoding: &Decoding, wanted: usize) -> Vec<Vec<Hypothesis>> {
    let closed = sources.iter().map(|source| [source, &[EOS][..]].concat());
    let mut session = decoder.session(&Packed::from_sentences(closed));
    let mut beams: Vec<Beam> = sources
        .iter()
        .map(|source| Beam::new(decoding, wanted, source.len()))
        .collect();
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
        let ranked = session.step(&rows, decoding.beam);
        let mut first_row = 0;
        parents.clear();
        for beam in beams.iter_mut().filter(|beam| beam.width() > 0) {
            let own = &ranked[first_row..][..beam.width()];
            parents.extend(beam.advance(own).into_iter().map(|parent| first_row + parent));
            first_row += own.len();
        }
    }
    beams.into_iter().map(Beam::into_hypotheses).collect()
}

#[cfg(test)]
mod tests;
