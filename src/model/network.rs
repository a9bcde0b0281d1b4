//! The network, once: in which order the sub-layers come, what is added and what is normalised (sections 3.1 and 5.4).
//!
//! It is wired over a [`Backend`]. Training is one, with weights of known sizes and a record of every operation;
//! translation is another, with weights that were packed for it, and caches.

use crate::spec::Norm;
use crate::threads::{Shareable, map};

/// The weights of sub-layers, in the form that a backend wants.
pub trait Weights {
    type Norm: Shareable;
    type SelfAttention: Shareable;
    /// Attention of the decoder to the encoder's output.
    type CrossAttention: Shareable;
    type FeedForward: Shareable;
}

/// Carries out what a network is made of. Rows are `[N, D]`.
pub trait Backend<W: Weights> {
    type Rows;

    fn normalize(&mut self, norm: &W::Norm, x: &Self::Rows) -> Self::Rows;

    /// `x + Dropout(y)`.
    fn add(&mut self, x: Self::Rows, y: Self::Rows) -> Self::Rows;

    /// `LayerNorm(x + Dropout(y))`.
    fn add_norm(&mut self, norm: &W::Norm, x: Self::Rows, y: Self::Rows) -> Self::Rows;

    /// Attention of a sentence to itself, in layer number `layer` of its stack.
    fn attend_to_self(&mut self, layer: usize, weights: &W::SelfAttention, x: &Self::Rows) -> Self::Rows;

    /// Attention to the encoder's output, in layer number `layer` of the decoder.
    fn attend_to_source(&mut self, layer: usize, weights: &W::CrossAttention, x: &Self::Rows) -> Self::Rows;

    fn feed_forward(&mut self, weights: &W::FeedForward, x: &Self::Rows) -> Self::Rows;
}

/// Makes weights, each by its name.
pub trait Make<W: Weights> {
    fn norm(&self, name: &str) -> W::Norm;

    fn self_attention(&self, name: &str) -> W::SelfAttention;

    fn cross_attention(&self, name: &str) -> W::CrossAttention;

    fn feed_forward(&self, name: &str) -> W::FeedForward;
}

/// Turns weights into those of another backend.
pub trait Convert<W: Weights, V: Weights>: Shareable {
    fn norm(&self, norm: &W::Norm) -> V::Norm;

    fn self_attention(&self, attention: &W::SelfAttention) -> V::SelfAttention;

    fn cross_attention(&self, attention: &W::CrossAttention) -> V::CrossAttention;

    fn feed_forward(&self, feed_forward: &W::FeedForward) -> V::FeedForward;
}

/// A sub-layer's weights, to be listed.
pub enum Part<'a, W: Weights> {
    Norm(&'a mut W::Norm),
    SelfAttention(&'a mut W::SelfAttention),
    CrossAttention(&'a mut W::CrossAttention),
    FeedForward(&'a mut W::FeedForward),
}

/// Both stacks of layers. What comes before and after them, the embeddings and the loss, is the backend's own.
pub struct Network<W: Weights> {
    norm: Norm,
    pub encoder: Vec<EncoderLayer<W>>,
    pub decoder: Vec<DecoderLayer<W>>,
    /// Of encoder and decoder: with pre-norm nothing else has normalised a stack's last sum.
    final_norms: Option<[W::Norm; 2]>,
}

pub struct EncoderLayer<W: Weights> {
    attention: W::SelfAttention,
    attention_norm: W::Norm,
    feed_forward: W::FeedForward,
    feed_forward_norm: W::Norm,
}

pub struct DecoderLayer<W: Weights> {
    self_attention: W::SelfAttention,
    self_attention_norm: W::Norm,
    pub cross_attention: W::CrossAttention,
    cross_attention_norm: W::Norm,
    feed_forward: W::FeedForward,
    feed_forward_norm: W::Norm,
}

impl<W: Weights> Network<W> {
    /// A network of `layers` layers in each stack.
    pub fn new(layers: usize, norm: Norm, make: &impl Make<W>) -> Self {
        Self {
            norm,
            encoder: (0..layers)
                .map(|i| EncoderLayer::new(&format!("encoder.{i}"), make))
                .collect(),
            decoder: (0..layers)
                .map(|i| DecoderLayer::new(&format!("decoder.{i}"), make))
                .collect(),
            final_norms: (norm == Norm::Pre).then(|| ["encoder_norm", "decoder_norm"].map(|name| make.norm(name))),
        }
    }

    /// The same network for another backend.
    pub fn convert<V: Weights>(&self, to: &impl Convert<W, V>) -> Network<V> {
        Network {
            norm: self.norm,
            encoder: map(self.encoder.iter().collect(), |layer| layer.convert(to)),
            decoder: map(self.decoder.iter().collect(), |layer| layer.convert(to)),
            final_norms: self
                .final_norms
                .as_ref()
                .map(|norms| norms.each_ref().map(|norm| to.norm(norm))),
        }
    }

    /// All weights under their names, in a fixed order.
    pub fn parts(&mut self) -> Vec<(String, Part<'_, W>)> {
        let mut parts = Vec::new();
        for (i, layer) in self.encoder.iter_mut().enumerate() {
            parts.extend(layer.parts().map(|(name, part)| (format!("encoder.{i}.{name}"), part)));
        }
        for (i, layer) in self.decoder.iter_mut().enumerate() {
            parts.extend(layer.parts().map(|(name, part)| (format!("decoder.{i}.{name}"), part)));
        }
        if let Some([encoder, decoder]) = &mut self.final_norms {
            parts.push(("encoder_norm".to_owned(), Part::Norm(encoder)));
            parts.push(("decoder_norm".to_owned(), Part::Norm(decoder)));
        }
        parts
    }

    /// The encoder's last rows.
    pub fn encode<B: Backend<W>>(&self, backend: &mut B, mut x: B::Rows) -> B::Rows {
        for (i, layer) in self.encoder.iter().enumerate() {
            x = self.residual(backend, &layer.attention_norm, x, |backend, x| {
                backend.attend_to_self(i, &layer.attention, x)
            });
            x = self.residual(backend, &layer.feed_forward_norm, x, |backend, x| {
                backend.feed_forward(&layer.feed_forward, x)
            });
        }
        match &self.final_norms {
            Some([norm, _]) => backend.normalize(norm, &x),
            None => x,
        }
    }

    /// The decoder's last rows.
    pub fn decode<B: Backend<W>>(&self, backend: &mut B, mut x: B::Rows) -> B::Rows {
        for (i, layer) in self.decoder.iter().enumerate() {
            x = self.residual(backend, &layer.self_attention_norm, x, |backend, x| {
                backend.attend_to_self(i, &layer.self_attention, x)
            });
            x = self.residual(backend, &layer.cross_attention_norm, x, |backend, x| {
                backend.attend_to_source(i, &layer.cross_attention, x)
            });
            x = self.residual(backend, &layer.feed_forward_norm, x, |backend, x| {
                backend.feed_forward(&layer.feed_forward, x)
            });
        }
        match &self.final_norms {
            Some([_, norm]) => backend.normalize(norm, &x),
            None => x,
        }
    }

    /// `LayerNorm(x + Dropout(sublayer(x)))` as in the paper, or `x + Dropout(sublayer(LayerNorm(x)))`.
    fn residual<B: Backend<W>>(
        &self,
        backend: &mut B,
        norm: &W::Norm,
        x: B::Rows,
        sublayer: impl FnOnce(&mut B, &B::Rows) -> B::Rows,
    ) -> B::Rows {
        match self.norm {
            Norm::Post => {
                let y = sublayer(backend, &x);
                backend.add_norm(norm, x, y)
            }
            Norm::Pre => {
                let normalized = backend.normalize(norm, &x);
                let y = sublayer(backend, &normalized);
                backend.add(x, y)
            }
        }
    }
}

impl<W: Weights> EncoderLayer<W> {
    fn new(name: &str, make: &impl Make<W>) -> Self {
        Self {
            attention: make.self_attention(&format!("{name}.attention")),
            attention_norm: make.norm(&format!("{name}.attention_norm")),
            feed_forward: make.feed_forward(&format!("{name}.feed_forward")),
            feed_forward_norm: make.norm(&format!("{name}.feed_forward_norm")),
        }
    }

    fn convert<V: Weights>(&self, to: &impl Convert<W, V>) -> EncoderLayer<V> {
        EncoderLayer {
            attention: to.self_attention(&self.attention),
            attention_norm: to.norm(&self.attention_norm),
            feed_forward: to.feed_forward(&self.feed_forward),
            feed_forward_norm: to.norm(&self.feed_forward_norm),
        }
    }

    fn parts(&mut self) -> impl Iterator<Item = (&'static str, Part<'_, W>)> {
        let parts = [
            ("attention", Part::SelfAttention(&mut self.attention)),
            ("attention_norm", Part::Norm(&mut self.attention_norm)),
            ("feed_forward", Part::FeedForward(&mut self.feed_forward)),
            ("feed_forward_norm", Part::Norm(&mut self.feed_forward_norm)),
        ];
        parts.into_iter()
    }
}

impl<W: Weights> DecoderLayer<W> {
    fn new(name: &str, make: &impl Make<W>) -> Self {
        Self {
            self_attention: make.self_attention(&format!("{name}.self_attention")),
            self_attention_norm: make.norm(&format!("{name}.self_attention_norm")),
            cross_attention: make.cross_attention(&format!("{name}.cross_attention")),
            cross_attention_norm: make.norm(&format!("{name}.cross_attention_norm")),
            feed_forward: make.feed_forward(&format!("{name}.feed_forward")),
            feed_forward_norm: make.norm(&format!("{name}.feed_forward_norm")),
        }
    }

    fn convert<V: Weights>(&self, to: &impl Convert<W, V>) -> DecoderLayer<V> {
        DecoderLayer {
            self_attention: to.self_attention(&self.self_attention),
            self_attention_norm: to.norm(&self.self_attention_norm),
            cross_attention: to.cross_attention(&self.cross_attention),
            cross_attention_norm: to.norm(&self.cross_attention_norm),
            feed_forward: to.feed_forward(&self.feed_forward),
            feed_forward_norm: to.norm(&self.feed_forward_norm),
        }
    }

    fn parts(&mut self) -> impl Iterator<Item = (&'static str, Part<'_, W>)> {
        let parts = [
            ("self_attention", Part::SelfAttention(&mut self.self_attention)),
            ("self_attention_norm", Part::Norm(&mut self.self_attention_norm)),
            ("cross_attention", Part::CrossAttention(&mut self.cross_attention)),
            ("cross_attention_norm", Part::Norm(&mut self.cross_attention_norm)),
            ("feed_forward", Part::FeedForward(&mut self.feed_forward)),
            ("feed_forward_norm", Part::Norm(&mut self.feed_forward_norm)),
        ];
        parts.into_iter()
    }
}
