//! A network with what training adds to it: gradients and Adam's moments.

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use super::{AdamStep, Batch, BatchLoss, NamedArray, Network, Parameter, RestoreError, Seq2Seq, Session, TrainingPass};
use crate::ops::{DropoutStream, LossTarget, Ops, Packed, TokenLoss};

/// Any [`Network`] as a [`Seq2Seq`].
pub struct Trainable<Dev: Ops, M> {
    network: M,
    gradients: Gradients<f32, Dev>,
    /// First and second, stored as dfdx stores gradients: by the tensor they belong to.
    moments: [Gradients<f32, Dev>; 2],
}

impl<Dev: Ops, M: Network<Dev>> Trainable<Dev, M> {
    pub fn new(network: M) -> Self {
        Self {
            network,
            gradients: Gradients::leaky(),
            moments: [Gradients::leaky(), Gradients::leaky()],
        }
    }

    /// One array per parameter, of whatever `read` finds for it.
    fn arrays(&mut self, mut read: impl FnMut(&mut dyn Parameter<Dev>) -> Vec<f32>) -> Vec<NamedArray> {
        let mut arrays = Vec::new();
        self.network.visit(&mut |name, parameter| {
            arrays.push(NamedArray {
                name,
                shape: parameter.shape(),
                values: read(parameter),
            });
        });
        arrays
    }

    /// Whether `arrays` are those of the network, one for one and in its order.
    fn check(&mut self, arrays: &[NamedArray]) -> Result<(), RestoreError> {
        let mut fault = None;
        let mut rest = arrays.iter();
        self.network.visit(&mut |name, parameter| {
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
        });
        let left_over = rest.next().map(|array| RestoreError::Unknown {
            name: array.name.clone(),
        });
        fault.or(left_over).map_or(Ok(()), Err)
    }
}

impl<Dev: Ops, M: Network<Dev>> Seq2Seq for Trainable<Dev, M> {
    fn accumulate(&mut self, batch: &Batch, pass: &TrainingPass) -> BatchLoss {
        // dfdx starts a tape with gradients to add to; those of the parameters go there and come back, while those of
        // the activations are dropped with the tape.
        let mut gradients = Gradients::leaky();
        let kept = &mut self.gradients;
        self.network
            .visit(&mut |_, parameter| parameter.swap(kept, &mut gradients));
        let seed: Tensor<Rank0, f32, Dev> = self.network.device().zeros();
        let (_, tape) = seed.traced(gradients).split_tape();

        let dropout = DropoutStream::new(pass.dropout, pass.dropout_key);
        let target = LossTarget {
            labels: &batch.labels,
            smoothing: pass.label_smoothing,
            scale: 1.0 / pass.update_tokens as f32,
        };
        let TokenLoss {
            loss,
            smoothed_sum,
            nll_sum,
        } = self.network.loss(batch, target, dropout, tape);
        let mut gradients = loss.backward();

        let kept = &mut self.gradients;
        self.network
            .visit(&mut |_, parameter| parameter.swap(kept, &mut gradients));
        BatchLoss {
            smoothed_sum,
            nll_sum,
            tokens: batch.target_tokens(),
        }
    }

    fn gradient_norm(&mut self) -> f64 {
        let mut norm_squared = 0.0;
        let gradients = &mut self.gradients;
        self.network
            .visit(&mut |_, parameter| norm_squared += parameter.gradient_norm_squared(gradients));
        norm_squared.sqrt()
    }

    fn update(&mut self, step: &AdamStep) {
        let config = AdamConfig {
            lr: step.learning_rate,
            betas: [step.beta1, step.beta2],
            eps: step.epsilon,
            weight_decay: None,
        };
        let t = i32::try_from(step.step).expect("fewer than 2^31 updates");
        let (gradients, moments) = (&mut self.gradients, &mut self.moments);
        self.network
            .visit(&mut |_, parameter| parameter.adam(t, &config, gradients, moments));
        self.gradients = Gradients::leaky();
    }

    fn loss(&self, batch: &Batch, label_smoothing: f32) -> BatchLoss {
        let target = LossTarget {
            labels: &batch.labels,
            smoothing: label_smoothing,
            scale: 1.0,
        };
        let TokenLoss {
            smoothed_sum, nll_sum, ..
        } = self.network.loss(batch, target, DropoutStream::off(), NoneTape);
        BatchLoss {
            smoothed_sum,
            nll_sum,
            tokens: batch.target_tokens(),
        }
    }

    fn decode(&self, source: &Packed) -> Box<dyn Session + '_> {
        self.network.decode(source)
    }

    fn vocabulary_size(&self) -> usize {
        self.network.vocabulary_size()
    }

    fn weights(&mut self) -> Vec<NamedArray> {
        self.arrays(|parameter| parameter.read())
    }

    fn moments(&mut self) -> [Vec<NamedArray>; 2] {
        let mut moments = std::mem::replace(&mut self.moments, [Gradients::leaky(), Gradients::leaky()]);
        let arrays = moments
            .each_mut()
            .map(|store| self.arrays(|parameter| parameter.read_from(store)));
        self.moments = moments;
        arrays
    }

    fn gradients(&mut self) -> Vec<NamedArray> {
        let mut gradients = std::mem::replace(&mut self.gradients, Gradients::leaky());
        let arrays = self.arrays(|parameter| parameter.read_from(&mut gradients));
        self.gradients = gradients;
        arrays
    }

    fn restore_weights(&mut self, weights: &[NamedArray]) -> Result<(), RestoreError> {
        self.check(weights)?;
        let mut rest = weights.iter();
        self.network.visit(&mut |_, parameter| {
            if let Some(array) = rest.next() {
                parameter.write(&array.values);
            }
        });
        Ok(())
    }

    fn restore_moments(&mut self, moments: [&[NamedArray]; 2]) -> Result<(), RestoreError> {
        moments.iter().try_for_each(|arrays| self.check(arrays))?;
        for (arrays, store) in moments.into_iter().zip(&mut self.moments) {
            let mut rest = arrays.iter();
            self.network.visit(&mut |_, parameter| {
                if let Some(array) = rest.next() {
                    parameter.write_to(store, &array.values);
                }
            });
        }
        Ok(())
    }
}
