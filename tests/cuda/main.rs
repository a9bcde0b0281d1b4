//! Training on CUDA without a GPU: the program with a stand-in for CUDA's libraries (`standin/`), which compiles our
//! kernels with g++ and runs them on the CPU. That shows that they compute what they should; how fast, and whether a GPU
//! does the same, is for `ablate selftest --device cuda` on a machine that has one.
#![cfg(feature = "cuda")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const SMOKE: &str = "tests/smoke/experiments";

/// The folder of the stand-in's libraries, built once.
fn standin() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda-standin");
        let script = Path::new(ROOT).join("tests/cuda/standin/build.sh");
        let status = Command::new("sh").arg(script).arg(&folder).status();
        assert!(
            status.expect("there is a shell").success(),
            "the stand-in does not build"
        );
        folder
    })
}

/// The program without any of CUDA's libraries.
fn without_cuda(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablate"));
    command
        .args(arguments)
        .current_dir(ROOT)
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env("NO_COLOR", "1");
    command
}

/// The program on a machine with stand-in GPUs.
fn with_gpus(count: usize, arguments: &[&str]) -> Command {
    let mut command = without_cuda(arguments);
    command
        .env("LD_LIBRARY_PATH", standin())
        .env("ABLATE_STANDIN_DEVICES", count.to_string());
    command
}

/// The arguments that run the smoke suite's first row on a device.
fn base_on(device: &str) -> [&str; 7] {
    ["run", "smoke", "base", "--experiments", SMOKE, "--device", device]
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).expect("UTF-8")
}

/// Fails with what the program said unless it ended with `code` and said all of `words`.
fn assert_told(output: &Output, code: i32, words: &[&str]) {
    let text = said(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
}

/// The selftest of the smoke suite's first row, with the threads and blocks of kernels in some order.
fn selftest(order: &str, parts: &str) -> Output {
    let arguments = [
        "selftest",
        "--device",
        "cuda",
        "--suite",
        "smoke",
        "--experiments",
        SMOKE,
        "--only",
        parts,
    ];
    run(with_gpus(1, &arguments).env("ABLATE_STANDIN_ORDER", order))
}

#[test]
fn all_operations_hold_whatever_the_order_of_threads_and_blocks() {
    for order in ["forward", "reverse", "random:1"] {
        let words = ["checks hold", "dropout mask", "bf16", "tf32", "translated otherwise"];
        assert_told(&selftest(order, "operations,training"), 0, &words);
    }
}

#[test]
fn a_run_begins_on_the_cpu_and_ends_on_a_gpu() {
    let words = ["all 4 checks hold", "run on the CPU and then cuda:0: perplexity"];
    assert_told(&selftest("forward", "run"), 0, &words);
}

#[test]
fn what_is_missing_is_told_with_where_to_get_it() {
    let doctor = run(&mut without_cuda(&["doctor"]));
    assert_told(
        &doctor,
        0,
        &[
            "the CUDA driver is missing",
            "it comes with NVIDIA's driver",
            "NVRTC is missing",
            "pip install nvidia-cuda-nvrtc",
            "cuBLAS is missing",
        ],
    );
    let training = run(&mut without_cuda(&base_on("cuda")));
    assert_told(&training, 2, &["error: the CUDA driver is missing"]);
}

#[test]
fn the_doctor_lists_the_gpus_that_may_be_seen() {
    let doctor = run(&mut with_gpus(3, &["doctor"]));
    assert_told(
        &doctor,
        0,
        &["libcuda.so.1", "gpus      3, CUDA 13.0", "cuda:2    Stand-in GPU"],
    );
    let doctor = run(with_gpus(3, &["doctor"]).env("CUDA_VISIBLE_DEVICES", "1"));
    assert_told(&doctor, 0, &["gpus      1, CUDA 13.0, CUDA_VISIBLE_DEVICES = \"1\""]);
    assert!(!said(&doctor).contains("cuda:1"), "{}", said(&doctor));
    let doctor = run(&mut with_gpus(0, &["doctor"]));
    assert_told(&doctor, 0, &["none can be used", "CUDA_ERROR_NO_DEVICE"]);
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_before_anything_is_written() {
    let folder = TempDir::new().expect("a temporary folder");
    let results = folder.path().join("results");
    let output = run(with_gpus(2, &base_on("cuda:2")).arg("--results").arg(&results));
    assert_told(&output, 2, &["there is no device cuda:2; CUDA sees 2"]);
    assert!(!results.exists());
}

#[test]
fn a_run_whose_parameters_do_not_fit_is_not_begun() {
    let output = run(with_gpus(1, &base_on("cuda")).env("ABLATE_STANDIN_MEMORY", "2000000"));
    assert_told(
        &output,
        2,
        &[
            "row `base`: weights, gradients and Adam's moments alone take",
            "cuda:0 has 1.9 MiB",
        ],
    );
}

/// Bytes that the parameters of the smoke suite fit in, and its training does not.
const OCCUPIED: &str = "20000000";

#[test]
fn a_gpu_with_too_little_memory_is_a_clear_error() {
    let folder = TempDir::new().expect("a temporary folder");
    let output = run(with_gpus(1, &base_on("cuda"))
        .arg("--results")
        .arg(folder.path().join("results"))
        .env("ABLATE_STANDIN_MEMORY", OCCUPIED));
    assert_told(
        &output,
        6,
        &["the GPU has not enough memory", "training.micro_batch_tokens"],
    );
}

/// The rows of a suite's CSV, by the column's name.
fn column(csv: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(csv).expect("the sweep wrote its table");
    let at = reader
        .headers()
        .expect("a header")
        .iter()
        .position(|header| header == name);
    let at = at.expect("the column is there");
    reader
        .records()
        .map(|record| record.expect("a row")[at].to_owned())
        .collect()
}

/// A sweep of two rows over two GPUs is that of the CPU, but for rounding.
#[test]
fn a_sweep_uses_every_gpu_and_comes_to_the_results_of_the_cpu() {
    let folder = TempDir::new().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name).join("results");
    let sweep = |command: &mut Command, name: &str| {
        let output = run(command.arg("--results").arg(place(name)));
        assert_told(&output, 0, &["2 runs in"]);
    };
    let rows = ["sweep", "smoke", "--rows", "base,deeper", "--experiments", SMOKE];
    sweep(&mut without_cuda(&rows), "cpu");
    sweep(with_gpus(2, &rows).args(["--device", "cuda"]), "gpus");
    // The suite has a third row, which was not asked for.
    let csv = |name: &str, column_name: &str| {
        let mut cells = column(&place(name).join("smoke.csv"), column_name);
        cells.truncate(2);
        cells
    };
    for (cpu, gpu) in csv("cpu", "ppl").iter().zip(csv("gpus", "ppl")) {
        let [cpu, gpu]: [f64; 2] = [cpu, &gpu].map(|number| number.parse().expect("a number"));
        assert!((cpu / gpu - 1.0).abs() < 0.02, "{cpu} {gpu}");
    }
    assert_eq!(csv("cpu", "training_flops"), csv("gpus", "training_flops"));
    let mut devices: Vec<String> = ["base-s1", "deeper-s1"]
        .map(|run| {
            let file = place("gpus").join("smoke").join(run).join("provenance.toml");
            let text = std::fs::read_to_string(file).expect("a run says where it ran");
            text.lines()
                .find(|line| line.starts_with("device"))
                .unwrap_or_default()
                .to_owned()
        })
        .into();
    devices.sort();
    assert_eq!(devices, ["device = \"cuda:0\"", "device = \"cuda:1\""]);
}
