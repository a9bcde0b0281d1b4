//! A fetch that is stopped, and what then stands in its way.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;

/// Between two looks at a file.
const LOOK: Duration = Duration::from_millis(2);

fn slow() -> Reply {
    Reply {
        pace: Duration::from_millis(20),
        ..Reply::good(&small())
    }
}

fn start(place: &Place) -> Child {
    let mut command = place.command(&["--timeout", PATIENT]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

fn length(path: &Path) -> usize {
    fs::metadata(path).map_or(0, |metadata| metadata.len() as usize)
}

/// Waits until the download has some bytes.
fn wait_for(place: &Place, bytes: usize) {
    let started = Instant::now();
    while length(&place.download("small.tgz.part")) < bytes {
        assert!(started.elapsed() < Duration::from_mins(1), "nothing is downloaded");
        sleep(LOOK);
    }
}

#[test]
fn a_killed_download_goes_on_where_it_stopped() {
    let place = Place::new();
    let server = Server::start(|number| if number == 0 { slow() } else { Reply::good(&small()) });
    place.small(&server, &small());
    let mut child = start(&place);
    wait_for(&place, 30_000);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let there = length(&place.download("small.tgz.part"));
    assert!((30_000..small().len()).contains(&there), "{there}");

    assert_told(&place.fetch(), 0, &["continuing after"]);
    place.assert_small();
    let second = &server.seen()[1];
    assert_eq!((second.start, second.sent), (Some(there), small().len() - there));
    assert_eq!(names(&place.path("data/downloads")), [".lock", "small.tgz"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_there() {
    let place = Place::new();
    let server = Server::start(|number| if number == 0 { slow() } else { Reply::good(&small()) });
    place.small(&server, &small());
    let mut child = start(&place);
    wait_for(&place, 30_000);
    let pid = child.id().to_string();
    let told = Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .expect("kill is there");
    assert!(told.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let there = length(&place.download("small.tgz.part"));
    assert!(there >= 30_000, "{there}");
    assert_exit(&place.fetch(), 0);
    place.assert_small();
    assert_eq!(server.seen()[1].start, Some(there));
}

#[test]
fn kills_at_any_moment_leave_only_whole_files() {
    let place = Place::new();
    let server = Server::of(Reply {
        pace: Duration::from_millis(2),
        ..Reply::good(&small())
    });
    place.small(&server, &small());
    let started = Instant::now();
    assert_exit(&place.fetch(), 0);
    let whole = started.elapsed();
    fs::remove_dir_all(place.path("data")).expect("a folder");
    for part in 1..12 {
        let mut child = start(&place);
        sleep(whole.mul_f64(f64::from(part) / 12.0));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        for (name, text) in [("train.en", english()), ("train.de", german())] {
            if let Ok(found) = fs::read(place.file(name)) {
                assert_eq!(found, text);
            }
        }
    }
    assert_exit(&place.fetch(), 0);
    place.assert_small();
}

#[test]
fn what_a_killed_fetch_left_is_cleared_away() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    place.write("data/small/.abcdef.partial", b"half a");
    place.write("data/downloads/small.tgz.part", b"bytes that nothing speaks of");
    assert_exit(&place.fetch(), 0);
    place.assert_small();
    assert_eq!(starts(&server), [None]);
}

#[test]
fn two_fetches_cannot_work_in_one_folder() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    let lock = fs::File::create(place.write("data/downloads/.lock", b"")).expect("a writable folder");
    lock.lock().expect("nobody else");
    assert_told(
        &place.fetch(),
        6,
        &[
            "another process downloads into this folder",
            "data/downloads/.lock is in use",
        ],
    );
    drop(lock);
    assert_exit(&place.fetch(), 0);
}

#[test]
fn a_file_of_somebody_else_is_never_replaced() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    let theirs = place.write("data/small/train.de", b"mine\n");
    assert_told(&place.fetch(), 6, &["data/small/train.de: exists, but"]);
    assert_eq!(fs::read(theirs).expect("a file"), b"mine\n");
    assert_eq!(server.seen(), []);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    place.write("data", b"a file");
    assert_told(&place.fetch(), 6, &["data/small: "]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    let folder = place.path("data");
    fs::create_dir(&folder).expect("a writable folder");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("it is ours");
    if fs::write(folder.join("probe"), b"").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    assert_told(&place.fetch(), 6, &["data/small: ", "denied"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_with_a_way_out() {
    let (place, server) = (Place::new(), Server::of(Reply::good(&small())));
    place.small(&server, &small());
    fs::create_dir_all(place.path("data/downloads")).expect("a writable folder");
    std::os::unix::fs::symlink("/dev/full", place.download("small.tgz.part")).expect("a writable folder");
    let output = place.fetch();
    assert_told(&output, 6, &["data/downloads/small.tgz.part: ", "make room"]);
    place.assert_nothing_finished();
}
