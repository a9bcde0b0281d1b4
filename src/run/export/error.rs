//! Why an export cannot be written or used.

use std::path::PathBuf;

use thiserror::Error;

use super::WeightsError;

/// Why an export cannot be written or used.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The folder is not empty; perhaps it holds an export.
    #[error("{} is not empty; --force replaces the export in it", .folder.display())]
    Exists { folder: PathBuf },
    /// The folder holds a file that no export has.
    #[error("{} holds {name}, which is not a file of an export; choose another folder", .folder.display())]
    HoldsOthers { folder: PathBuf, name: String },
    #[error("{}: {source}", .path.display())]
    Weights { path: PathBuf, source: WeightsError },
}
