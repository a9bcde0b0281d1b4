//! Rows of a table chosen by ids; backward adds each row's gradient to the row it came from.

use dfdx::prelude::*;

use super::lanes::axpy;
use super::tape::{put_gradient, scratch_values, take_gradient};
use crate::ops::{Embedding, Recording, Rows, Size, Table};

impl Embedding for Cpu {
    fn gather<D: Size>(
        recording: &mut Recording<Self>,
        table: &Table<D, Self>,
        ids: &[u32],
        scale: f32,
    ) -> Rows<D, Self> {
        let rows = chosen(&scratch_values(table), D::SIZE, ids, scale);
        let rows = table.device().tensor_from_vec(rows, (ids.len(), D::default()));
        if recording.is_on() {
            let (table, output, ids) = (table.ghost(), rows.ghost(), ids.to_vec());
            recording.add(move |gradients| {
                let d_rows = take_gradient!(gradients, output);
                let mut d_table = take_gradient!(gradients, table);
                scatter(&mut d_table, D::SIZE, &ids, scale, &d_rows);
                put_gradient!(gradients, table, d_table);
                Ok(())
            });
        }
        rows
    }

    fn constant_rows<D: Size>(&self, table: Vec<f32>, chosen: &[u32]) -> Rows<D, Self> {
        let rows = chosen
            .iter()
            .flat_map(|&row| &table[row as usize * D::SIZE..][..D::SIZE]);
        self.tensor_from_vec(rows.copied().collect(), (chosen.len(), D::default()))
    }
}

fn chosen(table: &[f32], width: usize, ids: &[u32], scale: f32) -> Vec<f32> {
    let mut rows = vec![0.0; ids.len() * width];
    for (row, &id) in rows.chunks_exact_mut(width).zip(ids) {
        axpy(row, scale, &table[id as usize * width..][..width]);
    }
    rows
}

/// Backward of [`chosen`].
fn scatter(d_table: &mut [f32], width: usize, ids: &[u32], scale: f32, d_rows: &[f32]) {
    for (d_row, &id) in d_rows.chunks_exact(width).zip(ids) {
        axpy(&mut d_table[id as usize * width..][..width], scale, d_row);
    }
}
