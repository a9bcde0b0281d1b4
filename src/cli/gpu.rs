//! GPUs that fail. dfdx and CUDA end a run by a panic then, which is no bug of ours, and no news to a user.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::process::exit;

use super::output::tell;

/// Has a panic over a GPU told as an error, with its exit code; every other is told as before.
pub fn explain_failures() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        let text = text(panic);
        if ["CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED"]
            .iter()
            .any(|full| text.contains(full))
        {
            tell(
                "error: the GPU has not enough memory: lower `training.micro_batch_tokens`, or end what else uses the GPU",
            );
        } else if ["DriverError(", "CublasError("]
            .iter()
            .any(|failed| text.contains(failed))
        {
            tell(format_args!("error: the GPU failed: {text}"));
        } else {
            return before(panic);
        }
        // Before anything else is dropped, which would fail as well.
        exit(6);
    }));
}

fn text<'a>(panic: &'a PanicHookInfo) -> &'a str {
    let payload = panic.payload();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    formatted
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or_default()
}
