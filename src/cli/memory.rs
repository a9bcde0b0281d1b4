//! A GPU whose memory is full. dfdx and CUDA end a run by a panic then, which is no bug of ours, and no news to a user.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::process::exit;

/// Has a panic for want of memory on a GPU told as an error, with its exit code; every other is told as before.
pub fn explain_full_gpus() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if text(panic).contains("CUDA_ERROR_OUT_OF_MEMORY") {
            eprintln!(
                "error: the GPU has not enough memory; a lower `training.micro_batch_tokens` needs less, and so does \
                 nothing else on the GPU"
            );
            exit(6);
        }
        before(panic);
    }));
}

fn text<'a>(panic: &'a PanicHookInfo) -> &'a str {
    let payload = panic.payload();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    formatted
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or_default()
}
