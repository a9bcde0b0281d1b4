//! Archives from elsewhere than their catalogue says.

use super::*;

/// A place whose catalogue names a server that is never asked.
fn place() -> (Place, Server) {
    let (place, server) = (Place::new(), Server::of(Reply::status(500)));
    place.small(&server, &small());
    (place, server)
}

#[test]
fn a_folder_is_used_where_it_lies() {
    let (place, server) = place();
    place.write("mirror/small.tgz", &small());
    assert_exit(&place.fetch_with(&["--mirror", "mirror"]), 0);
    place.assert_small();
    assert_eq!(names(&place.path("data/downloads")), [".lock"]);
    assert_eq!(server.seen(), []);
}

#[test]
fn a_damaged_archive_in_a_folder_is_told_and_not_touched() {
    let (place, _server) = place();
    let mut damaged = small();
    damaged[5000] ^= 1;
    let path = place.write("mirror/small.tgz", &damaged);
    let output = place.fetch_with(&["--mirror", "mirror"]);
    assert_told(
        &output,
        4,
        &["mirror/small.tgz: found SHA-256 ", &place.sha256(&small())],
    );
    assert_eq!(fs::read(path).expect("a file"), damaged);
    place.assert_nothing_finished();
}

#[test]
fn an_archive_that_a_folder_lacks_is_named() {
    let (place, _server) = place();
    let output = place.fetch_with(&["--mirror", "nowhere"]);
    assert_told(&output, 4, &["nowhere/small.tgz is not in the mirror"]);
}

#[test]
fn another_server_is_asked_for_the_same_names() {
    let (place, server) = place();
    let mirror = Server::of(Reply::good(&small()));
    assert_exit(&place.fetch_with(&["--mirror", &mirror.url("deep/")]), 0);
    place.assert_small();
    assert_eq!(server.seen(), []);
    assert_eq!(mirror.seen()[0].path, "/deep/small.tgz");
}

#[test]
fn what_came_from_one_server_is_not_continued_from_another() {
    let (place, _server) = place();
    let cut = Server::start(|number| match number {
        0 => Reply::cut(&small(), 40_000),
        _ => Reply::status(404),
    });
    let output = place.fetch_with(&["--mirror", &cut.url(""), "--timeout", PATIENT]);
    assert_told(&output, 4, &["404"]);
    let whole = Server::of(Reply::good(&small()));
    assert_exit(&place.fetch_with(&["--mirror", &whole.url("")]), 0);
    place.assert_small();
    assert_eq!(starts(&whole), [None]);
}

/// The real corpus, where a copy of it is at hand: its files must be those that the built-in catalogue speaks of.
#[test]
fn multi30k_has_the_hashes_of_the_catalogue() {
    let Some(shared) = std::env::var_os("ABLATE_SHARED") else {
        println!("skipped: ABLATE_SHARED is not set");
        return;
    };
    let place = Place::new();
    let corpus = Path::new(&shared).join("data/multi30k");
    for name in names(&corpus) {
        let text = fs::read(corpus.join(&name)).expect("a readable file");
        place.write(&format!("mirror/{name}.gz"), &archives::gzip(&text));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablate"));
    command
        .args(["data", "fetch", "multi30k", "--mirror", "mirror"])
        .current_dir(place.0.path());
    let output = command
        .env_remove("ABLATE_DATA_DIR")
        .output()
        .expect("the program starts");
    assert_told(
        &output,
        0,
        &["train.en: done, 29000 lines", "ablate sweep table3-multi30k"],
    );
    assert!(!said(&output).contains("warning"), "{}", said(&output));
}
