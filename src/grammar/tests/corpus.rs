use std::collections::HashSet;

use super::super::{GrammarPairs, Pair};
use crate::spec::Split;

fn pairs(split: Split, count: usize) -> Vec<Pair> {
    GrammarPairs::new(split).take(count).collect()
}

#[test]
fn splits_share_no_sentence_and_repeat_none() {
    let mut sources = HashSet::new();
    let mut targets = HashSet::new();
    for (split, count) in [(Split::Train, 20_000), (Split::Dev, 500), (Split::Test, 1000)] {
        for (source, target) in pairs(split, count) {
            assert!(sources.insert(source.clone()), "twice: {source}");
            targets.insert(target);
        }
    }
    // Different English sentences rarely mean the same in German.
    assert!(
        sources.len() - targets.len() < 20,
        "{} of {}",
        targets.len(),
        sources.len()
    );
}

#[test]
fn a_larger_corpus_begins_with_the_smaller_one() {
    assert_eq!(pairs(Split::Train, 2000)[..500], pairs(Split::Train, 500));
}

/// Made by this program, version 0.1.0: the corpus must not change under anyone's results.
#[test]
fn the_corpus_is_the_one_it_always_was() {
    let mut hasher = blake3::Hasher::new();
    for split in [Split::Train, Split::Dev, Split::Test] {
        for (source, target) in pairs(split, 1000) {
            hasher.update(format!("{source}\t{target}\n").as_bytes());
        }
    }
    assert_eq!(&hasher.finalize().to_hex()[..16], "1cdc4cf75e8b893b");
}

#[test]
fn dev_and_test_hold_names_that_training_does_not() {
    let words = |split, count| -> HashSet<String> {
        let letters = |word: &str| word.trim_matches(['.', ',', '?']).to_owned();
        pairs(split, count)
            .iter()
            .flat_map(|(source, _)| source.split(' ').map(letters).collect::<Vec<_>>())
            .collect()
    };
    let unseen = &words(Split::Test, 1000) - &words(Split::Train, 20_000);
    let names = unseen
        .iter()
        .filter(|word| word.starts_with(char::is_uppercase))
        .count();
    assert!(names > 80, "{unseen:?}");
    assert!(
        unseen.len() - names < 10,
        "all other words should be learnable: {unseen:?}"
    );
}

#[test]
fn sentences_are_of_every_length_from_three_to_twenty_five() {
    let lengths: Vec<usize> = pairs(Split::Train, 5000)
        .iter()
        .map(|(source, _)| source.split(' ').count())
        .collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    assert!((9.0..=14.0).contains(&mean), "{mean}");
    assert_eq!(lengths.iter().min(), Some(&3));
    assert_eq!(lengths.iter().max(), Some(&25));
}

#[test]
fn every_sentence_is_punctuated_and_singly_spaced() {
    for (source, target) in pairs(Split::Train, 20_000) {
        for text in [&source, &target] {
            assert!(text.ends_with(['.', '?']), "{text}");
            assert!(text.starts_with(char::is_uppercase), "{text}");
            assert!(
                !text.contains("  ") && !text.contains(" ,") && !text.contains(",,"),
                "{text}"
            );
        }
        assert_eq!(source.ends_with('?'), target.ends_with('?'));
    }
}

#[test]
fn what_one_language_negates_the_other_negates_too() {
    let words = |text: &str| {
        text.split([' ', ',', '.', '?'])
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    };
    for (source, target) in pairs(Split::Train, 20_000) {
        let negated = |word: &String| matches!(word.as_str(), "not" | "cannot" | "never");
        let verneint = |word: &String| word == "nicht" || word == "nie" || word.starts_with("kein");
        let counts = [
            words(&source).iter().filter(|word| negated(word)).count(),
            words(&target).iter().filter(|word| verneint(word)).count(),
        ];
        assert_eq!(counts[0], counts[1], "{source} / {target}");
    }
}

/// Each of these words has one translation, so both sides must have as many of them.
#[test]
fn words_with_one_translation_occur_equally_often() {
    let pairs = pairs(Split::Train, 20_000);
    let count = |text: &str, forms: &[&str]| {
        let words = text.split([' ', ',', '.', '?', '\'']).map(str::to_lowercase);
        words.filter(|word| forms.contains(&word.as_str())).count()
    };
    for (english, german) in [
        (&["because"][..], &["weil"][..]),
        (&["although"], &["obwohl"]),
        (&["yesterday"], &["gestern"]),
        (&["and"], &["und"]),
        (&["often"], &["oft"]),
        (&["dogs"], &["hunde", "hunden"]),
        (&["lamp"], &["lampe"]),
        (
            &["every", "all"],
            &["jeder", "jede", "jedes", "jeden", "jedem", "alle", "allen"],
        ),
    ] {
        let mut seen = 0;
        for (source, target) in &pairs {
            assert_eq!(count(source, english), count(target, german), "{source} / {target}");
            seen += count(source, english);
        }
        assert!(seen > 0, "{english:?} does not occur");
    }
}
