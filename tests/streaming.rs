//! A corpus larger than comfort is prepared in bounded memory. Alone in its program, because memory is the process's.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ablate::data::{Origin, load};
use ablate::run::peak_memory_bytes;
use ablate::spec::{Corpus, Data, FilePair};

/// Pairs to prepare: `ABLATE_LARGE_PAIRS=4500000 cargo test --release --test streaming` takes some minutes, and is about
/// WMT 2014 English-German.
fn pairs() -> usize {
    std::env::var("ABLATE_LARGE_PAIRS").map_or(100_000, |pairs| pairs.parse().expect("a number of pairs"))
}

/// Distinct words in so many pairs: Heaps' law as in English text, 1.7 million of 4.5 million pairs.
fn words(pairs: usize) -> f64 {
    44.0 * (52.0 * pairs as f64).powf(0.55)
}

/// Text like that of a large corpus: some 26 words a sentence, frequent ones and always new ones.
fn sentence(number: usize, side: usize, words: f64) -> String {
    let mut state = (2 * number + side) as u64;
    let mut draw = || {
        // SplitMix64 (Steele et al. 2014).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let syllables = [
        "ba", "de", "gi", "ko", "lu", "mar", "nen", "ost", "pra", "schu", "tion", "wert",
    ];
    let length = 18 + draw() % 17;
    let word = |rank: u64| -> String {
        let digits = std::iter::successors(Some(rank), |rest| Some(rest / 12).filter(|rest| *rest > 0));
        digits.map(|digit| syllables[(digit % 12) as usize]).collect()
    };
    // Frequencies fall with the rank, as in language: a draw of all words, evenly by the logarithm of their rank.
    let drawn = (0..length).map(|_| word(words.powf(draw() as f64 / u64::MAX as f64) as u64));
    drawn.collect::<Vec<_>>().join(" ")
}

fn write(path: &Path, pairs: std::ops::Range<usize>, side: usize, words: f64) {
    let mut file = BufWriter::new(File::create(path).expect("a writable folder"));
    for number in pairs {
        writeln!(file, "{}", sentence(number, side, words)).expect("room on the disk");
    }
}

#[test]
fn millions_of_pairs_are_prepared_in_bounded_memory() {
    let (folder, pairs) = (tempfile::tempdir().expect("a temporary folder"), pairs());
    for (split, range) in [
        ("train", 0..pairs),
        ("dev", pairs..pairs + 1000),
        ("test", pairs..pairs + 2000),
    ] {
        write(
            &folder.path().join(format!("{split}.en")),
            range.clone(),
            0,
            words(pairs),
        );
        write(&folder.path().join(format!("{split}.de")), range, 1, words(pairs));
    }
    let files = |split: &str| FilePair {
        source: format!("{split}.en").into(),
        target: format!("{split}.de").into(),
    };
    let data = Data {
        corpus: Corpus::Text {
            train: files("train"),
            dev: files("dev"),
            test: files("test"),
        },
        vocab_size: 16_000,
        max_length: 256,
        ..Data::default()
    };
    let before = peak_memory_bytes().expect("a system that tells");
    let prepare = || load(&data, Some(folder.path()), &folder.path().join("cache")).expect("a sound corpus");
    let first = prepare();
    let peak = peak_memory_bytes().expect("a system that tells") - before;
    let train = &first.ids.train;
    let tokens = train.source.tokens() + train.target.tokens();
    println!("{pairs} pairs, {tokens} tokens: {} MiB at the peak", peak >> 20);
    assert_eq!(train.len(), pairs);
    assert!(tokens > 40 * pairs, "{tokens} tokens");
    // A small corpus has more distinct words for each pair, and they are what learning the tokens takes memory for.
    let bound = (4_u64 << 30).min(4096 * pairs as u64);
    assert!(
        peak < bound,
        "{peak} bytes for {tokens} tokens of {pairs} pairs; {bound} are allowed"
    );
    let second = prepare();
    assert_eq!(
        (second.report.vocabulary, second.report.training),
        (Origin::Cached, Origin::Cached)
    );
    assert_eq!(second.ids.train, first.ids.train);
}
