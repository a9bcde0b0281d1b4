use std::borrow::Cow;

use super::error::ScoreError;
use super::lines::trim_end;
use super::tokenizer::Tokenizer;

/// Everything besides the text that decides a score. The default is sacreBLEU's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BleuConfig {
    pub tokenizer: Tokenizer,
    pub case: Case,
    pub smoothing: Smoothing,
}

/// Whether `The` and `the` are the same word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Case {
    #[default]
    Mixed,
    /// Unicode's full lower-casing, with the final sigma, as of the Unicode version that the Rust standard library
    /// knows. Against Python 3.11 (Unicode 14), Rust 1.95 (Unicode 17) lower-cases the 55 capitals added since, and
    /// U+0295 or U+1171E next to a capital sigma decides differently whether it is final.
    Lower,
}

/// What stands in for a precision of zero (Chen and Cherry, 2014, "A Systematic Comparison of Smoothing Techniques
/// for Sentence-Level BLEU").
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Smoothing {
    /// A zero score if any order has no match.
    None,
    /// 1/2, 1/4, .. of a match for the first, second, .. order without one, as mteval does.
    #[default]
    Exponential,
    /// This many matches for an order without one. sacreBLEU's default is 0.1.
    Floor(f64),
    /// This many more matches and n-grams for every order above 1. sacreBLEU's default is 1.
    AddK(f64),
}

impl BleuConfig {
    /// The signature as sacreBLEU writes it, but for the version: this program answers for its own numbers.
    ///
    /// ```
    /// use ablate::score::BleuConfig;
    /// let signature = BleuConfig::default().signature(1);
    /// assert!(signature.starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:ablate-"));
    /// ```
    #[must_use]
    pub fn signature(&self, reference_count: usize) -> String {
        let case = match self.case {
            Case::Mixed => "mixed",
            Case::Lower => "lc",
        };
        let smoothing = match self.smoothing {
            Smoothing::None => "none".to_owned(),
            Smoothing::Exponential => "exp".to_owned(),
            Smoothing::Floor(value) => format!("floor[{value:.2}]"),
            Smoothing::AddK(value) => format!("add-k[{value:.2}]"),
        };
        let tokenizer = self.tokenizer.name();
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "nrefs:{reference_count}|case:{case}|eff:no|tok:{tokenizer}|smooth:{smoothing}|version:ablate-{version}"
        )
    }

    /// The line with white space around every word that counts. Lower-cased before and trimmed before it is
    /// tokenised, in sacreBLEU's order: `intl` treats a stop differently at the end of a line.
    pub(super) fn preprocess<'a>(&self, line: &'a str) -> Cow<'a, str> {
        match self.case {
            Case::Mixed => self.tokenizer.tokenize(trim_end(line)),
            Case::Lower => Cow::Owned(self.tokenizer.tokenize(trim_end(&line.to_lowercase())).into_owned()),
        }
    }
}

impl Smoothing {
    pub(super) fn check(self) -> Result<(), ScoreError> {
        let (method, value) = match self {
            Self::None | Self::Exponential => return Ok(()),
            Self::Floor(value) => ("floor", value),
            Self::AddK(value) => ("add-k", value),
        };
        if value.is_finite() && value >= 0.0 {
            Ok(())
        } else {
            Err(ScoreError::SmoothingValue { method, value })
        }
    }
}

/// The scores that every run gets, with the names of their columns: one output differs by more than a point between
/// them, so none can be compared with another.
#[must_use]
pub fn standard_configs() -> [(&'static str, BleuConfig); 5] {
    let cased = |tokenizer| BleuConfig {
        tokenizer,
        ..BleuConfig::default()
    };
    let lower = |tokenizer| BleuConfig {
        case: Case::Lower,
        ..cased(tokenizer)
    };
    [
        ("13a", cased(Tokenizer::Mteval13a)),
        ("13a-lc", lower(Tokenizer::Mteval13a)),
        ("intl", cased(Tokenizer::International)),
        ("intl-lc", lower(Tokenizer::International)),
        // multi-bleu.perl does not smooth.
        (
            "compound-split",
            BleuConfig {
                smoothing: Smoothing::None,
                ..cased(Tokenizer::CompoundSplit13a)
            },
        ),
    ]
}
