//! How a position enters the embedding: fixed sinusoids or a learned table (section 3.5; Table 3, row (E)).

use std::ops::Range;
use std::sync::RwLock;

/// Interleaved sines and cosines: the rows of all positions so far, computed when they are first asked for.
#[derive(Debug)]
pub struct Sinusoids {
    /// D.
    width: usize,
    rows: RwLock<Vec<f32>>,
}

impl Sinusoids {
    pub fn new(width: usize) -> Self {
        Self {
            width,
            rows: RwLock::new(Vec::new()),
        }
    }

    /// Rows of the positions in a range, `[range, D]`.
    pub fn rows(&self, positions: Range<usize>) -> Vec<f32> {
        const POISONED: &str = "nobody panics over sines";
        let width = self.width;
        let needed = positions.end * width;
        if self.rows.read().expect(POISONED).len() < needed {
            let mut rows = self.rows.write().expect(POISONED);
            for position in rows.len() / width..positions.end {
                rows.extend((0..width).map(|i| sinusoid(position, i, width)));
            }
        }
        self.rows.read().expect(POISONED)[positions.start * width..needed].to_vec()
    }
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

/// The row of a learned table that a position has. Sentences longer than the table, which no training sentence is,
/// share its last row.
pub fn learned_row(position: usize, rows: usize) -> usize {
    position.min(rows - 1)
}
