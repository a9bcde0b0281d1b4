//! A run to execute, and its place.

use std::path::PathBuf;

use super::Device;
use crate::plan::Run;
use crate::record::RunFolder;

/// A run to execute, and its place.
#[derive(Debug, Clone)]
pub struct Job {
    pub suite: String,
    pub run: Run,
    pub folder: RunFolder,
    /// Folder of corpora, for those that are not built in.
    pub data_dir: Option<PathBuf>,
    /// Folder of prepared vocabularies and pairs, which runs share.
    pub cache_dir: PathBuf,
    pub device: Device,
}
