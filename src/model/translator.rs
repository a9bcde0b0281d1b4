//! The model as it translates: the network on weights that were packed for the device, without a tape and without types
//! of sizes.

use dfdx::shapes::ConstDim;

use super::network::{Backend, Convert, DecoderLayer, Network, Weights};
use super::positions::{Sinusoids, learned_row};
use super::weights::{Attention, FeedForward, LayerNorm, Trained};
use crate::ops::{Activation, HeadSizes, Inference, Lineage, Mask, Ops, Packed, Sizes, Spans, host};

/// Weights in the form that a device multiplies fastest.
pub struct Prepared<I>(std::marker::PhantomData<I>);

impl<I: Inference> Weights for Prepared<I> {
    type Norm = I::Norm;
    type SelfAttention = PreparedAttention<I>;
    type CrossAttention = PreparedCrossAttention<I>;
    type FeedForward = PreparedFeedForward<I>;
}

/// Attention whose queries, keys and values are projections of the same rows.
pub struct PreparedAttention<I: Inference> {
    /// `[2*H*K + H*VD, D]`: queries, keys, values.
    projections: I::Linear,
    output: I::Linear,
}

/// Attention to the source.
pub struct PreparedCrossAttention<I: Inference> {
    query: I::Linear,
    /// `[H*K + H*VD, D]`: keys, values.
    memory: I::Linear,
    output: I::Linear,
}

pub struct PreparedFeedForward<I: Inference> {
    inner: I::Linear,
    outer: I::Linear,
}

/// Packs trained weights for a device.
pub struct Preparation<I>(I);

impl<I: Inference> Preparation<I> {
    pub fn new(device: I) -> Self {
        Self(device)
    }
}

impl<Dev: Ops, S: Sizes, I: Inference> Convert<Trained<Dev, S>, Prepared<I>> for Preparation<I> {
    fn norm(&self, norm: &LayerNorm<Dev, S::Model>) -> I::Norm {
        self.0.prepare_norm(host(&norm.weight), host(&norm.bias))
    }

    fn self_attention(&self, attention: &Attention<Dev, S>) -> PreparedAttention<I> {
        let projections = [host(&attention.query), host(&attention.key), host(&attention.value)].concat();
        PreparedAttention {
            projections: self.0.prepare_linear(projections, S::Model::SIZE, None),
            output: self.0.prepare_linear(host(&attention.output), S::Values::SIZE, None),
        }
    }

    fn cross_attention(&self, attention: &Attention<Dev, S>) -> PreparedCrossAttention<I> {
        let memory = [host(&attention.key), host(&attention.value)].concat();
        PreparedCrossAttention {
            query: self.0.prepare_linear(host(&attention.query), S::Model::SIZE, None),
            memory: self.0.prepare_linear(memory, S::Model::SIZE, None),
            output: self.0.prepare_linear(host(&attention.output), S::Values::SIZE, None),
        }
    }

    fn feed_forward(&self, network: &FeedForward<Dev, S>) -> PreparedFeedForward<I> {
        let inner_bias = Some(host(&network.inner_bias));
        let outer_bias = Some(host(&network.outer_bias));
        PreparedFeedForward {
            inner: self.0.prepare_linear(host(&network.inner), S::Model::SIZE, inner_bias),
            outer: self.0.prepare_linear(host(&network.outer), S::Inner::SIZE, outer_bias),
        }
    }
}

/// What translation is told of sizes, all of which are values here.
#[derive(Debug, Clone, Copy)]
pub struct Dimensions {
    /// D.
    pub width: usize,
    pub heads: HeadSizes,
    /// Of restricted self-attention.
    pub window: Option<usize>,
}

/// A model made ready to translate.
pub struct Translator<I: Inference> {
    pub device: I,
    pub dimensions: Dimensions,
    pub table: I::Table,
    positions: Positions,
    pub network: Network<Prepared<I>>,
}

/// What is added to the embeddings.
enum Positions {
    Sinusoidal(Sinusoids),
    /// `[P, D]`.
    Learned(Vec<f32>),
}

impl<I: Inference> Translator<I> {
    /// `embedding` is `[V, D]`, `positions` the learned ones, if there are any.
    pub fn new(
        preparation: Preparation<I>,
        network: Network<Prepared<I>>,
        embedding: Vec<f32>,
        positions: Option<Vec<f32>>,
        dimensions: Dimensions,
    ) -> Self {
        let (device, width) = (preparation.0, dimensions.width);
        Self {
            table: device.prepare_table(embedding, width),
            device,
            dimensions,
            positions: positions.map_or_else(|| Positions::Sinusoidal(Sinusoids::new(width)), Positions::Learned),
            network,
        }
    }

    /// `embedding * sqrt(d_model) + position` of each token, which stands at the position beside it.
    pub fn embed(&self, tokens: &[u32], positions: impl Iterator<Item = usize>) -> I::Rows {
        let width = self.dimensions.width;
        let rows = positions.flat_map(|position| match &self.positions {
            Positions::Sinusoidal(sinusoids) => sinusoids.rows(position..position + 1),
            Positions::Learned(table) => {
                let row = learned_row(position, table.len() / width);
                table[row * width..][..width].to_vec()
            }
        });
        let scale = (width as f32).sqrt();
        self.device.embed(&self.table, tokens, scale, rows.collect())
    }

    /// The encoder's last rows, `[source tokens, D]`.
    pub fn encode(&self, source: &Packed, watch: &mut dyn Watch<I>) -> I::Rows {
        let positions = (0..source.sentences()).flat_map(|index| 0..source.rows(index).len());
        let embedded = self.embed(source.ids(), positions);
        let mut pass = Pass {
            model: self,
            within: Within::Sentences(self.within(source, Mask::Full)),
            memories: &[],
            sentences: &[],
            watch,
        };
        self.network.encode(&mut pass, embedded)
    }

    /// Who sees whom in sentences that attend to themselves.
    pub fn within(&self, sentences: &Packed, mask: Mask) -> Spans {
        Spans::within(sentences, mask).windowed(self.dimensions.window)
    }

    /// What a layer of the decoder attends to in the encoder's last rows: `[source tokens, H*K + H*VD]`, keys and values.
    pub fn source_keys_values(&self, layer: &DecoderLayer<Prepared<I>>, encoded: &I::Rows) -> I::Rows {
        self.device
            .linear(encoded, &layer.cross_attention.memory, Activation::Identity)
    }
}

/// Sees what heads are given.
pub trait Watch<I: Inference> {
    /// Queries, keys and values of a sentence that attends to itself, `[N, 2*H*K + H*VD]`.
    fn to_self(&mut self, _projected: &I::Rows) {}

    /// Queries of the decoder's layer number `layer` to the source, `[N, H*K]`.
    fn to_source(&mut self, _layer: usize, _queries: &I::Rows) {}
}

/// Sees nothing.
pub struct Unwatched;

impl<I: Inference> Watch<I> for Unwatched {}

/// What the tokens of a sentence see of one another.
pub enum Within<'p, I: Inference> {
    /// Whole sentences.
    Sentences(Spans),
    /// The steps so far, one history a layer.
    Steps(&'p mut [I::History], &'p Lineage),
}

/// One way through a stack: the backend of translation.
pub struct Pass<'p, I: Inference> {
    pub model: &'p Translator<I>,
    pub within: Within<'p, I>,
    /// What the source sentences say, one for each layer of the decoder.
    pub memories: &'p [I::Memory],
    /// The source sentence of each row.
    pub sentences: &'p [usize],
    pub watch: &'p mut dyn Watch<I>,
}

impl<I: Inference> Backend<Prepared<I>> for Pass<'_, I> {
    type Rows = I::Rows;

    fn normalize(&mut self, norm: &I::Norm, x: &I::Rows) -> I::Rows {
        self.model.device.normalize(x, norm)
    }

    fn add(&mut self, x: I::Rows, y: I::Rows) -> I::Rows {
        self.model.device.add(x, &y)
    }

    fn add_norm(&mut self, norm: &I::Norm, x: I::Rows, y: I::Rows) -> I::Rows {
        self.model.device.add_norm(x, &y, norm)
    }

    fn attend_to_self(&mut self, layer: usize, weights: &PreparedAttention<I>, x: &I::Rows) -> I::Rows {
        let device = &self.model.device;
        let sizes = self.model.dimensions.heads;
        let projected = device.linear(x, &weights.projections, Activation::Identity);
        self.watch.to_self(&projected);
        let mixed = match &mut self.within {
            Within::Sentences(spans) => device.attend_within(&projected, sizes, spans),
            Within::Steps(histories, lineage) => {
                device.attend_history(projected, &mut histories[layer], sizes, lineage)
            }
        };
        device.linear(&mixed, &weights.output, Activation::Identity)
    }

    fn attend_to_source(&mut self, layer: usize, weights: &PreparedCrossAttention<I>, x: &I::Rows) -> I::Rows {
        let device = &self.model.device;
        let queries = device.linear(x, &weights.query, Activation::Identity);
        self.watch.to_source(layer, &queries);
        let mixed = device.attend_memory(&queries, &self.memories[layer], self.sentences);
        device.linear(&mixed, &weights.output, Activation::Identity)
    }

    fn feed_forward(&mut self, weights: &PreparedFeedForward<I>, x: &I::Rows) -> I::Rows {
        let device = &self.model.device;
        let hidden = device.linear(x, &weights.inner, Activation::Relu);
        device.linear(&hidden, &weights.outer, Activation::Identity)
    }
}
