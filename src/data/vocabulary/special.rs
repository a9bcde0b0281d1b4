//! The sign for a space, and the special tokens.

use crate::model::{BOS, EOS, UNK};

/// Sign for a space, so that tokens can be joined back into text.
pub const SPACE: &str = "▁";
/// Special tokens in the order of their ids.
pub const SPECIAL_TOKENS: [&str; 3] = ["<unk>", "<s>", "</s>"];
const _: () = assert!(UNK == 0 && BOS == 1 && EOS == 2);
