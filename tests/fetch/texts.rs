//! Text files as they come out of archives.

use super::archives::gzip;
use super::*;

/// A catalogue's files made of these members of one archive.
fn made(members: &[Member], files: &str) -> (Place, Output) {
    let place = Place::new();
    let archive = tgz(members);
    place.write("mirror/small.tgz", &archive);
    let sha256 = place.sha256(&archive);
    place.catalog(
        &format!("{{ url = \"https://corpora.invalid/small.tgz\", sha256 = \"{sha256}\" }},\n"),
        files,
    );
    let output = place.fetch_with(&["--mirror", "mirror"]);
    (place, output)
}

fn text(place: &Place, name: &str) -> String {
    fs::read_to_string(place.file(name)).expect("a file")
}

#[test]
fn parts_follow_one_another_line_by_line() {
    let (place, output) = made(
        &[Member::file("b", "zwei\r\n\nö".as_bytes()), Member::file("a", b"one\r")],
        r#"{ name = "x.en", parts = [{ archive = "small.tgz", member = "a" }, { archive = "small.tgz", member = "b" }] }"#,
    );
    assert_exit(&output, 0);
    assert_eq!(text(&place, "x.en"), "one\r\nzwei\r\n\nö\n");
}

#[test]
fn segments_and_talks_become_plain_lines() {
    let sgm = "<refset setid=\"x\">\n<doc>\n<seg id=\"1\"> One &amp; two. </seg>\n<seg id=\"2\"></seg>\n</doc>\n";
    let tags = "<url>u</url>\n<keywords>k</keywords>\n<title>A title</title>\nText.\n";
    let (place, output) = made(
        &[
            Member::file("a.sgm", sgm.as_bytes()),
            Member::file("tags", tags.as_bytes()),
        ],
        r#"
            { name = "a.en", parts = [{ archive = "small.tgz", member = "a.sgm", format = "segments" }] },
            { name = "b.en", parts = [{ archive = "small.tgz", member = "tags", format = "talks" }] },
        "#,
    );
    assert_exit(&output, 0);
    assert_eq!(text(&place, "a.en"), "One &amp; two.\n\n");
    assert_eq!(text(&place, "b.en"), "A title\nText.\n");
}

#[test]
fn a_segment_without_an_end_is_told_with_its_line() {
    let (_place, output) = made(
        &[Member::file("a.sgm", b"<doc>\n<seg id=\"1\">One\n</seg>\n")],
        r#"{ name = "a.en", parts = [{ archive = "small.tgz", member = "a.sgm", format = "segments" }] }"#,
    );
    assert_told(&output, 4, &["mirror/small.tgz: line 2 "]);
}

#[test]
fn a_split_takes_every_line_once() {
    let lines: Vec<String> = (1..=50).map(|number| format!("{number}\n")).collect();
    let part = r#"parts = [{ archive = "small.tgz", member = "a" }]"#;
    let (place, output) = made(
        &[Member::file("a", lines.concat().as_bytes())],
        &format!("{{ name = \"dev.en\", {part}, every = 23 }}, {{ name = \"train.en\", {part}, all_but_every = 23 }}"),
    );
    assert_exit(&output, 0);
    assert_eq!(text(&place, "dev.en"), "23\n46\n");
    let train = text(&place, "train.en");
    assert_eq!(train.lines().count(), 48);
    assert!(train.contains("22\n24\n") && !train.contains("46\n"), "{train}");
}

#[test]
fn sides_of_unequal_length_are_not_published() {
    let (place, output) = made(
        &[
            Member::file("text/train.en", b"one\ntwo\n"),
            Member::file("text/train.de", b"eins\n"),
        ],
        TRAIN,
    );
    assert_told(
        &output,
        4,
        &["train.en would have 2 lines but ", "train.de 1: they must match"],
    );
    place.assert_nothing_finished();
}

#[test]
fn a_file_that_is_not_what_the_catalogue_says_is_not_published() {
    let part = r#"parts = [{ archive = "small.tgz", member = "a" }]"#;
    let hash = "0".repeat(64);
    for (fact, told) in [
        ("lines = 2".to_owned(), "found 1 lines, expected 2 lines"),
        (format!("sha256 = \"{hash}\""), hash.as_str()),
    ] {
        let (place, output) = made(
            &[Member::file("a", b"one\n")],
            &format!("{{ name = \"x.en\", {part}, {fact} }}"),
        );
        assert_told(&output, 4, &[told]);
        place.assert_nothing_finished();
    }
}

/// Where only the text's hash is known, it tells whether the download was right.
#[test]
fn a_bad_download_that_its_text_betrays_is_repeated() {
    let good = || gzip(b"one\n");
    for is_always_bad in [false, true] {
        let place = Place::new();
        let server = Server::start(move |number| {
            let is_bad = is_always_bad || number == 0;
            Reply::good(&if is_bad { gzip(b"0ne\n") } else { good() })
        });
        let sha256 = place.sha256(b"one\n");
        place.catalog(
            &format!("{{ url = \"{}\" }},\n", server.url("x.en.gz")),
            &format!("{{ name = \"x.en\", parts = [{{ archive = \"x.en.gz\" }}], sha256 = \"{sha256}\" }}"),
        );
        let output = place.fetch();
        assert_exit(&output, if is_always_bad { 4 } else { 0 });
        assert!(said(&output).contains("downloading it once more"), "{}", said(&output));
        assert!(!said(&output).contains("trusted"), "{}", said(&output));
        assert_eq!(server.seen().len(), 2);
        if is_always_bad {
            place.assert_nothing_finished();
            assert_eq!(names(&place.path("data/downloads")), [".lock"]);
        } else {
            assert_eq!(text(&place, "x.en"), "one\n");
        }
    }
}

#[test]
fn mistakes_in_a_catalogue_and_in_names_are_told() {
    let place = Place::new();
    place.catalog("", TRAIN);
    assert_told(
        &place.fetch(),
        3,
        &["catalog.toml: corpus `small`: there is no archive `small.tgz`"],
    );
    place.write("catalog.toml", b"[small]\ntitle = 1\n");
    assert_told(&place.fetch(), 3, &["catalog.toml: ", "line 2"]);
    place.write("catalog.toml", b"");
    assert_told(&place.fetch(), 2, &["there is no corpus `small`"]);
}

/// What is fetched is what suites read.
#[test]
fn a_suite_reads_what_was_fetched() {
    let stems = ["train", "val", "test_2016_flickr"];
    let names: Vec<String> = stems
        .iter()
        .flat_map(|stem| ["en", "de"].map(|side| format!("{stem}.{side}")))
        .collect();
    let members: Vec<_> = names.iter().map(|name| Member::file(name, b"a b\n")).collect();
    let file = |name: &String| {
        format!("{{ name = \"{name}\", parts = [{{ archive = \"small.tgz\", member = \"{name}\" }}] }},\n")
    };
    let (place, output) = made(&members, &names.iter().map(file).collect::<String>());
    assert_exit(&output, 0);
    fs::rename(place.path("data/small"), place.path("data/multi30k")).expect("a writable folder");
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/smoke/experiments");
    let base = fs::read_to_string(experiments.join("bases/tiny.toml")).expect("a base");
    let base = base.replace("\"grammar-en-de\"\ntrain_pairs = 2000\n", "\"multi30k\"\n");
    place.write("experiments/base.toml", base.as_bytes());
    let suite = b"title = \"t\"\nbase = \"base.toml\"\nseeds = [1]\n[[row]]\nid = \"base\"\n";
    place.write("experiments/own.toml", suite);
    let show = |data_dir: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ablate"));
        command
            .args(["data", "show", "own", "--data-dir", data_dir])
            .current_dir(place.0.path());
        command
            .env_remove("ABLATE_EXPERIMENTS")
            .output()
            .expect("the program starts")
    };
    assert_told(&show("data"), 0, &["a b"]);
    assert_told(&show("elsewhere"), 4, &["`ablate data fetch multi30k`"]);
}
