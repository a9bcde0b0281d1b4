//! Arguments as written.

mod data;
mod model;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use data::{DataArgs, DataBatchesArgs, DataCommand, DataShowArgs, FetchArgs, SplitArg};
pub use model::{ExportArgs, SelftestArgs, Stage, TranslateArgs};

use crate::spec::DeviceWish;

/// Declarative experiments and ablations of the Transformer.
///
/// A TOML suite in the experiments folder describes a table: a base experiment, and rows that change a few of its keys.
/// `sweep` trains every row, translates, scores BLEU and writes the table beside the paper's.
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
  0    all done
  2    the command line is wrong
  3    a TOML file is wrong; every fault is told
  4    a corpus or text file is missing or wrong, or cannot be downloaded
  5    the run diverged
  6    a file or folder cannot be read or written, or is in use; or a GPU failed
  7    the sweep ended, and some of its runs failed or diverged
  8    verify-resume or selftest found a difference, or nothing to compare
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
    /// Say what this machine and this program have for training, and what is missing
    Doctor,
    #[command(subcommand)]
    Data(DataCommand),
    Completions(CompletionsArgs),
}

fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(format!("`{text}` is not above 0"))
    }
}

#[derive(Debug, Args)]
pub struct ExperimentsDir {
    /// Folder of suites
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
    /// Seed; the suite's first if not given
    #[arg(long)]
    pub seed: Option<u64>,
}

#[derive(Debug, Args)]
pub struct ResultsDir {
    /// Folder that results are written to
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Folder that reports are written to [default: reports, beside the results]
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
    /// Folder of corpora, for suites that do not use the built-in one
    #[arg(long, value_name = "DIR", env = "ABLATE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
}

/// Show what a suite would run, without running anything
///
/// Lists every row with its values, the changed ones marked, parameter counts beside the paper's, the distinct static
/// shapes, and the predicted operations, memory and time.
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
    /// Say for every value of a row where it was set
    #[arg(long, value_name = "ROW")]
    pub explain: Option<String>,
    /// Say where each row's parameters sit
    #[arg(long, conflicts_with = "explain")]
    pub parameters: bool,
    /// Read the corpora and say what each training amounts to: learning rate, warm-up, epochs, and what is odd
    #[arg(long, conflicts_with_all = ["explain", "parameters"])]
    pub lint: bool,
    /// List every key that a TOML file may set
    #[arg(long, conflicts_with_all = ["explain", "parameters", "lint"])]
    pub keys: bool,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// Speed that times are predicted from, in billions of operations per second and run
    #[arg(long, value_name = "GFLOPS", default_value_t = 50.0, value_parser = positive)]
    pub gflops: f64,
    #[command(flatten)]
    pub experiments: ExperimentsDir,
}

/// Train, translate and score every row of a suite, and write its table
///
/// Runs that are done are kept, unfinished ones continue from their last checkpoint: the same command again goes on
/// where it stopped.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate sweep\n  ablate sweep table3-quick --rows base,A1 --jobs 2\n  \
                        ablate sweep table3-multi30k --rows base --seeds 1 --data-dir ~/corpora/multi30k"
)]
pub struct SweepArgs {
    /// Suite, by name or path
    #[arg(default_value = "table3-quick")]
    pub suite: String,
    /// Only these rows
    #[arg(long, value_delimiter = ',', value_name = "ROW,..")]
    pub rows: Vec<String>,
    /// Only these of the suite's seeds
    #[arg(long, value_delimiter = ',', value_name = "SEED,..")]
    pub seeds: Vec<u64>,
    /// Runs at once; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Threads of each run; the cores shared out among the runs if not given. The results are the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Run diverged rows again, which else keep their status
    #[arg(long)]
    pub retry: bool,
    #[command(flatten)]
    pub place: Place,
}

/// Where a run finds and leaves things.
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
    /// Threads; as many as there are cores if not given. Updates of fewer than 384 tokens use one; the results are the
    /// same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// How progress is shown
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
    /// A bar on a terminal, plain lines elsewhere
    Auto,
    /// Lines of JSON on standard output; stops when standard input is closed
    Json,
}

/// Write a suite's CSV and report again from its finished runs
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
    /// CSV of another
    pub after: PathBuf,
}

/// Score translations with BLEU
///
/// Both files are detokenised text, a sentence per line. The score equals sacreBLEU's, and so does its signature but
/// for the version.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate score hyp.txt ref.txt\n  ablate score hyp.txt ref.txt --tokenize intl --lowercase\n  \
                        ablate score hyp.txt ref.txt --all --json"
)]
pub struct ScoreArgs {
    /// Translations
    pub hypotheses: PathBuf,
    /// One or more reference translations
    #[arg(required = true)]
    pub references: Vec<PathBuf>,
    /// How text becomes words
    #[arg(long, value_enum, default_value_t = TokenizerArg::Mteval13a)]
    pub tokenize: TokenizerArg,
    /// Do not tell capitals from small letters
    #[arg(long)]
    pub lowercase: bool,
    /// What stands in for an n-gram order without a match
    #[arg(long, value_enum, default_value_t = SmoothingArg::Exp)]
    pub smooth: SmoothingArg,
    /// Value of floor (0.1 if not given) or add-k (1)
    #[arg(long, value_name = "VALUE")]
    pub smooth_value: Option<f64>,
    /// Score under every signature that published numbers use
    #[arg(long, conflicts_with_all = ["tokenize", "lowercase", "smooth", "smooth_value"])]
    pub all: bool,
    /// Print JSON under sacreBLEU's field names
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TokenizerArg {
    /// mteval-v13a, sacreBLEU's default
    #[value(name = "13a")]
    Mteval13a,
    /// White space alone
    None,
    /// mteval-v14, Unicode punctuation and symbols split off
    Intl,
    /// Every character
    Char,
    /// 13a, then hyphenated compounds split: the nearest thing to the paper's
    CompoundSplit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SmoothingArg {
    Exp,
    Floor,
    AddK,
    None,
}

/// Prove on this machine that a killed run continues bit for bit
///
/// Trains the row once without interruption, and again killed at random moments and continued, with one thread and with
/// all in turn. History, weights, optimiser state, hypotheses and scores must be the same bits. Works in a temporary
/// folder and touches no results.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ablate verify-resume table3-quick base\n  ablate verify-resume table3-multi30k base \
                  --steps 4000 --kills 20 --data-dir ~/corpora/multi30k"
)]
pub struct VerifyResumeArgs {
    #[command(flatten)]
    pub run: RowArgs,
    /// How often to kill it
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub kills: u16,
    /// Train only so many updates, at least the warm-up; the row's own if not given
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
