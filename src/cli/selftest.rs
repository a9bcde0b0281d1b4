//! `ablate selftest`: whether a device computes what it should, and how fast.

use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use super::args::{SelftestArgs, Stage};
use super::failure::Failure;
use super::output::{put, tell};
use super::suites;
use crate::plan::Plan;
use crate::run::Device;
use crate::selftest::{self, Check, Speed};
use crate::spec::{Experiment, Precision};

/// Measures `PyTorch`'s update on the same sentences; it is read by `python3` where there is one.
const PYTORCH: &str = include_str!("../selftest/pytorch_step.py");

/// The suite whose rows are measured, and the rows.
const PAPER: &str = "table3";
const ROWS: [&str; 2] = ["base", "big"];

pub fn selftest(args: &SelftestArgs) -> Result<(), Failure> {
    let suite = suites::load(&args.experiments.experiments, &args.suite)?;
    let row = suites::row(&suite, &args.row)?;
    let device = Device::of_wish(args.device);
    device.check()?;
    let seed = args.inputs.unwrap_or_else(fresh);
    let mut checks = Vec::new();
    let parts = parts(args, device);
    put(format_args!("{device} beside the CPU, inputs {seed}\n"));
    for part in &parts {
        let of_part = match part {
            Stage::Operations => selftest::operations(device, seed)?,
            Stage::Training => selftest::training(device, &suite.name, &row.experiment, seed)?,
            Stage::Run => {
                let plan = Plan::of(&suite);
                let run = plan.runs.iter().find(|run| run.row == row.id).expect("a row has runs");
                let data = args.data_dir.data_dir.as_deref();
                selftest::whole_run(device, &suite.name, run, data, &mut |what| tell(what))?
            }
            Stage::Speed => continue,
        };
        put(table(&of_part));
        checks.extend(of_part);
    }
    let verdict = verdict(&checks, seed);
    if verdict.is_ok() && !checks.is_empty() {
        put(format_args!("all {} checks hold\n", checks.len()));
    }
    if !parts.contains(&Stage::Speed) {
        return verdict;
    }
    // After the verdict, which what nobody asked for by name cannot change.
    match speed(args, device) {
        Err(Failure::Usage(why)) if args.only.is_empty() => {
            put(format_args!("speed: not measured ({why})\n"));
            verdict
        }
        measured => verdict.and(measured),
    }
}

/// What is asked for; a CPU would take hours for the speed of the paper's models.
fn parts(args: &SelftestArgs, device: Device) -> Vec<Stage> {
    if !args.only.is_empty() {
        return args.only.clone();
    }
    let mut parts = Stage::ALL.to_vec();
    parts.retain(|&part| part != Stage::Speed || device != Device::Cpu);
    parts
}

fn verdict(checks: &[Check], seed: u64) -> Result<(), Failure> {
    let wrong = checks.iter().filter(|check| !check.holds()).count();
    if wrong == 0 {
        return Ok(());
    }
    Err(Failure::Unproven(format!(
        "{wrong} of {} checks do not hold; `--inputs {seed}` repeats them",
        checks.len()
    )))
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

/// The paper's models at the paper's batch, beside `PyTorch` where it is there.
fn speed(args: &SelftestArgs, device: Device) -> Result<(), Failure> {
    let suite = suites::load(&args.experiments.experiments, PAPER)?;
    for row in ROWS {
        let experiment = &suites::row(&suite, row)?.experiment;
        for precision in Precision::ALL {
            if device.has(precision) {
                let speed = selftest::speed(device, PAPER, experiment, precision)?;
                put(line(row, precision, &speed, device.matrix_flops_per_s(precision)));
            }
        }
        put(pytorch(args, device, row, experiment));
    }
    Ok(())
}

fn line(row: &str, precision: Precision, speed: &Speed, matrix: Option<f64>) -> String {
    let share = matrix.map_or_else(String::new, |matrix| {
        format!(
            ", {:.0} % of the {:.0} TFLOP/s of a large product",
            100.0 * speed.flops_per_s() / matrix,
            matrix / 1e12
        )
    });
    let [first, last] = speed.losses;
    let learns = if last < first {
        ""
    } else {
        "; BUT ITS LOSS DOES NOT FALL"
    };
    format!(
        "{row} {}: {:.1} ms an update of {} tokens, {:.0} tokens/s, {:.1} TFLOP/s{share}{learns}\n",
        precision.name(),
        speed.seconds * 1e3,
        speed.tokens,
        speed.tokens_per_s(),
        speed.flops_per_s() / 1e12,
    )
}

/// What `PyTorch` takes for the same update, or why that is not known.
fn pytorch(args: &SelftestArgs, device: Device, row: &str, experiment: &Experiment) -> String {
    match run_pytorch(args, device, experiment) {
        Ok(said) => {
            let lines: Vec<String> = said.lines().map(|line| format!("{row} PyTorch {line}\n")).collect();
            lines.concat()
        }
        Err(why) => format!("{row} PyTorch: not measured ({why})\n"),
    }
}

fn run_pytorch(args: &SelftestArgs, device: Device, experiment: &Experiment) -> Result<String, String> {
    let model = &experiment.model;
    let work = serde_json::json!({
        "device": device.to_string(),
        "sizes": {
            "vocabulary": experiment.data.vocab_size, "d_model": model.d_model, "heads": model.heads,
            "layers": model.layers, "d_ff": model.d_ff,
        },
        "sentences": selftest::sentences(experiment.data.vocab_size),
    });
    let mut python = Command::new(&args.python)
        .args(["-c", PYTORCH])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", args.python.display()))?;
    let mut stdin = python.stdin.take().expect("standard input is piped");
    // It may end before it has read everything; what it says then tells why.
    let _ = stdin.write_all(work.to_string().as_bytes());
    drop(stdin);
    let output = python.wait_with_output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let complaint = text(&output.stderr);
    Err(complaint
        .lines()
        .last()
        .unwrap_or("it failed without a word")
        .to_owned())
}
