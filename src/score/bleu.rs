//! Corpus BLEU from added-up counts (Papineni et al., 2002), with sacreBLEU's smoothing.

use std::fmt;

use super::config::{BleuConfig, Smoothing};
use super::error::ScoreError;
use super::ngrams::MAX_ORDER;
use super::statistics::{Statistics, sentence_statistics};

/// A corpus BLEU and what it was computed from. Index `n - 1` holds what concerns n-grams of `n` words.
#[derive(Debug, Clone, PartialEq)]
pub struct Bleu {
    /// 0 to 100, not rounded. Rounding errors are those of sacreBLEU: a perfect score is 100.00000000000004.
    pub score: f64,
    /// Percent, smoothed.
    pub precisions: [f64; MAX_ORDER],
    /// Matches found in the text: smoothing is not in them.
    pub counts: [u64; MAX_ORDER],
    pub totals: [u64; MAX_ORDER],
    pub brevity_penalty: f64,
    /// Words.
    pub hypothesis_length: u64,
    /// Words.
    pub reference_length: u64,
    /// Signature, which must be equal for two scores to be comparable.
    pub signature: String,
}

/// BLEU of a corpus: one number from the counts of all sentences, not a mean over sentences.
///
/// Each of `references` is a stream with one line per hypothesis. Text is expected
/// detokenised; `check_texts` notices where it is not.
///
/// # Errors
///
/// `NoReferences`; `NoSentences`; `LineCounts` with both counts; `SmoothingValue` for one that is negative or not
/// finite.
///
/// ```
/// use ablate::score::{BleuConfig, corpus_bleu};
/// let hypotheses = ["A man rides a red bicycle.".to_owned()];
/// let references = ["A man is riding a red bicycle.".to_owned()];
/// let bleu = corpus_bleu(&hypotheses, &[&references], &BleuConfig::default())?;
/// assert_eq!(bleu.counts, [6, 4, 2, 1]);
/// assert_eq!(bleu.totals, [7, 6, 5, 4]);
/// # Ok::<(), ablate::score::ScoreError>(())
/// ```
pub fn corpus_bleu(hypotheses: &[String], references: &[&[String]], config: &BleuConfig) -> Result<Bleu, ScoreError> {
    let corpus = sentence_statistics(hypotheses, references, config)?.into_iter().sum();
    bleu_from_statistics(&corpus, references.len(), config)
}

/// BLEU of the sentences whose statistics were added up, with `config` as they were counted.
///
/// # Errors
///
/// `SmoothingValue` for one that is negative or not finite.
pub fn bleu_from_statistics(
    corpus: &Statistics,
    reference_count: usize,
    config: &BleuConfig,
) -> Result<Bleu, ScoreError> {
    config.smoothing.check()?;
    let precisions = precisions(corpus, config.smoothing);
    let brevity_penalty = brevity_penalty(corpus);
    // The logarithm of a zero precision is minus infinity, and the mean's exponential zero again.
    let mean_log = precisions.iter().map(|precision| precision.ln()).sum::<f64>() / MAX_ORDER as f64;
    Ok(Bleu {
        score: brevity_penalty * mean_log.exp(),
        precisions,
        counts: corpus.counts,
        totals: corpus.totals,
        brevity_penalty,
        hypothesis_length: corpus.hypothesis_length,
        reference_length: corpus.reference_length,
        signature: config.signature(reference_count),
    })
}

fn brevity_penalty(corpus: &Statistics) -> f64 {
    match (corpus.hypothesis_length, corpus.reference_length) {
        (hypothesis, reference) if hypothesis >= reference => 1.0,
        (0, _) => 0.0,
        (hypothesis, reference) => (1.0 - reference as f64 / hypothesis as f64).exp(),
    }
}

/// Percent. All zero without a single match, whatever the smoothing; zero from the first order that no sentence is
/// long enough for.
fn precisions(corpus: &Statistics, smoothing: Smoothing) -> [f64; MAX_ORDER] {
    let mut precisions = [0.0; MAX_ORDER];
    if corpus.counts == [0; MAX_ORDER] {
        return precisions;
    }
    let mut halved = 1.0;
    for (i, precision) in precisions.iter_mut().enumerate() {
        let added = match smoothing {
            Smoothing::AddK(k) if i > 0 => k,
            _ => 0.0,
        };
        let count = corpus.counts[i] as f64 + added;
        let total = corpus.totals[i] as f64 + added;
        if total == 0.0 {
            break;
        }
        *precision = match smoothing {
            _ if count > 0.0 => 100.0 * count / total,
            Smoothing::Exponential => {
                halved *= 2.0;
                100.0 / (halved * total)
            }
            Smoothing::Floor(value) => 100.0 * value / total,
            Smoothing::None | Smoothing::AddK(_) => 0.0,
        };
    }
    precisions
}

impl Bleu {
    /// Verbose score of sacreBLEU: everything after the score on its line.
    pub(super) fn details(&self) -> String {
        let precisions = self.precisions.map(|precision| format!("{precision:.1}")).join("/");
        let ratio = match self.reference_length {
            0 => 0.0,
            length => self.hypothesis_length as f64 / length as f64,
        };
        format!(
            "{precisions} (BP = {:.3} ratio = {ratio:.3} hyp_len = {} ref_len = {})",
            self.brevity_penalty, self.hypothesis_length, self.reference_length
        )
    }
}

/// The line that sacreBLEU prints.
impl fmt::Display for Bleu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BLEU = {:.2} {}", self.score, self.details())
    }
}
