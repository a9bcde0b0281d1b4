//! A trained tensor without its type.

use dfdx::prelude::*;

use crate::ops::{Buffer, Ops, Trained, host};
use crate::threads::Shareable;

/// One trained tensor of a model, of whatever shape.
pub trait Parameter<Dev: Ops>: Trained<Dev> {
    fn shape(&self) -> Vec<usize>;

    fn read(&self) -> Vec<f32>;

    fn write(&mut self, values: &[f32]);

    /// Where dfdx keeps the gradient.
    fn slot(&self) -> Slot<Dev>;
}

/// Takes one parameter's gradient out of dfdx's store, zeros if there is none, and puts it in.
///
/// Closures, because dfdx does not let the type be named that finds a tensor's gradient without holding the tensor.
pub struct Slot<Dev: Ops> {
    pub take: Box<dyn Take<Dev>>,
    pub put: Box<dyn Put<Dev>>,
}

/// A closure that threads may share.
pub trait Take<Dev: Ops>: Fn(&mut Gradients<f32, Dev>) -> Buffer<Dev> + Shareable {}
impl<Dev: Ops, F: Fn(&mut Gradients<f32, Dev>) -> Buffer<Dev> + Shareable> Take<Dev> for F {}

/// A closure that threads may share.
pub trait Put<Dev: Ops>: Fn(&mut Gradients<f32, Dev>, Buffer<Dev>) + Shareable {}
impl<Dev: Ops, F: Fn(&mut Gradients<f32, Dev>, Buffer<Dev>) + Shareable> Put<Dev> for F {}

/// Why the device cannot fail here: a run cannot go on without memory for its own gradients.
const NO_MEMORY: &str = "the device has memory for gradients";

impl<S: Shape, Dev: Ops> Parameter<Dev> for Tensor<S, f32, Dev> {
    fn shape(&self) -> Vec<usize> {
        HasShape::shape(self).concrete().into_iter().collect()
    }

    fn read(&self) -> Vec<f32> {
        host(self)
    }

    fn write(&mut self, values: &[f32]) {
        self.copy_from(values);
    }

    fn slot(&self) -> Slot<Dev> {
        let (taken, put) = (self.ghost(), self.ghost());
        let device = self.device().clone();
        Slot {
            take: Box::new(move |store| {
                let found = store.get_or_alloc_mut(&taken).expect(NO_MEMORY);
                let nothing = Storage::<f32>::try_alloc_len(&device, 0).expect(NO_MEMORY);
                std::mem::replace(found, nothing)
            }),
            put: Box::new(move |store, values| *store.get_or_alloc_mut(&put).expect(NO_MEMORY) = values),
        }
    }
}
