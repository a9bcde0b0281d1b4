//! A file that is there whole or not at all, whenever the machine stops.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

const PREFIX: &str = ".";
const SUFFIX: &str = ".partial";
const BUFFER_BYTES: usize = 1 << 16;

/// Puts `contents` at `path` in one step: a temporary file in the same folder, sync, rename, sync of the folder.
///
/// # Errors
/// Whatever the file system reports; `path` then still holds what it held before. The folder is never created here: if
/// it was deleted while a run was going on, that is an error to show.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut pending = begin(path)?;
    pending.write_all(contents)?;
    pending.finish()
}

/// A file that is written bit by bit, through a buffer, and gets its name in one step. Dropped before that, it leaves
/// nothing.
#[derive(Debug)]
pub struct Pending {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

/// Begins a file that will be at `path`.
///
/// # Errors
/// Whatever the file system reports. The folder is never created here.
pub fn begin(path: &Path) -> io::Result<Pending> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    share_with_others(&mut builder);
    Ok(Pending {
        file: BufWriter::with_capacity(BUFFER_BYTES, builder.tempfile_in(folder_of(path))?),
        path: path.to_owned(),
    })
}

impl Pending {
    /// Sync, rename, sync of the folder.
    ///
    /// # Errors
    /// Whatever the file system reports; the path then still holds what it held before.
    pub fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Deletes the temporary files that a killed process left in `folder`.
///
/// # Errors
/// When the folder cannot be listed or a leftover cannot be deleted.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    remove_leftovers_older_than(folder, Duration::ZERO)
}

/// The same in a folder that others write to at the same time: what is younger than `age` may be theirs.
///
/// # Errors
/// As [`remove_leftovers`].
pub fn remove_leftovers_older_than(folder: &Path, age: Duration) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_leftover = name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // One that is gone meanwhile, or from the future, is nobody's leftover.
        let is_old = || Some(entry.metadata().ok()?.modified().ok()?.elapsed().ok()? >= age);
        if is_leftover && entry.file_type()?.is_file() && is_old() == Some(true) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What came of an act on a file that need not be there.
///
/// # Errors
/// All but that it is not there.
pub fn if_there(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Makes a rename inside `folder` survive a power cut.
///
/// # Errors
/// When the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened as a file, and the rename is as durable as the system makes it.
    if cfg!(unix) {
        fs::File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

/// The folder that holds `path`; a bare file name lies in the current one.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Temporary files are private by default, but results are for everyone the umask allows.
#[cfg(unix)]
fn share_with_others(builder: &mut Builder) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn share_with_others(_: &mut Builder) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("größe 1.toml");
        write(&path, b"a longer first version").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("taken");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("inside"), b"kept").unwrap();
        assert!(write(&target, b"new").is_err(), "a folder cannot be replaced by a file");
        assert_eq!(fs::read(target.join("inside")).unwrap(), b"kept");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_deleted_folder_is_an_error_and_is_not_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        assert_eq!(
            write(&gone.join("score.toml"), b"x").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert!(!gone.exists());
    }

    #[test]
    fn leftovers_go_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".abc123.partial", "log.txt", ".hidden", "notes.partial"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        remove_leftovers_older_than(folder.path(), Duration::from_hours(1)).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "all are young");
        remove_leftovers(folder.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, [".hidden", "log.txt", "notes.partial"]);
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_the_umask_lets_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        write(&ours, b"").unwrap();
        fs::write(&plain, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
