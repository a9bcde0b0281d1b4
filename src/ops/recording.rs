//! What a pass records of its operations, so that their gradients can be computed.

use dfdx::prelude::*;

use super::Fault;

/// dfdx's tape, or none. Every operation of a pass is given it and adds its backward pass.
///
/// dfdx hands a tape from tensor to tensor as part of their type. Beside the tensors it is a value: an operation is
/// compiled once, whether or not it records, and a network reads the same with and without a tape.
pub struct Recording<Dev: Storage<f32>>(Option<OwnedTape<f32, Dev>>);

impl<Dev: Device<f32>> Recording<Dev> {
    /// Records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// Records; the gradients of the pass are added to those in `gradients`.
    #[must_use]
    pub fn on(device: &Dev, gradients: Gradients<f32, Dev>) -> Self {
        let start: Tensor<Rank0, f32, Dev> = device.zeros();
        Self(Some(start.traced(gradients).split_tape().1))
    }

    /// Whether anything is recorded: without, an operation need not keep what only its backward pass wants.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Adds the backward pass of an operation. They run in the opposite order.
    pub fn add(&mut self, backward: impl FnOnce(&mut Gradients<f32, Dev>) -> Result<(), Fault<Dev>> + 'static) {
        if let Some(tape) = &mut self.0 {
            tape.add_backward_op(backward);
        }
    }

    /// Runs operations of dfdx that carry the tape themselves.
    pub fn carried<S: Shape>(
        &mut self,
        work: impl FnOnce(OwnedTape<f32, Dev>) -> Tensor<S, f32, Dev, OwnedTape<f32, Dev>>,
    ) -> Tensor<S, f32, Dev> {
        let is_on = self.is_on();
        let (y, tape) = work(self.0.take().unwrap_or_default()).split_tape();
        self.0 = is_on.then_some(tape);
        y
    }

    /// Runs the backward passes, from that of the loss on.
    ///
    /// # Panics
    /// If nothing was recorded, or the device fails.
    #[must_use]
    pub fn backward(self, loss: Tensor<Rank0, f32, Dev>) -> Gradients<f32, Dev> {
        loss.put_tape(self.0.expect("a pass that records")).backward()
    }
}
