//! The paper's residual connection in one pass: `LayerNorm(x + Dropout(sublayer))`.

use dfdx::prelude::*;

use super::dropout::add_masked;
use super::lanes::add;
use super::layer_norm::{backward, forward};
use super::tape::{put_gradient, take_gradient, values};
use crate::ops::{Dropout, Rows, Vector};

pub fn add_norm<const D: usize, T: Tape<f32, Cpu>>(
    x: Rows<D, Cpu, T>,
    sublayer: Rows<D, Cpu, T>,
    dropout: Dropout,
    gain: &Vector<D, Cpu>,
    bias: &Vector<D, Cpu>,
) -> Rows<D, Cpu, T> {
    let (x, x_tape) = x.split_tape();
    let (sublayer, sublayer_tape) = sublayer.split_tape();
    let mut tape = x_tape.merge(sublayer_tape);
    let mut sums = values(&x);
    add_masked(&mut sums, &values(&sublayer), dropout);
    let gains = values(gain);
    let (rows, normalized) = forward(sums, &gains, &values(bias));
    let y = x.device().tensor_from_vec(rows, *x.shape());
    if T::OWNS_TAPE {
        let (x, sublayer, gain, bias, y) = (x.ghost(), sublayer.ghost(), gain.ghost(), bias.ghost(), y.ghost());
        tape.add_backward_op(move |gradients| {
            let mut d = take_gradient!(gradients, y);
            let mut d_gain = take_gradient!(gradients, gain);
            let mut d_bias = take_gradient!(gradients, bias);
            backward(&mut d, &normalized, &gains, &mut d_gain, &mut d_bias);
            put_gradient!(gradients, gain, d_gain);
            put_gradient!(gradients, bias, d_bias);
            add(gradients.get_or_alloc_mut(&x)?, &d);
            add_masked(gradients.get_or_alloc_mut(&sublayer)?, &d, dropout);
            Ok(())
        });
    }
    y.put_tape(tape)
}
