//! A model made ready to translate: the layers again, without a tape and without types of sizes, on weights in the form
//! that the device multiplies fastest.

use std::borrow::Cow;
use std::ops::Range;

use super::session::CachedDecoder;
use super::{AttentionMaps, Decoder, Session};
use crate::ops::{Activation, HeadSizes, Inference, Mask, Packed, Spans};
use crate::spec::Norm;
use crate::threads::Shareable;

/// A [`super::Transformer`] made ready.
pub struct Prepared<'m, I: Inference> {
    pub device: I,
    pub norm: Norm,
    pub sizes: HeadSizes,
    /// The root of `d_model`, section 3.4.
    pub embedding_scale: f32,
    pub table: I::Table,
    pub positions: Positions<'m>,
    pub encoder: Vec<PreparedEncoderLayer<I>>,
    pub decoder: Vec<PreparedDecoderLayer<I>>,
    /// Of encoder and decoder, if nothing else normalises their last sums.
    pub final_norms: Option<[I::Norm; 2]>,
}

/// Rows `[N, D]` of the positions in a range.
pub trait PositionRows: Fn(Range<usize>) -> Vec<f32> + Shareable {}
impl<F: Fn(Range<usize>) -> Vec<f32> + Shareable> PositionRows for F {}

/// What is added to the embeddings; the first positions are made once.
pub struct Positions<'m> {
    width: usize,
    first: Vec<f32>,
    make: Box<dyn PositionRows + 'm>,
}

impl<'m> Positions<'m> {
    /// Longer sentences are rare.
    const FIRST: usize = 128;

    pub fn new(width: usize, make: Box<dyn PositionRows + 'm>) -> Self {
        Self {
            width,
            first: make(0..Self::FIRST),
            make,
        }
    }

    /// `[range, D]`.
    pub fn rows(&self, range: Range<usize>) -> Cow<'_, [f32]> {
        match self.first.get(range.start * self.width..range.end * self.width) {
            Some(rows) => Cow::Borrowed(rows),
            None => Cow::Owned((self.make)(range)),
        }
    }
}

/// Attention whose queries, keys and values are projections of the same rows.
pub struct PreparedSelfAttention<I: Inference> {
    /// `[2*H*K + H*VD, D]`: queries, keys, values.
    pub projections: I::Linear,
    pub output: I::Linear,
}

/// Attention to the source.
pub struct PreparedCrossAttention<I: Inference> {
    pub query: I::Linear,
    /// `[H*K + H*VD, D]`: keys, values.
    pub memory: I::Linear,
    pub output: I::Linear,
}

pub struct PreparedFeedForward<I: Inference> {
    pub inner: I::Linear,
    pub outer: I::Linear,
}

impl<I: Inference> PreparedFeedForward<I> {
    fn forward(&self, device: &I, x: &I::Rows) -> I::Rows {
        let hidden = device.linear(x, &self.inner, Activation::Relu);
        device.linear(&hidden, &self.outer, Activation::Identity)
    }
}

pub struct PreparedEncoderLayer<I: Inference> {
    pub attention: PreparedSelfAttention<I>,
    pub attention_norm: I::Norm,
    pub feed_forward: PreparedFeedForward<I>,
    pub feed_forward_norm: I::Norm,
}

pub struct PreparedDecoderLayer<I: Inference> {
    pub self_attention: PreparedSelfAttention<I>,
    pub self_attention_norm: I::Norm,
    pub cross_attention: PreparedCrossAttention<I>,
    pub cross_attention_norm: I::Norm,
    pub feed_forward: PreparedFeedForward<I>,
    pub feed_forward_norm: I::Norm,
}

impl<I: Inference> Prepared<'_, I> {
    /// `positions` holds a row for every id.
    pub fn embed(&self, ids: &[u32], positions: Vec<f32>) -> I::Rows {
        self.device.embed(&self.table, ids, self.embedding_scale, positions)
    }

    /// The encoder's last rows, `[source tokens, D]`. `watch` sees queries, keys and values of every layer.
    pub fn encode(&self, source: &Packed, mut watch: impl FnMut(&I::Rows)) -> I::Rows {
        let device = &self.device;
        let spans = Spans::within(source, Mask::Full);
        let positions = (0..source.sentences()).map(|index| self.positions.rows(0..source.rows(index).len()));
        let mut x = self.embed(source.ids(), positions.collect::<Vec<_>>().concat());
        for layer in &self.encoder {
            x = self.residual(&layer.attention_norm, x, |x| {
                let projected = device.linear(x, &layer.attention.projections, Activation::Identity);
                watch(&projected);
                let mixed = device.attend_within(&projected, self.sizes, &spans);
                device.linear(&mixed, &layer.attention.output, Activation::Identity)
            });
            x = self.residual(&layer.feed_forward_norm, x, |x| layer.feed_forward.forward(device, x));
        }
        match &self.final_norms {
            Some([norm, _]) => device.normalize(&x, norm),
            None => x,
        }
    }

    /// What a layer of the decoder attends to in the encoder's last rows: `[source tokens, H*K + H*VD]`, keys and values.
    pub fn source_keys_values(&self, layer: &PreparedDecoderLayer<I>, encoded: &I::Rows) -> I::Rows {
        self.device
            .linear(encoded, &layer.cross_attention.memory, Activation::Identity)
    }

    /// A layer of the decoder; the caller attends, with the caches that are its own.
    pub fn decode_layer(
        &self,
        layer: &PreparedDecoderLayer<I>,
        x: I::Rows,
        attend_to_self: impl FnOnce(I::Rows) -> I::Rows,
        attend_to_source: impl FnOnce(I::Rows) -> I::Rows,
    ) -> I::Rows {
        let device = &self.device;
        let x = self.residual(&layer.self_attention_norm, x, |x| {
            let projected = device.linear(x, &layer.self_attention.projections, Activation::Identity);
            device.linear(
                &attend_to_self(projected),
                &layer.self_attention.output,
                Activation::Identity,
            )
        });
        let x = self.residual(&layer.cross_attention_norm, x, |x| {
            let queries = device.linear(x, &layer.cross_attention.query, Activation::Identity);
            device.linear(
                &attend_to_source(queries),
                &layer.cross_attention.output,
                Activation::Identity,
            )
        });
        self.residual(&layer.feed_forward_norm, x, |x| layer.feed_forward.forward(device, x))
    }

    pub fn finish_decoder(&self, x: I::Rows) -> I::Rows {
        match &self.final_norms {
            Some([_, norm]) => self.device.normalize(&x, norm),
            None => x,
        }
    }

    /// `norm(x + sublayer(x))` as in the paper, or `x + sublayer(norm(x))`.
    fn residual(&self, norm: &I::Norm, x: I::Rows, sublayer: impl FnOnce(&I::Rows) -> I::Rows) -> I::Rows {
        match self.norm {
            Norm::Post => {
                let y = sublayer(&x);
                self.device.add_norm(x, &y, norm)
            }
            Norm::Pre => {
                let y = sublayer(&self.device.normalize(&x, norm));
                self.device.add(x, &y)
            }
        }
    }
}

impl<I: Inference> Decoder for Prepared<'_, I> {
    fn session(&self, source: &Packed) -> Box<dyn Session + '_> {
        Box::new(CachedDecoder::new(self, source))
    }

    fn attention(&self, source: &[u32], target: &[u32]) -> AttentionMaps {
        self.maps(source, target)
    }
}
