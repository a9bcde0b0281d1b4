//! Number words from two to ninety-nine; German says the ones before the tens.

const ENGLISH_SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen \
                             fifteen sixteen seventeen eighteen nineteen";
const GERMAN_SMALL: &str = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn \
                            fünfzehn sechzehn siebzehn achtzehn neunzehn";
const ENGLISH_TENS: &str = "zero ten twenty thirty forty fifty sixty seventy eighty ninety";
const GERMAN_TENS: &str = "null zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig";

/// "twenty-three".
pub fn english(number: usize) -> String {
    match (number / 10, number % 10) {
        (0 | 1, _) => word(ENGLISH_SMALL, number).to_owned(),
        (tens, 0) => word(ENGLISH_TENS, tens).to_owned(),
        (tens, ones) => format!("{}-{}", word(ENGLISH_TENS, tens), word(ENGLISH_SMALL, ones)),
    }
}

/// "dreiundzwanzig".
pub fn german(number: usize) -> String {
    match (number / 10, number % 10) {
        (0 | 1, _) => word(GERMAN_SMALL, number).to_owned(),
        (tens, 0) => word(GERMAN_TENS, tens).to_owned(),
        (tens, 1) => format!("einund{}", word(GERMAN_TENS, tens)),
        (tens, ones) => format!("{}und{}", word(GERMAN_SMALL, ones), word(GERMAN_TENS, tens)),
    }
}

/// The word at a place in a list, the first at 0.
fn word(words: &'static str, at: usize) -> &'static str {
    words
        .split(' ')
        .nth(at)
        .expect("the lists have words for all numbers below a hundred")
}
