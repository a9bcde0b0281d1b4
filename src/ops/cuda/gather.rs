//! Rows of a table chosen by ids; backward adds each row's gradient to the row it came from.

use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdeviceptr;
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{Matrix, Rows};

/// Threads of a block of `scatter`.
const SCATTER_THREADS: u32 = 128;

pub fn gather<const V: usize, const D: usize, T: Tape<f32, Cuda>>(
    table: &Matrix<V, D, Cuda>,
    ids: &[u32],
    scale: f32,
) -> Rows<D, Cuda, T> {
    let context = context();
    let chosen: Rows<D, Cuda> = rows(table.device(), ids.len());
    choose(&context, D, address(table), ids, scale, address(&chosen));
    let mut tape = T::default();
    if T::OWNS_TAPE {
        let readers = Readers::of(&context, ids);
        let (table, output, device) = (table.ghost(), chosen.ghost(), table.device().clone());
        tape.add_backward_op(move |gradients| {
            let d_rows = take_gradient!(gradients, device, output);
            let d_table = gradient_address!(gradients, table);
            // SAFETY: the readers are rows of the output, the ids rows of the table.
            unsafe {
                let Readers { ids, starts, rows, .. } = &readers;
                let arguments = (int(D), ids, starts, rows, scale, of(&d_rows), d_table);
                context.launch("scatter", [readers.count, 1], SCATTER_THREADS, arguments);
            }
            Ok(())
        });
    }
    chosen.put_tape(tape)
}

/// Rows of a table that needs no gradient: each different row is uploaded once.
pub fn constant_rows<const D: usize, T: Tape<f32, Cuda>>(
    device: &Cuda,
    table: Vec<f32>,
    chosen: &[u32],
) -> Rows<D, Cuda, T> {
    let context = context();
    let out: Rows<D, Cuda> = rows(device, chosen.len());
    let table = context.upload(table);
    choose(&context, D, of(&table), chosen, 1.0, address(&out));
    out.put_tape(T::default())
}

/// `out[i] = scale * table[ids[i]]`, in rows of `width`.
fn choose(context: &Context, width: usize, table: CUdeviceptr, ids: &[u32], scale: f32, out: CUdeviceptr) {
    let on_device = context.upload(ids.to_vec());
    // SAFETY: a row of the width for each id, and the table has a row for each.
    unsafe { context.launch_by_row("gather", ids.len(), (int(width), &on_device, scale, table, out)) };
}

/// Which rows read which id, so that each id's gradient is summed in one place and in a fixed order.
struct Readers {
    /// How many different ids there are.
    count: usize,
    ids: CudaSlice<u32>,
    /// Where each id's rows begin, and where the last one's end.
    starts: CudaSlice<u32>,
    rows: CudaSlice<u32>,
}

impl Readers {
    fn of(context: &Context, ids: &[u32]) -> Self {
        let mut rows: Vec<u32> = (0..ids.len() as u32).collect();
        rows.sort_by_key(|&row| ids[row as usize]);
        let groups = || rows.chunk_by(|&a, &b| ids[a as usize] == ids[b as usize]);
        let different: Vec<u32> = groups().map(|group| ids[group[0] as usize]).collect();
        let mut starts = vec![0];
        starts.extend(groups().scan(0, |end, group| {
            *end += group.len() as u32;
            Some(*end)
        }));
        Self {
            count: different.len(),
            ids: context.upload(different),
            starts: context.upload(starts),
            rows: context.upload(rows),
        }
    }
}
