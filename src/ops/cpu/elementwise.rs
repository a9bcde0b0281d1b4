//! Dropout and sums; a mask is made again in the backward pass rather than stored.

use dfdx::prelude::*;

use super::lanes;
use super::tape::{take_gradient, values};
use crate::ops::{Dropout, Elementwise, Recording, Rows, Size};

impl Elementwise for Cpu {
    fn dropout<D: Size>(recording: &mut Recording<Self>, x: &Rows<D, Self>, dropout: Dropout) -> Rows<D, Self> {
        if dropout.is_off() {
            return x.clone();
        }
        let mut rows = values(x);
        apply(&mut rows, dropout);
        let y = x.device().tensor_from_vec(rows, *x.shape());
        if recording.is_on() {
            let (x, y) = (x.ghost(), y.ghost());
            recording.add(move |gradients| {
                let d_y = take_gradient!(gradients, y);
                add_masked(gradients.get_or_alloc_mut(&x)?, &d_y, dropout);
                Ok(())
            });
        }
        y
    }

    fn add<D: Size>(recording: &mut Recording<Self>, x: &Rows<D, Self>, y: &Rows<D, Self>) -> Rows<D, Self> {
        let mut rows = values(x);
        lanes::add(&mut rows, &values(y));
        let sum = x.device().tensor_from_vec(rows, *x.shape());
        if recording.is_on() {
            let (x, y, sum) = (x.ghost(), y.ghost(), sum.ghost());
            recording.add(move |gradients| {
                let d = take_gradient!(gradients, sum);
                lanes::add(gradients.get_or_alloc_mut(&x)?, &d);
                lanes::add(gradients.get_or_alloc_mut(&y)?, &d);
                Ok(())
            });
        }
        sum
    }
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
        return lanes::add(y, x);
    }
    for (index, (y, x)) in y.iter_mut().zip(x).enumerate() {
        *y += dropout.factor(index as u32) * x;
    }
}
