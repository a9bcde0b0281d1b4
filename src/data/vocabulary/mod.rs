//! The vocabulary that both languages share. Word counts come in; byte-pair tokens go out, in the `tokenizer.json` format,
//! which turn text into ids and ids into text. This module refuses to know splits and batches.

mod alphabet;
mod encode;
mod special;
mod train;

use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as DecoderSequence;
use tokenizers::decoders::strip::Strip;
use tokenizers::models::bpe::BPE;
use tokenizers::normalizers::prepend::Prepend;
use tokenizers::normalizers::replace::Replace;
use tokenizers::normalizers::utils::{Lowercase, Sequence as NormalizerSequence};
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::punctuation::Punctuation;
use tokenizers::pre_tokenizers::sequence::Sequence as PreTokenizerSequence;
use tokenizers::{NormalizerWrapper, Tokenizer};

pub use self::encode::Encoder;
use self::special::{SPACE, SPECIAL_TOKENS};
pub use self::train::WordCounts;
use super::error::DataError;
use crate::model::{BOS, EOS};
use crate::spec::Case;

/// Tokens and their ids.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    tokenizer: Tokenizer,
}

impl Vocabulary {
    /// Learns at most `vocab_size` tokens, all in lower case if `case` says so: then any text is lower-cased before it is
    /// split. There are fewer where no two tokens occur twice in a row.
    ///
    /// # Errors
    /// `vocab_size` leaves no room beside the special tokens and the characters of the text.
    ///
    /// # Source
    /// Byte-pair encoding: Sennrich et al. 2016; section 5.1 of the paper shares one vocabulary between the languages.
    pub fn train(counts: &WordCounts, vocab_size: usize, case: Case) -> Result<Self, DataError> {
        let mut tokenizer = tokenizer(BPE::default(), case)?;
        let words = counts.words(&tokenizer)?;
        tokenizer.with_model(train::learn_tokens(words, vocab_size)?);
        Ok(Self { tokenizer })
    }

    /// Number of tokens, special ones included; ids are below it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    /// Always false: there are always the special tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Encodes one sentence. The only special token in it is [`UNK`](crate::model::UNK), for an unknown character.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, DataError> {
        let mut tokens = Vec::new();
        self.encoder().encode_into(text, &mut tokens)?;
        Ok(tokens)
    }

    /// Returns an encoder for many sentences, which remembers the tokens of each word.
    #[must_use]
    pub fn encoder(&self) -> Encoder<'_> {
        Encoder::new(&self.tokenizer)
    }

    /// Detokenised text: exactly what was encoded, where every character was known (but for U+2581, which becomes
    /// a space), in lower case if the vocabulary is. [`BOS`] and [`EOS`] are silent, [`UNK`](crate::model::UNK) reads `<unk>`.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String, DataError> {
        let spoken: Vec<u32> = ids.iter().copied().filter(|id| !matches!(*id, BOS | EOS)).collect();
        Ok(self.tokenizer.decode(&spoken, false)?)
    }

    /// How a token is written, a space as U+2581. A model of a small corpus may have more tokens than its vocabulary, and
    /// say one that nothing stands for: that is its number between angle brackets.
    #[must_use]
    pub fn name(&self, id: u32) -> String {
        self.tokenizer.id_to_token(id).unwrap_or_else(|| format!("<{id}>"))
    }

    /// The vocabulary as `tokenizer.json`, for this and other tools.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn to_json(&self) -> Result<String, DataError> {
        Ok(self.tokenizer.to_string(false)?)
    }

    /// # Errors
    /// Not a `tokenizer.json`, or one whose special tokens are not the first three, or whose ids have gaps.
    pub fn from_json(json: &str) -> Result<Self, DataError> {
        let tokenizer: Tokenizer = json.parse()?;
        for (id, expected) in (0..).zip(SPECIAL_TOKENS) {
            if tokenizer.id_to_token(id).as_deref() != Some(expected) {
                return Err(DataError::SpecialToken { id, expected });
            }
        }
        let (tokens, ids) = (tokenizer.get_vocab_size(true), tokenizer.get_vocab(true));
        match ids.into_iter().find(|&(_, id)| id as usize >= tokens) {
            Some((token, id)) => Err(DataError::TokenId { token, id, tokens }),
            None => Ok(Self { tokenizer }),
        }
    }
}

/// Spaces become part of the word that follows, punctuation stands alone, and decoding is the way back.
fn tokenizer(model: BPE, case: Case) -> Result<Tokenizer, DataError> {
    let mut tokenizer = Tokenizer::new(model);
    let space = NormalizerWrapper::from(Prepend::new(SPACE.to_owned()));
    let normalizer = match case {
        Case::Keep => space,
        Case::Lower => NormalizerSequence::new(vec![Lowercase.into(), space]).into(),
    };
    tokenizer.with_normalizer(Some(normalizer))?;
    let space = SPACE.chars().next().expect("SPACE is one character");
    tokenizer.with_pre_tokenizer(Some(PreTokenizerSequence::new(vec![
        Metaspace::new(space, PrependScheme::Never, true).into(),
        Punctuation::default().into(),
    ])));
    tokenizer.with_decoder(Some(DecoderSequence::new(vec![
        Replace::new(SPACE, " ")?.into(),
        Fuse::default().into(),
        Strip::new(' ', 1, 0).into(),
    ])));
    Ok(tokenizer)
}

#[cfg(test)]
mod tests;
