//! One layer of the encoder and one of the decoder (section 3.1).

use dfdx::prelude::*;

use super::attention::Attention;
use super::feed_forward::FeedForward;
use super::init::Init;
use super::norm::LayerNorm;
use super::parameter::Visit;
use super::prepared::{PreparedDecoderLayer, PreparedEncoderLayer};
use crate::ops::{DropoutStream, Inference, Ops, Rows, Spans};
use crate::spec::Norm;

pub struct EncoderLayer<
    Dev: Ops,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
> {
    attention: Attention<Dev, D, H, K, VD, HK, HV>,
    attention_norm: LayerNorm<Dev, D>,
    feed_forward: FeedForward<Dev, D, F>,
    feed_forward_norm: LayerNorm<Dev, D>,
}

impl<
    Dev: Ops,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
> EncoderLayer<Dev, D, F, H, K, VD, HK, HV>
{
    pub fn new(init: &Init<Dev>, name: &str) -> Self {
        Self {
            attention: Attention::new(init, &format!("{name}.attention")),
            attention_norm: LayerNorm::new(init),
            feed_forward: FeedForward::new(init, &format!("{name}.feed_forward")),
            feed_forward_norm: LayerNorm::new(init),
        }
    }

    pub fn forward<T: Tape<f32, Dev>>(
        &self,
        x: Rows<D, Dev, T>,
        spans: &Spans,
        norm: Norm,
        dropout: &mut DropoutStream,
    ) -> Rows<D, Dev, T> {
        let x = self.attention_norm.residual(norm, dropout.next_site(D), x, |x| {
            self.attention.forward(x, None, spans)
        });
        self.feed_forward_norm
            .residual(norm, dropout.next_site(D), x, |x| self.feed_forward.forward(x))
    }

    pub fn prepared<I: Inference>(&self, device: &I) -> PreparedEncoderLayer<I> {
        PreparedEncoderLayer {
            attention: self.attention.prepared_to_self(device),
            attention_norm: self.attention_norm.prepared(device),
            feed_forward: self.feed_forward.prepared(device),
            feed_forward_norm: self.feed_forward_norm.prepared(device),
        }
    }

    pub fn visit<'m>(&'m mut self, name: &str, visit: &mut Visit<'_, 'm, Dev>) {
        self.attention.visit(&format!("{name}.attention"), visit);
        self.attention_norm.visit(&format!("{name}.attention_norm"), visit);
        self.feed_forward.visit(&format!("{name}.feed_forward"), visit);
        self.feed_forward_norm
            .visit(&format!("{name}.feed_forward_norm"), visit);
    }
}

pub struct DecoderLayer<
    Dev: Ops,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
> {
    self_attention: Attention<Dev, D, H, K, VD, HK, HV>,
    self_attention_norm: LayerNorm<Dev, D>,
    cross_attention: Attention<Dev, D, H, K, VD, HK, HV>,
    cross_attention_norm: LayerNorm<Dev, D>,
    feed_forward: FeedForward<Dev, D, F>,
    feed_forward_norm: LayerNorm<Dev, D>,
}

impl<
    Dev: Ops,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
> DecoderLayer<Dev, D, F, H, K, VD, HK, HV>
{
    pub fn new(init: &Init<Dev>, name: &str) -> Self {
        Self {
            self_attention: Attention::new(init, &format!("{name}.self_attention")),
            self_attention_norm: LayerNorm::new(init),
            cross_attention: Attention::new(init, &format!("{name}.cross_attention")),
            cross_attention_norm: LayerNorm::new(init),
            feed_forward: FeedForward::new(init, &format!("{name}.feed_forward")),
            feed_forward_norm: LayerNorm::new(init),
        }
    }

    /// `attend_to_self` and `attend_to_source` are given by the caller, who knows the sentences.
    pub fn forward<T: Tape<f32, Dev>>(
        &self,
        x: Rows<D, Dev, T>,
        norm: Norm,
        dropout: &mut DropoutStream,
        attend_to_self: impl FnOnce(&Attention<Dev, D, H, K, VD, HK, HV>, Rows<D, Dev, T>) -> Rows<D, Dev, T>,
        attend_to_source: impl FnOnce(&Attention<Dev, D, H, K, VD, HK, HV>, Rows<D, Dev, T>) -> Rows<D, Dev, T>,
    ) -> Rows<D, Dev, T> {
        let x = self.self_attention_norm.residual(norm, dropout.next_site(D), x, |x| {
            attend_to_self(&self.self_attention, x)
        });
        let x = self.cross_attention_norm.residual(norm, dropout.next_site(D), x, |x| {
            attend_to_source(&self.cross_attention, x)
        });
        self.feed_forward_norm
            .residual(norm, dropout.next_site(D), x, |x| self.feed_forward.forward(x))
    }

    pub fn prepared<I: Inference>(&self, device: &I) -> PreparedDecoderLayer<I> {
        PreparedDecoderLayer {
            self_attention: self.self_attention.prepared_to_self(device),
            self_attention_norm: self.self_attention_norm.prepared(device),
            cross_attention: self.cross_attention.prepared_to_source(device),
            cross_attention_norm: self.cross_attention_norm.prepared(device),
            feed_forward: self.feed_forward.prepared(device),
            feed_forward_norm: self.feed_forward_norm.prepared(device),
        }
    }

    pub fn visit<'m>(&'m mut self, name: &str, visit: &mut Visit<'_, 'm, Dev>) {
        self.self_attention.visit(&format!("{name}.self_attention"), visit);
        self.self_attention_norm
            .visit(&format!("{name}.self_attention_norm"), visit);
        self.cross_attention.visit(&format!("{name}.cross_attention"), visit);
        self.cross_attention_norm
            .visit(&format!("{name}.cross_attention_norm"), visit);
        self.feed_forward.visit(&format!("{name}.feed_forward"), visit);
        self.feed_forward_norm
            .visit(&format!("{name}.feed_forward_norm"), visit);
    }
}
