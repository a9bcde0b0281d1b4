//! `13a`: the tokenisation of NIST's mteval-v13a, which WMT published its scores with and sacreBLEU uses by default.

use std::borrow::Cow;

use super::rewrite::{Detached, detach_each, detach_pairs};

pub(super) fn tokenize_13a(line: &str) -> String {
    let line = format!(" {} ", unescape(line));
    let line = detach_each(&line, is_symbol);
    let line = detach_pairs(&line, |c| !c.is_ascii_digit(), is_stop, Detached::Second);
    let line = detach_pairs(&line, is_stop, |c| !c.is_ascii_digit(), Detached::First);
    detach_pairs(&line, |c| c.is_ascii_digit(), |c| c == '-', Detached::Second)
}

#[inline]
fn is_symbol(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '\'' | ',' | '-' | '.')
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | ',')
}

/// Escapes of NIST's SGML files. They are undone one after another, so `&amp;lt;` becomes `<`.
const ESCAPES: [(&str, &str); 7] = [
    ("<skipped>", ""),
    ("-\n", ""),
    ("\n", " "),
    ("&quot;", "\""),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
];

fn unescape(line: &str) -> Cow<'_, str> {
    // Most lines have none, and one look is cheaper than seven searches.
    if !line.contains(['<', '\n', '&']) {
        return Cow::Borrowed(line);
    }
    Cow::Owned(
        ESCAPES
            .iter()
            .fold(line.to_owned(), |line, (from, to)| line.replace(from, to)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::lines::words;
    use super::*;

    fn tokens(line: &str) -> String {
        words(&tokenize_13a(line)).collect::<Vec<_>>().join(" ")
    }

    // Expected: sacrebleu.tokenizers.tokenizer_13a.Tokenizer13a()(line), sacreBLEU 2.6.0

    #[test]
    fn stops_between_digits_stay_and_others_are_split_off() {
        assert_eq!(
            tokens("1.5,000 is 3.x, z.B. U.S."),
            "1.5,000 is 3 . x , z . B . U . S ."
        );
        assert_eq!(tokens("...,,, 5."), ". . . , , , 5 .");
    }

    #[test]
    fn a_hyphen_is_split_off_only_after_a_digit() {
        assert_eq!(
            tokens("10-year-old well-known -5 - x--y"),
            "10 - year-old well-known -5 - x--y"
        );
    }

    #[test]
    fn escapes_are_undone_one_after_another() {
        assert_eq!(tokens("&amp;lt; &amp;quot; &apos;<skipped>"), "< & quot ; & apos ;");
    }

    #[test]
    fn a_character_used_by_one_match_is_not_seen_by_the_next() {
        assert_eq!(tokens("é.,5 ü,.ß"), "é . ,5 ü , . ß");
    }
}
