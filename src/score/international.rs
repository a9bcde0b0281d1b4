//! `intl`: the tokenisation of mteval-v14 with `--international-tokenization`, by Unicode general category.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::rewrite::{Detached, detach_each, detach_pairs};

pub(super) fn tokenize_international(line: &str) -> String {
    let is = |category| move |c| CATEGORIES.of(c) == category;
    let is_not_number = |c| CATEGORIES.of(c) != Category::Number;
    let line = detach_pairs(line, is_not_number, is(Category::Punctuation), Detached::Second);
    let line = detach_pairs(&line, is(Category::Punctuation), is_not_number, Detached::First);
    detach_each(&line, is(Category::Symbol))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Category {
    Number,
    Punctuation,
    Symbol,
    Other,
}

static CATEGORIES: LazyLock<Categories> = LazyLock::new(Categories::from_regex);

/// The categories of the `regex` crate as a sorted table: asking the crate once per character would cost more than
/// everything else in this room together.
struct Categories {
    ascii: [Category; 128],
    /// Disjoint, in order, bounds inclusive.
    ranges: Vec<(char, char, Category)>,
}

impl Categories {
    fn from_regex() -> Self {
        let every_character: String = (char::MIN..=char::MAX).collect();
        let runs = Regex::new(r"(?<number>\p{N}+)|(?<punctuation>\p{P}+)|\p{S}+").expect("a valid pattern");
        let ranges: Vec<_> = runs.captures_iter(&every_character).map(|run| range(&run)).collect();
        let ascii = std::array::from_fn(|code| find(&ranges, char::from(code as u8)));
        Self { ascii, ranges }
    }

    fn of(&self, c: char) -> Category {
        match self.ascii.get(c as usize) {
            Some(&category) => category,
            None => find(&self.ranges, c),
        }
    }
}

fn range(run: &Captures<'_>) -> (char, char, Category) {
    let category = match (run.name("number"), run.name("punctuation")) {
        (Some(_), _) => Category::Number,
        (_, Some(_)) => Category::Punctuation,
        _ => Category::Symbol,
    };
    let first = run[0].chars().next().expect("a match of `+` is not empty");
    (first, run[0].chars().next_back().unwrap_or(first), category)
}

fn find(ranges: &[(char, char, Category)], c: char) -> Category {
    let after = ranges.partition_point(|&(first, ..)| first <= c);
    match ranges[..after].last() {
        Some(&(_, last, category)) if c <= last => category,
        _ => Category::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::words;
    use super::*;

    fn tokens(line: &str) -> String {
        words(&tokenize_international(line)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_table_says_of_every_character_what_the_regex_says() {
        let patterns = [r"^\p{N}$", r"^\p{P}$", r"^\p{S}$"].map(|pattern| Regex::new(pattern).unwrap());
        let categories = [Category::Number, Category::Punctuation, Category::Symbol];
        for c in char::MIN..=char::MAX {
            let mut buffer = [0; 4];
            let text = &*c.encode_utf8(&mut buffer);
            let expected = patterns.iter().position(|pattern| pattern.is_match(text));
            assert_eq!(
                CATEGORIES.of(c),
                expected.map_or(Category::Other, |at| categories[at]),
                "{c:?}"
            );
        }
    }

    // Expected: sacrebleu.tokenizers.tokenizer_intl.TokenizerV14International()(line), sacreBLEU 2.6.0

    #[test]
    fn punctuation_stays_only_between_numbers() {
        assert_eq!(tokens("„1.5,000“ – x-y, 2010-12"), "„1.5,000 “ – x - y , 2010-12");
    }

    #[test]
    fn a_number_keeps_the_stop_that_ends_its_line() {
        assert_eq!(tokens("in 2010."), "in 2010.");
    }

    #[test]
    fn symbols_stand_alone_even_between_numbers() {
        assert_eq!(tokens("5€+3$ ²½٣,٤"), "5 € + 3 $ ²½٣,٤");
    }
}
