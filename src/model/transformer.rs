//! The whole model: embeddings, two stacks of layers, and the projection that shares the embeddings' matrix.

use std::array;
use std::ops::Range;

use dfdx::prelude::*;

use super::init::Init;
use super::layers::{DecoderLayer, EncoderLayer};
use super::norm::LayerNorm;
use super::parameter::{Visit, host};
use super::positions::{PositionTable, Positional};
use super::prepared::{Positions, Prepared};
use super::{Batch, Decoder};
use crate::ops::{DropoutStream, HeadSizes, Inference, LossTarget, Mask, Matrix, Ops, Packed, Rows, Spans, TokenLoss};
use crate::spec::Norm;
use crate::threads::{Shareable, map};

/// A Transformer of `N` + `N` layers, `D = d_model`, `F = d_ff`, `H` heads of `K = d_k` and `VD = d_v`, their products
/// `HK` and `HV`, `V` pieces in the vocabulary, and positions of kind `P`.
pub struct Transformer<
    Dev: Ops,
    const N: usize,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    const V: usize,
    P: Positional,
> {
    device: Dev,
    norm: Norm,
    /// Shared by both embeddings and the projection before the softmax (section 3.4).
    embedding: Matrix<V, D, Dev>,
    positions: P::Table<Dev, D>,
    encoder: [EncoderLayer<Dev, D, F, H, K, VD, HK, HV>; N],
    decoder: [DecoderLayer<Dev, D, F, H, K, VD, HK, HV>; N],
    /// With pre-norm nothing has normalised a stack's last sum yet.
    final_norms: Option<FinalNorms<Dev, D>>,
}

struct FinalNorms<Dev: Ops, const D: usize> {
    encoder: LayerNorm<Dev, D>,
    decoder: LayerNorm<Dev, D>,
}

/// A model as [`super::Trainable`] sees it: the typed world's side of the door.
pub trait Network<Dev: Ops>: Shareable {
    /// Every trained tensor under its name, in a fixed order.
    fn visit<'m>(&'m mut self, visit: &mut Visit<'_, 'm, Dev>);

    /// The losses of a batch; what the tape remembers already is kept.
    fn loss<T: Tape<f32, Dev>>(
        &self,
        batch: &Batch,
        target: LossTarget,
        dropout: DropoutStream,
        tape: T,
    ) -> TokenLoss<Dev, T>;

    fn decoder(&self) -> Box<dyn Decoder + '_>;

    fn vocabulary_size(&self) -> usize;

    fn device(&self) -> &Dev;
}

impl<
    Dev: Ops,
    const N: usize,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    const V: usize,
    P: Positional,
> Transformer<Dev, N, D, F, H, K, VD, HK, HV, V, P>
{
    /// Fresh weights drawn from the streams of `seed`.
    pub fn new(device: &Dev, norm: Norm, seed: u64) -> Self {
        let init = Init { device, seed };
        Self {
            device: device.clone(),
            norm,
            embedding: init.embedding("embedding"),
            positions: P::Table::new(&init),
            encoder: array::from_fn(|i| EncoderLayer::new(&init, &format!("encoder.{i}"))),
            decoder: array::from_fn(|i| DecoderLayer::new(&init, &format!("decoder.{i}"))),
            final_norms: (norm == Norm::Pre).then(|| FinalNorms {
                encoder: LayerNorm::new(&init),
                decoder: LayerNorm::new(&init),
            }),
        }
    }

    /// `Dropout(embedding * sqrt(d_model) + position)`, sections 3.4, 3.5 and 5.4.
    fn embed<T: Tape<f32, Dev>>(
        &self,
        ids: &[u32],
        positions: &[usize],
        dropout: &mut DropoutStream,
    ) -> Rows<D, Dev, T> {
        let pieces = Dev::gather(&self.embedding, ids, (D as f32).sqrt());
        Dev::dropout(
            Dev::add(pieces, self.positions.rows(&self.device, positions)),
            dropout.next_site(D),
        )
    }

    /// The encoder's last rows, `[source tokens, D]`.
    fn encode<T: Tape<f32, Dev>>(&self, source: &Packed, dropout: &mut DropoutStream) -> Rows<D, Dev, T> {
        let spans = Spans::within(source, Mask::Full);
        let embedded = self.embed(source.ids(), &positions(source), dropout);
        let rows = self
            .encoder
            .iter()
            .fold(embedded, |x, layer| layer.forward(x, &spans, self.norm, dropout));
        match &self.final_norms {
            Some(norms) => norms.encoder.forward(rows),
            None => rows,
        }
    }

    fn finish_decoder<T: Tape<f32, Dev>>(&self, rows: Rows<D, Dev, T>) -> Rows<D, Dev, T> {
        match &self.final_norms {
            Some(norms) => norms.decoder.forward(rows),
            None => rows,
        }
    }

    fn prepared(&self) -> Prepared<'_, Dev::Inference> {
        let device = self.device.inference();
        let positions = |range: Range<usize>| {
            let rows: Rows<D, Dev> = self.positions.rows(&self.device, &range.collect::<Vec<_>>());
            rows.as_vec()
        };
        let table = device.prepare_table(host(&self.embedding), D);
        let encoder = map(self.encoder.iter().collect(), |layer| layer.prepared(&device));
        let decoder = map(self.decoder.iter().collect(), |layer| layer.prepared(&device));
        Prepared {
            norm: self.norm,
            sizes: HeadSizes {
                heads: H,
                key: K,
                value: VD,
            },
            embedding_scale: (D as f32).sqrt(),
            table,
            positions: Positions::new(D, Box::new(positions)),
            encoder,
            decoder,
            final_norms: self
                .final_norms
                .as_ref()
                .map(|norms| [norms.encoder.prepared(&device), norms.decoder.prepared(&device)]),
            device,
        }
    }

    /// The decoder's last rows over whole target sentences, `[target tokens, D]`.
    fn teacher_forced<T: Tape<f32, Dev>>(
        &self,
        batch: &Batch,
        dropout: &mut DropoutStream,
        tape: T,
    ) -> Rows<D, Dev, T> {
        dropout.at_row(batch.before.source);
        let (memory, encoder_tape) = self.encode::<T>(&batch.source, dropout).split_tape();
        let causal = Spans::within(&batch.target, Mask::Causal);
        let across = Spans::across(&batch.target, &batch.source);
        dropout.at_row(batch.before.target);
        let (embedded, decoder_tape) = self
            .embed::<T>(batch.target.ids(), &positions(&batch.target), dropout)
            .split_tape();
        let embedded = embedded.put_tape(tape.merge(encoder_tape).merge(decoder_tape));
        let rows = self.decoder.iter().fold(embedded, |x, layer| {
            layer.forward(
                x,
                self.norm,
                dropout,
                |attention, x| attention.forward(x, None, &causal),
                |attention, x| attention.forward(x, Some(&memory), &across),
            )
        });
        self.finish_decoder(rows)
    }
}

impl<
    Dev: Ops,
    const N: usize,
    const D: usize,
    const F: usize,
    const H: usize,
    const K: usize,
    const VD: usize,
    const HK: usize,
    const HV: usize,
    const V: usize,
    P: Positional,
> Network<Dev> for Transformer<Dev, N, D, F, H, K, VD, HK, HV, V, P>
{
    fn visit<'m>(&'m mut self, visit: &mut Visit<'_, 'm, Dev>) {
        visit("embedding.weight".to_owned(), &mut self.embedding);
        self.positions.visit(visit);
        for (i, layer) in self.encoder.iter_mut().enumerate() {
            layer.visit(&format!("encoder.{i}"), visit);
        }
        for (i, layer) in self.decoder.iter_mut().enumerate() {
            layer.visit(&format!("decoder.{i}"), visit);
        }
        if let Some(norms) = &mut self.final_norms {
            norms.encoder.visit("encoder_norm", visit);
            norms.decoder.visit("decoder_norm", visit);
        }
    }

    fn loss<T: Tape<f32, Dev>>(
        &self,
        batch: &Batch,
        target: LossTarget,
        mut dropout: DropoutStream,
        tape: T,
    ) -> TokenLoss<Dev, T> {
        Dev::smoothed_loss(self.teacher_forced(batch, &mut dropout, tape), &self.embedding, target)
    }

    fn decoder(&self) -> Box<dyn Decoder + '_> {
        Box::new(self.prepared())
    }

    fn vocabulary_size(&self) -> usize {
        V
    }

    fn device(&self) -> &Dev {
        &self.device
    }
}

/// The position of every packed token in its own sentence.
fn positions(sentences: &Packed) -> Vec<usize> {
    (0..sentences.sentences())
        .flat_map(|index| 0..sentences.rows(index).len())
        .collect()
}
