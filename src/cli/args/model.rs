//! Arguments of the commands that use a trained model, as written.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DataDir, ExperimentsDir};
use crate::spec::DeviceWish;
use crate::spec::{Value, key};

/// Translate standard input with the model of a finished run, one sentence per line
///
/// Prints the best translation of every line. With --n-best, every hypothesis has its own line: the number of the input
/// line, rank, score, log-probability and text, separated by tabs; only the text may contain further tabs. The
/// log-probability covers all tokens and the end token, in nats. Hypotheses are ranked by score: the log-probability
/// divided by the length penalty ((5 + n) / 6)^alpha, where n counts all tokens and the end token. A line has fewer
/// than N hypotheses only where fewer are possible: an empty line has one, which is empty.
///
/// With --attention, a line of FILE holds the tokens of source and target, and the attention weights
/// `encoder_self_attention`, `decoder_self_attention` and `cross_attention`, each a list of layers, of heads, of rows.
/// A row belongs to the token that attends, a column to the token that is attended to; rows sum to 1. A row of the
/// decoder belongs to the token that it predicts, a column of its self-attention to a token that it has read. This
/// costs a second pass over every sentence.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  echo 'The old woman sees a dog.' | ablate translate results/table3-quick/base-s1\n  \
                        ablate translate exports/table3-quick/base-s1 < sentences.txt\n  \
                        ablate translate results/table3-quick/base-s1 --beam 8 --n-best 8 < sentences.txt\n  \
                        ablate translate results/table3-quick/base-s1 --length-penalty 1 --json < sentences.txt\n  \
                        ablate translate results/table3-quick/base-s1 --attention heads.jsonl < sentences.txt"
)]
pub struct TranslateArgs {
    /// Folder of a finished run or of an export
    pub folder: PathBuf,
    /// Size of the beam [default: the run's]
    #[arg(long, value_name = "N", value_parser = beam, allow_negative_numbers = true)]
    pub beam: Option<usize>,
    /// alpha of the length penalty [default: the run's]
    #[arg(long, value_name = "ALPHA", value_parser = length_penalty, allow_negative_numbers = true)]
    pub length_penalty: Option<f64>,
    /// Tokens by which a translation may be longer than its source [default: the run's]
    #[arg(long, value_name = "N", value_parser = max_extra_tokens, allow_negative_numbers = true)]
    pub max_extra_tokens: Option<usize>,
    /// Print the N best hypotheses of every line with their scores; N is at most the size of the beam
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub n_best: Option<u16>,
    /// Print hypotheses as JSON, one per line, with the tokens of hypothesis and source
    #[arg(long)]
    pub json: bool,
    /// Write the attention weights of every head for the best hypotheses, as JSON, one sentence per line
    #[arg(long, value_name = "FILE")]
    pub attention: Option<PathBuf>,
    /// Device to run on: cpu, cuda, cuda:N, or auto for a GPU if there is one
    #[arg(long, default_value_t)]
    pub device: DeviceWish,
}

/// Export the model of a finished run for other programs
///
/// The folder holds the weights that are scored in the table (model.safetensors, float32, named as in
/// `torch.nn.Transformer`), the vocabulary (tokenizer.json), the experiment (spec.toml) and a README.md that lists
/// every tensor. `translate` reads the folder too, also with weights that another program wrote under the same names.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ablate export results/table3-quick/base-s1\n  \
                        ablate export results/table3-quick/base-s1 ~/models/base --force")]
pub struct ExportArgs {
    /// Folder of a finished run
    pub run: PathBuf,
    /// Folder to write [default: exports/<suite>/<run>]
    pub folder: Option<PathBuf>,
    /// Replace an existing export
    #[arg(long)]
    pub force: bool,
}

/// Checks that a suite could set the same value.
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
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    allowed("decoding.length_penalty", number)
}

fn max_extra_tokens(text: &str) -> Result<usize, String> {
    allowed("decoding.max_extra_tokens", whole(text)?)
}

fn whole(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a whole number from 0"))
}

/// Check the results of a device against the CPU
///
/// Compares every operation, forward and backward, with plain operations on the CPU, on random inputs of odd sizes.
/// Trains a model on both for a few updates, from the same weights and on the same sentences, and compares
/// translations. Compares whole runs, one of which begins on the CPU and ends on the device. Then measures how fast the
/// device trains the paper's base and big models.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ablate selftest --device cuda\n  ablate selftest --only operations,training")]
pub struct SelftestArgs {
    /// Device to check: cpu, cuda, cuda:N, or auto for a GPU if there is one
    #[arg(long, default_value_t)]
    pub device: DeviceWish,
    /// Check only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART,..")]
    pub only: Vec<Stage>,
    /// Suite of the model to train, by name or path
    #[arg(long, default_value = "table3-quick")]
    pub suite: String,
    /// Row of the suite
    #[arg(long, default_value = "base")]
    pub row: String,
    /// Seed of the random inputs [default: a random one]
    #[arg(long, value_name = "NUMBER")]
    pub inputs: Option<u64>,
    /// Python with `PyTorch`, to measure its speed too
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
    /// Each operation on its own
    Operations,
    /// Ten updates and translations
    Training,
    /// Whole runs on each device and across both
    Run,
    /// Training speed of the paper's models; on a CPU only if you ask for it
    Speed,
}

impl Stage {
    pub const ALL: [Self; 4] = [Self::Operations, Self::Training, Self::Run, Self::Speed];
}
