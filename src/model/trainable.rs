//! A network with what training adds to it: gradients and Adam's moments.

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use super::parameter::Slot;
use super::{AdamStep, Batch, BatchLoss, Decoder, Model, NamedArray, Parameter, RestoreError, Seq2Seq, TrainingPass};
use crate::ops::{Buffer, DropoutStream, LossTarget, Ops, ParameterState, Recording, TokenLoss};
use crate::threads::{map, threads};

/// Any [`Model`] as a [`Seq2Seq`].
///
/// A large batch is cut into shares of whole sentences that threads work on side by side; their gradients are added in
/// the order of the shares, so that the number of threads changes no bit.
pub struct Trainable<Dev: Ops, M> {
    network: M,
    slots: Vec<Slot<Dev>>,
    /// Of the micro-batches since the last update, one per parameter.
    gradients: Vec<Buffer<Dev>>,
    /// Gradients of shares that were merged, to be used again: the system takes its time to give and take such memory.
    spare: Vec<Vec<Buffer<Dev>>>,
    /// First and second.
    moments: [Vec<Buffer<Dev>>; 2],
}

impl<Dev: Ops, M: Model<Dev>> Trainable<Dev, M> {
    pub fn new(mut network: M) -> Self {
        let slots: Vec<_> = network
            .parameters()
            .into_iter()
            .map(|(_, parameter)| parameter.slot())
            .collect();
        Self {
            network,
            gradients: zeros(&slots),
            spare: Vec::new(),
            moments: [zeros(&slots), zeros(&slots)],
            slots,
        }
    }

    /// Forward and backward pass of one share, whose gradients are added to those given.
    fn share_gradients(
        &self,
        share: &Batch,
        pass: &TrainingPass,
        gradients: Vec<Buffer<Dev>>,
    ) -> (BatchLoss, Vec<Buffer<Dev>>) {
        let mut store = Gradients::leaky();
        for (slot, gradient) in self.slots.iter().zip(gradients) {
            (slot.put)(&mut store, gradient);
        }
        let mut recording = Recording::on(self.network.device(), store);
        let dropout = DropoutStream::new(pass.dropout, pass.dropout_key);
        let target = LossTarget {
            labels: &share.labels,
            smoothing: pass.label_smoothing,
            scale: 1.0 / pass.update_tokens as f32,
        };
        let TokenLoss {
            loss,
            smoothed_sum,
            nll_sum,
        } = self.network.loss(share, target, dropout, &mut recording);
        let mut store = recording.backward(loss);
        let losses = BatchLoss {
            smoothed_sum,
            nll_sum,
            tokens: share.target_tokens(),
        };
        (losses, self.slots.iter().map(|slot| (slot.take)(&mut store)).collect())
    }

    /// Adds the gradients of a share to those accumulated so far.
    fn merge(&mut self, mut gradients: Vec<Buffer<Dev>>) {
        let device = self.network.device();
        let pairs: Vec<_> = self.gradients.iter_mut().zip(&mut gradients).collect();
        map(pairs, |(sums, values)| {
            device.accumulate(sums, values);
            device.clear(values);
        });
        self.spare.push(gradients);
    }

    /// One array per parameter, of whatever `read` finds for it.
    fn arrays(&mut self, mut read: impl FnMut(&mut dyn Parameter<Dev>) -> Vec<f32>) -> Vec<NamedArray> {
        let parameters = self.network.parameters().into_iter();
        let array = parameters.map(|(name, parameter)| NamedArray {
            name,
            shape: parameter.shape(),
            values: read(parameter),
        });
        array.collect()
    }

    /// Buffers, one per parameter, as arrays.
    fn buffers(&mut self, buffers: &[Buffer<Dev>]) -> Vec<NamedArray> {
        let device = self.network.device().clone();
        let mut buffers = buffers.iter();
        self.arrays(|_| buffers.next().map_or_else(Vec::new, |buffer| device.read(buffer)))
    }

    /// Whether `arrays` are those of the network, one for one and in its order.
    fn check(&mut self, arrays: &[NamedArray]) -> Result<(), RestoreError> {
        let mut fault = None;
        let mut rest = arrays.iter();
        for (name, parameter) in self.network.parameters() {
            let expected = parameter.shape();
            let found = match rest.next() {
                Some(array) if array.name != name => Err(RestoreError::Unknown {
                    name: array.name.clone(),
                }),
                Some(NamedArray { shape: found, .. }) if *found != expected => Err(RestoreError::Shape {
                    name,
                    found: found.clone(),
                    expected,
                }),
                Some(_) => Ok(()),
                None => Err(RestoreError::Missing { name }),
            };
            fault = fault.take().or(found.err());
        }
        let left_over = rest.next().map(|array| RestoreError::Unknown {
            name: array.name.clone(),
        });
        fault.or(left_over).map_or(Ok(()), Err)
    }
}

impl<Dev: Ops, M: Model<Dev>> Seq2Seq for Trainable<Dev, M> {
    fn accumulate(&mut self, batch: &Batch, pass: &TrainingPass) -> BatchLoss {
        let mut losses = BatchLoss::default();
        let shares = batch.shares(Dev::shares(batch.target_tokens()));
        let indexed: Vec<(usize, &Batch)> = shares.iter().enumerate().collect();
        // As many at once as there are threads: each holds gradients of its own.
        for wave in indexed.chunks(threads()) {
            // The first share goes on from what there is, the others are added to it.
            let mut start = |index| {
                if index == 0 {
                    std::mem::take(&mut self.gradients)
                } else {
                    self.spare.pop().unwrap_or_else(|| zeros(&self.slots))
                }
            };
            let started: Vec<_> = wave.iter().map(|&(index, share)| (share, start(index))).collect();
            let done = map(started, |(share, start)| {
                Dev::in_precision(pass.precision, || self.share_gradients(share, pass, start))
            });
            for (of_share, gradients) in done {
                losses += of_share;
                if self.gradients.is_empty() {
                    self.gradients = gradients;
                } else {
                    self.merge(gradients);
                }
            }
        }
        losses
    }

    fn gradient_norm(&mut self) -> f64 {
        Dev::norm_squared(&self.gradients).sqrt()
    }

    fn update(&mut self, step: &AdamStep) {
        let config = AdamConfig {
            lr: step.learning_rate,
            betas: [step.beta1, step.beta2],
            eps: step.epsilon,
            weight_decay: None,
        };
        let t = i32::try_from(step.step).expect("fewer than 2^31 updates");
        let [first, second] = &mut self.moments;
        let buffers = self.gradients.iter_mut().zip(first.iter_mut().zip(second));
        let parameters = self.network.parameters().into_iter().zip(buffers);
        let states = parameters.map(|((_, parameter), (gradient, (first, second)))| ParameterState {
            parameter,
            gradient,
            moments: [first, second],
        });
        Dev::update(t, &config, states.collect());
    }

    fn loss(&self, batch: &Batch, label_smoothing: f32) -> BatchLoss {
        let target = LossTarget {
            labels: &batch.labels,
            smoothing: label_smoothing,
            scale: 1.0,
        };
        let TokenLoss {
            smoothed_sum, nll_sum, ..
        } = self
            .network
            .loss(batch, target, DropoutStream::off(), &mut Recording::off());
        BatchLoss {
            smoothed_sum,
            nll_sum,
            tokens: batch.target_tokens(),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder + '_> {
        self.network.decoder()
    }

    fn vocabulary_size(&self) -> usize {
        self.network.vocabulary_size()
    }

    fn weights(&mut self) -> Vec<NamedArray> {
        self.arrays(|parameter| parameter.read())
    }

    fn moments(&mut self) -> [Vec<NamedArray>; 2] {
        [0, 1].map(|moment| {
            let buffers = std::mem::take(&mut self.moments[moment]);
            let arrays = self.buffers(&buffers);
            self.moments[moment] = buffers;
            arrays
        })
    }

    fn gradients(&mut self) -> Vec<NamedArray> {
        let gradients = std::mem::take(&mut self.gradients);
        let arrays = self.buffers(&gradients);
        self.gradients = gradients;
        arrays
    }

    fn restore_weights(&mut self, weights: &[NamedArray]) -> Result<(), RestoreError> {
        self.check(weights)?;
        for ((_, parameter), array) in self.network.parameters().into_iter().zip(weights) {
            parameter.write(&array.values);
        }
        Ok(())
    }

    fn restore_moments(&mut self, moments: [&[NamedArray]; 2]) -> Result<(), RestoreError> {
        moments.iter().try_for_each(|arrays| self.check(arrays))?;
        let device = self.network.device();
        for (arrays, buffers) in moments.into_iter().zip(&mut self.moments) {
            for (array, buffer) in arrays.iter().zip(buffers) {
                device.write(buffer, &array.values);
            }
        }
        Ok(())
    }
}

/// A buffer of zeros for every parameter.
fn zeros<Dev: Ops>(slots: &[Slot<Dev>]) -> Vec<Buffer<Dev>> {
    let mut nothing = Gradients::leaky();
    slots.iter().map(|slot| (slot.take)(&mut nothing)).collect()
}
