//! CUDA's libraries, opened when a device is: this binary starts without them, and says what is missing.
//!
//! cudarc declares the functions it calls and leaves it to the linker to find them. It finds them here, and each hands
//! its arguments on to the function of that name in the library.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt;
use std::sync::OnceLock;

use cudarc::cublas::sys::{
    cublasComputeType_t, cublasGemmAlgo_t, cublasHandle_t, cublasOperation_t, cublasStatus_t, cudaDataType,
};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUmemPool_attribute, CUmemoryPool,
    CUmodule, CUresult, CUstream,
};
use cudarc::nvrtc::sys::{nvrtcProgram, nvrtcResult};
use libloading::Library;

/// One of the libraries that CUDA consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Driver,
    Nvrtc,
    Cublas,
}

impl Part {
    pub const ALL: [Self; 3] = [Self::Driver, Self::Nvrtc, Self::Cublas];

    /// Newest first. The functions used are the same in all of them.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Driver => &["libcuda.so.1", "libcuda.so"],
            Self::Nvrtc => &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
            Self::Cublas => &["libcublas.so.13", "libcublas.so.12", "libcublas.so"],
        }
    }

    /// Where it comes from.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::Driver => "it comes with NVIDIA's driver",
            Self::Nvrtc => {
                "it comes with the CUDA toolkit 12 or 13, or `pip install nvidia-cuda-nvrtc` of the driver's CUDA version; LD_LIBRARY_PATH must name its folder"
            }
            Self::Cublas => {
                "it comes with the CUDA toolkit 12 or 13, or `pip install nvidia-cublas`; LD_LIBRARY_PATH must name its folder"
            }
        }
    }

    fn functions(self) -> &'static [&'static str] {
        match self {
            Self::Driver => DRIVER,
            Self::Nvrtc => NVRTC,
            Self::Cublas => CUBLAS,
        }
    }

    /// The library with the name of its file, opened once.
    fn open(self) -> Result<&'static (&'static str, Library), &'static String> {
        static OPENED: [OnceLock<Result<(&str, Library), String>>; 3] = [const { OnceLock::new() }; 3];
        let opened = OPENED[self as usize].get_or_init(|| {
            let mut first_error = None;
            for &file in self.files() {
                // SAFETY: CUDA's libraries may be loaded at any time, by any thread.
                match unsafe { Library::new(file) } {
                    Ok(library) => return Ok((file, library)),
                    Err(error) => first_error.get_or_insert(told(&error)),
                };
            }
            Err(first_error.unwrap_or_default())
        });
        opened.as_ref()
    }

    /// The name of the library's file, if it and all its functions are there.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(self) -> Result<&'static str, Missing> {
        let missing = |what: String| Missing { part: self, what };
        let (file, library) = self.open().map_err(|error| missing(error.clone()))?;
        for function in self.functions() {
            // SAFETY: nothing is called; the type is only how a pointer is held.
            if unsafe { library.get::<*const c_void>(*function) }.is_err() {
                return Err(missing(format!("{file} has no function {function}")));
            }
        }
        Ok(file)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Driver => "the CUDA driver",
            Self::Nvrtc => "NVRTC",
            Self::Cublas => "cuBLAS",
        })
    }
}

/// A library that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub part: Part,
    /// What the system says of it.
    pub what: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing ({}); {}", self.part, self.what, self.part.source())
    }
}

/// What the system says, which libloading keeps behind its own words.
fn told(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Defines the functions of a library as the linker wants them, and the list of their names.
macro_rules! functions {
    ($names:ident, $part:expr; $($name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        const $names: &[&str] = &[$(stringify!($name)),*];
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                type Function = unsafe extern "C" fn($($type),*) -> $result;
                static FUNCTION: OnceLock<Function> = OnceLock::new();
                let function = FUNCTION.get_or_init(|| {
                    let (_, library) = $part.open().expect("libraries are checked before a device is opened");
                    // SAFETY: the declaration is cudarc's own, made from NVIDIA's headers.
                    *unsafe { library.get::<Function>(stringify!($name)) }
                        .expect("libraries are checked before a device is opened")
                });
                // SAFETY: the caller's arguments, unchanged.
                unsafe { function($($argument),*) }
            }
        )*
    };
}

functions! { DRIVER, Part::Driver;
    cuCtxSetCurrent(context: CUcontext) -> CUresult;
    cuCtxGetCurrent(context: *mut CUcontext) -> CUresult;
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> CUresult;
    cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice) -> CUresult;
    cuDeviceGetCount(count: *mut c_int) -> CUresult;
    cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) -> CUresult;
    cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice) -> CUresult;
    cuDevicePrimaryCtxRelease_v2(device: CUdevice) -> CUresult;
    cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) -> CUresult;
    cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) -> CUresult;
    cuDriverGetVersion(version: *mut c_int) -> CUresult;
    cuEventCreate(event: *mut CUevent, flags: c_uint) -> CUresult;
    cuEventDestroy_v2(event: CUevent) -> CUresult;
    cuEventRecord(event: CUevent, stream: CUstream) -> CUresult;
    cuGetErrorName(error: CUresult, name: *mut *const c_char) -> CUresult;
    cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult;
    cuInit(flags: c_uint) -> CUresult;
    cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: CUstream,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> CUresult;
    cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult;
    cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) -> CUresult;
    cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> CUresult;
    cuMemFree_v2(address: CUdeviceptr) -> CUresult;
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult;
    cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void) -> CUresult;
    cuMemcpyDtoDAsync_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult;
    cuMemcpyDtoD_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize) -> CUresult;
    cuMemcpyDtoHAsync_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult;
    cuMemcpyDtoH_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize) -> CUresult;
    cuMemcpyHtoDAsync_v2(target: CUdeviceptr, source: *const c_void, bytes: usize, stream: CUstream) -> CUresult;
    cuMemcpyHtoD_v2(target: CUdeviceptr, source: *const c_void, bytes: usize) -> CUresult;
    cuMemsetD8Async(target: CUdeviceptr, value: u8, count: usize, stream: CUstream) -> CUresult;
    cuMemsetD8_v2(target: CUdeviceptr, value: u8, count: usize) -> CUresult;
    cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> CUresult;
    cuModuleLoad(module: *mut CUmodule, file: *const c_char) -> CUresult;
    cuModuleLoadData(module: *mut CUmodule, image: *const c_void) -> CUresult;
    cuModuleUnload(module: CUmodule) -> CUresult;
    cuStreamCreate(stream: *mut CUstream, flags: c_uint) -> CUresult;
    cuStreamDestroy_v2(stream: CUstream) -> CUresult;
    cuStreamSynchronize(stream: CUstream) -> CUresult;
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) -> CUresult;
}

functions! { NVRTC, Part::Nvrtc;
    nvrtcCompileProgram(program: nvrtcProgram, count: c_int, options: *const *const c_char) -> nvrtcResult;
    nvrtcCreateProgram(
        program: *mut nvrtcProgram,
        source: *const c_char,
        name: *const c_char,
        headers: c_int,
        texts: *const *const c_char,
        includes: *const *const c_char,
    ) -> nvrtcResult;
    nvrtcDestroyProgram(program: *mut nvrtcProgram) -> nvrtcResult;
    nvrtcGetCUBIN(program: nvrtcProgram, code: *mut c_char) -> nvrtcResult;
    nvrtcGetCUBINSize(program: nvrtcProgram, size: *mut usize) -> nvrtcResult;
    nvrtcGetNumSupportedArchs(count: *mut c_int) -> nvrtcResult;
    nvrtcGetSupportedArchs(known: *mut c_int) -> nvrtcResult;
    nvrtcGetPTX(program: nvrtcProgram, text: *mut c_char) -> nvrtcResult;
    nvrtcGetPTXSize(program: nvrtcProgram, size: *mut usize) -> nvrtcResult;
    nvrtcGetProgramLog(program: nvrtcProgram, text: *mut c_char) -> nvrtcResult;
    nvrtcGetProgramLogSize(program: nvrtcProgram, size: *mut usize) -> nvrtcResult;
    nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> nvrtcResult;
}

functions! { CUBLAS, Part::Cublas;
    cublasCreate_v2(handle: *mut cublasHandle_t) -> cublasStatus_t;
    cublasDestroy_v2(handle: cublasHandle_t) -> cublasStatus_t;
    cublasSetStream_v2(handle: cublasHandle_t, stream: *mut c_void) -> cublasStatus_t;
    cublasGetVersion_v2(handle: cublasHandle_t, version: *mut c_int) -> cublasStatus_t;
    cublasGemmEx(
        handle: cublasHandle_t,
        a_operation: cublasOperation_t,
        b_operation: cublasOperation_t,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const c_void,
        a_type: cudaDataType,
        a_stride: c_int,
        b: *const c_void,
        b_type: cudaDataType,
        b_stride: c_int,
        beta: *const c_void,
        c: *mut c_void,
        c_type: cudaDataType,
        c_stride: c_int,
        compute: cublasComputeType_t,
        algorithm: cublasGemmAlgo_t,
    ) -> cublasStatus_t;
}
