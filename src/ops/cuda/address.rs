//! Where dfdx keeps a tensor's numbers on the device. dfdx 0.13 has no call for it, but its derived `Debug` prints the
//! address as one of the first things; a test compares what is found there with what dfdx reads.

use std::fmt::{self, Debug, Write};

use cudarc::driver::sys::CUdeviceptr;

const KEY: &str = "cu_device_ptr: ";

/// The address of the first number of a tensor on CUDA.
///
/// # Panics
/// If the value is no such tensor: a bug.
pub fn address(tensor: &dyn Debug) -> CUdeviceptr {
    let mut reader = Reader::default();
    // An error is how the reader ends the printing.
    let _ = write!(reader, "{tensor:?}");
    reader.found.expect("dfdx prints the address of a tensor on CUDA")
}

/// Reads the number after [`KEY`], and then has no more printed.
#[derive(Default)]
struct Reader {
    text: String,
    found: Option<CUdeviceptr>,
}

impl Write for Reader {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.text.push_str(part);
        let Some((_, rest)) = self.text.split_once(KEY) else {
            return Ok(());
        };
        let Some((number, _)) = rest.split_once(|after: char| !after.is_ascii_digit()) else {
            return Ok(());
        };
        self.found = number.parse().ok();
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    #[allow(dead_code, reason = "fields are read by `Debug`")]
    struct Slice {
        cu_device_ptr: u64,
        len: usize,
    }

    #[test]
    fn the_address_is_read_from_within_what_is_printed() {
        let slice = Slice {
            cu_device_ptr: 140_234_567_890_944,
            len: 7,
        };
        assert_eq!(address(&("before", slice)), 140_234_567_890_944);
    }
}
