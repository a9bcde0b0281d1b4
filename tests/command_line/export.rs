//! A run as a folder for other programs, and back.

use std::fs;

use super::*;

const RUN: &str = "results/smoke/base-s1";
const EXPORT: &str = "exports/smoke/base-s1";

/// A folder with a finished run and an export of it.
fn exported() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_exit(&run(on_smoke(folder.path(), &["run", "smoke", "base"])), 0);
    let output = run(ablate(folder.path(), &["export", RUN]));
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), format!("{EXPORT}\n"));
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// Standard input through a model.
fn translated(folder: &Path, model: &str) -> Output {
    let input = write(
        folder.join("input"),
        "The old woman sees a dog.\n\nThe men sleep, and a child reads.\n",
    );
    let mut command = ablate(folder, &["translate", model]);
    command.stdin(fs::File::open(input).expect("written above"));
    run(command)
}

#[test]
fn an_export_translates_as_its_run_does() {
    let folder = exported();
    let (run, export) = (translated(folder.path(), RUN), translated(folder.path(), EXPORT));
    assert_exit(&run, 0);
    assert_exit(&export, 0);
    assert_eq!(stdout(&run).lines().count(), 3);
    assert_eq!(export.stdout, run.stdout);
    assert_eq!(
        names(&folder.path().join(EXPORT)),
        ["README.md", "model.safetensors", "spec.toml", "tokenizer.json"]
    );
}

#[test]
fn only_an_export_is_replaced_and_only_when_asked_to() {
    let folder = exported();
    let export = |arguments: &[&str]| run(ablate(folder.path(), &[&["export", RUN], arguments].concat()));
    let before = fs::read(folder.path().join(EXPORT).join("model.safetensors")).expect("exported");
    let kept = export(&[]);
    assert_exit(&kept, 6);
    assert!(stderr(&kept).contains("--force"), "{}", stderr(&kept));
    assert_exit(&export(&["--force"]), 0);
    let after = fs::read(folder.path().join(EXPORT).join("model.safetensors")).expect("exported");
    assert!(before == after, "the same run gives the same bytes");

    let mine = folder.path().join("mine");
    fs::create_dir(&mine).expect("a writable folder");
    write(mine.join("thesis.tex"), "three years of work");
    let refused = export(&["mine", "--force"]);
    assert_exit(&refused, 6);
    assert!(stderr(&refused).contains("thesis.tex"), "{}", stderr(&refused));
    assert_eq!(names(&mine), ["thesis.tex"]);
}

#[test]
fn an_export_that_breaks_off_is_none() {
    let folder = exported();
    let export = folder.path().join(EXPORT);
    fs::remove_file(export.join("tokenizer.json")).expect("exported");
    fs::create_dir(export.join("tokenizer.json")).expect("a writable folder");
    let broken = run(ablate(folder.path(), &["export", RUN, "--force"]));
    assert_exit(&broken, 6);
    assert_eq!(names(&export), ["README.md", "spec.toml", "tokenizer.json"]);
    let refused = translated(folder.path(), EXPORT);
    assert_exit(&refused, 2);
    assert!(stderr(&refused).contains("model.safetensors"), "{}", stderr(&refused));
}

/// A limit on the size of files stands for a full disk: the program may write all but the weights.
#[cfg(unix)]
#[test]
fn an_export_that_cannot_be_replaced_stays_as_it_was() {
    let folder = exported();
    let export = folder.path().join(EXPORT);
    let contents = || {
        let mut names = names(&export);
        // What a process that was killed left behind.
        names.retain(|name| !name.starts_with('.'));
        let read = |name| fs::read(export.join(name)).expect("exported");
        names.iter().map(read).collect::<Vec<_>>()
    };
    let before = contents();
    let command = r#"ulimit -f 800; exec "$0" export "$1" --force"#;
    let limited = std::process::Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_ablate"), RUN])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    assert!(!limited.status.success());
    assert!(before == contents(), "the older export was touched");
    assert_exit(&run(ablate(folder.path(), &["export", RUN, "--force"])), 0);
}

#[test]
fn what_is_wrong_with_an_export_is_told() {
    let folder = exported();
    let export = folder.path().join(EXPORT);
    let file = |name: &str| export.join(name);
    let complaint = |code| {
        let output = translated(folder.path(), EXPORT);
        assert_exit(&output, code);
        assert!(output.stdout.is_empty());
        stderr(&output)
    };
    let spec = read(file("spec.toml"));
    write(file("spec.toml"), &spec.replace("norm = \"post\"", "norm = \"pre\""));
    let told = complaint(6);
    for name in ["encoder.norm.weight", "decoder.norm.bias"] {
        assert!(told.contains(&format!("{name}: missing, expected F32 [64]")), "{told}");
    }
    write(
        file("spec.toml"),
        &spec.replace("vocab_size = 2400", "vocab_size = 2399"),
    );
    assert!(complaint(6).contains("2400 tokens, but `data.vocab_size = 2399`"));
    write(file("spec.toml"), &spec.replace("d_ff = 256", "d_ff = 255"));
    assert!(complaint(2).contains("whose `base` is this spec.toml"));
    write(file("spec.toml"), &spec);

    let weights = fs::read(file("model.safetensors")).expect("exported");
    fs::write(file("model.safetensors"), &weights[..weights.len() - 1]).expect("a writable file");
    assert!(complaint(6).contains("model.safetensors: not a whole safetensors file"));
    fs::write(file("model.safetensors"), &weights).expect("a writable file");
    let tokenizer = read(file("tokenizer.json"));
    write(file("tokenizer.json"), &tokenizer.replacen("\"</s>\"", "\"<end>\"", 2));
    assert!(complaint(6).contains("tokenizer.json: "));
    fs::remove_file(file("tokenizer.json")).expect("exported");
    assert!(complaint(6).contains("tokenizer.json"));
}

#[test]
fn only_a_run_can_be_exported() {
    let folder = exported();
    for place in [EXPORT, "results/smoke", "nowhere-s1"] {
        let refused = run(ablate(folder.path(), &["export", place, "out"]));
        assert_exit(&refused, 2);
        assert!(
            stderr(&refused).contains("is not the folder of a run"),
            "{}",
            stderr(&refused)
        );
    }
    assert!(!folder.path().join("out").exists());
}
