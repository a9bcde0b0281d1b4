//! Encoding of text, word by word.

use std::collections::HashMap;

use tokenizers::Tokenizer;

use super::special::SPACE;
use crate::data::error::DataError;
use crate::ops::Packed;

/// More words than a corpus uses often; what is beyond is split again rather than remembered.
const REMEMBERED_WORDS: usize = 1 << 20;

/// A vocabulary that remembers the tokens of the words it has met.
pub struct Encoder<'a> {
    tokenizer: &'a Tokenizer,
    words: HashMap<String, Vec<u32>>,
}

impl<'a> Encoder<'a> {
    /// A space alone has no word to belong to, and so the tokenizer would lose it.
    pub(super) fn new(tokenizer: &'a Tokenizer) -> Self {
        let space = tokenizer.token_to_id(SPACE).into_iter().collect();
        Self {
            tokenizer,
            words: HashMap::from([(String::new(), space)]),
        }
    }

    /// Appends the tokens of a sentence. A word's tokens do not depend on its neighbours, because a space always
    /// begins a token.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn encode_into(&mut self, text: &str, tokens: &mut Vec<u32>) -> Result<(), DataError> {
        if text.is_empty() {
            return Ok(());
        }
        for word in text.split(' ') {
            if let Some(known) = self.words.get(word) {
                tokens.extend_from_slice(known);
                continue;
            }
            let encoding = self.tokenizer.encode_fast(word, false)?;
            tokens.extend_from_slice(encoding.get_ids());
            if self.words.len() < REMEMBERED_WORDS {
                self.words.insert(word.to_owned(), encoding.get_ids().to_vec());
            }
        }
        Ok(())
    }

    /// All sentences, packed.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn encode_all<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Result<Packed, DataError> {
        let encode = |text: &str| {
            let mut tokens = Vec::new();
            self.encode_into(text, &mut tokens).map(|()| tokens)
        };
        let sentences: Result<Vec<_>, _> = texts.into_iter().map(encode).collect();
        Ok(Packed::from_sentences(sentences?))
    }
}
