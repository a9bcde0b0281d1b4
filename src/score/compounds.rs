//! Compound splitting, which the scores of "Attention Is All You Need" were computed with.

use super::lines::words;
use super::mteval::tokenize_13a;

/// `13a`, then `s/(\S)-(\S)/$1 ##AT##-##AT## $2/g`.
///
/// The published script runs the Moses tokenizer first. `13a` is the nearest tokenisation here: like Moses it leaves
/// the hyphens inside words for this step, where `intl` would have split them all. Unlike Moses it knows no
/// abbreviations and splits off any hyphen after a digit, so scores come close to the script's but are not equal.
pub(super) fn tokenize_and_split_compounds(line: &str) -> String {
    let tokenized = tokenize_13a(line);
    split_compounds(&words(&tokenized).collect::<Vec<_>>().join(" "))
}

/// Works on bytes, as the script does: perl decodes nothing there, and which hyphens are split depends on it. In
/// `a-b-c` the first match uses up `b`; in `a-ß-c` only half of `ß`, and both hyphens are split.
fn split_compounds(tokenized: &str) -> String {
    let bytes = tokenized.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|&byte| byte != b' ');
    let mut out = String::with_capacity(tokenized.len());
    let mut copied = 0;
    let mut first_unused = 0;
    for (hyphen, _) in tokenized.match_indices('-') {
        if hyphen > first_unused && is_word(hyphen - 1) && is_word(hyphen + 1) {
            out.push_str(&tokenized[copied..hyphen]);
            out.push_str(" ##AT##-##AT## ");
            copied = hyphen + 1;
            first_unused = hyphen + 2;
        }
    }
    out.push_str(&tokenized[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: perl -pe 's/(\S)-(\S)/$1 ##AT##-##AT## $2/g', perl 5.36
    #[test]
    fn compounds_are_split_where_perl_splits_them() {
        for (line, expected) in [
            ("rich-text format", "rich ##AT##-##AT## text format"),
            ("a-b-c", "a ##AT##-##AT## b-c"),
            ("ab-cd-ef", "ab ##AT##-##AT## cd ##AT##-##AT## ef"),
            ("a-ß-c", "a ##AT##-##AT## ß ##AT##-##AT## c"),
            ("a--b ---- --", "a ##AT##-##AT## -b - ##AT##-##AT## -- --"),
            ("-a b- - c", "-a b- - c"),
            ("", ""),
        ] {
            assert_eq!(split_compounds(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_hyphen_after_a_digit_is_already_a_token() {
        let line = tokenize_and_split_compounds("10-year-old");
        assert_eq!(line, "10 - year ##AT##-##AT## old");
    }
}
