//! Arguments of `ablate data`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::{DataDir, ExperimentsDir, RowArgs, positive};
use crate::fetch::Mirror;
use crate::spec::Split;

const LONGEST_TIMEOUT_S: f64 = 3600.0;

/// Look at a corpus, download one, or write the batches of a run
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Print sentence pairs of a suite's corpus
    #[command(after_help = "Example:\n  ablate data show table3-quick --count 5")]
    Show(DataShowArgs),
    /// Read a suite's corpus and report anything unusual
    #[command(after_help = "Example:\n  ablate data check table3-multi30k --data-dir ~/corpora/multi30k")]
    Check(DataArgs),
    Batches(DataBatchesArgs),
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
pub struct DataArgs {
    /// Suite, by name or path
    #[arg(default_value = "table3-quick")]
    pub suite: String,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
    #[command(flatten)]
    pub data_dir: DataDir,
}

#[derive(Debug, Args)]
pub struct DataShowArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Split to draw from
    #[arg(long, default_value = Split::Train.name(), value_parser = split())]
    pub split: Split,
    /// Number of pairs to print
    #[arg(long, default_value_t = 10)]
    pub count: usize,
    /// Seed of the draw
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Write the training batches of a run, so that other programs can train on them
///
/// The first line of FILE is JSON with the experiment (`spec`, as in the run's spec.toml) and the dev split (`dev`).
/// Each further line is one update: a list of micro-batches, each a list of pairs. A pair holds the token ids of source
/// and target, without start and end tokens.
///
/// `python tools/peers/train.py FILE history.csv` trains on such a file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ablate data batches table3-quick base --seed 1 --steps 100 batches.jsonl")]
pub struct DataBatchesArgs {
    #[command(flatten)]
    pub run: RowArgs,
    /// File to write
    pub file: PathBuf,
    /// Number of updates to write [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Option<u32>,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
    #[command(flatten)]
    pub data_dir: DataDir,
}

/// Download a public corpus into the data folder
///
/// Corpora: multi30k, wmt14-en-de, wmt14-en-fr, iwslt14. Downloads archives to `downloads` in the data folder, verifies
/// and unpacks them, and writes the plain text files that suites read. A command that was stopped continues when it is
/// given again; complete files are not downloaded again. You may delete the archives afterwards.
///
/// Archives and files are compared with their known SHA-256. No SHA-256 is known for iwslt14 and for the UN and 10^9
/// corpora of wmt14-en-fr: the first download is trusted with a warning, and later ones must have the same SHA-256.
///
/// iwslt14 is the raw text of the archive that fairseq uses. As in fairseq, every 23rd line of the training text is
/// `dev`. No pair is dropped before that, so the split differs slightly from fairseq's.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate data fetch multi30k\n  ablate data fetch wmt14-en-de --dry-run\n  \
                  ablate data fetch wmt14-en-fr --data-dir ~/corpora --mirror /mnt/archives"
)]
pub struct FetchArgs {
    /// Corpus, by name
    pub corpus: String,
    /// Folder of corpora [default: data]
    #[arg(long, value_name = "DIR", env = "ABLATE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Folder or URL to take the archives from, under their own names
    #[arg(long, value_name = "DIR_OR_URL")]
    pub mirror: Option<Mirror>,
    /// Show what would be downloaded, and to which files
    #[arg(long)]
    pub dry_run: bool,
    /// File with your own corpora, written like src/fetch/corpora.toml
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Seconds without a byte after which a connection is closed. The first pause before a retry is a thirtieth of them
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub timeout: f64,
    /// Number of attempts in a row without a new byte after which a download fails; 3 if the server never answered
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub tries: u32,
}

fn split() -> impl TypedValueParser<Value = Split> {
    PossibleValuesParser::new(Split::NAMES).map(|name| Split::named(&name).expect("one of the possible values"))
}

/// Reads a number above 0 that is short enough for every clock.
fn seconds(text: &str) -> Result<f64, String> {
    match positive(text)? {
        seconds if seconds <= LONGEST_TIMEOUT_S => Ok(seconds),
        _ => Err(format!("`{text}` is above {LONGEST_TIMEOUT_S}")),
    }
}
