//! Our kernels through NVRTC: to machine code for a GPU that NVRTC knows, which any driver of its generation loads; for a
//! newer GPU to PTX of the newest one it knows, which the driver translates.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;

use cudarc::nvrtc::Ptx;
use cudarc::nvrtc::result;
use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use tempfile::NamedTempFile;

use super::libraries::Part;

/// In the order in which they need each other.
const SOURCES: [&str; 8] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/rows.cu"),
    include_str!("kernels/norm.cu"),
    include_str!("kernels/tiles.cu"),
    include_str!("kernels/attention.cu"),
    include_str!("kernels/loss.cu"),
    include_str!("kernels/adam.cu"),
    include_str!("kernels/translate.cu"),
];

/// The names of all kernels.
pub fn kernels() -> Vec<&'static str> {
    let starts = SOURCES
        .iter()
        .flat_map(|source| source.split("extern \"C\" __global__ void ").skip(1));
    starts.filter_map(|rest| Some(rest.split_once('(')?.0)).collect()
}

/// Kernels that a driver can load.
pub struct Compiled {
    pub code: Ptx,
    /// Where the code lies until it is loaded, if it is machine code.
    _file: Option<NamedTempFile>,
}

/// Compiles for compute capability `own`, as 90 for 9.0.
///
/// # Errors
/// What NVRTC says.
pub fn compile(own: c_int) -> Result<Compiled, String> {
    let known = architectures()?;
    if known.contains(&own) {
        let program = Program::compiled(&format!("--gpu-architecture=sm_{own}"))?;
        let failed = |error: std::io::Error| format!("the kernels cannot be kept in a temporary file: {error}");
        let mut file = NamedTempFile::new().map_err(failed)?;
        file.write_all(&program.machine_code()?).map_err(failed)?;
        return Ok(Compiled {
            code: Ptx::from_file(file.path()),
            _file: Some(file),
        });
    }
    let newest = known.iter().copied().filter(|&known| known < own).max();
    let newest = newest.ok_or_else(|| {
        format!(
            "the GPU, of compute capability {}.{}, is older than any that this NVRTC compiles for",
            own / 10,
            own % 10
        )
    })?;
    let program = Program::compiled(&format!("--gpu-architecture=compute_{newest}"))?;
    Ok(Compiled {
        code: Ptx::from_src(program.ptx()?),
        _file: None,
    })
}

/// The version of the NVRTC that was found, as `13.0`.
///
/// # Errors
/// What is missing.
pub fn nvrtc_version() -> Result<String, String> {
    Part::Nvrtc.check().map_err(|missing| missing.to_string())?;
    let (mut major, mut minor): (c_int, c_int) = (0, 0);
    // SAFETY: writes two numbers.
    told(unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) })?;
    Ok(format!("{major}.{minor}"))
}

/// Those that NVRTC compiles for.
fn architectures() -> Result<Vec<c_int>, String> {
    let mut count: c_int = 0;
    // SAFETY: writes one number, and then as many as it has said.
    unsafe {
        told(sys::nvrtcGetNumSupportedArchs(&raw mut count))?;
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        told(sys::nvrtcGetSupportedArchs(known.as_mut_ptr()))?;
        Ok(known)
    }
}

struct Program(nvrtcProgram);

impl Program {
    fn compiled(option: &str) -> Result<Self, String> {
        let program = Self(result::create_program(SOURCES.concat()).map_err(|error| said(error.0))?);
        // SAFETY: a program that was just made.
        unsafe { result::compile_program(program.0, &[option]) }.map_err(|_| {
            // SAFETY: as above.
            let log = unsafe { result::get_program_log(program.0) }.unwrap_or_default();
            // SAFETY: the log ends with a zero; an empty one is not read.
            let log = (!log.is_empty()).then(|| unsafe { CStr::from_ptr(log.as_ptr()) }.to_string_lossy());
            format!("NVRTC does not compile the kernels:\n{}", log.unwrap_or_default())
        })?;
        Ok(program)
    }

    fn machine_code(&self) -> Result<Vec<u8>, String> {
        let mut size = 0;
        // SAFETY: writes one number, and then as many bytes as it has said.
        unsafe {
            told(sys::nvrtcGetCUBINSize(self.0, &raw mut size))?;
            let mut code = vec![0u8; size];
            told(sys::nvrtcGetCUBIN(self.0, code.as_mut_ptr().cast::<c_char>()))?;
            Ok(code)
        }
    }

    fn ptx(&self) -> Result<String, String> {
        // SAFETY: a compiled program, whose text ends with a zero.
        unsafe {
            let text = result::get_ptx(self.0).map_err(|error| said(error.0))?;
            Ok(CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: not used any more. There is nothing to be done about a failure.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn told(result: nvrtcResult) -> Result<(), String> {
    match result {
        nvrtcResult::NVRTC_SUCCESS => Ok(()),
        error => Err(said(error)),
    }
}

fn said(error: nvrtcResult) -> String {
    format!("NVRTC says {error:?}")
}
