//! One member of an archive as a stream. Nothing is written here and no name in an archive is ever a path on the disk,
//! so none can lead out of the data folder; what is no plain file is refused, and so is what unpacks to far more than
//! text does.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use tar::EntryType;

use super::error::FetchError;

/// Text shrinks to a third or a tenth; a bomb shrinks a thousandfold.
const MOST_EXPANSION: u64 = 64;

/// Small archives may expand to this whatever their size.
const ALWAYS_ALLOWED_BYTES: u64 = 64 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Gives `consume` the decompressed content of a member, or of the archive itself if it has none.
///
/// # Errors
/// If the archive is damaged, lacks the member or holds something else under its name, and what `consume` returns.
pub fn with_member<T>(
    archive: &Path,
    member: Option<&str>,
    consume: impl FnOnce(&mut dyn BufRead) -> Result<T, FetchError>,
) -> Result<T, FetchError> {
    let io = FetchError::io(archive);
    let file = File::open(archive).map_err(&io)?;
    let bytes = file.metadata().map_err(&io)?.len();
    let limit = bytes.saturating_mul(MOST_EXPANSION).max(ALWAYS_ALLOWED_BYTES);
    let unpack = |source| FetchError::Unpack {
        archive: archive.to_owned(),
        source,
    };
    let mut content = decompressed(BufReader::new(file), limit).map_err(unpack)?;
    let Some(member) = member else {
        return consume(&mut content);
    };
    let mut tar = tar::Archive::new(content);
    for entry in tar.entries().map_err(unpack)? {
        let entry = entry.map_err(unpack)?;
        if !is_named(&entry.path_bytes(), member) {
            continue;
        }
        if entry.header().entry_type() != EntryType::Regular {
            return Err(FetchError::NotAFile {
                archive: archive.to_owned(),
                member: member.to_owned(),
            });
        }
        let mut content = decompressed(BufReader::new(entry), limit).map_err(unpack)?;
        return consume(&mut content);
    }
    Err(FetchError::NoMember {
        archive: archive.to_owned(),
        member: member.to_owned(),
    })
}

/// Some archives begin every name with `./`.
fn is_named(path: &[u8], member: &str) -> bool {
    path.strip_prefix(b"./").unwrap_or(path) == member.as_bytes()
}

/// Told by its first bytes: `.tar` and `.tgz`, and text and `.gz` in a tar archive, are read alike.
fn decompressed<'a>(mut packed: impl BufRead + 'a, limit: u64) -> io::Result<BufReader<Limited<Box<dyn Read + 'a>>>> {
    let content: Box<dyn Read + 'a> = if packed.fill_buf()?.starts_with(&GZIP_MAGIC) {
        Box::new(MultiGzDecoder::new(packed))
    } else {
        Box::new(packed)
    };
    Ok(BufReader::with_capacity(1 << 16, Limited { content, left: limit }))
}

/// Fails where more comes than is allowed.
struct Limited<R> {
    content: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(block)?;
        self.left = self.left.checked_sub(length as u64).ok_or_else(|| {
            io::Error::other(format!(
                "it unpacks to more than {MOST_EXPANSION} times its size, which text does not"
            ))
        })?;
        Ok(length)
    }
}
