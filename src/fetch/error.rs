//! Why a corpus could not be fetched.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use crate::lock::LockError;

/// Why a corpus could not be fetched.
#[derive(Debug)]
pub enum FetchError {
    UnknownCorpus {
        name: String,
        known: Vec<String>,
    },
    /// A catalogue with a mistake.
    Catalog {
        path: PathBuf,
        what: String,
    },
    /// After so many tries in a row that brought nothing new.
    Unreachable {
        url: String,
        tries: u32,
        why: String,
    },
    /// An archive that is not the one the catalogue speaks of, or not the one of the first download, whose hash is in
    /// `record`.
    Mismatch {
        url: String,
        difference: Box<Difference>,
        record: Option<PathBuf>,
    },
    NotInMirror {
        path: PathBuf,
    },
    /// An archive that cannot be unpacked to its end.
    Unpack {
        archive: PathBuf,
        source: io::Error,
    },
    NoMember {
        archive: PathBuf,
        member: String,
    },
    /// A member that is a link, a folder or a device.
    NotAFile {
        archive: PathBuf,
        member: String,
    },
    /// A line that begins a segment and does not end it.
    Segment {
        archive: PathBuf,
        line: u64,
    },
    /// A finished file that is not what the catalogue says.
    WrongText {
        file: PathBuf,
        difference: Box<Difference>,
    },
    LineCounts {
        one: (PathBuf, u64),
        other: (PathBuf, u64),
    },
    /// Another file that lies where one of the corpus belongs.
    Foreign {
        path: PathBuf,
    },
    /// Something that this program wrote down, and that says nothing now.
    Record {
        path: PathBuf,
        what: String,
    },
    Busy(LockError),
    Io {
        path: PathBuf,
        source: io::Error,
    },
}

/// What a file is, and what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub found: Measured,
    pub expected: Measured,
}

/// What files are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    Bytes(u64),
    Lines(u64),
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

    pub(super) fn mismatch(url: &str, found: Measured, expected: Measured) -> Self {
        Self::Mismatch {
            url: url.to_owned(),
            difference: Box::new(Difference { found, expected }),
            record: None,
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

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}, expected {}", self.found, self.expected)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Self::Lines(lines) => write!(f, "{lines} lines"),
            Self::Sha256(digest) => write!(f, "SHA-256 {digest}"),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCorpus { name, known } => {
                write!(f, "there is no corpus `{name}`; there are: {}", known.join(", "))
            }
            Self::Unreachable { url, tries: 1, why } => write!(f, "{url}: {why}"),
            Self::Unreachable { url, tries, why } => {
                write!(f, "{url}: {why}; given up after {tries} tries. ")?;
                f.write_str("The same command goes on where this one stopped")
            }
            Self::Mismatch {
                url,
                difference,
                record: None,
            } => write!(f, "{url}: {difference}"),
            Self::Mismatch {
                url,
                difference,
                record: Some(record),
            } => write!(
                f,
                "{url}: {difference}; if the new file is right, delete {}",
                record.display()
            ),
            Self::NotInMirror { path } => write!(f, "{} is not in the mirror", path.display()),
            Self::LineCounts {
                one: (one, ones),
                other: (other, others),
            } => write!(
                f,
                "{} would have {ones} lines but {} {others}: they must match line by line",
                one.display(),
                other.display()
            ),
            Self::Busy(held) => write!(f, "another process downloads into this folder; wait for it: {held}"),
            _ => self.tell_of_file(f),
        }
    }
}

impl FetchError {
    fn tell_of_file(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = match self {
            Self::Catalog { path, what } | Self::Record { path, what } => (path, what.clone()),
            Self::Unpack { archive, source } => (archive, format!("cannot be unpacked: {source}")),
            Self::NoMember { archive, member } => (archive, format!("holds no `{member}`")),
            Self::NotAFile { archive, member } => (archive, format!("`{member}` in it is no plain file")),
            Self::Segment { archive, line } => (
                archive,
                format!("line {line} of a member begins a segment but ends none"),
            ),
            Self::WrongText { file, difference } => (file, format!("{difference}; nothing was written")),
            Self::Foreign { path } => (
                path,
                "is there already, but is not the file that belongs there; move it away, or choose another --data-dir"
                    .to_owned(),
            ),
            Self::Io { path, source } if source.kind() == io::ErrorKind::StorageFull => (
                path,
                format!("{source}; make room, and the same command goes on where this one stopped"),
            ),
            Self::Io { path, source } => (path, source.to_string()),
            _ => unreachable!("told without a file"),
        };
        write!(f, "{}: {what}", path.display())
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unpack { source, .. } | Self::Io { source, .. } => Some(source),
            _ => None,
        }
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
        assert!(text.ends_with("goes on where this one stopped"), "{text}");
    }
}
