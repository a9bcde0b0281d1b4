//! Proofs on the user's own machine. A device or a run comes in; checks go out: of a device against the plain operations on
//! the CPU, and of a run that was killed and continued against the same run left alone. This room refuses to know how a
//! proof is shown.

mod agreement;
mod check;
mod inputs;
mod operations;
mod resume;
mod speed;
mod training;
mod whole_run;

use dfdx::prelude::Cpu;

use crate::ops::cases::largest_difference;
use crate::ops::{Ops, inference_cases};
use crate::run::{Device, RunError};
use crate::spec::Precision;

pub use agreement::first_difference;
pub use check::Check;
pub use resume::{Host, Launch, Proof, ResumeError, resume};
pub use speed::{Speed, sentences, speed};
pub use training::training;
pub use whole_run::{Tell, whole_run};

/// Every operation of training and translation on the device, on random inputs that `seed` decides.
///
/// # Errors
/// If the device cannot be opened.
pub fn operations(device: Device, seed: u64) -> Result<Vec<Check>, RunError> {
    let has: Vec<Precision> = Precision::ALL
        .into_iter()
        .filter(|&precision| device.has(precision))
        .collect();
    match device {
        Device::Cpu => Ok(on(&Cpu::default(), &has, seed)),
        #[cfg(feature = "cuda")]
        Device::Cuda { ordinal } => {
            let cuda = Device::open_cuda(ordinal)?;
            Ok(crate::ops::cuda::poisoned(|| on(&cuda, &has, seed)))
        }
        #[cfg(not(feature = "cuda"))]
        Device::Cuda { .. } => device.check().map(|()| Vec::new()),
    }
}

fn on<Dev: Ops>(device: &Dev, precisions: &[Precision], seed: u64) -> Vec<Check> {
    let of_training = precisions
        .iter()
        .flat_map(|&precision| operations::operations(device, precision, seed));
    let of_translation = inference_cases(&device.inference(), seed).into_iter().map(|case| {
        let allowed = 2e-5;
        inputs::compared(case.name, &case.found, &case.right, largest_difference, allowed)
    });
    of_training.chain(of_translation).collect()
}
