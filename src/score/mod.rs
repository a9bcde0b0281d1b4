//! Hypothesis and reference lines come in as plain strings, each corpus as a slice.
//! A signed corpus BLEU goes out, equal to what sacreBLEU 2.6.0 prints for the same text, with the integer counts
//! it was computed from and warnings about text that would make any score mislead.
//! It refuses to know files, models, runs and everything else.

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
