//! What a server and a line may do to a download.

use super::*;

/// A corpus fetched from a server with this script, and what is left of both.
fn fetched(script: impl Fn(usize) -> Reply + Send + Sync + 'static) -> (Place, Server, Output) {
    let (place, server) = (Place::new(), Server::start(script));
    place.small(&server, &small());
    let output = place.fetch();
    (place, server, output)
}

#[test]
fn a_corpus_is_downloaded_unpacked_and_then_left_alone() {
    let (place, server, output) = fetched(|_| Reply::good(&small()));
    assert_told(&output, 0, &["small is in data/small", "train.en: done, 6000 lines"]);
    place.assert_small();
    assert_eq!(names(&place.path("data/downloads")), [".lock", "small.tgz"]);
    assert_eq!(server.sent(), small().len());

    fs::remove_file(place.download("small.tgz")).expect("an archive");
    assert_told(
        &place.fetch(),
        0,
        &["train.en: already there", "train.de: already there"],
    );
    fs::remove_file(place.file("fetched.toml")).expect("a manifest");
    assert_told(
        &place.fetch(),
        6,
        &["train.en: exists, but is not the file that belongs there"],
    );
    assert_eq!(server.seen().len(), 1, "nothing was downloaded again");
}

#[test]
fn an_archive_that_is_there_is_used_and_a_damaged_one_is_replaced() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    place.write("data/downloads/small.tgz", &small());
    assert_exit(&place.fetch(), 0);
    place.assert_small();
    assert_eq!(server.seen(), []);

    fs::remove_dir_all(place.path("data/small")).expect("a folder");
    let mut damaged = small();
    damaged[5000] ^= 1;
    place.write("data/downloads/small.tgz", &damaged);
    assert_told(&place.fetch(), 0, &["expected SHA-256", "downloading it again"]);
    place.assert_small();
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_download_goes_on_after_every_drop() {
    let (place, server, output) = fetched(|_| Reply::cut(&small(), 30_000));
    assert_exit(&output, 0);
    place.assert_small();
    let expected: Vec<_> = (0..small().len())
        .step_by(30_000)
        .map(|start| (start > 0).then_some(start))
        .collect();
    assert_eq!(starts(&server), expected);
    assert_eq!(server.sent(), small().len(), "no byte was sent twice");
    assert_eq!(server.seen()[1].if_range.as_deref(), Some("\"one\""));
}

#[test]
fn a_stalled_connection_is_given_up() {
    let (place, server) = (
        Place::new(),
        Server::start(|number| match number {
            0 => Reply {
                end: End::StallAfter(40_000),
                ..Reply::good(&small())
            },
            _ => Reply::good(&small()),
        }),
    );
    place.small(&server, &small());
    let output = place.fetch_with(&["--timeout", "1"]);
    assert_told(&output, 0, &["no answer for 1 s"]);
    place.assert_small();
    assert_eq!(server.seen()[1].start, Some(40_000));
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let (place, server, output) = fetched(|number| Reply {
        knows_ranges: false,
        end: if number == 0 { End::CutAfter(40_000) } else { End::Whole },
        ..Reply::good(&small())
    });
    assert_exit(&output, 0);
    place.assert_small();
    assert_eq!(server.sent(), small().len() + 40_000);
}

#[test]
fn a_server_without_ranges_that_always_breaks_off_is_given_up() {
    let place = Place::new();
    let server = Server::of(Reply {
        knows_ranges: false,
        ..Reply::cut(&small(), 40_000)
    });
    place.small(&server, &small());
    let output = place.fetch_with(&["--timeout", PATIENT, "--tries", "3"]);
    assert_told(
        &output,
        4,
        &["given up after 3 tries", "continues where this one stopped"],
    );
    place.assert_nothing_finished();
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    let (place, server, output) = fetched(|number| match number {
        0 => Reply::status(500),
        1 => Reply::status(503),
        _ => Reply::good(&small()),
    });
    assert_told(&output, 0, &["the server answers 500", "the server answers 503"]);
    place.assert_small();
    assert_eq!(starts(&server), [None; 3]);
}

#[test]
fn a_file_that_is_not_there_is_told_at_once() {
    let (place, server, output) = fetched(|_| Reply::status(404));
    assert_told(&output, 4, &[&server.url("small.tgz"), "404"]);
    place.assert_nothing_finished();
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_server_that_never_answers_is_soon_given_up() {
    let place = Place::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("an address");
    drop(free);
    place.catalog(&format!("{{ url = \"http://{address}/small.tgz\" }},\n"), TRAIN);
    let output = place.fetch_with(&["--timeout", "1"]);
    assert_told(&output, 4, &["refused", "given up after 3 tries"]);
}

#[test]
fn a_byte_that_the_line_changed_costs_a_second_download() {
    let (place, server, output) = fetched(|number| {
        let mut archive = small();
        archive[50_000] ^= u8::from(number == 0);
        Reply::good(&archive)
    });
    assert_told(&output, 0, &["expected SHA-256", "downloading it once more"]);
    place.assert_small();
    assert_eq!(starts(&server), [None; 2]);
}

#[test]
fn an_archive_that_stays_wrong_is_deleted_and_told() {
    let (place, server, output) = fetched(|_| {
        let mut archive = small();
        archive[50_000] ^= 1;
        Reply::good(&archive)
    });
    assert_told(&output, 4, &["found SHA-256 ", &place.sha256(&small())]);
    place.assert_nothing_finished();
    assert_eq!(names(&place.path("data/downloads")), [".lock"]);
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn an_archive_of_another_size_is_not_even_downloaded() {
    let (place, server, output) = fetched(|_| Reply {
        lie: 1000,
        ..Reply::good(&small())
    });
    let (found, expected) = (small().len() + 1000, small().len());
    assert_told(
        &output,
        4,
        &[&format!("found {found} bytes, expected {expected} bytes")],
    );
    place.assert_nothing_finished();
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn a_length_that_is_too_long_is_no_whole_file() {
    let (place, server) = (
        Place::new(),
        Server::of(Reply {
            lie: 1000,
            ..Reply::good(&small())
        }),
    );
    place.catalog(&format!("{{ url = \"{}\" }},\n", server.url("small.tgz")), TRAIN);
    let output = place.fetch_with(&["--timeout", "1", "--tries", "3"]);
    assert_told(&output, 4, &["given up after 3 tries"]);
    place.assert_nothing_finished();
}

#[test]
fn an_endless_answer_is_not_read_to_its_end() {
    let (place, server, output) = fetched(|_| Reply {
        has_length: false,
        ..Reply::good(&small().repeat(20))
    });
    assert_told(&output, 4, &[&format!("expected {} bytes", small().len())]);
    place.assert_nothing_finished();
    assert_eq!(server.seen().len(), 2);
    let (_, server, output) = fetched(|_| Reply {
        has_length: false,
        ..Reply::good(&small())
    });
    assert_exit(&output, 0);
    assert_eq!(server.sent(), small().len());
}

#[test]
fn a_download_that_is_whole_but_has_no_name_yet_is_not_repeated() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    place.write("data/downloads/small.tgz.part", &small());
    let (url, total) = (server.url("small.tgz"), small().len());
    let label = format!("url = \"{url}\"\nvalidator = '\"one\"'\ntotal = {total}\n");
    place.write("data/downloads/small.tgz.part.toml", label.as_bytes());
    assert_exit(&place.fetch(), 0);
    place.assert_small();
    assert_eq!((starts(&server), server.sent()), (vec![Some(total)], 0));
}

#[test]
fn a_file_that_changes_on_the_server_is_never_mixed() {
    let old = || tgz(&[Member::file("text/train.en", &german())]);
    for ignores_if_range in [false, true] {
        let (place, server, output) = fetched(move |number| match number {
            0 => Reply {
                lie: small().len().cast_signed() - old().len().cast_signed(),
                ..Reply::cut(&old(), 40_000)
            },
            _ => Reply {
                tag: Some("\"two\""),
                ignores_if_range,
                ..Reply::good(&small())
            },
        });
        assert_exit(&output, 0);
        place.assert_small();
        assert_eq!(server.seen()[1].start, Some(40_000));
    }
}

#[test]
fn what_no_catalogue_knows_is_trusted_once_and_then_compared() {
    let other = || {
        tgz(&[
            Member::file("text/train.en", b"x\n"),
            Member::file("text/train.de", b"y\n"),
        ])
    };
    let place = Place::new();
    let server = Server::start(move |number| Reply::good(&if number == 0 { small() } else { other() }));
    place.catalog(&format!("{{ url = \"{}\" }},\n", server.url("small.tgz")), TRAIN);
    let sha256 = place.sha256(&small());
    assert_told(
        &place.fetch(),
        0,
        &["warning: no SHA-256 of small.tgz is known", &sha256],
    );
    place.assert_small();
    let record = fs::read_to_string(place.download("small.tgz.sha256")).expect("a record");
    assert_eq!(record, format!("{sha256}  small.tgz\n"));

    fs::remove_dir_all(place.path("data/small")).expect("a folder");
    fs::remove_file(place.download("small.tgz")).expect("an archive");
    let output = place.fetch();
    assert_told(
        &output,
        4,
        &[
            &format!("expected SHA-256 {sha256}"),
            "delete data/downloads/small.tgz.sha256",
        ],
    );
    place.assert_nothing_finished();
}

#[test]
fn what_cannot_be_unpacked_is_not_trusted_on_first_use() {
    let place = Place::new();
    let page = b"<html>please log in</html>";
    let server = Server::start(move |number| match number {
        0..3 => Reply::good(page),
        _ => Reply::good(&small()),
    });
    place.catalog(&format!("{{ url = \"{}\" }},\n", server.url("small.tgz")), TRAIN);
    // Twice the same page, and the command gives up; what it took for the archive's hash is gone with it.
    assert_exit(&place.fetch(), 4);
    place.assert_nothing_finished();
    assert!(!place.download("small.tgz.sha256").exists() && !place.download("small.tgz").exists());
    // Once more, and then the archive.
    assert_told(&place.fetch(), 0, &["downloading it once more"]);
    place.assert_small();
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn a_proxy_of_the_environment_is_used() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    let sha256 = place.sha256(&small());
    place.catalog(
        &format!("{{ url = \"http://corpora.invalid/small.tgz\", sha256 = \"{sha256}\" }},\n"),
        TRAIN,
    );
    let mut command = place.command(&["--timeout", PATIENT]);
    let output = command
        .env("HTTP_PROXY", server.url(""))
        .output()
        .expect("the program starts");
    assert_exit(&output, 0);
    place.assert_small();
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn nothing_is_asked_of_anybody_in_a_dry_run() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    let output = place.fetch_with(&["--dry-run", "--data-dir", "corpora"]);
    let bytes = format!("{} bytes", small().len());
    let told = [
        &server.url("small.tgz"),
        &bytes,
        &place.sha256(&small()),
        "into corpora/downloads",
        "into corpora/small",
        "train.de",
    ];
    assert_told(&output, 0, &told);
    assert!(!place.path("corpora").exists());
    assert_eq!(server.seen(), [] as [Seen; 0]);
}
