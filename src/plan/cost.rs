//! Cost of a run, computed from its experiment: counted operations, memory, and time at a given speed.

use serde::{Deserialize, Serialize};

use crate::spec::{Experiment, Parameters};

/// Parameters, their gradients and Adam's two moments.
const COPIES_OF_PARAMETERS: u64 = 4;
const F32_BYTES: u64 = 4;
/// A product's backward pass is two products of the same size: one for each factor's gradient.
const FORWARD_AND_BACKWARD: f64 = 3.0;

/// Cost of training one run, without decoding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    pub parameters: Parameters,
    /// See [`training_flops`].
    pub step_flops: f64,
    pub training_flops: f64,
    /// Parameters, gradients, Adam's moments and the activations of one micro-batch.
    pub memory_bytes: u64,
}

impl Cost {
    /// Computes the cost of training on sentences of `mean_length` tokens.
    #[must_use]
    pub fn of(experiment: &Experiment, mean_length: f64) -> Self {
        let training = &experiment.training;
        let parameters = Parameters::of(experiment);
        let work = Work::uniform(
            training.batch_tokens as f64,
            mean_length,
            experiment.model.attention_window,
        );
        let step_flops = training_flops(experiment, &work);
        let activations = training.micro_batch_tokens as f64 * activations_per_token(experiment, mean_length);
        Self {
            parameters,
            step_flops,
            training_flops: step_flops * training.steps as f64,
            memory_bytes: F32_BYTES * (COPIES_OF_PARAMETERS * parameters.total() + activations as u64),
        }
    }

    /// Returns the seconds of training on a machine that sustains this many operations per second.
    #[must_use]
    pub fn training_s(&self, sustained_flops_per_s: f64) -> f64 {
        self.training_flops / sustained_flops_per_s
    }
}

/// Amount of text that a model reads. Operations are counted from it. Every number is a sum over sentences.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Work {
    /// Tokens that the encoder reads, with the end token of each sentence.
    #[serde(rename = "source_pieces")]
    pub source_tokens: f64,
    /// Tokens that the decoder reads, with the start token of each sentence.
    #[serde(rename = "target_pieces")]
    pub target_tokens: f64,
    /// Pairs of tokens of one sentence pair that attention compares: two source tokens, two target tokens, one of each.
    pub source_pairs: f64,
    pub target_pairs: f64,
    pub cross_pairs: f64,
}

impl Work {
    /// Returns the work of one sentence pair; `window` is `model.attention_window`.
    #[must_use]
    pub fn of_pair(source: usize, target: usize, window: Option<usize>) -> Self {
        let [source_pairs, target_pairs] = [source, target].map(|length| pairs_within(length, window));
        let [source, target] = [source, target].map(|length| length as f64);
        Self {
            source_tokens: source,
            target_tokens: target,
            source_pairs,
            target_pairs,
            cross_pairs: source * target,
        }
    }

    /// Returns the work of `tokens` target tokens and as many source tokens, in sentences of `mean_length`.
    fn uniform(tokens: f64, mean_length: f64, window: Option<usize>) -> Self {
        let length = mean_length.round().max(1.0) as usize;
        let share = pairs_within(length, window) / pairs_within(length, None);
        let pairs = tokens * mean_length;
        Self {
            source_tokens: tokens,
            target_tokens: tokens,
            source_pairs: share * pairs,
            target_pairs: share * pairs,
            cross_pairs: pairs,
        }
    }
}

/// Counts the pairs of tokens of one sentence that are at most a window apart.
fn pairs_within(length: usize, window: Option<usize>) -> f64 {
    let far = window.map_or(length, |window| window.saturating_add(1)).min(length);
    let (length, far) = (length as f64, far as f64);
    // `length` pairs of a token with itself, and `length - d` in each order that are `d` apart.
    length * (2.0 * far - 1.0).max(0.0) - far * (far - 1.0)
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.source_tokens += other.source_tokens;
        self.target_tokens += other.target_tokens;
        self.source_pairs += other.source_pairs;
        self.target_pairs += other.target_pairs;
        self.cross_pairs += other.cross_pairs;
    }
}

/// Counts the operations of the matrix products of training on `work` once, forward and backward. A multiplication
/// counts one, and so does an addition. Attention counts all pairs, also the masked half.
#[must_use]
pub fn training_flops(experiment: &Experiment, work: &Work) -> f64 {
    let model = &experiment.model;
    let [layers, d_model, d_ff, keys, values, vocab] = [
        model.layers,
        model.d_model,
        model.d_ff,
        model.heads * model.d_k,
        model.heads * model.d_v,
        experiment.data.vocab_size,
    ]
    .map(|size| size as f64);

    // Multiplications. A token that attends has a query and an output, a token that is attended to has a key and a
    // value; a pair of the two has a score and a weighted value.
    let attention =
        |attending: f64, attended: f64, pairs: f64| (d_model * (attending + attended) + pairs) * (keys + values);
    let feed_forward = |tokens: f64| 2.0 * d_model * d_ff * tokens;
    let &Work {
        source_tokens: source,
        target_tokens: target,
        source_pairs,
        target_pairs,
        cross_pairs,
    } = work;
    let encoder = attention(source, source, source_pairs) + feed_forward(source);
    let decoder =
        attention(target, target, target_pairs) + attention(target, source, cross_pairs) + feed_forward(target);
    2.0 * FORWARD_AND_BACKWARD * (layers * (encoder + decoder) + d_model * vocab * target)
}

/// Returns how many numbers the backward pass needs per target token and its source token: the inputs of every product,
/// norm and non-linearity, and the dropout masks.
fn activations_per_token(experiment: &Experiment, mean_length: f64) -> f64 {
    let model = &experiment.model;
    let [layers, d_model, d_ff, heads, keys, values, vocab] = [
        model.layers,
        model.d_model,
        model.d_ff,
        model.heads,
        model.heads * model.d_k,
        model.heads * model.d_v,
        experiment.data.vocab_size,
    ]
    .map(|size| size as f64);

    // q, k; v and the mixed values; scores and weights; output, mask, sum and norm.
    let attention = 2.0 * keys + 2.0 * values + 2.0 * heads * mean_length + 4.0 * d_model;
    // Before and after the non-linearity; output, mask, sum and norm.
    let feed_forward = 2.0 * d_ff + 4.0 * d_model;
    let embeddings = 2.0 * 2.0 * d_model;
    // Logits and their gradient.
    let projection = 2.0 * vocab;
    embeddings + layers * (3.0 * attention + 2.0 * feed_forward) + projection
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::spec::load_experiment;

    fn experiment(model: &str, rest: &str) -> Experiment {
        let text = format!(
            "model = {{ {model} }}
            regularization = {{ dropout = 0.1, label_smoothing = 0.1 }}
            data = {{ corpus = 'multi30k', vocab_size = 100, max_length = 20 }}
            training = {{ steps = 100, batch_tokens = 1000, warmup_steps = 50{rest} }}"
        );
        load_experiment(Path::new("x.toml"), &|_| Ok(text.clone())).unwrap()
    }

    #[test]
    fn a_step_counts_every_product_by_hand() {
        // One token each side, sentences of length 5, D 4, F 6, 2 heads of d_k 3 and d_v 2 (H*K 6, H*V 4), V 100:
        // an attention 2*4*6 + 2*4*4 projections, 5*6 scores, 5*4 mixing = 130; feed-forward 2*4*6 = 48;
        // encoder 178, decoder 2*130 + 48 + 400 = 708; 6 operations for each: 2 by forward, 4 by backward.
        let tiny = experiment(
            "layers = 1, d_model = 4, d_ff = 6, heads = 2, d_k = 3, d_v = 2",
            ", learning_rate_factor = 0.1",
        );
        let flops = training_flops(&tiny, &Work::uniform(1.0, 5.0, None));
        assert!((flops - 6.0 * (178.0 + 708.0)).abs() <= 1e-9, "{flops}");
    }

    #[test]
    fn work_is_counted_sentence_by_sentence() {
        // The same model, a pair of 3 and 2 tokens and one of 1 and 1. Multiplications, with H*K + H*V = 10 and D 4:
        // encoder self-attention (4*2*4 + 10)*10 = 420, feed-forward 48*4 = 192; decoder self-attention (4*2*3 + 5)*10
        // = 290, cross-attention (4*(3 + 4) + 7)*10 = 350, feed-forward 48*3 = 144, projection 400*3 = 1200.
        let tiny = experiment(
            "layers = 1, d_model = 4, d_ff = 6, heads = 2, d_k = 3, d_v = 2",
            ", learning_rate_factor = 0.1",
        );
        let mut work = Work::of_pair(3, 2, None);
        work += Work::of_pair(1, 1, None);
        let flops = training_flops(&tiny, &work);
        assert!((flops - 6.0 * 2596.0).abs() <= 1e-9, "{flops}");
    }

    #[test]
    fn a_window_leaves_out_the_pairs_that_are_further_apart() {
        for length in 0..9_usize {
            for window in 0..10 {
                let near = |i: usize| (0..length).filter(|&j: &usize| j.abs_diff(i) <= window).count();
                let counted: usize = (0..length).map(near).sum();
                let pairs = Work::of_pair(length, length, Some(window)).source_pairs;
                assert!((pairs - counted as f64).abs() <= 0.0, "{length} {window}");
            }
            let all = Work::of_pair(length, 3, None);
            assert!((all.source_pairs - (length * length) as f64).abs() <= 0.0);
        }
    }

    #[test]
    fn the_cost_grows_with_steps_and_shrinks_with_speed() {
        let cost = Cost::of(&experiment("layers = 1, d_model = 64, d_ff = 64, heads = 2", ""), 10.0);
        assert!((cost.training_flops - 100.0 * cost.step_flops).abs() <= 1.0);
        assert!((cost.training_s(1e9) - 2.0 * cost.training_s(2e9)).abs() <= 1e-9);
    }

    #[test]
    fn memory_holds_four_copies_of_the_parameters_and_one_micro_batch() {
        let model = "layers = 1, d_model = 64, d_ff = 64, heads = 2";
        let large = Cost::of(&experiment(model, ", micro_batch_tokens = 400"), 10.0);
        let small = Cost::of(&experiment(model, ", micro_batch_tokens = 200"), 10.0);
        let activations = large.memory_bytes - small.memory_bytes;
        assert_eq!(small.memory_bytes, 16 * small.parameters.total() + activations);
    }
}
