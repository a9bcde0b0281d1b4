//! Arguments of `ablate data`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{DataDir, ExperimentsDir, RowArgs, positive};
use crate::fetch::Mirror;

const LONGEST_TIMEOUT_S: f64 = 3600.0;

/// Look at a corpus, download one, or write the batches of a run
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Print sentence pairs of a suite's corpus
    #[command(after_help = "Example:\n  ablate data show table3-quick --count 5")]
    Show(DataShowArgs),
    /// Read a suite's corpus and tell everything odd about it
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
    #[arg(long, value_enum, default_value_t = SplitArg::Train)]
    pub split: SplitArg,
    /// Pairs to print
    #[arg(long, default_value_t = 10)]
    pub count: usize,
    /// Seed of the draw
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Write what a run trains on, for other programs that are to train on the same
///
/// FILE has a line of JSON for the run, with its experiment (`spec`, as in the run's spec.toml) and the dev split (`dev`);
/// and then one for each update, which is a list of micro-batches, each a list of pairs. A pair is the tokens of source
/// and target, by their numbers, without the decoder's first token and without ends.
///
/// `python tools/peers/train.py FILE history.csv` is such a program.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ablate data batches table3-quick base --seed 1 --steps 100 batches.jsonl")]
pub struct DataBatchesArgs {
    #[command(flatten)]
    pub run: RowArgs,
    /// File to write
    pub file: PathBuf,
    /// Updates to write; all of the training if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Option<u32>,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
    #[command(flatten)]
    pub data_dir: DataDir,
}

/// Download a public corpus into the data folder
///
/// Corpora: multi30k, wmt14-en-de, wmt14-en-fr, iwslt14. Archives go to `downloads` in the data folder, are verified
/// and unpacked, and become the plain text files that suites read. The same command goes on where an earlier one
/// stopped, and downloads nothing that is there already. Archives may be deleted afterwards.
///
/// Every archive or file whose SHA-256 is known is compared with it. Of the UN and 10^9 corpora of wmt14-en-fr, and of
/// iwslt14, none is known: the first download is trusted with a warning, and later ones must have the same SHA-256.
///
/// iwslt14 is the raw text of the archive that fairseq uses. As there, every 23rd line of the training text is `dev`,
/// but no pair is dropped before, so the split differs a little from fairseq's.
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
    /// Take the archives from here, a folder or a URL that holds them under their names
    #[arg(long, value_name = "DIR_OR_URL")]
    pub mirror: Option<Mirror>,
    /// Show what would be downloaded, and where it would go
    #[arg(long)]
    pub dry_run: bool,
    /// Corpora of your own, in a file like the built-in src/fetch/corpora.toml
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Seconds without a byte after which a connection is given up; the first pause before a new try is a thirtieth
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub timeout: f64,
    /// Tries in a row without a new byte after which a download is given up; 3 if the server never answered
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub tries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    Train,
    Dev,
    Test,
}

/// Above 0, and short enough for every clock.
fn seconds(text: &str) -> Result<f64, String> {
    match positive(text)? {
        seconds if seconds <= LONGEST_TIMEOUT_S => Ok(seconds),
        _ => Err(format!("`{text}` is above {LONGEST_TIMEOUT_S}")),
    }
}
