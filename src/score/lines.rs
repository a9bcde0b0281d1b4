//! Lines, words and spaces as Python, and therefore sacreBLEU, defines them.

/// Lines of a text file as sacreBLEU's command line reads them: `\n` alone ends a line, and white space at the end of
/// a line is dropped, which takes the `\r` of a `\r\n` with it.
///
/// A lone `\r`, a form feed or U+2028 inside a line is white space, not an end of line. A U+FEFF at the start stays:
/// sacreBLEU counts it as part of the first word. A last line without `\n` counts; nothing after a final `\n` does not.
#[must_use]
pub fn split_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.split('\n').map(|line| trim_end(line).to_owned()).collect();
    if text.is_empty() || text.ends_with('\n') {
        lines.pop();
    }
    lines
}

/// `str.rstrip()`.
pub(super) fn trim_end(line: &str) -> &str {
    line.trim_end_matches(is_white_space)
}

/// `str.split()`.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_white_space).filter(|word| !word.is_empty())
}

/// `str.isspace()`: Unicode's `White_Space` and the four information separators, which Unicode leaves out.
fn is_white_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_feed_ends_a_line() {
        let text = "a\r\nb\rc\u{2028}d\u{c}e\u{85}f\n\n g \u{a0}\t";
        assert_eq!(split_lines(text), ["a", "b\rc\u{2028}d\u{c}e\u{85}f", "", " g"]);
    }

    #[test]
    fn a_final_line_feed_adds_no_line() {
        assert_eq!(split_lines("a\n"), ["a"]);
        assert_eq!(split_lines("a\n\n"), ["a", ""]);
        assert!(split_lines("").is_empty());
    }

    #[test]
    fn a_byte_order_mark_stays_in_the_first_word() {
        assert_eq!(split_lines("\u{feff}a b\n"), ["\u{feff}a b"]);
    }

    // python3 -c "print([hex(c) for c in range(0x110000) if chr(c).isspace()])", Python 3.11.7
    #[test]
    fn white_space_is_what_python_takes_for_it() {
        let python = [
            0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
            0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
        ];
        let ours: Vec<u32> = (char::MIN..=char::MAX)
            .filter(|&c| is_white_space(c))
            .map(u32::from)
            .collect();
        assert_eq!(ours, python);
    }
}
