//! `ablate compare`: two result files row by row.

use super::args::CompareArgs;
use super::failure::Failure;
use super::output::put;
use crate::report::results_diff;
use crate::results::{compare as differences, frame};

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let (before, after) = (frame::read_csv(&args.before)?, frame::read_csv(&args.after)?);
    put(results_diff(&differences(&before, &after)?));
    Ok(())
}
