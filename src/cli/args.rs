//! Arguments as written.

mod data;
mod model;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use data::{DataArgs, DataBatchesArgs, DataCommand, DataShowArgs, FetchArgs};
pub use model::{ExportArgs, SelftestArgs, Stage, TranslateArgs};

use crate::spec::DeviceWish;

/// Declarative experiments and ablations of the Transformer.
///
/// A TOML suite in the experiments folder describes a table: a base experiment, and rows that change a few of its keys.
/// `sweep` trains every row, translates, scores BLEU and writes the table next to the paper's figures.
#[derive(Debug, Parser)]
#[command(
    name = "ablate",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_long_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  2    the command line is wrong
  3    a TOML file is wrong; all faults are listed
  4    a corpus or text file is missing or wrong, or cannot be downloaded
  5    the run diverged
  6    a file or folder cannot be read or written, or is in use; or a GPU failed
  7    the sweep ended, but some of its runs failed or diverged
  8    verify-resume or selftest found a difference, or had nothing to compare
  130  interrupted; the same command continues";

#[derive(Debug, Subcommand)]
pub enum Command {
    Plan(PlanArgs),
    Sweep(SweepArgs),
    Run(RunArgs),
    Report(ReportArgs),
    Compare(CompareArgs),
    Score(ScoreArgs),
    Translate(TranslateArgs),
    Export(ExportArgs),
    VerifyResume(VerifyResumeArgs),
    Selftest(SelftestArgs),
    /// Show which devices this machine and this program can train on, and what is missing
    Doctor,
    #[command(subcommand)]
    Data(DataCommand),
    Completions(CompletionsArgs),
}

fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(format!("`{text}` is not above 0"))
    }
}

#[derive(Debug, Args)]
pub struct ExperimentsDir {
    /// Folder of the suites
    #[arg(long, value_name = "DIR", env = "ABLATE_EXPERIMENTS", default_value = "experiments")]
    pub experiments: PathBuf,
}

/// One run of a suite.
#[derive(Debug, Args)]
pub struct RowArgs {
    /// Suite, by name or path
    pub suite: String,
    /// Row of the suite
    pub row: String,
    /// Seed of the run [default: the suite's first]
    #[arg(long)]
    pub seed: Option<u64>,
}

#[derive(Debug, Args)]
pub struct ResultsDir {
    /// Folder for results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Folder for reports [default: reports, next to the results]
    #[arg(long, value_name = "DIR")]
    pub reports: Option<PathBuf>,
}

impl ResultsDir {
    pub fn reports(&self) -> PathBuf {
        let beside = || self.results.with_file_name("reports");
        self.reports.clone().unwrap_or_else(beside)
    }
}

#[derive(Debug, Clone, Args)]
pub struct DataDir {
    /// Folder of the corpora; the built-in corpus needs none
    #[arg(long, value_name = "DIR", env = "ABLATE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
}

/// Show the runs of a suite without running them
///
/// Lists every row with its values and marks the changed ones. Shows parameter counts next to the paper's, the distinct
/// shapes that the build compiles, and estimates of operations, memory and time.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate plan table3\n  ablate plan table3-quick --explain A1\n  \
                  ablate plan table3 --parameters\n  ablate plan table3-multi30k --lint --data-dir data\n  \
                  ablate plan --keys"
)]
pub struct PlanArgs {
    /// Suite, by name or path
    #[arg(default_value = "table3-quick")]
    pub suite: String,
    /// Show where each value of a row is set
    #[arg(long, value_name = "ROW")]
    pub explain: Option<String>,
    /// Show the parameters of each row by part of the model
    #[arg(long, conflicts_with = "explain")]
    pub parameters: bool,
    /// Read the corpora and show learning rate, warm-up and epochs of each training, with warnings
    #[arg(long, conflicts_with_all = ["explain", "parameters"])]
    pub lint: bool,
    /// List every key that a TOML file may set
    #[arg(long, conflicts_with_all = ["explain", "parameters", "lint"])]
    pub keys: bool,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// Speed of one run for the estimates of time, in billions of operations per second
    #[arg(long, value_name = "GFLOPS", default_value_t = 50.0, value_parser = positive)]
    pub gflops: f64,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
}

/// Train, translate and score every row of a suite, and write its table
///
/// Keeps finished runs and continues unfinished ones from their last checkpoint. To continue a sweep that was stopped,
/// give the same command again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate sweep\n  ablate sweep table3-quick --rows base,A1 --jobs 2\n  \
                        ablate sweep table3-multi30k --rows base --seeds 1 --data-dir ~/corpora/multi30k"
)]
pub struct SweepArgs {
    /// Suite, by name or path
    #[arg(default_value = "table3-quick")]
    pub suite: String,
    /// Run only these rows
    #[arg(long, value_delimiter = ',', value_name = "ROW,..")]
    pub rows: Vec<String>,
    /// Run only these seeds of the suite
    #[arg(long, value_delimiter = ',', value_name = "SEED,..")]
    pub seeds: Vec<u64>,
    /// Number of runs at the same time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Threads per run [default: the cores divided by the number of runs]. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Also rerun rows that diverged
    #[arg(long)]
    pub retry: bool,
    #[command(flatten)]
    pub place: Place,
}

/// Folders and device of a run.
#[derive(Debug, Args)]
pub struct Place {
    #[command(flatten)]
    pub experiments: ExperimentsDir,
    #[command(flatten)]
    pub results: ResultsDir,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// Device to train on: cpu, cuda, cuda:N, or auto for GPUs if there are any [default: the suite's, else cpu]
    #[arg(long)]
    pub device: Option<DeviceWish>,
}

/// Train, translate and score one row with one seed
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ablate run table3-quick base --seed 1")]
pub struct RunArgs {
    #[command(flatten)]
    pub run: RowArgs,
    /// Number of threads [default: the number of cores]. Results do not depend on it. Updates of fewer than 384 tokens
    /// use one thread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Form of the progress
    #[arg(long, value_enum, default_value_t = ProgressStyle::Auto)]
    pub progress: ProgressStyle,
    /// Stop after a checkpoint when standard input is closed, as with `--progress json`
    #[arg(long, hide = true)]
    pub tied: bool,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressStyle {
    /// A bar on a terminal, plain lines otherwise
    Auto,
    /// Lines of JSON on standard output. The run stops when standard input is closed
    Json,
}

/// Rewrite the CSV and the report of a suite from its finished runs
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ablate report table3-quick")]
pub struct ReportArgs {
    /// Suite, by name or path
    #[arg(default_value = "table3-quick")]
    pub suite: String,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
    #[command(flatten)]
    pub results: ResultsDir,
}

/// Compare two result files row by row
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ablate compare results/table3-quick.csv other/table3-quick.csv")]
pub struct CompareArgs {
    /// CSV of one sweep
    pub before: PathBuf,
    /// CSV of another sweep
    pub after: PathBuf,
}

/// Score translations with BLEU
///
/// Both files are detokenised text, one sentence per line. Score and signature equal sacreBLEU's, except for the
/// version.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate score hyp.txt ref.txt\n  ablate score hyp.txt ref.txt --tokenize intl --lowercase\n  \
                        ablate score hyp.txt ref.txt --all --json"
)]
pub struct ScoreArgs {
    /// File of translations
    pub hypotheses: PathBuf,
    /// One or more files of reference translations
    #[arg(required = true)]
    pub references: Vec<PathBuf>,
    /// Tokenizer
    #[arg(long, value_enum, default_value_t = TokenizerArg::Mteval13a)]
    pub tokenize: TokenizerArg,
    /// Ignore case
    #[arg(long)]
    pub lowercase: bool,
    /// Smoothing of n-gram orders without a match
    #[arg(long, value_enum, default_value_t = SmoothingArg::Exp)]
    pub smooth: SmoothingArg,
    /// Value for floor [default: 0.1] or add-k [default: 1]
    #[arg(long, value_name = "VALUE")]
    pub smooth_value: Option<f64>,
    /// Score under each of the five signatures of published results
    #[arg(long, conflicts_with_all = ["tokenize", "lowercase", "smooth", "smooth_value"])]
    pub all: bool,
    /// Print JSON with sacreBLEU's field names
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TokenizerArg {
    /// mteval-v13a, sacreBLEU's default
    #[value(name = "13a")]
    Mteval13a,
    /// White space only
    None,
    /// mteval-v14, which splits off Unicode punctuation and symbols
    Intl,
    /// Single characters
    Char,
    /// 13a, then hyphenated compounds are split: closest to the paper
    CompoundSplit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SmoothingArg {
    Exp,
    Floor,
    AddK,
    None,
}

/// Check on this machine that a killed run continues bit for bit
///
/// Trains the row once without interruption. Trains it again, kills it at random moments and continues it, with one
/// thread and all threads in turn. History, weights, optimiser state, hypotheses and scores must be identical, bit for
/// bit. Uses a temporary folder and leaves all results as they are.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate verify-resume table3-quick base\n  ablate verify-resume table3-multi30k base \
                  --steps 4000 --kills 20 --data-dir ~/corpora/multi30k"
)]
pub struct VerifyResumeArgs {
    #[command(flatten)]
    pub run: RowArgs,
    /// Number of times to kill the run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub kills: u16,
    /// Number of updates, at least the warm-up [default: the row's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: Option<u32>,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// Device to train on: cpu, cuda, cuda:N, or auto for GPUs if there are any [default: the suite's, else cpu]
    #[arg(long)]
    pub device: Option<DeviceWish>,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ablate completions bash > ~/.local/share/bash-completion/completions/ablate")]
pub struct CompletionsArgs {
    pub shell: clap_complete::Shell,
}
