//! A trained tensor without its type.

use dfdx::optim::AdamConfig;
use dfdx::prelude::*;

use crate::ops::Ops;

/// One trained tensor of a model, of whatever shape.
pub trait Parameter<Dev: Ops> {
    fn shape(&self) -> Vec<usize>;

    fn read(&self) -> Vec<f32>;

    fn write(&mut self, values: &[f32]);

    /// Reads what `store` holds for this parameter: a gradient or a moment; zeros if nothing.
    fn read_from(&self, store: &mut Gradients<f32, Dev>) -> Vec<f32>;

    fn write_to(&self, store: &mut Gradients<f32, Dev>, values: &[f32]);

    /// Exchanges what two stores hold for this parameter.
    fn swap(&self, a: &mut Gradients<f32, Dev>, b: &mut Gradients<f32, Dev>);

    /// Sum of squares of the gradient.
    fn gradient_norm_squared(&self, gradients: &mut Gradients<f32, Dev>) -> f64;

    /// One step of Adam, `t` counted from 1.
    fn adam(
        &mut self,
        t: i32,
        config: &AdamConfig,
        gradients: &mut Gradients<f32, Dev>,
        moments: &mut [Gradients<f32, Dev>; 2],
    );
}

/// A module lists its trained tensors, each under its name.
pub type Visit<'v, Dev> = dyn FnMut(String, &mut dyn Parameter<Dev>) + 'v;

/// Why the device cannot fail here: a run cannot go on without memory for its own gradients.
const NO_MEMORY: &str = "the device has memory for gradients and moments";

impl<S: Shape, Dev: Ops> Parameter<Dev> for Tensor<S, f32, Dev> {
    fn shape(&self) -> Vec<usize> {
        HasShape::shape(self).concrete().into_iter().collect()
    }

    fn read(&self) -> Vec<f32> {
        self.as_vec()
    }

    fn write(&mut self, values: &[f32]) {
        self.copy_from(values);
    }

    fn read_from(&self, store: &mut Gradients<f32, Dev>) -> Vec<f32> {
        store.try_alloc_for(self).expect(NO_MEMORY);
        store.get(self).as_vec()
    }

    fn write_to(&self, store: &mut Gradients<f32, Dev>, values: &[f32]) {
        self.device()
            .write(store.get_or_alloc_mut(self).expect(NO_MEMORY), values);
    }

    fn swap(&self, a: &mut Gradients<f32, Dev>, b: &mut Gradients<f32, Dev>) {
        std::mem::swap(
            a.get_or_alloc_mut(self).expect(NO_MEMORY),
            b.get_or_alloc_mut(self).expect(NO_MEMORY),
        );
    }

    fn gradient_norm_squared(&self, gradients: &mut Gradients<f32, Dev>) -> f64 {
        gradients.try_alloc_for(self).expect(NO_MEMORY);
        Dev::norm_squared(gradients.get(self))
    }

    fn adam(
        &mut self,
        t: i32,
        config: &AdamConfig,
        gradients: &mut Gradients<f32, Dev>,
        [first, second]: &mut [Gradients<f32, Dev>; 2],
    ) {
        let gradient = gradients.get_or_alloc_mut(self).expect(NO_MEMORY);
        let first = first.get_or_alloc_mut(self).expect(NO_MEMORY);
        let second = second.get_or_alloc_mut(self).expect(NO_MEMORY);
        config.try_update(t, self, first, second, gradient).expect(NO_MEMORY);
    }
}
