//! One process at a time in a run's folder.

use std::fs::{self, File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::RunError;
use crate::results::RunFolder;

const PAUSE: Duration = Duration::from_millis(100);

/// Held until it is dropped, or the process ends in whatever way. The file lies beside the folder, not in it: the folder
/// may be set aside and made anew, and whoever works in the old one must still be waited for.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Waits for the lock.
    ///
    /// # Errors
    /// If another process still holds it after `patience`, or the file system refuses.
    pub fn wait(folder: &RunFolder, patience: Duration) -> Result<Self, RunError> {
        let path = folder.lock();
        if let Some(suite) = path.parent() {
            fs::create_dir_all(suite).map_err(RunError::io(suite))?;
        }
        let file = File::create(&path).map_err(RunError::io(&path))?;
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let folder = folder.path().to_owned();
                    return Err(RunError::Busy { folder });
                }
                Err(TryLockError::Error(error)) => return Err(RunError::io(path)(error)),
            }
        }
    }
}
