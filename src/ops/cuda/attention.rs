//! Attention inside the heads: from projected rows to mixed values and back.

use std::rc::Rc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaFunction, CudaSlice, DeviceRepr, LaunchAsync};

use super::context::{Context, int};
use super::sentences::{KEPT, Sentence, Sentences};
use crate::ops::{HeadSizes, Mask, Spans, precision};
use crate::spec::Precision;

/// Threads of a block that multiplies, as `attention.cu` has them, and of one that takes softmaxes.
const TILE_THREADS: u32 = 64;
const SOFTMAX_THREADS: u32 = 128;

/// The products, in f32 and with rounded operands.
const ROWS: [&str; 2] = ["rows_by_rows", "rows_by_rows_rounded"];
const MIX_KEYS: [&str; 2] = ["weights_by_keys", "weights_by_keys_rounded"];
const MIX_QUERIES: [&str; 2] = ["weights_by_queries", "weights_by_queries_rounded"];

/// Heads side by side in packed rows, as the kernels know them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Heads {
    data: CUdeviceptr,
    stride: i32,
    column: i32,
    width: i32,
}

// SAFETY: numbers laid out as in `attention.cu`.
unsafe impl DeviceRepr for Heads {}

impl Heads {
    /// Heads of `width` from `column` on, in rows that are `stride` numbers apart.
    pub fn at(data: CUdeviceptr, stride: usize, column: usize, width: usize) -> Self {
        let [stride, column, width] = [stride, column, width].map(int);
        Self {
            data,
            stride,
            column,
            width,
        }
    }
}

/// Queries, keys and values, or their gradients.
#[derive(Clone, Copy)]
pub struct Operands {
    pub queries: Heads,
    pub keys: Heads,
    pub values: Heads,
}

impl Operands {
    /// All three in the same rows, one after another.
    pub fn side_by_side(data: CUdeviceptr, stride: usize, sizes: HeadSizes) -> Self {
        Self {
            queries: Heads::at(data, stride, 0, sizes.key),
            keys: Heads::at(data, stride, sizes.keys(), sizes.key),
            values: Heads::at(data, stride, 2 * sizes.keys(), sizes.value),
        }
    }
}

impl Sentences {
    /// Those of the spans, from the cache if they are there.
    fn of(context: &Context, spans: &Spans, heads: usize) -> Rc<Self> {
        let mut cache = context.sentences.borrow_mut();
        let known = cache.0.iter().find(|(of, with, _)| (of, *with) == (spans, heads));
        if let Some((.., sentences)) = known {
            return Rc::clone(sentences);
        }
        let sentences = Rc::new(Self::uploaded(context, spans, heads));
        cache.0.truncate(KEPT - 1);
        cache.0.push_front((spans.clone(), heads, Rc::clone(&sentences)));
        sentences
    }

    fn uploaded(context: &Context, spans: &Spans, heads: usize) -> Self {
        let mut weights = 0;
        let sentences: Vec<Sentence> = spans
            .iter()
            .map(|span| {
                let sizes = [span.queries.start, span.queries.len(), span.keys.start, span.keys.len()];
                let [query, queries, key, keys] = sizes.map(int);
                let first = weights as u64;
                weights += heads * span.queries.len() * span.keys.len();
                Sentence {
                    query,
                    queries,
                    key,
                    keys,
                    weights: first,
                }
            })
            .collect();
        Self {
            count: sentences.len(),
            on_device: context.upload(sentences),
            weights,
            key_rows: consecutive_keys(spans),
        }
    }
}

/// Attention within the spans of a batch.
pub struct Kernel {
    context: Rc<Context>,
    sentences: Rc<Sentences>,
    causal: i32,
    /// Keys on each side; more than any sentence has where there is no window.
    window: i32,
    heads: usize,
    /// `1 / sqrt(d_k)`.
    scale: f32,
}

impl Kernel {
    pub fn new(context: &Rc<Context>, spans: &Spans, sizes: HeadSizes) -> Self {
        Self {
            sentences: Sentences::of(context, spans, sizes.heads),
            causal: i32::from(spans.mask() == Mask::Causal),
            window: spans.window().map_or(1 << 30, |window| int(window.min(1 << 30))),
            heads: sizes.heads,
            scale: (sizes.key as f32).sqrt().recip(),
            context: Rc::clone(context),
        }
    }

    /// Whether each of so many rows is a key of a span.
    pub fn covers_all_keys(&self, rows: usize) -> bool {
        self.sentences.key_rows == Some(rows)
    }

    /// Writes the mixed values of every query to `out`, and returns the weights.
    pub fn forward(&self, operands: &Operands, out: Heads) -> CudaSlice<f32> {
        let weights = self.context.uninitialized::<f32>(self.sentences.weights);
        let spans = &self.sentences.on_device;
        // SAFETY: the spans are of the rows that the operands have; there is a weight for each pair and head.
        unsafe {
            let arguments = (spans, operands.queries, operands.keys, &weights);
            self.launch_product(ROWS, arguments);
            let arguments = (spans, self.causal, self.window, self.scale, &weights);
            self.launch("softmax_within", SOFTMAX_THREADS, arguments);
            let arguments = (spans, &weights, operands.values, out);
            self.launch_product(MIX_KEYS, arguments);
        }
        weights
    }

    /// Writes the gradients of the operands, of every row that a span has.
    pub fn backward(&self, operands: &Operands, weights: &CudaSlice<f32>, d_out: Heads, d: &Operands) {
        let d_weights = self.context.uninitialized::<f32>(self.sentences.weights);
        let spans = &self.sentences.on_device;
        // SAFETY: as in the forward pass.
        unsafe {
            let arguments = (spans, weights, d_out, d.values);
            self.launch_product(MIX_QUERIES, arguments);
            let arguments = (spans, d_out, operands.values, &d_weights);
            self.launch_product(ROWS, arguments);
            let arguments = (spans, self.scale, weights, &d_weights);
            self.launch("softmax_within_backward", SOFTMAX_THREADS, arguments);
            let arguments = (spans, &d_weights, operands.keys, d.queries);
            self.launch_product(MIX_KEYS, arguments);
            let arguments = (spans, &d_weights, operands.queries, d.keys);
            self.launch_product(MIX_QUERIES, arguments);
        }
    }

    /// The one of two kernels that the precision asks for.
    ///
    /// # Safety
    /// As for [`Context::launch`].
    unsafe fn launch_product<Arguments>(&self, [exact, rounded]: [&str; 2], arguments: Arguments)
    where
        CudaFunction: LaunchAsync<Arguments>,
    {
        let kernel = if precision::current() == Precision::Bf16 {
            rounded
        } else {
            exact
        };
        // SAFETY: the caller's promise.
        unsafe { self.launch(kernel, TILE_THREADS, arguments) };
    }

    /// # Safety
    /// As for [`Context::launch`].
    unsafe fn launch<Arguments>(&self, kernel: &str, threads: u32, arguments: Arguments)
    where
        CudaFunction: LaunchAsync<Arguments>,
    {
        // SAFETY: the caller's promise.
        unsafe {
            self.context
                .launch(kernel, [self.sentences.count, self.heads], threads, arguments);
        };
    }
}

/// How many rows are keys, where each span's begin at the end of those before.
fn consecutive_keys(spans: &Spans) -> Option<usize> {
    spans
        .iter()
        .try_fold(0, |next, span| (span.keys.start == next).then_some(span.keys.end))
}
