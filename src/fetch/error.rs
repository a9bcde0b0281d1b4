//! Why a corpus could not be fetched.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::digest::Digest;
use crate::lock::LockError;

/// Why a corpus could not be fetched.
#[derive(Debug, Error)]
pub enum FetchError {
    #[error("there is no corpus `{name}`; there are: {}", .known.join(", "))]
    UnknownCorpus { name: String, known: Vec<String> },
    /// A catalogue with a mistake.
    #[error("{}: {what}", .path.display())]
    Catalog { path: PathBuf, what: String },
    /// No new byte came in the last `tries` tries.
    #[error("{url}: {why}{}", given_up(*.tries))]
    Unreachable { url: String, tries: u32, why: String },
    /// An archive that is not the one the catalogue describes, or not the one of the first download, whose hash is in
    /// `record`.
    #[error("{url}: {difference}{}", if_right(.record.as_deref()))]
    Mismatch {
        url: String,
        difference: Box<Difference>,
        record: Option<PathBuf>,
    },
    #[error("{} is not in the mirror", .path.display())]
    NotInMirror { path: PathBuf },
    /// An archive that cannot be unpacked to its end.
    #[error("{}: cannot be unpacked: {source}", .archive.display())]
    Unpack { archive: PathBuf, source: io::Error },
    #[error("{}: holds no `{member}`", .archive.display())]
    NoMember { archive: PathBuf, member: String },
    /// A member that is a link, a folder or a device.
    #[error("{}: `{member}` in it is not a regular file", .archive.display())]
    NotAFile { archive: PathBuf, member: String },
    /// A line that begins a segment and does not end it.
    #[error("{}: line {line} of a member begins a segment but ends none", .archive.display())]
    Segment { archive: PathBuf, line: u64 },
    /// A finished file that is not what the catalogue says.
    #[error("{}: {difference}; nothing was written", .file.display())]
    WrongText { file: PathBuf, difference: Box<Difference> },
    #[error(
        "{} would have {} lines but {} {}: they must match line by line",
        .one.0.display(), .one.1, .other.0.display(), .other.1
    )]
    LineCounts { one: (PathBuf, u64), other: (PathBuf, u64) },
    /// Another file that lies where one of the corpus belongs.
    #[error(
        "{}: exists, but is not the file that belongs there; move it away, or choose another --data-dir",
        .path.display()
    )]
    Foreign { path: PathBuf },
    /// A file that this program wrote and cannot read any more.
    #[error("{}: {what}", .path.display())]
    Record { path: PathBuf, what: String },
    #[error("another process downloads into this folder; wait for it: {0}")]
    Busy(LockError),
    #[error("{}: {source}{}", .path.display(), make_room(.source))]
    Io { path: PathBuf, source: io::Error },
}

fn given_up(tries: u32) -> String {
    match tries {
        1 => String::new(),
        _ => format!("; given up after {tries} tries. The same command continues where this one stopped"),
    }
}

fn if_right(record: Option<&Path>) -> String {
    let advice = |record: &Path| format!("; if the new file is right, delete {}", record.display());
    record.map_or_else(String::new, advice)
}

fn make_room(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; make room, and the same command continues where this one stopped",
        _ => "",
    }
}

/// Difference between a file and what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("found {found}, expected {expected}")]
pub struct Difference {
    pub found: Measured,
    pub expected: Measured,
}

/// Property of a file that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Measured {
    #[error("{0} bytes")]
    Bytes(u64),
    #[error("{0} lines")]
    Lines(u64),
    #[error("SHA-256 {0}")]
    Sha256(Digest),
}

impl FetchError {
    /// For `map_err`.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io {
            path: path.clone(),
            source,
        }
    }

    pub(super) fn mismatch(url: &str, found: Measured, expected: Measured, record: Option<PathBuf>) -> Self {
        Self::Mismatch {
            url: url.to_owned(),
            difference: Box::new(Difference { found, expected }),
            record,
        }
    }

    /// Whether a fresh download of the archive could mend it.
    pub(super) fn is_of_content(&self) -> bool {
        matches!(
            self,
            Self::Unpack { .. }
                | Self::NoMember { .. }
                | Self::NotAFile { .. }
                | Self::Segment { .. }
                | Self::WrongText { .. }
                | Self::LineCounts { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_says_that_nothing_is_lost() {
        let error = FetchError::io(Path::new("data/downloads/a.tgz.part"))(io::ErrorKind::StorageFull.into());
        let text = error.to_string();
        assert!(
            text.starts_with("data/downloads/a.tgz.part: no storage space; make room"),
            "{text}"
        );
        assert!(text.ends_with("continues where this one stopped"), "{text}");
    }
}
