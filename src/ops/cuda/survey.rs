//! What CUDA has to say of itself and of its devices.

use std::ffi::{CStr, c_char, c_int};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};

use super::context::{check_ordinal, device_count, int};

/// A device that CUDA sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFacts {
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    pub total_bytes: usize,
}

/// The newest CUDA that the driver can do, as `13.0`, and the devices.
///
/// # Errors
/// What is missing, or what the driver says.
pub fn survey() -> Result<(String, Vec<DeviceFacts>), String> {
    let count = device_count()?;
    let mut version: c_int = 0;
    // SAFETY: writes one number.
    told(unsafe { sys::cuDriverGetVersion(&raw mut version) })?;
    let devices = (0..count).map(facts).collect::<Result<_, _>>()?;
    Ok((format!("{}.{}", version / 1000, version % 1000 / 10), devices))
}

/// What is known of one device.
///
/// # Errors
/// As [`survey`], or if there is no such device.
pub fn facts(ordinal: usize) -> Result<DeviceFacts, String> {
    const NAME: usize = 256;
    check_ordinal(ordinal)?;
    let mut device = 0;
    let mut name = [0 as c_char; NAME];
    let mut total_bytes = 0;
    let (mut major, mut minor): (c_int, c_int) = (0, 0);
    // SAFETY: each writes what it is given room for, and the name ends with a zero.
    let name = unsafe {
        told(sys::cuDeviceGet(&raw mut device, int(ordinal)))?;
        told(sys::cuDeviceGetName(name.as_mut_ptr(), int(NAME), device))?;
        told(sys::cuDeviceTotalMem_v2(&raw mut total_bytes, device))?;
        let capability = [
            (&raw mut major, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            (&raw mut minor, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        ];
        for (number, attribute) in capability {
            told(sys::cuDeviceGetAttribute(number, attribute, device))?;
        }
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    };
    Ok(DeviceFacts {
        name,
        capability: (major, minor),
        total_bytes,
    })
}

fn told(result: CUresult) -> Result<(), String> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        error => Err(format!("the CUDA driver says {error:?}")),
    }
}
