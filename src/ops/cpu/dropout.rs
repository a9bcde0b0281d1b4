//! Dropout; the mask is made again in the backward pass rather than stored.

use dfdx::prelude::*;

use super::tape::{take_gradient, values};
use crate::ops::{Dropout, Rows};

pub fn dropout<const D: usize, T: Tape<f32, Cpu>>(x: Rows<D, Cpu, T>, dropout: Dropout) -> Rows<D, Cpu, T> {
    if dropout.is_off() {
        return x;
    }
    let (x, mut tape) = x.split_tape();
    let mut rows = values(&x);
    apply(&mut rows, dropout);
    let y = x.device().tensor_from_vec(rows, *x.shape());
    if T::OWNS_TAPE {
        let (x, y) = (x.ghost(), y.ghost());
        tape.add_backward_op(move |gradients| {
            let d_y = take_gradient!(gradients, y);
            add_masked(gradients.get_or_alloc_mut(&x)?, &d_y, dropout);
            Ok(())
        });
    }
    y.put_tape(tape)
}

/// `x *= mask`.
fn apply(x: &mut [f32], dropout: Dropout) {
    for (index, x) in x.iter_mut().enumerate() {
        *x *= dropout.factor(index as u32);
    }
}

/// `y += mask * x`.
pub fn add_masked(y: &mut [f32], x: &[f32], dropout: Dropout) {
    if dropout.is_off() {
        return super::lanes::add(y, x);
    }
    for (index, (y, x)) in y.iter_mut().zip(x).enumerate() {
        *y += dropout.factor(index as u32) * x;
    }
}
