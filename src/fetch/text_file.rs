//! A text file in the making: parts of archives in, lines counted, chosen and hashed on their way to the disk.

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use super::digest::{Digest, Hashing};
use super::entry::{Format, Selection};
use super::error::FetchError;
use super::text::{segment, talk};
use crate::durable;

/// Longest line in formats that are read by lines; no sentence is as long.
const LONGEST_LINE_BYTES: u64 = 1 << 20;

pub struct TextFile {
    path: PathBuf,
    file: Hashing<durable::Pending>,
    selection: Selection,
    /// Current line of all parts; the first is 1.
    line: u64,
    /// Number of lines that were taken.
    lines: u64,
    is_inside_line: bool,
}

/// A whole file that has no name yet.
pub struct Finished {
    pub path: PathBuf,
    pub lines: u64,
    pub bytes: u64,
    pub sha256: Digest,
    pending: durable::Pending,
}

impl TextFile {
    pub fn begin(path: &Path, selection: Selection) -> Result<Self, FetchError> {
        let pending = durable::begin(path).map_err(FetchError::io(path))?;
        Ok(Self {
            path: path.to_owned(),
            file: Hashing::new(pending),
            selection,
            line: 0,
            lines: 0,
            is_inside_line: false,
        })
    }

    /// Adds the sentences of one member. Its last line is ended, so that the next part begins with a new one.
    pub fn append(&mut self, content: &mut dyn BufRead, format: Format, archive: &Path) -> Result<(), FetchError> {
        match format {
            Format::Lines => self.append_as_it_is(content, archive)?,
            Format::Segments => self.append_lines(content, archive, |line, number| {
                segment(line).map_err(|_| FetchError::Segment {
                    archive: archive.to_owned(),
                    line: number,
                })
            })?,
            Format::Talks => self.append_lines(content, archive, |line, _| Ok(talk(line)))?,
        }
        if self.is_inside_line {
            self.write(b"\n")?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<Finished, FetchError> {
        // Before anybody is told of the file: a full disk shows here.
        self.file.flush().map_err(FetchError::io(&self.path))?;
        let (pending, sha256, bytes) = self.file.finish();
        Ok(Finished {
            path: self.path,
            lines: self.lines,
            bytes,
            sha256,
            pending,
        })
    }

    /// Copies bytes, for any encoding and any length of lines.
    fn append_as_it_is(&mut self, content: &mut dyn BufRead, archive: &Path) -> Result<(), FetchError> {
        loop {
            let block = content.fill_buf().map_err(unpack(archive))?;
            if block.is_empty() {
                return Ok(());
            }
            for part in block.split_inclusive(|byte| *byte == b'\n') {
                self.write(part)?;
            }
            let length = block.len();
            content.consume(length);
        }
    }

    fn append_lines(
        &mut self,
        content: &mut dyn BufRead,
        archive: &Path,
        text: impl Fn(&str, u64) -> Result<Option<String>, FetchError>,
    ) -> Result<(), FetchError> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let mut limited = content.take(LONGEST_LINE_BYTES);
            if limited.read_until(b'\n', &mut line).map_err(unpack(archive))? == 0 {
                break;
            }
            let line = readable(&line).map_err(unpack(archive))?;
            if let Some(mut text) = text(line, number)? {
                text.push('\n');
                self.write(text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Writes a line or a part of one.
    fn write(&mut self, part: &[u8]) -> Result<(), FetchError> {
        if !self.is_inside_line {
            self.line += 1;
        }
        let is_end = part.ends_with(b"\n");
        self.is_inside_line = !is_end;
        if self.selection.takes(self.line) {
            self.lines += u64::from(is_end);
            self.file.write_all(part).map_err(FetchError::io(&self.path))?;
        }
        Ok(())
    }
}

impl Finished {
    /// Gives the file its name, in one step.
    pub fn publish(self) -> Result<(), FetchError> {
        self.pending.finish().map_err(FetchError::io(&self.path))
    }
}

fn readable(line: &[u8]) -> io::Result<&str> {
    if line.len() as u64 == LONGEST_LINE_BYTES {
        return Err(io::Error::other(format!(
            "a line of more than {LONGEST_LINE_BYTES} bytes"
        )));
    }
    std::str::from_utf8(line).map_err(io::Error::other)
}

fn unpack(archive: &Path) -> impl Fn(io::Error) -> FetchError {
    move |source| FetchError::Unpack {
        archive: archive.to_owned(),
        source,
    }
}
