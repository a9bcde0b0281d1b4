//! What is to be run, and where.

use std::path::PathBuf;

use super::Device;
use crate::plan::Run;
use crate::results::RunFolder;

/// What is to be run, and where.
#[derive(Debug, Clone)]
pub struct Job {
    pub suite: String,
    pub run: Run,
    pub folder: RunFolder,
    /// Where corpora lie, for those that are not built in.
    pub data_dir: Option<PathBuf>,
    /// Where prepared vocabularies are kept from run to run.
    pub cache_dir: PathBuf,
    pub device: Device,
}
