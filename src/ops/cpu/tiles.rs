//! Products so small that they fit one sentence's head: the sums stand in registers, and a closure takes them away.

use std::array;
use std::ops::Range;

use super::lanes::{LANES, Lanes};

/// One register's worth of a row.
pub type Chunk = [f32; LANES];

/// A matrix that is read number by number.
#[derive(Clone, Copy)]
pub enum Grid<'a> {
    /// Row `i` begins at `i * stride`.
    Rows { data: &'a [f32], stride: usize },
    /// Column `j` begins at `j * stride`.
    Columns { data: &'a [f32], stride: usize },
}

/// A matrix that is read by registers: every row is `chunks` of them, without gaps.
#[derive(Clone, Copy)]
pub struct Panel<'a> {
    rows: &'a [Chunk],
    chunks: usize,
}

impl<'a> Panel<'a> {
    /// `width` is a whole number of registers.
    pub fn new(data: &'a [f32], width: usize) -> Self {
        Self {
            rows: data.as_chunks().0,
            chunks: width / LANES,
        }
    }

    pub fn chunks(self) -> usize {
        self.chunks
    }

    /// The registers `chunk` of some rows.
    fn column(self, chunk: usize, rows: &Range<usize>) -> impl Iterator<Item = &'a Chunk> {
        let first = (rows.start * self.chunks + chunk).min(self.rows.len());
        self.rows[first..].iter().step_by(self.chunks)
    }
}

/// What of a product some rows need: which terms of their sums, and which registers of the result.
pub struct Extent {
    pub terms: Range<usize>,
    pub chunks: Range<usize>,
}

/// `a . b` for `rows` rows of `a`; `extent` may cut short what is known to be zero or not wanted, and `store` is given
/// row, register within the row, and sums.
#[inline]
pub fn multiply(
    a: Grid,
    rows: usize,
    b: Panel,
    extent: impl Fn(Range<usize>) -> Extent,
    mut store: impl FnMut(usize, usize, Lanes),
) {
    let mut first = 0;
    while first < rows {
        first += match rows - first {
            1 => group::<1>(a, first, b, &extent, &mut store),
            2..4 => group::<2>(a, first, b, &extent, &mut store),
            4..8 => group::<4>(a, first, b, &extent, &mut store),
            _ => group::<8>(a, first, b, &extent, &mut store),
        };
    }
}

/// `R` rows at once, so that an addition need not wait for the one before it.
#[inline]
fn group<const R: usize>(
    a: Grid,
    first: usize,
    b: Panel,
    extent: &impl Fn(Range<usize>) -> Extent,
    store: &mut impl FnMut(usize, usize, Lanes),
) -> usize {
    let Extent { terms, chunks } = extent(first..first + R);
    for chunk in chunks {
        let column = b.column(chunk, &terms);
        let sums = match a {
            Grid::Rows { data, stride } => {
                let rows: [&[f32]; R] = array::from_fn(|i| &data[(first + i) * stride..][terms.clone()]);
                sums_of_rows(&rows, column)
            }
            Grid::Columns { data, stride } => {
                let data = &data[(terms.start * stride + first).min(data.len())..];
                sums_of_columns(data.chunks(stride).take(terms.len()), column)
            }
        };
        for (i, sum) in sums.iter().enumerate() {
            store(first + i, chunk, *sum);
        }
    }
    R
}

/// Plain loops over indices, which the compiler keeps in registers; it does not do so with closures over arrays.
#[inline]
fn sums_of_rows<'b, const R: usize>(a: &[&[f32]; R], b: impl Iterator<Item = &'b Chunk>) -> [Lanes; R] {
    let mut sums = [Lanes::ZERO; R];
    let terms = a[0].len();
    for (j, row) in (0..terms).zip(b) {
        let row = Lanes::new(*row);
        for i in 0..R {
            sums[i] = Lanes::splat(a[i][j]).mul_add(row, sums[i]);
        }
    }
    sums
}

#[inline]
fn sums_of_columns<'a, 'b, const R: usize>(
    a: impl Iterator<Item = &'a [f32]>,
    b: impl Iterator<Item = &'b Chunk>,
) -> [Lanes; R] {
    let mut sums = [Lanes::ZERO; R];
    for (column, row) in a.zip(b) {
        let (row, column) = (Lanes::new(*row), &column[..R]);
        for i in 0..R {
            sums[i] = Lanes::splat(column[i]).mul_add(row, sums[i]);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_size_agree_with_three_loops() {
        for (rows, terms, chunks) in [(1, 1, 1), (2, 3, 1), (3, 5, 2), (7, 16, 1), (8, 4, 3), (21, 9, 2)] {
            let a = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as f32 - 5.0;
            let b: Vec<f32> = (0..terms * chunks * LANES).map(|i| (i % 13) as f32).collect();
            let by_rows: Vec<f32> = (0..rows * terms).map(|n| a(n / terms, n % terms)).collect();
            let by_columns: Vec<f32> = (0..rows * terms).map(|n| a(n % rows, n / rows)).collect();
            for grid in [
                Grid::Rows {
                    data: &by_rows,
                    stride: terms,
                },
                Grid::Columns {
                    data: &by_columns,
                    stride: rows,
                },
            ] {
                let mut seen = 0;
                let extent = |_| Extent {
                    terms: terms / 3..terms,
                    chunks: chunks / 2..chunks,
                };
                multiply(grid, rows, Panel::new(&b, chunks * LANES), extent, |i, chunk, sums| {
                    seen += 1;
                    for (lane, sum) in sums.to_array().into_iter().enumerate() {
                        let term = |j: usize| a(i, j) * b[(j * chunks + chunk) * LANES + lane];
                        assert!((sum - (terms / 3..terms).map(term).sum::<f32>()).abs() <= 1e-3);
                    }
                });
                assert_eq!(seen, rows * (chunks - chunks / 2));
            }
        }
    }
}
