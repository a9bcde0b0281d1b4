//! One process at a time. A path comes in; a lock goes out that ends with its holder, however the holder ends: the
//! system lets go of it, so a lock is never stale. This room refuses to know what is locked.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock;

const PAUSE: Duration = Duration::from_millis(100);

/// A lock on a file, held as long as it lives. The file says who holds it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// By another process, as it describes itself.
    #[error("{} is in use by {holder}", path.display())]
    Held { path: PathBuf, holder: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Lock {
    /// Locks the file at `path`, which is made with its folders if need be.
    ///
    /// # Errors
    /// If another process holds it, or the file system refuses.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        Self::wait(path, Duration::ZERO)
    }

    /// As [`Self::take`], but waits for another holder to let go.
    ///
    /// # Errors
    /// If another process still holds it after `patience`, or the file system refuses.
    pub fn wait(path: &Path, patience: Duration) -> Result<Self, LockError> {
        let io = |source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(io)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(io)?;
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let holder = fs::read_to_string(path).unwrap_or_default().trim().to_owned();
                    return Err(LockError::Held {
                        path: path.to_owned(),
                        holder,
                    });
                }
                Err(TryLockError::Error(error)) => return Err(io(error)),
            }
        }
        file.set_len(0).map_err(io)?;
        writeln!(
            file,
            "process {} on {} since {}",
            std::process::id(),
            host(),
            clock::now()
        )
        .map_err(io)?;
        Ok(Self { _file: file })
    }
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    name.map_or_else(|_| "this host".to_owned(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_to_come_is_told_who_was_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/.lock");
        let first = Lock::take(&path).expect("nobody else");
        let refusal = Lock::take(&path).expect_err("held").to_string();
        assert!(
            refusal.contains(&format!("process {}", std::process::id())),
            "{refusal}"
        );
        drop(first);
        Lock::take(&path).expect("let go of");
    }
}
