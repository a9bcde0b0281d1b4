//! What an archive may hold, and what never comes of it.

use tar::EntryType;

use super::archives::{gzip, tar};
use super::*;

/// A corpus whose archive is in a mirror folder, `outside` beside it, and what came of it.
fn unpacked(archive: &[u8]) -> (Place, Output) {
    let place = Place::new();
    place.write("mirror/small.tgz", archive);
    let sha256 = place.sha256(archive);
    place.catalog(
        &format!("{{ url = \"https://corpora.invalid/small.tgz\", sha256 = \"{sha256}\" }},\n"),
        TRAIN,
    );
    let output = place.fetch_with(&["--mirror", "mirror"]);
    (place, output)
}

/// A member whose content is another's name must not appear anywhere.
fn assert_alone(place: &Place) {
    let expected = ["catalog.toml", "data", "hashed", "mirror"];
    assert_eq!(names(place.0.path()), expected);
    assert_eq!(names(&place.path("data")), ["downloads", "small"]);
}

#[test]
fn names_that_lead_out_are_nothing_but_names() {
    let outside = std::env::temp_dir().join("ablate-evil-train.en");
    let absolute = outside.to_str().expect("UTF-8");
    let (place, output) = unpacked(&tgz(&[
        Member::file("../train.en", b"evil\n"),
        Member::file("../../train.en", b"evil\n"),
        Member::file("text/../../train.en", b"evil\n"),
        Member::file(absolute, b"evil\n"),
        Member::other(EntryType::Symlink, "text", "/tmp"),
        Member::file("./text/train.en", &english()),
        Member::file("text/train.de", &german()),
    ]));
    assert_exit(&output, 0);
    place.assert_small();
    assert_alone(&place);
    assert!(!outside.exists());
}

#[test]
fn a_file_through_a_link_goes_only_where_the_catalogue_says() {
    let (place, output) = unpacked(&tgz(&[
        Member::other(EntryType::Symlink, "text", "../outside"),
        Member::file("text/train.en", &english()),
        Member::other(EntryType::Symlink, "train.de", "../../outside"),
        Member::file("text/train.de", &german()),
    ]));
    assert_exit(&output, 0);
    place.assert_small();
    assert_alone(&place);
}

#[test]
fn what_is_no_plain_file_is_refused() {
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Directory,
    ] {
        let (place, output) = unpacked(&tgz(&[
            Member::other(kind, "text/train.en", "/etc/passwd"),
            Member::file("text/train.de", &german()),
        ]));
        assert_told(
            &output,
            4,
            &["mirror/small.tgz: `text/train.en` in it is not a regular file"],
        );
        place.assert_nothing_finished();
    }
}

#[test]
fn an_archive_without_a_member_names_it() {
    let (place, output) = unpacked(&tgz(&[Member::file("text/train.en", &english())]));
    assert_told(&output, 4, &["mirror/small.tgz: holds no `text/train.de`"]);
    place.assert_nothing_finished();
}

#[test]
fn a_bomb_is_not_unpacked() {
    let zeros = vec![0; 80 << 20];
    let (place, output) = unpacked(&tgz(&[Member::file("text/train.en", &zeros)]));
    assert_told(&output, 4, &["unpacks to more than 64 times its size"]);
    place.assert_nothing_finished();
    let (place, output) = unpacked(&tgz(&[Member::file("text/train.en", &gzip(&zeros))]));
    assert_told(&output, 4, &["unpacks to more than 64 times its size"]);
    place.assert_nothing_finished();
}

/// Holes are not text, and a terabyte of them is a bomb.
#[test]
fn a_sparse_file_is_refused() {
    let mut header = tar::Header::new_gnu();
    header.set_path("text/train.en").expect("a short name");
    header.set_entry_type(EntryType::GNUSparse);
    header.set_size(0);
    header.as_gnu_mut().expect("a GNU header").set_real_size(1 << 40);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, &b""[..]).expect("memory");
    let (place, output) = unpacked(&gzip(&builder.into_inner().expect("memory")));
    assert_told(&output, 4, &["mirror/small.tgz: "]);
    place.assert_nothing_finished();
}

/// A header that promises a terabyte is believed by nobody.
#[test]
fn a_member_longer_than_its_archive_is_damage() {
    let mut archive = tar(&[Member::file("text/train.en", b"short\n")]);
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&archive[..512]);
    header.set_size(1 << 40);
    header.set_cksum();
    archive[..512].copy_from_slice(header.as_bytes());
    let (place, output) = unpacked(&gzip(&archive));
    assert_exit(&output, 4);
    place.assert_nothing_finished();
}

#[test]
fn a_damaged_archive_is_no_shorter_text() {
    let whole = small();
    for archive in [&whole[..whole.len() / 2], b"", b"text", &gzip(b"no archive")[..]] {
        let (place, output) = unpacked(archive);
        assert_told(&output, 4, &["mirror/small.tgz: "]);
        place.assert_nothing_finished();
    }
}

#[test]
fn archives_need_not_be_compressed_and_members_may_be() {
    let (english_gz, german_gz) = (gzip(&english()), gzip(&german()));
    let (place, output) = unpacked(&tar(&[
        Member::file("text/train.en", &english_gz),
        Member::file("text/train.de", &german_gz),
    ]));
    assert_exit(&output, 0);
    place.assert_small();
}
