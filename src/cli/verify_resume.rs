//! `ablate verify-resume`: proves on this machine that a killed run continues bit for bit.

use std::process::Command;

use indicatif::ProgressBar;

use super::args::{DataDir, ExperimentsDir, Place, ResultsDir, VerifyResumeArgs};
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::output::{put, tell};
use super::progress::style;
use super::run::command;
use super::suites;
use crate::run::{Device, check};
use crate::selftest::{Host, Launch, Proof, resume};
use crate::threads::cores;

pub fn verify_resume(args: &VerifyResumeArgs) -> Result<(), Failure> {
    let (suite, run) = suites::run(&args.experiments, &args.run)?;
    let device = suites::devices(&suite, args.device)[0];
    check(&suite.name, &run, device, args.data_dir.data_dir.as_deref())?;
    let mut person = Person {
        data_dir: &args.data_dir,
        device,
        interrupt: Interrupt::listen(|| (), || ()),
        bar: ProgressBar::new(u64::from(args.kills)).with_style(style("{bar:16} killed {pos} of {len} times")),
    };
    let steps = args.steps.map(|steps| steps as usize);
    let Proof { kills, resumed, runs } = resume(&run, steps, u64::from(args.kills), &mut person)?;
    person.bar.finish_and_clear();
    let steps: Vec<String> = resumed.iter().map(usize::to_string).collect();
    put(format_args!(
        "{} with seed {}: kills: {kills}, continuations after steps {}, runs that reached the end: {runs}\n\
         History, weights, Adam's moments, hypotheses and scores are those of the run without interruption, bit for bit.\n",
        run.row,
        run.seed,
        steps.join(", "),
    ));
    Ok(())
}

/// The program around a trial: it starts this program again, and shows a person how far the trial is.
struct Person<'a> {
    data_dir: &'a DataDir,
    device: Device,
    interrupt: Interrupt,
    bar: ProgressBar,
}

impl Host for Person<'_> {
    fn command(&self, launch: &Launch) -> Command {
        let place = Place {
            experiments: ExperimentsDir {
                experiments: launch.experiments.to_owned(),
            },
            results: ResultsDir {
                results: launch.results.to_owned(),
                reports: None,
            },
            data_dir: self.data_dir.clone(),
            device: None,
        };
        let mut command = command(launch.suite, launch.run, launch.threads, &place, self.device);
        command.arg("--tied");
        command
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.wishes() > 0
    }

    fn calm(&mut self) {
        tell(format_args!(
            "note: training once without interruption, with {} threads",
            cores()
        ));
    }

    fn killed(&mut self, kills: u64) {
        self.bar.set_position(kills);
    }
}
