//! Who attends to whom: a translation is read once more as a whole, and what every head looks at is written down.
//! Translating itself keeps none of this.

use std::ops::Range;

use super::translator::{Pass, Translator, Watch, Within};
use crate::ops::{HeadSizes, Inference, Mask, Packed, Spans};

/// What one head looks at: for every query the shares of all keys, which sum to 1.
pub type Map = Vec<Vec<f32>>;

/// The maps of every layer and head of one sentence: `[layer][head]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AttentionMaps {
    /// Encoder self-attention, `[S, S]`.
    pub encoder: Vec<Vec<Map>>,
    /// Decoder self-attention, `[T, T]`: nothing is taken from later tokens.
    pub decoder: Vec<Vec<Map>>,
    /// From the decoder to the encoder's output, `[T, S]`.
    pub cross: Vec<Vec<Map>>,
}

/// Reads source and target as training does, and watches every head.
pub fn maps<I: Inference>(model: &Translator<I>, source: &[u32], target: &[u32]) -> AttentionMaps {
    let (device, sizes) = (&model.device, model.dimensions.heads);
    let (source, target) = (Packed::from_sentences([source]), Packed::from_sentences([target]));
    let mut watcher = Watcher {
        device,
        sizes,
        spans: model.within(&source, Mask::Full),
        keys_values: Vec::new(),
        to_self: Vec::new(),
        to_source: Vec::new(),
    };
    let encoded = model.encode(&source, &mut watcher);
    let encoder = std::mem::take(&mut watcher.to_self);
    let layers = model.network.decoder.iter();
    let keys_values: Vec<I::Rows> = layers.map(|layer| model.source_keys_values(layer, &encoded)).collect();
    let memories: Vec<I::Memory> = keys_values
        .iter()
        .map(|rows| device.memory(rows, sizes, &source))
        .collect();
    watcher.spans = model.within(&target, Mask::Causal);
    watcher.keys_values = keys_values.iter().map(|rows| device.read(rows)).collect();
    let embedded = model.embed(target.ids(), 0..target.tokens());
    let mut pass = Pass {
        model,
        within: Within::Sentences(watcher.spans.clone()),
        memories: &memories,
        sentences: &vec![0; target.tokens()],
        watch: &mut watcher,
    };
    model.network.decode(&mut pass, embedded);
    AttentionMaps {
        encoder,
        decoder: watcher.to_self,
        cross: watcher.to_source,
    }
}

/// Writes down what heads look at.
struct Watcher<'m, I: Inference> {
    device: &'m I,
    sizes: HeadSizes,
    /// Who sees whom in the stack that is watched.
    spans: Spans,
    /// What each layer of the decoder attends to.
    keys_values: Vec<Vec<f32>>,
    to_self: Vec<Vec<Map>>,
    to_source: Vec<Vec<Map>>,
}

impl<I: Inference> Watch<I> for Watcher<'_, I> {
    fn to_self(&mut self, projected: &I::Rows) {
        self.to_self
            .push(within(&self.device.read(projected), self.sizes, &self.spans));
    }

    fn to_source(&mut self, layer: usize, queries: &I::Rows) {
        let queries = self.device.read(queries);
        self.to_source
            .push(across(&queries, &self.keys_values[layer], self.sizes));
    }
}

/// Of rows that attend to one another: `[N, 2*H*K + H*VD]`, queries, keys and values.
fn within(projected: &[f32], sizes: HeadSizes, spans: &Spans) -> Vec<Map> {
    let side = |first| Side {
        rows: projected,
        stride: 2 * sizes.keys() + sizes.values(),
        first,
    };
    // One sentence.
    let span = &spans.iter().as_slice()[0];
    of_heads(&side(0), &side(sizes.keys()), sizes, |position| {
        spans.seen(span, position)
    })
}

/// Of rows that attend to the source: queries `[T, H*K]`, keys and values `[S, H*K + H*VD]`.
fn across(queries: &[f32], keys_values: &[f32], sizes: HeadSizes) -> Vec<Map> {
    let queries = Side {
        rows: queries,
        stride: sizes.keys(),
        first: 0,
    };
    let keys = Side {
        rows: keys_values,
        stride: sizes.keys() + sizes.values(),
        first: 0,
    };
    let count = keys.rows.len() / keys.stride;
    of_heads(&queries, &keys, sizes, |_| 0..count)
}

/// The queries or the keys of all heads, columns of wider rows.
struct Side<'a> {
    rows: &'a [f32],
    stride: usize,
    first: usize,
}

impl Side<'_> {
    /// One head of every row.
    fn head(&self, head: usize, width: usize) -> impl Iterator<Item = &[f32]> {
        let rows = self.rows.chunks_exact(self.stride);
        rows.map(move |row| &row[self.first + head * width..][..width])
    }
}

/// `softmax(q . k^T / sqrt(K))` (equation 1), head by head.
fn of_heads(queries: &Side, keys: &Side, sizes: HeadSizes, seen: impl Fn(usize) -> Range<usize>) -> Vec<Map> {
    let of_head = |head| {
        let keys: Vec<&[f32]> = keys.head(head, sizes.key).collect();
        let queries = queries.head(head, sizes.key).enumerate();
        queries
            .map(|(position, query)| shares(query, &keys, seen(position)))
            .collect()
    };
    (0..sizes.heads).map(of_head).collect()
}

/// What one query takes from each key, of which it sees some.
fn shares(query: &[f32], keys: &[&[f32]], seen: Range<usize>) -> Vec<f32> {
    let scale = (query.len() as f64).sqrt().recip();
    let product = |key: &[f32]| -> f64 { query.iter().zip(key).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum() };
    let scores: Vec<f64> = keys[seen.clone()].iter().map(|key| product(key) * scale).collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    let mut shares = vec![0.0; keys.len()];
    for (share, x) in shares[seen].iter_mut().zip(exponentials) {
        *share = (x / sum) as f32;
    }
    shares
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::Cpu;
    use rand::RngExt;

    use super::*;
    use crate::ops::{PlainInference, Span};
    use crate::random::stream;

    type Plain = PlainInference<Cpu>;

    fn plain() -> Plain {
        PlainInference(Cpu::default())
    }

    fn rows(values: &[f32], width: usize) -> <Plain as Inference>::Rows {
        let ids: Vec<u32> = (0..values.len() / width).map(|row| row as u32).collect();
        let table = plain().prepare_table(values.to_vec(), width);
        plain().embed(&table, &ids, 1.0, vec![0.0; values.len()])
    }

    /// Random queries or keys, and behind them values that say of which of `count` rows they are, the same in each head:
    /// what attention mixes of such values are the shares themselves.
    fn telling(name: &str, count: usize, random: usize, heads: usize) -> Vec<f32> {
        let mut rng = stream(&["test", name]);
        let row = |index: usize| -> Vec<f32> {
            let own = (0..heads * count).map(|column| f32::from(u8::from(column % count == index)));
            let random: Vec<f32> = (0..random).map(|_| rng.random_range(-2.0..2.0)).collect();
            random.into_iter().chain(own).collect()
        };
        (0..count).flat_map(row).collect()
    }

    fn assert_close(maps: &[Map], mixed: &[f32]) {
        let heads = maps.len();
        let shares = (0..maps[0].len()).flat_map(|query| (0..heads).flat_map(move |head| &maps[head][query]));
        assert_eq!(shares.clone().count(), mixed.len());
        for (ours, right) in shares.zip(mixed) {
            assert!((ours - right).abs() <= 1e-6, "{ours}, not {right}");
        }
    }

    #[test]
    fn shares_are_those_of_the_plain_attention() {
        let (heads, key, count) = (3, 4, 5);
        let sizes = HeadSizes {
            heads,
            key,
            value: count,
        };
        let projected = telling("projected", count, 2 * heads * key, heads);
        for mask in [Mask::Full, Mask::Causal] {
            let whole = Span {
                queries: 0..count,
                keys: 0..count,
            };
            let width = 2 * sizes.keys() + sizes.values();
            for window in [None, Some(1)] {
                let spans = Spans::new(vec![whole.clone()], mask).windowed(window);
                let mixed = plain().attend_within(&rows(&projected, width), sizes, &spans);
                assert_close(&within(&projected, sizes, &spans), &mixed.as_vec());
            }
        }

        let keys_values = telling("keys", count, heads * key, heads);
        let queries = random_queries(2 * heads * key);
        let source = Packed::from_sentences([vec![0; count]]);
        let memory = plain().memory(&rows(&keys_values, sizes.keys() + sizes.values()), sizes, &source);
        let mixed = plain().attend_memory(&rows(&queries, sizes.keys()), &memory, &[0, 0]);
        assert_close(&across(&queries, &keys_values, sizes), &mixed.as_vec());
    }

    fn random_queries(count: usize) -> Vec<f32> {
        let mut rng = stream(&["test", "queries"]);
        (0..count).map(|_| rng.random_range(-2.0..2.0)).collect()
    }
}
