//! Provenance of a result: enough to produce it again. Only this file contains times.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{RecordError, toml_file};

/// Content of `provenance.toml`: written when a run starts, and again, with times, when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The command line, as typed.
    pub command: String,
    pub ablate_version: String,
    /// Absent outside a git checkout.
    pub git_commit: Option<String>,
    /// Hash of the uncommitted changes; absent when there were none.
    pub git_diff_hash: Option<String>,
    pub spec_hash: String,
    pub data_hash: String,
    pub device: String,
    /// The name of the GPU, if the device is one.
    pub gpu: Option<String>,
    pub cpu: String,
    pub threads: u32,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC; absent while the run goes on.
    pub finished: Option<String>,
    /// Seconds of the run; for the earlier parts of a resumed run only the seconds of the updates.
    pub wall_s: Option<f64>,
    /// Seconds of the updates, over all parts of the run.
    pub training_s: Option<f64>,
    /// Multiplications and additions per second that the threads of the run sustained in `f32` products when it began;
    /// absent if not measured.
    pub sustained_flops_per_s: Option<f64>,
    /// Target tokens per second of the updates; validation does not count.
    pub tokens_per_s: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
}

impl Provenance {
    /// Reads `provenance.toml`.
    ///
    /// # Errors
    /// When the file is missing, unreadable, or not what [`Provenance::write`] writes.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        toml_file::read(path)
    }

    /// Returns operations as in the paper's Table 2: seconds x devices x sustained rate. A run has one device.
    #[must_use]
    pub fn device_flops(&self) -> Option<f64> {
        Some(self.training_s? * self.sustained_flops_per_s?)
    }

    /// Writes `provenance.toml` in one step.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        toml_file::write(path, self)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn started() -> Provenance {
        Provenance {
            command: "ablate sweep \"my suite.toml\"".into(),
            ablate_version: "0.1.0".into(),
            git_commit: None,
            git_diff_hash: None,
            spec_hash: "5eed".into(),
            data_hash: "da7a".into(),
            device: "cpu".into(),
            gpu: None,
            cpu: "Größe ™ 9000".into(),
            threads: 2,
            started: "2017-06-12T17:57:34Z".into(),
            finished: None,
            wall_s: None,
            training_s: None,
            sustained_flops_per_s: None,
            tokens_per_s: None,
            peak_memory_bytes: None,
        }
    }

    #[test]
    fn a_started_run_has_no_times_and_comes_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provenance.toml");
        started().write(&path).unwrap();
        assert!(
            !fs::read_to_string(&path).unwrap().contains("wall_s"),
            "a missing value is left out, not 0"
        );
        assert_eq!(Provenance::read(&path).unwrap(), started());
    }

    #[test]
    fn a_finished_run_comes_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provenance.toml");
        let finished = Provenance {
            git_commit: Some("0123456789abcdef".into()),
            finished: Some("2017-06-12T18:57:34Z".into()),
            wall_s: Some(3600.1),
            peak_memory_bytes: Some(1 << 33),
            ..started()
        };
        finished.write(&path).unwrap();
        assert_eq!(Provenance::read(&path).unwrap(), finished);
    }
}
