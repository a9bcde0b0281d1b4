//! A training split in tokens, on disk: written pair by pair as it is encoded, read back at once. A corpus larger than
//! memory's comfort is thus never held as text, and is encoded once for all runs of a sweep.
//!
//! The file: for each pair the number of source and of target tokens and then both, `u32` little-endian; a trailer in
//! JSON; its length as `u64`; and the BLAKE3 hash of all before it.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::batches::EncodedPairs;
use super::error::DataError;
use super::report::SplitReport;
use crate::durable::{self, Pending};
use crate::ops::Packed;

const HASH_BYTES: usize = 32;
const LENGTH_BYTES: usize = 8;
const BUFFER_BYTES: usize = 1 << 20;

/// Findings that cannot be computed from the tokens alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    pub train: SplitReport,
    /// Sentences of dev and of test whose source training has as well.
    pub dev_sources_in_training: usize,
    pub test_sources_in_training: usize,
}

#[derive(Serialize, Deserialize)]
struct Trailer {
    pairs: usize,
    #[serde(alias = "source_pieces")]
    source_tokens: usize,
    #[serde(alias = "target_pieces")]
    target_tokens: usize,
    findings: Findings,
}

/// Writes pairs, one after another.
pub struct Writer {
    path: PathBuf,
    file: Pending,
    hasher: blake3::Hasher,
    pairs: usize,
    source_tokens: usize,
    target_tokens: usize,
}

impl Writer {
    pub fn new(path: &Path) -> Result<Self, DataError> {
        Ok(Self {
            path: path.to_owned(),
            file: durable::begin(path).map_err(DataError::cache(path))?,
            hasher: blake3::Hasher::new(),
            pairs: 0,
            source_tokens: 0,
            target_tokens: 0,
        })
    }

    pub fn add(&mut self, source: &[u32], target: &[u32]) -> Result<(), DataError> {
        self.pairs += 1;
        self.source_tokens += source.len();
        self.target_tokens += target.len();
        let lengths = [source.len() as u32, target.len() as u32];
        let numbers = [&lengths, source, target].into_iter().flatten();
        let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        self.write(&bytes).map_err(DataError::cache(&self.path))
    }

    /// Puts the file in its place.
    pub fn finish(mut self, findings: Findings) -> Result<(), DataError> {
        let failed = DataError::cache(&self.path.clone());
        let trailer = Trailer {
            pairs: self.pairs,
            source_tokens: self.source_tokens,
            target_tokens: self.target_tokens,
            findings,
        };
        let trailer = serde_json::to_vec(&trailer).expect("plain values");
        let end = [&trailer[..], &(trailer.len() as u64).to_le_bytes()].concat();
        self.write(&end)
            .and_then(|()| self.file.write_all(self.hasher.finalize().as_bytes()))
            .and_then(|()| self.file.finish())
            .map_err(failed)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.file.write_all(bytes)
    }
}

/// Reads what a [`Writer`] wrote; nothing if the file is damaged in any way.
pub fn read(path: &Path) -> io::Result<Option<(EncodedPairs, Findings)>> {
    match read_whole(File::open(path)?) {
        Ok(read) => Ok(Some(read)),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_whole(mut file: File) -> io::Result<(EncodedPairs, Findings)> {
    let tail = (LENGTH_BYTES + HASH_BYTES) as u64;
    let end = file.seek(SeekFrom::End(0))?.checked_sub(tail).ok_or_else(damaged)?;
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader((&file).take(end + LENGTH_BYTES as u64))?;
    let mut told = [0; HASH_BYTES];
    file.read_exact(&mut told)?;
    if hasher.finalize() != told {
        return Err(damaged());
    }
    // From here on the file is what a writer wrote.
    file.seek(SeekFrom::Start(end))?;
    let mut length = [0; LENGTH_BYTES];
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    file.seek(SeekFrom::Start(end.checked_sub(length).ok_or_else(damaged)?))?;
    let trailer: Trailer = serde_json::from_reader((&file).take(length)).map_err(|_| damaged())?;
    file.rewind()?;
    let pairs = read_pairs(BufReader::with_capacity(BUFFER_BYTES, file), &trailer)?;
    Ok((pairs, trailer.findings))
}

fn read_pairs(mut file: impl Read, trailer: &Trailer) -> io::Result<EncodedPairs> {
    let mut number = || {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes)?;
        io::Result::Ok(u32::from_le_bytes(bytes))
    };
    // Of the right size from the start: a corpus that grew by doubling would take twice the memory.
    let mut sides = [trailer.source_tokens, trailer.target_tokens]
        .map(|tokens| (Vec::with_capacity(tokens), Vec::with_capacity(trailer.pairs + 1)));
    for (_, offsets) in &mut sides {
        offsets.push(0);
    }
    for _ in 0..trailer.pairs {
        let lengths = [number()?, number()?];
        for ((ids, offsets), length) in sides.iter_mut().zip(lengths) {
            for _ in 0..length {
                ids.push(number()?);
            }
            offsets.push(ids.len());
        }
    }
    let [source, target] = sides.map(|(ids, offsets)| Packed::from_parts(ids, offsets));
    Ok(EncodedPairs { source, target })
}

fn damaged() -> io::Error {
    ErrorKind::InvalidData.into()
}
