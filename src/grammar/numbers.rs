//! Number words from two to ninety-nine; German says the ones before the tens.

const ENGLISH_SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const GERMAN_SMALL: [&str; 20] = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
];
const ENGLISH_TENS: [&str; 10] = [
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const GERMAN_TENS: [&str; 10] = [
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
];

/// "twenty-three".
pub fn english(number: usize) -> String {
    match (number / 10, number % 10) {
        (0 | 1, _) => ENGLISH_SMALL[number].to_owned(),
        (tens, 0) => ENGLISH_TENS[tens].to_owned(),
        (tens, ones) => format!("{}-{}", ENGLISH_TENS[tens], ENGLISH_SMALL[ones]),
    }
}

/// "dreiundzwanzig".
pub fn german(number: usize) -> String {
    match (number / 10, number % 10) {
        (0 | 1, _) => GERMAN_SMALL[number].to_owned(),
        (tens, 0) => GERMAN_TENS[tens].to_owned(),
        (tens, 1) => format!("einund{}", GERMAN_TENS[tens]),
        (tens, ones) => format!("{}und{}", GERMAN_SMALL[ones], GERMAN_TENS[tens]),
    }
}
