//! The result of one run, under every signature it was scored with.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{RecordError, toml_file};
use crate::score::Bleu;
use crate::spec::Signature;

/// `score.toml`: what a finished run found. The same run writes the same bytes, so there are no times in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunScore {
    /// The split that `ppl` and `bleu` were measured on.
    pub split: String,
    /// Updates of the parameters.
    pub steps: u64,
    /// Target pieces trained on.
    pub tokens: u64,
    /// Counted operations of the matrix products of training, forward and backward.
    pub training_flops: Option<f64>,
    pub parameters: u64,
    /// Perplexity per target piece on `split`, from the unsmoothed negative log-likelihood.
    pub ppl: f64,
    /// The same on the dev split.
    pub dev_ppl: Option<f64>,
    /// Training pairs left out because they were too long.
    pub skipped_pairs: Option<u64>,
    /// Tokens of `split` that are not in the vocabulary.
    #[serde(alias = "unknown_pieces")]
    pub unknown_tokens: Option<u64>,
    /// Which weights `ppl` and `bleu` belong to: `last`, `best` or `average`.
    pub weights: Option<String>,
    /// Which of the signatures enters the table; absent in a file from before there was a choice, which was `13a`.
    pub bleu_in_table: Option<String>,
    pub bleu: BleuScores,
    /// What each set of weights is worth, where there were several to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_weights: Vec<WeightsScore>,
}

/// One set of weights of a run, and its figures on the evaluation split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsScore {
    /// `last`, `best` or `average`.
    pub weights: String,
    /// The updates after which they were taken; several are averaged.
    pub steps: Vec<u64>,
    pub dev_ppl: f64,
    pub ppl: f64,
    /// Under the signature that enters the table.
    pub bleu: f64,
    pub bleu_13a: f64,
    pub bleu_13a_lc: f64,
}

impl BleuScores {
    /// The score under one of the signatures.
    #[must_use]
    pub fn under(&self, signature: Signature) -> &Bleu {
        match signature {
            Signature::Mteval13a => &self.standard,
            Signature::Mteval13aLower => &self.lowercase,
            Signature::International => &self.international,
            Signature::InternationalLower => &self.international_lowercase,
            Signature::CompoundSplit => &self.compound,
        }
    }
}

/// One output under the signatures that published numbers use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BleuScores {
    /// Today's standard, and the one in the table unless the suite wants another.
    #[serde(rename = "13a", with = "BleuInFile")]
    pub standard: Bleu,
    #[serde(rename = "13a-lc", with = "BleuInFile")]
    pub lowercase: Bleu,
    #[serde(rename = "intl", with = "BleuInFile")]
    pub international: Bleu,
    #[serde(rename = "intl-lc", with = "BleuInFile")]
    pub international_lowercase: Bleu,
    /// The nearest thing to the paper's: compounds split at hyphens.
    #[serde(rename = "compound-split", with = "BleuInFile")]
    pub compound: Bleu,
}

/// The fields of a score by their names in the file: the score itself knows no files.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Bleu", deny_unknown_fields)]
struct BleuInFile {
    score: f64,
    precisions: [f64; 4],
    counts: [u64; 4],
    totals: [u64; 4],
    brevity_penalty: f64,
    hypothesis_length: u64,
    reference_length: u64,
    signature: String,
}

impl RunScore {
    /// The BLEU in the table.
    #[must_use]
    pub fn in_table(&self) -> &Bleu {
        let named = self.bleu_in_table.as_deref().and_then(Signature::named);
        self.bleu.under(named.unwrap_or_default())
    }

    /// Reads `score.toml`.
    ///
    /// # Errors
    /// When the file is missing, unreadable, or not what [`RunScore::write`] writes.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        toml_file::read(path)
    }

    /// Writes `score.toml` in one step.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        toml_file::write(path, self)
    }

    /// The first number, by name, that cannot be a perplexity or a BLEU score.
    pub(super) fn impossible_number(&self) -> Option<(&'static str, f64)> {
        let ppl = [("ppl", Some(self.ppl)), ("dev_ppl", self.dev_ppl)];
        let impossible_ppl = ppl.into_iter().filter_map(|(name, ppl)| Some((name, ppl?)));
        let BleuScores {
            standard,
            lowercase,
            international,
            international_lowercase,
            compound,
        } = &self.bleu;
        let bleu = [
            ("13a", standard),
            ("13a-lc", lowercase),
            ("intl", international),
            ("intl-lc", international_lowercase),
            ("compound-split", compound),
        ];
        impossible_ppl
            .filter(|&(_, ppl)| !is_ppl(ppl))
            .chain(
                bleu.map(|(name, bleu)| (name, bleu.score))
                    .into_iter()
                    .filter(|&(_, bleu)| !is_bleu(bleu)),
            )
            .next()
    }
}

/// A perplexity is at least 1; the margin is for rounding.
pub(crate) fn is_ppl(value: f64) -> bool {
    value.is_finite() && value >= 1.0 - 1e-6
}

/// A BLEU score is a percentage; the margin is for rounding.
pub(crate) fn is_bleu(value: f64) -> bool {
    (0.0..=100.0 + 1e-6).contains(&value)
}
