//! `ablate doctor`: what there is to train on, and how to get what is missing.

use super::output::put_line;
use crate::ops::cpu::has_bf16;
use crate::run::{cpu_model, memory_bytes};
use crate::threads::cores;

pub fn doctor() {
    for (what, found) in cpu().into_iter().chain(cuda()) {
        put_line(format_args!("{what:8}  {found}"));
    }
}

type Line = (String, String);

fn line(what: &str, found: impl Into<String>) -> Line {
    (what.to_owned(), found.into())
}

fn cpu() -> Vec<Line> {
    let bf16 = if has_bf16() {
        "`training.precision = \"bf16\"` works (AVX512-BF16)"
    } else {
        "no AVX512-BF16: `training.precision` is \"f32\" here"
    };
    vec![
        line("cpu", format!("{}, {} cores", cpu_model(), cores())),
        line("", vectors()),
        line("", bf16),
        line("memory", memory()),
    ]
}

fn memory() -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1u32 << 30);
    memory_bytes().map_or_else(
        || "unknown".to_owned(),
        |[total, available]| format!("{:.1} GiB, of which {:.1} available", gib(total), gib(available)),
    )
}

/// The widest vectors that the kernels use here.
#[cfg(target_arch = "x86_64")]
fn vectors() -> &'static str {
    if is_x86_feature_detected!("avx512f") {
        "vectors of 16 numbers (AVX-512)"
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        "vectors of 8 numbers (AVX2); a CPU with AVX-512 is about twice as fast"
    } else {
        "no AVX2: products are slow on this CPU"
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> &'static str {
    "not x86: the kernels use the vector instructions that the compiler chose"
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Vec<Line> {
    vec![line(
        "cuda",
        "this program was built without CUDA; `cargo build --release --features cuda` needs neither a GPU nor CUDA",
    )]
}

#[cfg(feature = "cuda")]
fn cuda() -> Vec<Line> {
    use crate::ops::cuda::{Part, nvrtc_version};

    let part = |part: Part| {
        let found = part.check().map_or_else(|missing| missing.to_string(), str::to_owned);
        match part {
            Part::Driver => line("driver", found),
            Part::Nvrtc => match nvrtc_version() {
                Ok(version) => line("nvrtc", format!("{found}, version {version}")),
                Err(_) => line("nvrtc", found),
            },
            Part::Cublas => line("cublas", found),
        }
    };
    Part::ALL.into_iter().map(part).chain(devices()).collect()
}

#[cfg(feature = "cuda")]
fn devices() -> Vec<Line> {
    let visible = std::env::var("CUDA_VISIBLE_DEVICES");
    let visible = visible.map_or_else(|_| String::new(), |only| format!(", CUDA_VISIBLE_DEVICES = \"{only}\""));
    let (version, devices) = match crate::ops::cuda::survey() {
        Ok(found) => found,
        Err(what) => return vec![line("gpus", format!("none can be used{visible}: {what}"))],
    };
    let mut lines = vec![line("gpus", format!("{}, CUDA {version}{visible}", devices.len()))];
    lines.extend(devices.into_iter().enumerate().map(|(ordinal, device)| {
        let gib = device.total_bytes as f64 / f64::from(1u32 << 30);
        let (major, minor) = device.capability;
        let found = format!("{}, compute capability {major}.{minor}, {gib:.1} GiB", device.name);
        line(&format!("cuda:{ordinal}"), found)
    }));
    lines
}
