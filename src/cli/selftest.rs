//! `ablate selftest`: whether a device computes what it should.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use super::args::SelftestArgs;
use super::failure::Failure;
use super::output::put;
use super::suites;
use crate::run::Device;
use crate::selftest::{self, Check};

pub fn selftest(args: &SelftestArgs) -> Result<(), Failure> {
    let suite = suites::load(&args.experiments.experiments, &args.suite)?;
    let experiment = &suites::row(&suite, &args.row)?.experiment;
    let device = Device::of_wish(args.device);
    let seed = args.inputs.unwrap_or_else(fresh);
    put(format_args!(
        "{} against plain dfdx on the CPU, inputs {seed}\n",
        device
    ));
    let mut failed = 0;
    let mut tell = |checks: Vec<Check>| {
        put(table(&checks));
        failed += checks.iter().filter(|check| !check.holds()).count();
    };
    tell(selftest::operations(device, seed)?);
    tell(selftest::training(device, &suite.name, experiment, seed)?);
    match failed {
        0 => {
            put("all hold\n");
            Ok(())
        }
        failed => Err(Failure::Unproven(format!(
            "{failed} checks do not hold; `--inputs {seed}` repeats them"
        ))),
    }
}

/// Something new at every call.
fn fresh() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |time| u64::from(time.subsec_nanos()))
}

fn table(checks: &[Check]) -> String {
    let mut text = String::new();
    for Check {
        name,
        difference,
        allowed,
    } in checks
    {
        let verdict = if difference <= allowed { "ok" } else { "WRONG" };
        let _ = writeln!(text, "{verdict:5}  {difference:9.1e} of {allowed:7.0e}  {name}");
    }
    text
}
