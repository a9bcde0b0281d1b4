//! Matrices as products see them: where their elements lie, and what becomes of the output.

use std::ops::Range;

/// A matrix in a slice: element `(i, j)` lies at `i * row_stride + j * column_stride`.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub data: &'a [f32],
    pub rows: usize,
    pub columns: usize,
    pub row_stride: usize,
    pub column_stride: usize,
}

impl<'a> View<'a> {
    /// Row after row, without gaps.
    ///
    /// # Panics
    /// If the slice is not `rows * columns` long.
    pub fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} x {columns} matrix");
        Self {
            data,
            rows,
            columns,
            row_stride: columns,
            column_stride: 1,
        }
    }

    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// Some of the columns.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn columns(self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.columns,
            "columns {range:?}"
        );
        let first = (range.start * self.column_stride).min(self.data.len());
        Self {
            data: &self.data[first..],
            columns: range.len(),
            ..self
        }
    }

    /// Whether every element lies in the slice.
    pub fn fits(&self) -> bool {
        let last = |count: usize, stride: usize| count.saturating_sub(1) * stride;
        let last = last(self.rows, self.row_stride) + last(self.columns, self.column_stride);
        self.rows * self.columns == 0 || last < self.data.len()
    }
}

/// What happens to what the output held before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Overwrite,
    Add,
}
