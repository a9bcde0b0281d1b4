//! Sentences as the kernels of attention know them, kept on the device from layer to layer.

use std::collections::VecDeque;
use std::rc::Rc;

use cudarc::driver::{CudaSlice, DeviceRepr};

use crate::ops::Spans;

/// One sentence, as the kernels know it.
#[repr(C)]
pub struct Sentence {
    pub query: i32,
    pub queries: i32,
    pub key: i32,
    pub keys: i32,
    /// Where its weights begin.
    pub weights: u64,
}

// SAFETY: numbers laid out as in `attention.cu`.
unsafe impl DeviceRepr for Sentence {}

/// The sentences of spans on the device, which every layer asks for again.
#[derive(Default)]
pub struct SentenceCache(pub VecDeque<(Spans, usize, Rc<Sentences>)>);

/// Encoder, decoder, and from the one to the other.
pub const KEPT: usize = 3;

pub struct Sentences {
    pub on_device: CudaSlice<Sentence>,
    pub count: usize,
    /// Weights of all sentences and heads together.
    pub weights: usize,
    /// Rows that are keys of the spans, if these follow one another as those of the queries do.
    pub key_rows: Option<usize>,
}
