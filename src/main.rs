//! The command line of `ablate`; everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ablate::cli::main()
}
