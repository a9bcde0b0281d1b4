//! Arguments come in; what people read goes out, and an exit code. The only room that prints: results to standard
//! output, progress and complaints to standard error. It refuses to know how anything is computed.

mod args;
mod attention;
mod batches;
mod compare;
mod data;
mod doctor;
mod export;
mod failure;
mod faults;
mod fetch;
#[cfg(feature = "cuda")]
mod gpu;
mod interrupt;
mod output;
mod plan;
mod progress;
mod report;
mod run;
mod score;
mod selftest;
mod suites;
mod sweep;
mod translate;
mod verify_resume;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};

use crate::ops::cpu::keep_freed_memory;

/// Reads the command line, does what it says, and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    keep_freed_memory();
    #[cfg(feature = "cuda")]
    gpu::explain_failures();
    let result = match Cli::parse().command {
        Command::Plan(args) => plan::plan(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Score(args) => score::score(&args),
        Command::Export(args) => export::export(&args),
        Command::Translate(args) => translate::translate(&args),
        Command::Selftest(args) => selftest::selftest(&args),
        Command::Doctor => {
            doctor::doctor();
            Ok(())
        }
        Command::VerifyResume(args) => verify_resume::verify_resume(&args),
        Command::Data(command) => data::data(&command),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "ablate", &mut script);
            output::put(String::from_utf8_lossy(&script));
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(text) = failure.text() {
                output::tell(text);
            }
            failure.exit_code()
        }
    }
}
