//! Arguments of the commands that use a trained model, as written.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DataDir, ExperimentsDir};
use crate::spec::DeviceWish;
use crate::spec::{Value, key};

/// Translate standard input with the model of a finished run, a sentence per line
///
/// Prints the best translation of every line. With --n-best every hypothesis has a line of its own: the number of the
/// input line, rank, score, log-probability and text, with tabs between them; only the text may hold further tabs. The
/// log-probability is that of all pieces and of the end, in nats. The score, which hypotheses are ranked by, is the
/// log-probability over the length penalty ((5 + n) / 6)^alpha, n counting pieces and the end. A line has fewer than N
/// hypotheses only where fewer are possible: an empty line has one, which is empty.
///
/// With --attention a line of FILE has the pieces of source and target, and `encoder_self_attention`,
/// `decoder_self_attention` and `cross_attention`, each a list of layers, of heads, of rows. Row and column stand for the
/// pieces that attend and that are attended to; rows sum to 1. A row of the decoder stands for the piece it says, a
/// column of its self-attention for one that it has read. This costs a second pass over every sentence.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  echo 'The old woman sees a dog.' | ablate translate results/table3-quick/base-s1\n  \
                        ablate translate exports/table3-quick/base-s1 < sentences.txt\n  \
                        ablate translate results/table3-quick/base-s1 --beam 8 --n-best 8 < sentences.txt\n  \
                        ablate translate results/table3-quick/base-s1 --length-penalty 1 --json < sentences.txt\n  \
                        ablate translate results/table3-quick/base-s1 --attention heads.jsonl < sentences.txt"
)]
pub struct TranslateArgs {
    /// Folder of a finished run, or one that `export` wrote
    pub folder: PathBuf,
    /// Hypotheses kept at once; the run's own if not given
    #[arg(long, value_name = "N", value_parser = beam, allow_negative_numbers = true)]
    pub beam: Option<usize>,
    /// alpha of the length penalty; the run's own if not given
    #[arg(long, value_name = "ALPHA", value_parser = length_penalty, allow_negative_numbers = true)]
    pub length_penalty: Option<f64>,
    /// Pieces by which a translation may be longer than its source; the run's own if not given
    #[arg(long, value_name = "N", value_parser = max_extra_tokens, allow_negative_numbers = true)]
    pub max_extra_tokens: Option<usize>,
    /// Print so many hypotheses of every line, at most as many as the beam holds, with their scores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub n_best: Option<u16>,
    /// Print hypotheses as JSON, one a line, with their pieces and those of the source
    #[arg(long)]
    pub json: bool,
    /// Write what every head looked at while the best hypotheses were said, as JSON, one sentence a line
    #[arg(long, value_name = "FILE")]
    pub attention: Option<PathBuf>,
    /// Device to run on: cpu, cuda, cuda:N, or auto for a GPU if there is one
    #[arg(long, default_value_t)]
    pub device: DeviceWish,
}

/// Write the model of a finished run into a folder, for other programs
///
/// The folder holds the weights whose figures are in the table (model.safetensors, float32, named as in
/// `torch.nn.Transformer`), the vocabulary (tokenizer.json), the experiment (spec.toml) and a README.md that lists every
/// tensor. `translate` reads it too, and so it reads weights that another program wrote under the same names.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ablate export results/table3-quick/base-s1\n  \
                        ablate export results/table3-quick/base-s1 ~/models/base --force")]
pub struct ExportArgs {
    /// Folder of a finished run
    pub run: PathBuf,
    /// Folder to write [default: exports/, then suite and run as in the results]
    pub folder: Option<PathBuf>,
    /// Replace an export that is there already
    #[arg(long)]
    pub force: bool,
}

/// Whether a suite could say so too.
fn allowed<T: Copy + Into<Value>>(path: &str, number: T) -> Result<T, String> {
    let kind = key(path).expect("a key of the schema").kind;
    let value = number.into();
    if kind.allows(&value) {
        Ok(number)
    } else {
        Err(format!("found {value}, expected {kind}"))
    }
}

fn beam(text: &str) -> Result<usize, String> {
    allowed("decoding.beam", whole(text)?)
}

fn length_penalty(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    allowed("decoding.length_penalty", number)
}

fn max_extra_tokens(text: &str) -> Result<usize, String> {
    allowed("decoding.max_extra_tokens", whole(text)?)
}

fn whole(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no whole number from 0 on"))
}

/// Check that a device computes what it should
///
/// Every operation, forward and backward, against plain operations on the CPU, on random inputs of odd sizes; a few updates
/// of a whole model on both, from the same weights on the same sentences, and translations; a whole run on either, and one
/// that begins on the CPU and ends on the device; then how fast it trains the paper's base and big model.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ablate selftest --device cuda\n  ablate selftest --only operations,training")]
pub struct SelftestArgs {
    /// Device to check: cpu, cuda, cuda:N, or auto for a GPU if there is one
    #[arg(long, default_value_t)]
    pub device: DeviceWish,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART,..")]
    pub only: Vec<Stage>,
    /// Suite whose model is trained, by name or path
    #[arg(long, default_value = "table3-quick")]
    pub suite: String,
    /// Row of the suite
    #[arg(long, default_value = "base")]
    pub row: String,
    /// What the random inputs are drawn from; something new if not given
    #[arg(long, value_name = "NUMBER")]
    pub inputs: Option<u64>,
    /// Python that has `PyTorch`, to measure it beside
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub python: PathBuf,
    #[command(flatten)]
    pub data_dir: DataDir,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
}

/// A part of the selftest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// Every operation by itself
    Operations,
    /// Ten updates and translations
    Training,
    /// A whole run, on each device and on both
    Run,
    /// How fast the paper's models train; on a CPU only if it is asked for
    Speed,
}

impl Stage {
    pub const ALL: [Self; 4] = [Self::Operations, Self::Training, Self::Run, Self::Speed];
}
