use proptest::prelude::*;

use super::*;
use crate::grammar::Pair;
use crate::model::UNK;

fn vocabulary() -> Vocabulary {
    Vocabulary::train(&WordCounts::of(&pairs()), 200, Case::Keep).unwrap()
}

fn pairs() -> Vec<Pair> {
    let lines = [
        "The dog sees the old dogs.",
        "A \"quoted\" word, and (another) one!",
        "don't stop at 3.14 % of <s> </s> <unk>",
    ];
    let target = [
        "Der Hund sieht die alten Hunde.",
        "Ein „Wort“, und noch eines!",
        "größer als 3,14 €?",
    ];
    lines
        .iter()
        .zip(target)
        .map(|(source, target)| ((*source).to_owned(), target.to_owned()))
        .collect()
}

#[test]
fn text_of_known_characters_comes_back_exactly() {
    let vocabulary = vocabulary();
    let awkward = [
        " leading",
        "trailing ",
        "two  spaces",
        "   ",
        " ",
        "",
        "(another (dog)).",
        "don't",
        "<s></s>",
        "<unk>",
    ];
    for text in pairs()
        .iter()
        .flat_map(|(source, target)| [source.as_str(), target])
        .chain(awkward)
    {
        let ids = vocabulary.encode(text).unwrap();
        assert_eq!(vocabulary.decode(&ids).unwrap(), text);
    }
}

#[test]
fn text_can_never_spell_a_special_token() {
    let ids = vocabulary().encode("<s> </s> <unk>").unwrap();
    assert!(ids.iter().all(|id| *id > EOS), "{ids:?}");
}

#[test]
fn special_tokens_are_the_models() {
    let vocabulary = vocabulary();
    assert_eq!(
        vocabulary.encode("ж").unwrap(),
        [vocabulary.encode(" ").unwrap()[0], UNK]
    );
    assert_eq!(vocabulary.decode(&[BOS, UNK, EOS]).unwrap(), "<unk>");
}

#[test]
fn a_word_cache_changes_nothing() {
    let vocabulary = vocabulary();
    for text in ["the dog, the dogs", "a  b ", " x (y) z"] {
        let whole = vocabulary.tokenizer.encode(text, false).unwrap();
        assert_eq!(vocabulary.encode(text).unwrap(), whole.get_ids(), "{text:?}");
    }
}

#[test]
fn training_again_gives_the_same_tokens() {
    let pairs: Vec<Pair> = crate::grammar::GrammarPairs::new(crate::spec::Split::Train)
        .take(500)
        .collect();
    let first = Vocabulary::train(&WordCounts::of(&pairs), 400, Case::Keep).unwrap();
    assert_eq!(first.len(), 400);
    for _ in 0..4 {
        assert_eq!(
            Vocabulary::train(&WordCounts::of(&pairs), 400, Case::Keep)
                .unwrap()
                .to_json()
                .unwrap(),
            first.to_json().unwrap()
        );
    }
}

#[test]
fn json_brings_back_the_same_vocabulary() {
    let vocabulary = vocabulary();
    let again = Vocabulary::from_json(&vocabulary.to_json().unwrap()).unwrap();
    assert_eq!(again.to_json().unwrap(), vocabulary.to_json().unwrap());
    assert_eq!(
        again.encode("The old dog!").unwrap(),
        vocabulary.encode("The old dog!").unwrap()
    );
    assert!(Vocabulary::from_json("{}").is_err());
    // The last id, moved behind a gap.
    let last = vocabulary.len() - 1;
    let gap = vocabulary
        .to_json()
        .unwrap()
        .replace(&format!(": {last}"), ": 9999")
        .replace(&format!(":{last}"), ":9999");
    let DataError::TokenId { id: 9999, .. } = Vocabulary::from_json(&gap).unwrap_err() else {
        panic!("ids must have no gaps");
    };
    assert_eq!(vocabulary.name(9999), "<9999>");
}

#[test]
fn a_small_text_makes_fewer_tokens_than_asked_for() {
    let vocabulary = Vocabulary::train(&WordCounts::of(&pairs()), 5000, Case::Keep).unwrap();
    assert!(vocabulary.len() < 200, "{}", vocabulary.len());
}

#[test]
fn a_vocabulary_too_small_for_the_characters_names_both_numbers() {
    let DataError::VocabularyTooSmall {
        vocab_size: 20,
        smallest,
    } = Vocabulary::train(&WordCounts::of(&pairs()), 20, Case::Keep).unwrap_err()
    else {
        panic!("another error");
    };
    assert!(Vocabulary::train(&WordCounts::of(&pairs()), smallest - 1, Case::Keep).is_err());
    assert!(Vocabulary::train(&WordCounts::of(&pairs()), smallest, Case::Keep).is_ok());
}

#[test]
fn the_rarest_characters_give_way_in_a_small_vocabulary() {
    let mut pairs = vec![("ab".repeat(2000), "ab".to_owned())];
    pairs.push(("xж".to_owned(), "x".to_owned()));
    let vocabulary = Vocabulary::train(&WordCounts::of(&pairs), 3 + 2 * 4, Case::Keep).unwrap();
    assert!(!vocabulary.encode("abx").unwrap().contains(&UNK));
    assert!(vocabulary.encode("ж").unwrap().contains(&UNK));
}

proptest! {
    /// Letters, digits, punctuation and spaces that `pairs` shows, in any order.
    #[test]
    fn any_text_of_known_characters_comes_back(text in "[ adehorst.,!?()'\"„“0-9%<>/äßü]{0,40}") {
        let mut pairs = pairs();
        pairs.push(("adehorst.,!?()'\"„“0123456789%<>/äßü".to_owned(), "äü".to_owned()));
        let vocabulary = Vocabulary::train(&WordCounts::of(&pairs), 200, Case::Keep).unwrap();
        let ids = vocabulary.encode(&text).unwrap();
        prop_assert_eq!(vocabulary.decode(&ids).unwrap(), text);
    }
}
