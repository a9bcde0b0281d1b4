//! BLEU. Hypotheses and references come in as lines; a signed corpus BLEU goes out, equal to that of sacreBLEU 2.6.0 for
//! the same text, with its integer counts, and warnings about text that makes any score mislead. This room refuses to know
//! files, models and runs.

mod bleu;
mod checks;
mod compounds;
mod config;
mod error;
mod international;
mod json;
mod lines;
mod mteval;
mod ngrams;
mod rewrite;
mod statistics;
mod tokenizer;
mod vocabulary;

pub use bleu::{Bleu, bleu_from_statistics, corpus_bleu};
pub use checks::{Side, Warning, check_texts};
pub use config::{BleuConfig, Case, Smoothing, standard_configs};
pub use error::ScoreError;
pub use json::SacrebleuJson;
pub use lines::split_lines;
pub use ngrams::MAX_ORDER;
pub use statistics::{Statistics, sentence_statistics};
pub use tokenizer::Tokenizer;
