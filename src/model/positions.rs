//! How a position enters the embedding: fixed sinusoids or a learned table (section 3.5; Table 3, row (E)).

use std::ops::Range;
use std::sync::RwLock;

use dfdx::prelude::*;

use super::init::Init;
use super::parameter::Visit;
use crate::ops::{Matrix, Ops, Rows};
use crate::threads::Shareable;

/// The kind of position encoding, as a type.
pub trait Positional: 'static {
    type Table<Dev: Ops, const D: usize>: PositionTable<Dev, D>;
}

/// What is added to the embeddings.
pub trait PositionTable<Dev: Ops, const D: usize>: Shareable {
    fn new(init: &Init<Dev>) -> Self;

    /// One row per position, `[N, D]`.
    fn rows<T: Tape<f32, Dev>>(&self, device: &Dev, positions: &[usize]) -> Rows<D, Dev, T>;

    fn visit<'m>(&'m mut self, visit: &mut Visit<'_, 'm, Dev>);
}

/// Interleaved sines and cosines.
pub struct Sinusoidal;

impl Positional for Sinusoidal {
    type Table<Dev: Ops, const D: usize> = SinusoidTable<D>;
}

/// The rows of all positions so far, computed when they are first asked for.
pub struct SinusoidTable<const D: usize> {
    rows: RwLock<Vec<f32>>,
}

impl<const D: usize> SinusoidTable<D> {
    /// Rows of the positions in a range.
    fn of(&self, positions: Range<usize>) -> Vec<f32> {
        const POISONED: &str = "nobody panics over sines";
        let needed = positions.end * D;
        if self.rows.read().expect(POISONED).len() < needed {
            let mut rows = self.rows.write().expect(POISONED);
            for position in rows.len() / D..positions.end {
                rows.extend((0..D).map(|i| sinusoid(position, i, D)));
            }
        }
        self.rows.read().expect(POISONED)[positions.start * D..needed].to_vec()
    }
}

impl<Dev: Ops, const D: usize> PositionTable<Dev, D> for SinusoidTable<D> {
    fn new(_: &Init<Dev>) -> Self {
        Self {
            rows: RwLock::new(Vec::new()),
        }
    }

    fn rows<T: Tape<f32, Dev>>(&self, device: &Dev, positions: &[usize]) -> Rows<D, Dev, T> {
        let first = positions.iter().min().copied().unwrap_or(0);
        let end = positions.iter().max().map_or(first, |last| last + 1);
        let rows: Vec<u32> = positions.iter().map(|&position| (position - first) as u32).collect();
        device.constant_rows(self.of(first..end), &rows)
    }

    fn visit<'m>(&'m mut self, _: &mut Visit<'_, 'm, Dev>) {}
}

/// Column `i` of position `position` at width `d_model`: `sin(position / 10000^(i / d_model))` for even `i`, the cosine
/// of its left neighbour's angle for odd `i`.
#[must_use]
pub fn sinusoid(position: usize, i: usize, d_model: usize) -> f32 {
    let even = i - i % 2;
    let angle = position as f64 / 10000f64.powf(even as f64 / d_model as f64);
    let value = if i == even { angle.sin() } else { angle.cos() };
    value as f32
}

/// A trained row for each of `P` positions; one table serves encoder and decoder. Sentences longer than the table,
/// which no training sentence is, share its last row.
pub struct Learned<const P: usize>;

impl<const P: usize> Positional for Learned<P> {
    type Table<Dev: Ops, const D: usize> = LearnedTable<Dev, P, D>;
}

pub struct LearnedTable<Dev: Ops, const P: usize, const D: usize> {
    table: Matrix<P, D, Dev>,
}

impl<Dev: Ops, const P: usize, const D: usize> PositionTable<Dev, D> for LearnedTable<Dev, P, D> {
    /// Rows of the size that a sinusoid's have: the mean square of an element is about a half.
    fn new(init: &Init<Dev>) -> Self {
        let mut table: Matrix<P, D, Dev> = init.embedding("positions");
        let scale = (D as f32 / 2.0).sqrt();
        let scaled: Vec<f32> = table.as_vec().iter().map(|value| value * scale).collect();
        table.copy_from(&scaled);
        Self { table }
    }

    fn rows<T: Tape<f32, Dev>>(&self, _: &Dev, positions: &[usize]) -> Rows<D, Dev, T> {
        let ids: Vec<u32> = positions.iter().map(|&position| position.min(P - 1) as u32).collect();
        Dev::gather(&self.table, &ids, 1.0)
    }

    fn visit<'m>(&'m mut self, visit: &mut Visit<'_, 'm, Dev>) {
        visit("positions.weight".to_owned(), &mut self.table);
    }
}
