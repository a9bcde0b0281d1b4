//! SHA-256, as `sha256sum` prints it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

const BLOCK_BYTES: usize = 1 << 16;

/// The SHA-256 of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes a file, in blocks.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hashing = Hashing::new(io::sink());
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            match file.read(&mut block)? {
                0 => return Ok(hashing.finish().1),
                length => hashing.write_all(&block[..length])?,
            }
        }
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is not a SHA-256: 64 digits of 0-9 and a-f are expected");
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(fault());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| fault())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| fault())?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Passes bytes on, and counts and hashes those that were taken.
#[derive(Debug)]
pub struct Hashing<W> {
    inner: W,
    state: sha2::Sha256,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            state: sha2::Sha256::new(),
            bytes: 0,
        }
    }

    /// Returns what the bytes went to, their hash and their number.
    pub fn finish(self) -> (W, Digest, u64) {
        (self.inner, Digest(self.state.finalize().into()), self.bytes)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.inner.write(bytes)?;
        self.state.update(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, example of one block.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_file_has_the_hash_that_the_standard_gives() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(Digest::of_file(file.path()).unwrap().to_string(), ABC);
        assert_eq!(ABC.to_uppercase().parse::<Digest>().unwrap().to_string(), ABC);
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        for text in ["", "ba78", &ABC.replace('b', "g"), &format!("{ABC}0"), &"é".repeat(32)] {
            assert!(text.parse::<Digest>().unwrap_err().contains("64 digits"), "{text}");
        }
    }
}
