//! `ablate compare`: two result files row by row.

use super::args::CompareArgs;
use super::failure::Failure;
use super::report::print;
use crate::report::results_diff;
use crate::results::{ResultsTable, compare as differences};

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let (before, after) = (ResultsTable::read(&args.before)?, ResultsTable::read(&args.after)?);
    print(&results_diff(&differences(&before, &after)?));
    Ok(())
}
