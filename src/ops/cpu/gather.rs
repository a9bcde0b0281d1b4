//! Rows of a table chosen by ids; backward adds each row's gradient to the row it came from.

use dfdx::prelude::*;

use super::lanes::axpy;
use super::tape::{put_gradient, take_gradient, values};
use crate::ops::{Matrix, Rows};

pub fn gather<const V: usize, const D: usize, T: Tape<f32, Cpu>>(
    table: &Matrix<V, D, Cpu>,
    ids: &[u32],
    scale: f32,
) -> Rows<D, Cpu, T> {
    let mut rows = vec![0.0; ids.len() * D];
    let weights = values(table);
    for (row, &id) in rows.chunks_exact_mut(D).zip(ids) {
        axpy(row, scale, &weights[id as usize * D..][..D]);
    }
    let rows = table.device().tensor_from_vec(rows, (ids.len(), Const::<D>));
    let mut tape = T::default();
    if T::OWNS_TAPE {
        let (table, output, ids) = (table.ghost(), rows.ghost(), ids.to_vec());
        tape.add_backward_op(move |gradients| {
            let d_rows = take_gradient!(gradients, output);
            let mut d_table = take_gradient!(gradients, table);
            for (d_row, &id) in d_rows.chunks_exact(D).zip(&ids) {
                axpy(&mut d_table[id as usize * D..][..D], scale, d_row);
            }
            put_gradient!(gradients, table, d_table);
            Ok(())
        });
    }
    rows.put_tape(tape)
}
