//! Names built from syllables, so that dev and test hold names that training never showed.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;

use super::features::Gender;

const ONSETS: &[&str] = &[
    "b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "br", "dr", "gr", "kl", "tr",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u"];
const MALE_CODAS: &[&str] = &["n", "r", "l", "k", "m", "rt"];
const TOWN_ENDINGS: &[&str] = &["burg", "stadt", "heim", "feld", "bach", "dorf", "tal", "berg"];

/// A name that both languages spell alike; a woman's ends in "a", a man's in a consonant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub spelling: String,
    pub gender: Gender,
}

pub fn person(stream: &mut ChaCha8Rng) -> Name {
    let syllables = if stream.random_ratio(1, 4) { 2 } else { 1 };
    let mut start: String = (0..syllables).map(|_| syllable(stream)).collect();
    start.push_str(choose(stream, ONSETS));
    let (ending, gender) = if stream.random_bool(0.5) {
        ("a".to_owned(), Gender::Feminine)
    } else {
        (
            format!("{}{}", choose(stream, VOWELS), choose(stream, MALE_CODAS)),
            Gender::Masculine,
        )
    };
    Name {
        spelling: capitalised(&(start + &ending)),
        gender,
    }
}

pub fn town(stream: &mut ChaCha8Rng) -> String {
    let start = syllable(stream) + choose(stream, &["n", "l", "r", "m"]);
    capitalised(&(start + choose(stream, TOWN_ENDINGS)))
}

fn syllable(stream: &mut ChaCha8Rng) -> String {
    format!("{}{}", choose(stream, ONSETS), choose(stream, VOWELS))
}

fn choose(stream: &mut ChaCha8Rng, options: &[&'static str]) -> &'static str {
    options.choose(stream).expect("the lists above are not empty")
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect()
}
