//! One run. An experiment, a seed and a folder come in; the folder with its result goes out, and on the way the events that
//! progress bars are made of. A finished folder becomes a translator, or an export for other programs. This room refuses to
//! know how many runs there are, and how anything is shown.

mod attempt;
mod checkpoints;
mod device;
mod environment;
mod error;
mod evaluate;
mod event;
mod execute;
mod export;
mod files;
mod gpu;
mod job;
mod judge;
mod keeper;
mod log;
mod measure;
mod records;
mod snapshots;
mod trained;
mod training;
mod watch;

pub use checkpoints::newest_of as newest_checkpoint;
pub use device::Device;
pub use environment::{Environment, cpu_model, memory_bytes, peak_memory_bytes};
pub use error::RunError;
pub use event::{Event, Scores};
pub use execute::{check, execute};
pub use export::{Existing, Export, ExportError, WeightsError};
pub use job::Job;
pub use trained::Trained;
pub use watch::Listener;
