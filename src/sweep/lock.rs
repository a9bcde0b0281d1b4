//! One sweep at a time in a suite's folder.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::results::rfc3339_utc;

/// Held as long as it lives. The system lets go of it when the process ends, however it ends: a lock is never stale.
#[derive(Debug)]
pub struct SuiteLock {
    _file: File,
}

#[derive(Debug)]
pub enum LockError {
    /// By another process, as it describes itself.
    Held {
        path: PathBuf,
        holder: String,
    },
    Io {
        path: PathBuf,
        source: io::Error,
    },
}

impl SuiteLock {
    /// Locks the folder, which is made if need be.
    ///
    /// # Errors
    /// If another process holds it, or the file system refuses.
    pub fn take(folder: &Path) -> Result<Self, LockError> {
        let path = folder.join(".lock");
        let io = |source| LockError::Io {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(folder).map_err(io)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
                return Err(LockError::Held { path, holder });
            }
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        file.set_len(0).map_err(io)?;
        writeln!(
            file,
            "process {} on {} since {}",
            std::process::id(),
            host(),
            rfc3339_utc(SystemTime::now())
        )
        .map_err(io)?;
        Ok(Self { _file: file })
    }
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    name.map_or_else(|_| "this host".to_owned(), |name| name.trim().to_owned())
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { path, holder } => write!(
                f,
                "another sweep works in {}: {holder}; wait for it, or choose another folder with --results",
                path.parent().unwrap_or(path).display()
            ),
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Held { .. } => None,
            Self::Io { source, .. } => Some(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_to_come_is_told_who_was_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = SuiteLock::take(folder.path()).expect("nobody else");
        let refusal = SuiteLock::take(folder.path()).expect_err("held").to_string();
        assert!(
            refusal.contains(&format!("process {}", std::process::id())),
            "{refusal}"
        );
        drop(first);
        SuiteLock::take(folder.path()).expect("let go of");
    }
}
