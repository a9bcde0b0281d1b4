//! Arguments of the commands that use a trained model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DataDir, ExperimentsDir};
use crate::spec::DeviceWish;
use crate::spec::{Value, key};

/// Translate standard input with the model of a finished run, one sentence per line
///
/// Prints the best translation of every line. With --n-best every hypothesis has its own line: number of the input line,
/// rank, score, log-probability and text, separated by tabs; only the text may contain further tabs. The log-probability
/// is that of all tokens and of the end of the sentence, in nats. The score decides the rank: the log-probability divided
/// by the length penalty ((5 + n) / 6)^alpha, where n counts the tokens and the end. A line has fewer than N hypotheses
/// only if fewer exist: an empty line has one, which is empty.
///
/// With --attention FILE every sentence has a line in FILE: the tokens of source and target, and the attention weights
/// `encoder_self_attention`, `decoder_self_attention` and `cross_attention`, each a list of layers, of heads, of rows. A
/// row is a token that attends, a column a token that is attended to; every row sums to 1. The decoder's rows are its
/// output tokens, the columns of its self-attention are its input tokens. This needs a second pass over every sentence.
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
    /// Width of the beam [default: the run's]
    #[arg(long, value_name = "N", value_parser = beam, allow_negative_numbers = true)]
    pub beam: Option<usize>,
    /// Exponent alpha of the length penalty [default: the run's]
    #[arg(long, value_name = "ALPHA", value_parser = length_penalty, allow_negative_numbers = true)]
    pub length_penalty: Option<f64>,
    /// Number of tokens by which a translation may be longer than its source [default: the run's]
    #[arg(long, value_name = "N", value_parser = max_extra_tokens, allow_negative_numbers = true)]
    pub max_extra_tokens: Option<usize>,
    /// Print N hypotheses of every line with their scores; N is at most the width of the beam
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub n_best: Option<u16>,
    /// Print every hypothesis as one line of JSON, with its tokens and those of the source
    #[arg(long)]
    pub json: bool,
    /// Write the attention weights of every head for the best hypotheses, one line of JSON per sentence
    #[arg(long, value_name = "FILE")]
    pub attention: Option<PathBuf>,
    /// Device to run on: cpu, cuda, cuda:N, or auto for a GPU if there is one
    #[arg(long, default_value_t)]
    pub device: DeviceWish,
}

/// Export the model of a finished run for other programs
///
/// The folder holds the weights whose scores are in the table (model.safetensors, float32, named as in
/// `torch.nn.Transformer`), the vocabulary (tokenizer.json), the experiment (spec.toml) and a README.md that lists every
/// tensor. `translate` reads such a folder, also with weights that another program wrote under the same names.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ablate export results/table3-quick/base-s1\n  \
                        ablate export results/table3-quick/base-s1 ~/models/base --force")]
pub struct ExportArgs {
    /// Folder of a finished run
    pub run: PathBuf,
    /// Folder to write [default: exports/SUITE/ROW-sSEED]
    pub folder: Option<PathBuf>,
    /// Replace an existing export
    #[arg(long)]
    pub force: bool,
}

/// Checks a number as if a suite had set the key.
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
        .map_err(|_| format!("`{text}` is not a whole number of 0 or more"))
}

/// Check that a device computes what it should
///
/// Compares the device with the CPU in three parts: every operation, forward and backward, on random inputs; ten updates of
/// a model and translations; whole runs, one of which starts on the CPU and ends on the device. The fourth part measures
/// how fast the device trains the paper's base and big model.
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
    /// Seed of the random inputs [default: a random one]
    #[arg(long, value_name = "NUMBER")]
    pub inputs: Option<u64>,
    /// Python interpreter with `PyTorch`, which is measured too
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
    /// Speed of training the paper's models; on a CPU only if named with --only
    Speed,
}

impl Stage {
    pub const ALL: [Self; 4] = [Self::Operations, Self::Training, Self::Run, Self::Speed];
}
