//! A CUDA device with our kernels on it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;

use cudarc::cublas::CudaBlas;
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUdeviceptr};
use cudarc::driver::{
    CudaDevice, CudaFunction, CudaSlice, DevicePtr, DeviceRepr, DeviceSlice, LaunchAsync, LaunchConfig, result,
};
use dfdx::prelude::{Cuda, Storage};

use super::compile::{compile, kernels};
use super::libraries::Part;
use super::sentences::SentenceCache;

/// What cudarc keeps our kernels under.
const MODULE: &str = "ablate";

/// Threads of a block of the kernels that go over elements, and the most blocks of one launch.
const ELEMENT_THREADS: u32 = 256;
const ELEMENT_BLOCKS: usize = 1 << 16;
/// Threads of a block that has a row.
const ROW_THREADS: u32 = 128;

/// Why nothing is done about a failure of the device.
const FAILED: &str = "the CUDA device works, and has memory enough";

/// The device of this process: its kernels, its cuBLAS, and its memory.
pub struct Context {
    device: Arc<CudaDevice>,
    pub(super) blas: CudaBlas,
    functions: HashMap<&'static str, CudaFunction>,
    /// What the operations of one pass have in common.
    pub(super) sentences: RefCell<SentenceCache>,
    /// Whether memory to be written is filled with what is no number first.
    poisons: Cell<bool>,
}

thread_local! {
    /// Opened by [`open`]; dfdx's own handle may not leave its thread either.
    static OPENED: RefCell<Option<(usize, Rc<Context>)>> = const { RefCell::new(None) };
}

/// Opens device `ordinal`, as CUDA counts those it may see, and compiles the kernels for it.
///
/// # Errors
/// What is missing, or what CUDA says.
pub fn open(ordinal: usize) -> Result<Cuda, String> {
    check_ordinal(ordinal)?;
    let opened = OPENED.with_borrow(|opened| opened.as_ref().map(|(ordinal, _)| *ordinal));
    assert!(
        opened.is_none_or(|opened| opened == ordinal),
        "a process works on one CUDA device"
    );
    let failed = |what: &str, error: &dyn std::fmt::Debug| format!("cuda:{ordinal}: {what}: {error:?}");
    let cuda = Cuda::try_build(ordinal, 0).map_err(|error| failed("cannot be opened", &error))?;
    if opened.is_none() {
        let context = Context::of(&cuda).map_err(|error| format!("cuda:{ordinal}: {error}"))?;
        OPENED.set(Some((ordinal, Rc::new(context))));
    }
    Ok(cuda)
}

/// Runs `work` with all memory that operations are to write filled with NaN first, so that what they forget shows.
pub fn poisoned<R>(work: impl FnOnce() -> R) -> R {
    context().poisons.set(true);
    let result = work();
    context().poisons.set(false);
    result
}

/// How many devices CUDA sees.
///
/// # Errors
/// What is missing, or what the driver says.
pub fn device_count() -> Result<usize, String> {
    for part in Part::ALL {
        part.check().map_err(|missing| missing.to_string())?;
    }
    let answer = |error| format!("the CUDA driver does not answer: {error:?}");
    result::init().map_err(answer)?;
    Ok(usize::try_from(result::device::get_count().map_err(answer)?).unwrap_or(0))
}

/// Whether there is a device of that number.
pub fn check_ordinal(ordinal: usize) -> Result<(), String> {
    let count = device_count()?;
    if ordinal < count {
        Ok(())
    } else {
        Err(format!("there is no device cuda:{ordinal}; CUDA sees {count}"))
    }
}

/// The device that was opened.
///
/// # Panics
/// If none was: a bug, since tensors on CUDA come from an opened device.
pub fn context() -> Rc<Context> {
    OPENED.with_borrow(|opened| {
        let (_, context) = opened.as_ref().expect("a CUDA device was opened before it is used");
        Rc::clone(context)
    })
}

impl Context {
    fn of(cuda: &Cuda) -> Result<Self, String> {
        // dfdx keeps its device to itself, but hands it out with memory.
        let memory = Storage::<f32>::try_alloc_len(cuda, 1).map_err(|error| format!("has no memory: {error:?}"))?;
        let device = memory.device();
        keep_freed_memory(&device);
        let capability = |attribute| device.attribute(attribute).map_err(|error| format!("{error:?}"));
        let major = capability(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = capability(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let (kernels, compiled) = (kernels(), compile(10 * major + minor)?);
        let loaded = device.load_ptx(compiled.code.clone(), MODULE, &kernels);
        loaded.map_err(|error| {
            format!("the driver refuses the kernels ({error:?}); NVRTC and driver must be of the same CUDA generation")
        })?;
        let function = |name| Some((name, device.get_func(MODULE, name)?));
        Ok(Self {
            functions: kernels.into_iter().filter_map(function).collect(),
            blas: CudaBlas::new(Arc::clone(&device)).map_err(|error| format!("cuBLAS does not start: {error:?}"))?,
            sentences: RefCell::default(),
            poisons: Cell::new(false),
            device,
        })
    }

    pub fn device(&self) -> &Arc<CudaDevice> {
        &self.device
    }

    /// Starts a kernel with blocks of so many threads.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and what they point at as large as it expects.
    pub unsafe fn launch<Arguments>(&self, kernel: &str, blocks: [usize; 2], threads: u32, arguments: Arguments)
    where
        CudaFunction: LaunchAsync<Arguments>,
    {
        if blocks.contains(&0) {
            return;
        }
        let [x, y] = blocks.map(|count| u32::try_from(count).expect("fewer than 2^32 blocks"));
        let shape = LaunchConfig {
            grid_dim: (x, y, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: 0,
        };
        let function = self.functions[kernel].clone();
        // SAFETY: the caller's promise.
        unsafe { function.launch(shape, arguments) }.expect(FAILED);
    }

    /// Starts a kernel that goes over `n` elements, with any number of threads.
    ///
    /// # Safety
    /// As for [`Self::launch`].
    pub unsafe fn launch_over<Arguments>(&self, kernel: &str, n: usize, arguments: Arguments)
    where
        CudaFunction: LaunchAsync<Arguments>,
    {
        let blocks = n.div_ceil(ELEMENT_THREADS as usize).min(ELEMENT_BLOCKS);
        // SAFETY: the caller's promise.
        unsafe { self.launch(kernel, [blocks, 1], ELEMENT_THREADS, arguments) };
    }

    /// Starts a kernel of which a block has a row.
    ///
    /// # Safety
    /// As for [`Self::launch`].
    pub unsafe fn launch_by_row<Arguments>(&self, kernel: &str, rows: usize, arguments: Arguments)
    where
        CudaFunction: LaunchAsync<Arguments>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.launch(kernel, [rows, 1], ROW_THREADS, arguments) };
    }

    /// Memory that holds anything until it is written.
    pub fn uninitialized<T: DeviceRepr>(&self, length: usize) -> CudaSlice<T> {
        // SAFETY: of numbers, for which every pattern of bits is one; what is made of it is written before it is read.
        let memory = unsafe { self.device.alloc(length) }.expect(FAILED);
        self.poison(of(&memory), memory.num_bytes());
        memory
    }

    /// Fills memory that an operation is to write with what is no number, if that was asked for.
    pub fn poison(&self, address: CUdeviceptr, bytes: usize) {
        /// Of every format of numbers.
        const NAN: u8 = 0xff;
        if self.poisons.get() && bytes > 0 {
            // SAFETY: the callers' own memory.
            let result = unsafe { sys::cuMemsetD8Async(address, NAN, bytes, *self.device.cu_stream()) };
            assert_eq!(result, sys::CUresult::CUDA_SUCCESS, "{FAILED}");
        }
    }

    pub fn zeros(&self, length: usize) -> CudaSlice<f32> {
        self.device.alloc_zeros(length).expect(FAILED)
    }

    pub fn upload<T: DeviceRepr + Unpin>(&self, values: Vec<T>) -> CudaSlice<T> {
        self.device.htod_copy(values).expect(FAILED)
    }

    /// Waits until all that was queued is done.
    pub fn wait(&self) {
        self.device.synchronize().expect(FAILED);
    }

    /// Waits until the numbers are there, and copies them to the host.
    pub fn download<T: DeviceRepr>(&self, values: &CudaSlice<T>) -> Vec<T> {
        self.device.dtoh_sync_copy(values).expect(FAILED)
    }
}

/// The address of memory on the device.
pub fn of<T>(memory: &impl DevicePtr<T>) -> CUdeviceptr {
    *memory.device_ptr()
}

/// A size as the kernels and cuBLAS know it.
pub fn int(size: usize) -> i32 {
    i32::try_from(size).expect("sizes below 2^31")
}

/// Has the driver keep what is freed for the next allocation, where it would else give it back at every wait.
fn keep_freed_memory(device: &Arc<CudaDevice>) {
    let mut pool = std::ptr::null_mut();
    let mut threshold = u64::MAX;
    // SAFETY: both write through, or read, the pointers given. A device without pools answers with an error, and is as
    // good as before.
    unsafe {
        if sys::cuDeviceGetDefaultMemPool(&raw mut pool, *device.cu_device()) == sys::CUresult::CUDA_SUCCESS {
            sys::cuMemPoolSetAttribute(
                pool,
                sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast::<c_void>(),
            );
        }
    }
}
