//! A file that is there whole or not at all, whenever the machine stops.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::Builder;

const PREFIX: &str = ".";
const SUFFIX: &str = ".partial";

/// Puts `contents` at `path` in one step: a temporary file in the same folder, sync, rename, sync of the folder.
///
/// # Errors
/// Whatever the file system reports; `path` then still holds what it held before. The folder is never created here: if
/// it was deleted while a run was going on, that is an error to show.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(contents))
}

/// As [`write()`], for contents too large to be held at once.
///
/// # Errors
/// As [`write()`], and whatever `fill` reports.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = folder_of(path);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    share_with_others(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
    let mut buffer = BufWriter::new(file.as_file_mut());
    fill(&mut buffer)?;
    buffer.flush()?;
    drop(buffer);
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(folder)
}

/// Deletes the temporary files that a killed [`write()`] left in `folder`.
///
/// # Errors
/// When the folder cannot be listed or a leftover cannot be deleted.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_leftover = name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if is_leftover && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
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
    fn contents_that_break_off_leave_the_old_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.jsonl");
        write(&path, b"old").unwrap();
        let broken = write_with(&path, |file| {
            file.write_all(&vec![b'n'; 1 << 20])?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read(&path).unwrap(), b"old");
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
