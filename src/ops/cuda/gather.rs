//! Rows of a table chosen by ids; backward adds each row's gradient to the row it came from.

use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdeviceptr;
use dfdx::prelude::*;

use super::address::address;
use super::context::{Context, context, int, of};
use super::tape::{gradient_address, rows, take_gradient};
use crate::ops::{Embedding, Recording, Rows, Size, Table};

/// Threads of a block of `scatter`.
const SCATTER_THREADS: u32 = 128;

impl Embedding for Cuda {
    fn gather<D: Size>(
        recording: &mut Recording<Self>,
        table: &Table<D, Self>,
        ids: &[u32],
        scale: f32,
    ) -> Rows<D, Self> {
        let context = context();
        let chosen: Rows<D, Cuda> = rows(table.device(), ids.len());
        choose(&context, D::SIZE, address(table), ids, scale, address(&chosen));
        if recording.is_on() {
            let readers = Readers::of(&context, ids);
            let (table, output, device) = (table.ghost(), chosen.ghost(), table.device().clone());
            recording.add(move |gradients| {
                let d_rows = take_gradient!(gradients, device, output);
                let d_table = gradient_address!(gradients, table);
                // SAFETY: the readers are rows of the output, the ids rows of the table.
                unsafe {
                    let Readers { ids, starts, rows, .. } = &readers;
                    let arguments = (int(D::SIZE), ids, starts, rows, scale, of(&d_rows), d_table);
                    context.launch("scatter", [readers.count, 1], SCATTER_THREADS, arguments);
                }
                Ok(())
            });
        }
        chosen
    }

    /// Rows of a table that needs no gradient: each different row is uploaded once.
    fn constant_rows<D: Size>(&self, table: Vec<f32>, chosen: &[u32]) -> Rows<D, Self> {
        let context = context();
        let out: Rows<D, Cuda> = rows(self, chosen.len());
        let table = context.upload(table);
        choose(&context, D::SIZE, of(&table), chosen, 1.0, address(&out));
        out
    }
}

/// `out[i] = scale * table[ids[i]]`, in rows of `width`.
pub fn choose(context: &Context, width: usize, table: CUdeviceptr, ids: &[u32], scale: f32, out: CUdeviceptr) {
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
        let Groups { ids, starts, members } = Groups::of(ids);
        Self {
            count: ids.len(),
            ids: context.upload(ids),
            starts: context.upload(starts),
            rows: context.upload(members),
        }
    }
}

/// Positions grouped by the number that stands there, in their order.
struct Groups {
    /// The different numbers.
    ids: Vec<u32>,
    /// Where each one's positions begin, and where the last one's end.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// By counting: a vocabulary is not much larger than a batch, and sorting would keep the device waiting.
    fn of(numbers: &[u32]) -> Self {
        let largest = numbers.iter().max().map_or(0, |&largest| largest as usize + 1);
        let mut next = vec![0u32; largest];
        for &number in numbers {
            next[number as usize] += 1;
        }
        let (mut ids, mut starts, mut start) = (Vec::new(), vec![0], 0);
        for (id, count) in next.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let end = start + *count;
            *count = start;
            start = end;
            ids.push(id as u32);
            starts.push(end);
        }
        let mut members = vec![0; numbers.len()];
        for (position, &number) in numbers.iter().enumerate() {
            let place = &mut next[number as usize];
            members[*place as usize] = position as u32;
            *place += 1;
        }
        Self { ids, starts, members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_grouped_in_their_order() {
        let groups = Groups::of(&[7, 2, 7, 0, 2, 7]);
        assert_eq!(groups.ids, [0, 2, 7]);
        assert_eq!(groups.starts, [0, 1, 3, 6]);
        assert_eq!(groups.members, [3, 1, 4, 0, 2, 5]);
        let none = Groups::of(&[]);
        assert!(none.ids.is_empty() && none.starts == [0] && none.members.is_empty());
    }
}
