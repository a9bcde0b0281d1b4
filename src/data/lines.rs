//! One text file, line by line. Repairs are counted.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::DataError;

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Repairs that were made so that lines hold only text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repairs {
    /// Lines that ended with `\r\n`.
    pub crlf_lines: usize,
    /// 1 where the file began with U+FEFF.
    pub byte_order_marks: usize,
}

/// One side of a corpus, a line at a time, split at `\n` only.
#[derive(Debug)]
pub struct LineReader<R = BufReader<File>> {
    path: PathBuf,
    reader: R,
    line: Vec<u8>,
    lines: usize,
    repairs: Repairs,
}

impl LineReader {
    /// # Errors
    /// The file cannot be read.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(unreadable(path))?;
        Ok(Self::new(path, BufReader::with_capacity(1 << 20, file)))
    }
}

impl<R: BufRead> LineReader<R> {
    fn new(path: &Path, reader: R) -> Self {
        Self {
            path: path.to_owned(),
            reader,
            line: Vec::new(),
            lines: 0,
            repairs: Repairs::default(),
        }
    }

    /// Returns the next line without its end, or nothing after the last.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8: then line and byte are named.
    pub fn next_line(&mut self) -> Result<Option<&str>, DataError> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        if read.map_err(unreadable(&self.path))? == 0 {
            return Ok(None);
        }
        self.lines += 1;
        let text = std::str::from_utf8(&self.line).map_err(|error| DataError::InvalidUtf8 {
            path: self.path.clone(),
            line: self.lines,
            byte: error.valid_up_to() + 1,
        })?;
        let marked = text.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.lines == 1);
        self.repairs.byte_order_marks += usize::from(marked.is_some());
        let line = marked.unwrap_or(text);
        if line.is_empty() {
            // A mark alone is no line.
            self.lines -= 1;
            return Ok(None);
        }
        let ended = line.strip_suffix('\n').unwrap_or(line);
        let bare = ended.strip_suffix('\r');
        self.repairs.crlf_lines += usize::from(bare.is_some());
        Ok(Some(bare.unwrap_or(ended)))
    }

    /// Reads to the end and returns the number of lines of the file.
    pub fn count_rest(mut self) -> Result<usize, DataError> {
        while self.next_line()?.is_some() {}
        Ok(self.lines)
    }

    /// Lines read so far.
    pub fn lines(&self) -> usize {
        self.lines
    }

    pub fn repairs(&self) -> Repairs {
        self.repairs
    }
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> DataError {
    |source| DataError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// Reads a text file.
///
/// # Errors
/// The file cannot be read, or is not UTF-8: then line and byte are named.
pub fn read_utf8(path: &Path) -> Result<String, DataError> {
    utf8(path, fs::read(path).map_err(unreadable(path))?)
}

/// Converts bytes to text; the error names `path` as their origin.
///
/// # Errors
/// They are not UTF-8: then line and byte are named.
pub fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, DataError> {
    String::from_utf8(bytes).map_err(|error| invalid_utf8(path, &error.as_bytes()[..error.utf8_error().valid_up_to()]))
}

fn invalid_utf8(path: &Path, valid: &[u8]) -> DataError {
    let lines: Vec<&[u8]> = valid.split(|byte| *byte == b'\n').collect();
    let byte = lines.last().map_or(0, |line| line.len()) + 1;
    DataError::InvalidUtf8 {
        path: path.to_owned(),
        line: lines.len(),
        byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (Vec<String>, Repairs) {
        let mut reader = LineReader::new(Path::new("x"), text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push(line.to_owned());
        }
        assert_eq!(reader.lines(), lines.len());
        (lines, reader.repairs())
    }

    #[test]
    fn only_a_line_feed_ends_a_line() {
        let (lines, _) = split("one\u{2028}still one\u{85}\x0b\x0c\rstill\ntwo");
        assert_eq!(lines, ["one\u{2028}still one\u{85}\x0b\x0c\rstill", "two"]);
    }

    #[test]
    fn an_empty_last_line_counts_only_when_it_was_ended() {
        assert_eq!(split("a\n").0, ["a"]);
        assert_eq!(split("a\n\n").0, ["a", ""]);
        assert_eq!(split("").0, [""; 0]);
        assert_eq!(split("\u{FEFF}").0, [""; 0]);
        assert_eq!(split("\u{FEFF}\n").0, [""]);
    }

    #[test]
    fn repairs_are_counted_and_a_mark_inside_the_file_is_text() {
        let (lines, repairs) = split("\u{FEFF}a\r\nb\n\u{FEFF}c\r\n");
        assert_eq!(lines, ["a", "b", "\u{FEFF}c"]);
        assert_eq!(
            repairs,
            Repairs {
                crlf_lines: 2,
                byte_order_marks: 1
            }
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_without_losing_a_character(text in "[a\\n\r\u{FEFF}\u{A0}]{0,30}") {
            let (lines, repairs) = split(&text);
            let repaired = repairs.crlf_lines + repairs.byte_order_marks;
            let characters: usize = lines.iter().map(|line| line.chars().count()).sum();
            let newlines = text.matches('\n').count();
            proptest::prop_assert_eq!(characters + newlines + repaired, text.chars().count());
        }
    }

    #[test]
    fn a_byte_that_is_not_utf8_is_named_by_line_and_byte() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"good\nb\xffd\n").unwrap();
        let by_line = LineReader::open(file.path()).unwrap().count_rest().unwrap_err();
        for error in [by_line, read_utf8(file.path()).unwrap_err()] {
            assert!(
                matches!(error, DataError::InvalidUtf8 { line: 2, byte: 2, .. }),
                "{error}"
            );
            assert!(
                error.to_string().ends_with(":2: not UTF-8 at byte 2 of the line"),
                "{error}"
            );
        }
    }
}
