//! The model as it is trained: embeddings, the network, and the projection that shares the embeddings' matrix.

use dfdx::prelude::*;

use super::init::Init;
use super::network::{Backend, Network};
use super::parameter::Parameter;
use super::positions::{Sinusoids, learned_row};
use super::translator::{Dimensions, Preparation, Translator};
use super::weights::{Attention, FeedForward, LayerNorm, Trained, tensors};
use super::{Architecture, Batch, Decoder};
use crate::ops::{
    DropoutStream, HeadSizes, LossTarget, Mask, Ops, Packed, Recording, Rows, Sizes, Spans, Table, TokenLoss, host,
};
use crate::spec::Positional;
use crate::threads::Shareable;

/// A Transformer whose weight matrices have the sizes `S`; everything else about it is a value.
pub struct Transformer<Dev: Ops, S: Sizes> {
    device: Dev,
    architecture: Architecture,
    /// Shared by both embeddings and the projection before the softmax (section 3.4).
    embedding: Table<S::Model, Dev>,
    positions: Positions<Dev, S>,
    network: Network<Trained<Dev, S>>,
}

/// What is added to the embeddings. One table serves encoder and decoder.
enum Positions<Dev: Ops, S: Sizes> {
    Sinusoidal(Sinusoids),
    Learned(Table<S::Model, Dev>),
}

/// A model as [`super::Trainable`] sees it: the typed world's side of the door.
pub trait Model<Dev: Ops>: Shareable {
    /// Every trained tensor under its name, in a fixed order.
    fn parameters(&mut self) -> Vec<(String, &mut dyn Parameter<Dev>)>;

    /// The losses of a batch.
    fn loss(
        &self,
        batch: &Batch,
        target: LossTarget,
        dropout: DropoutStream,
        recording: &mut Recording<Dev>,
    ) -> TokenLoss<Dev>;

    fn decoder(&self) -> Box<dyn Decoder + '_>;

    fn vocabulary_size(&self) -> usize;

    fn device(&self) -> &Dev;
}

impl<Dev: Ops, S: Sizes> Transformer<Dev, S> {
    /// Fresh weights drawn from the streams of `seed`.
    #[must_use]
    pub fn new(device: &Dev, architecture: Architecture, seed: u64) -> Self {
        let init = Init { device, seed };
        Self {
            device: device.clone(),
            architecture,
            embedding: init.embedding("embedding", architecture.vocabulary),
            positions: match architecture.positional {
                Positional::Sinusoidal => Positions::Sinusoidal(Sinusoids::new(S::Model::SIZE)),
                Positional::Learned { max_positions } => Positions::Learned(init.positions(max_positions)),
            },
            network: Network::new(architecture.layers, architecture.norm, &init),
        }
    }
}

impl<Dev: Ops, S: Sizes> Model<Dev> for Transformer<Dev, S> {
    fn parameters(&mut self) -> Vec<(String, &mut dyn Parameter<Dev>)> {
        let mut parameters: Vec<(String, &mut dyn Parameter<Dev>)> =
            vec![("embedding.weight".to_owned(), &mut self.embedding)];
        if let Positions::Learned(table) = &mut self.positions {
            parameters.push(("positions.weight".to_owned(), table));
        }
        for (part, weights) in self.network.parts() {
            let of_part = tensors(weights).into_iter();
            parameters.extend(of_part.map(|(name, tensor)| (format!("{part}.{name}"), tensor)));
        }
        parameters
    }

    fn loss(
        &self,
        batch: &Batch,
        target: LossTarget,
        mut dropout: DropoutStream,
        recording: &mut Recording<Dev>,
    ) -> TokenLoss<Dev> {
        let window = self.architecture.attention_window;
        dropout.at_row(batch.before.source);
        let mut pass = Pass {
            model: self,
            recording,
            dropout,
            within: Spans::within(&batch.source, Mask::Full).windowed(window),
            source: None,
        };
        let embedded = pass.embed(&batch.source);
        let encoded = self.network.encode(&mut pass, embedded);
        pass.within = Spans::within(&batch.target, Mask::Causal).windowed(window);
        pass.source = Some((encoded, Spans::across(&batch.target, &batch.source)));
        pass.dropout.at_row(batch.before.target);
        let embedded = pass.embed(&batch.target);
        let decoded = self.network.decode(&mut pass, embedded);
        Dev::smoothed_loss(pass.recording, &decoded, &self.embedding, target)
    }

    fn decoder(&self) -> Box<dyn Decoder + '_> {
        let preparation = Preparation::new(self.device.inference());
        let positions = match &self.positions {
            Positions::Sinusoidal(_) => None,
            Positions::Learned(table) => Some(host(table)),
        };
        let network = self.network.convert(&preparation);
        let embedding = host(&self.embedding);
        let dimensions = Dimensions {
            width: S::Model::SIZE,
            heads: HeadSizes::split(self.architecture.heads, S::Keys::SIZE, S::Values::SIZE),
            window: self.architecture.attention_window,
        };
        Box::new(Translator::new(preparation, network, embedding, positions, dimensions))
    }

    fn vocabulary_size(&self) -> usize {
        self.architecture.vocabulary
    }

    fn device(&self) -> &Dev {
        &self.device
    }
}

/// One pass over a batch: the backend of training.
struct Pass<'a, Dev: Ops, S: Sizes> {
    model: &'a Transformer<Dev, S>,
    recording: &'a mut Recording<Dev>,
    dropout: DropoutStream,
    /// Of the sentences in the stack that is at work.
    within: Spans,
    /// What the decoder attends to: the encoder's last rows, and who sees which.
    source: Option<(Rows<S::Model, Dev>, Spans)>,
}

impl<Dev: Ops, S: Sizes> Pass<'_, Dev, S> {
    /// `Dropout(embedding * sqrt(d_model) + position)`, sections 3.4, 3.5 and 5.4.
    fn embed(&mut self, sentences: &Packed) -> Rows<S::Model, Dev> {
        let scale = (S::Model::SIZE as f32).sqrt();
        let tokens = Dev::gather(self.recording, &self.model.embedding, sentences.ids(), scale);
        let positions = self.positions(sentences);
        let sum = Dev::add(self.recording, &tokens, &positions);
        Dev::dropout(self.recording, &sum, self.dropout.next_site(S::Model::SIZE))
    }

    fn positions(&mut self, sentences: &Packed) -> Rows<S::Model, Dev> {
        let lengths = (0..sentences.sentences()).map(|index| sentences.rows(index).len());
        let longest = lengths.clone().max().unwrap_or(0);
        let of_tokens = lengths.flat_map(|length| 0..length);
        match &self.model.positions {
            Positions::Sinusoidal(sinusoids) => {
                let rows: Vec<u32> = of_tokens.map(|position| position as u32).collect();
                self.model.device.constant_rows(sinusoids.rows(0..longest), &rows)
            }
            Positions::Learned(table) => {
                let (count, _) = *HasShape::shape(table);
                let rows: Vec<u32> = of_tokens.map(|position| learned_row(position, count) as u32).collect();
                Dev::gather(self.recording, table, &rows, 1.0)
            }
        }
    }

    fn attend(
        &mut self,
        weights: &Attention<Dev, S>,
        x: &Rows<S::Model, Dev>,
        memory: Option<&Rows<S::Model, Dev>>,
        spans: &Spans,
    ) -> Rows<S::Model, Dev> {
        let heads = self.model.architecture.heads;
        Dev::multi_head_attention(self.recording, x, memory, &weights.weights(), heads, spans)
    }
}

impl<Dev: Ops, S: Sizes> Backend<Trained<Dev, S>> for Pass<'_, Dev, S> {
    type Rows = Rows<S::Model, Dev>;

    fn normalize(&mut self, norm: &LayerNorm<Dev, S::Model>, x: &Self::Rows) -> Self::Rows {
        Dev::layer_norm(self.recording, x, &norm.weights())
    }

    fn add(&mut self, x: Self::Rows, y: Self::Rows) -> Self::Rows {
        let y = Dev::dropout(self.recording, &y, self.dropout.next_site(S::Model::SIZE));
        Dev::add(self.recording, &x, &y)
    }

    fn add_norm(&mut self, norm: &LayerNorm<Dev, S::Model>, x: Self::Rows, y: Self::Rows) -> Self::Rows {
        let dropout = self.dropout.next_site(S::Model::SIZE);
        Dev::add_norm(self.recording, &x, &y, dropout, &norm.weights())
    }

    fn attend_to_self(&mut self, _: usize, weights: &Attention<Dev, S>, x: &Self::Rows) -> Self::Rows {
        let spans = self.within.clone();
        self.attend(weights, x, None, &spans)
    }

    fn attend_to_source(&mut self, _: usize, weights: &Attention<Dev, S>, x: &Self::Rows) -> Self::Rows {
        let (memory, spans) = self.source.clone().expect("the encoder has read the source");
        self.attend(weights, x, Some(&memory), &spans)
    }

    fn feed_forward(&mut self, weights: &FeedForward<Dev, S>, x: &Self::Rows) -> Self::Rows {
        Dev::feed_forward(self.recording, x, &weights.weights())
    }
}
