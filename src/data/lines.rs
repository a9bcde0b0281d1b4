//! One text file, line by line; what had to be repaired is counted.

use std::fs;
use std::path::Path;

use super::error::DataError;

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// The lines of one side, split at `\n` only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    pub lines: Vec<String>,
    pub repairs: Repairs,
}

/// What was taken off a file so that its lines hold text alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Lines that ended with `\r\n`.
    pub crlf_lines: usize,
    /// 1 where the file began with U+FEFF.
    pub byte_order_marks: usize,
}

/// Reads a file.
///
/// # Errors
/// The file cannot be read, or is not UTF-8: then line and byte are named.
pub fn read_lines(path: &Path) -> Result<Lines, DataError> {
    Ok(split_lines(&read_utf8(path)?))
}

/// The content of a file as it is.
///
/// # Errors
/// The file cannot be read, or is not UTF-8: then line and byte are named.
pub fn read_utf8(path: &Path) -> Result<String, DataError> {
    let bytes = fs::read(path).map_err(|source| DataError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    String::from_utf8(bytes).map_err(|error| invalid_utf8(path, &error.as_bytes()[..error.utf8_error().valid_up_to()]))
}

fn split_lines(text: &str) -> Lines {
    let mut repairs = Repairs::default();
    let text = text
        .strip_prefix(BYTE_ORDER_MARK)
        .inspect(|_| repairs.byte_order_marks = 1)
        .unwrap_or(text);
    let lines = text.split_terminator('\n').map(|line| match line.strip_suffix('\r') {
        Some(line) => {
            repairs.crlf_lines += 1;
            line.to_owned()
        }
        None => line.to_owned(),
    });
    let lines = lines.collect();
    Lines { lines, repairs }
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

    #[test]
    fn only_a_line_feed_ends_a_line() {
        let lines = split_lines("one\u{2028}still one\u{85}\x0b\x0c\rstill\ntwo").lines;
        assert_eq!(lines, ["one\u{2028}still one\u{85}\x0b\x0c\rstill", "two"]);
    }

    #[test]
    fn an_empty_last_line_counts_only_when_it_was_ended() {
        assert_eq!(split_lines("a\n").lines, ["a"]);
        assert_eq!(split_lines("a\n\n").lines, ["a", ""]);
        assert_eq!(split_lines("").lines, [""; 0]);
    }

    #[test]
    fn repairs_are_counted_and_a_mark_inside_the_file_is_text() {
        let lines = split_lines("\u{FEFF}a\r\nb\n\u{FEFF}c\r\n");
        assert_eq!(lines.lines, ["a", "b", "\u{FEFF}c"]);
        assert_eq!(
            lines.repairs,
            Repairs {
                crlf_lines: 2,
                byte_order_marks: 1
            }
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_without_losing_a_character(text in "[a\\n\r\u{FEFF}\u{A0}]{0,30}") {
            let split = split_lines(&text);
            let repaired = split.repairs.crlf_lines + split.repairs.byte_order_marks;
            let characters: usize = split.lines.iter().map(|line| line.chars().count()).sum();
            let newlines = text.matches('\n').count();
            proptest::prop_assert_eq!(characters + newlines + repaired, text.chars().count());
        }
    }

    #[test]
    fn a_byte_that_is_not_utf8_is_named_by_line_and_byte() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"good\nb\xffd\n").unwrap();
        let error = read_lines(file.path()).unwrap_err();
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
