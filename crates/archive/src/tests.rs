//! Limits, damage, and unsafe names.

use proptest::prelude::*;

use super::*;
use ::tar::Header;

fn blob(bytes: &[u8]) -> Blob {
    let mut spool = Spool::new();
    spool.write_all(bytes).unwrap();
    spool.finish()
}

fn packed(bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    [gz.finish().unwrap(), zstd::encode_all(bytes, 1).unwrap()]
}

fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = ::tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, path, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn bomb_is_cut_at_the_common_limit() {
    for bytes in packed(&[b' '; 10_000]) {
        let mut budget = Budget { bytes: 15_000, entries: 10 };
        let Ok(Unpacked::Plain(first, None)) = unpack(&blob(&bytes), &mut budget, |_| true) else { panic!() };
        assert_eq!(first.len(), 10_000);
        let Ok(Unpacked::Plain(second, Some(why))) = unpack(&blob(&bytes), &mut budget, |_| true) else { panic!() };
        assert_eq!(second.len(), 5_000);
        assert!(why.contains("more than the limit"), "{why}");
    }
}

#[test]
fn unwanted_file_is_unpacked_only_briefly() {
    for bytes in packed(&[0; 1 << 20]) {
        let mut budget = Budget::default();
        let wanted = |head: &[u8]| !head.contains(&0);
        let Ok(Unpacked::Plain(held, None)) = unpack(&blob(&bytes), &mut budget, wanted) else { panic!() };
        assert_eq!(held.len(), PLAIN_HEAD);
        assert_eq!(MAX_UNPACKED - budget.left(), PLAIN_HEAD);
    }
}

#[test]
fn entries_are_limited_and_long_names_work() {
    let long = format!("{}/x.json", "d".repeat(200));
    let tar = tar_of(&[(&long, b"1"), ("b", b"2"), ("c", b"3")]);
    for bytes in [tar.clone(), packed(&tar)[0].clone()] {
        let Ok(Unpacked::Tree(tree)) = unpack(&blob(&bytes), &mut Budget::default(), |_| true) else { panic!() };
        assert_eq!(tree.files.keys().collect::<Vec<_>>(), ["b", "c", &long]);
        assert_eq!(tree.files[&long].bytes(9).unwrap(), b"1");
        assert!(tree.trouble.is_empty());
        let mut few = Budget { bytes: 1 << 20, entries: 3 };
        let Ok(Unpacked::Tree(tree)) = unpack(&blob(&bytes), &mut few, |_| true) else { panic!() };
        assert!(tree.trouble[0].1.contains("entries"), "{tree:?}");
    }
}

#[test]
fn flipped_byte_is_detected() {
    let tar = tar_of(&[("a.json", &[b'x'; 5000])]);
    let [mut gz, _] = packed(&tar);
    let checksum = gz.len() - 6;
    gz[checksum] ^= 0x10;
    let Ok(Unpacked::Tree(tree)) = unpack(&blob(&gz), &mut Budget::default(), |_| true) else { panic!() };
    assert!(tree.corrupt && !tree.trouble.is_empty(), "{tree:?}");
    let mut open = tar.clone();
    open[0] ^= 1;
    assert!(!is_tar(&open[..BLOCK]));
}

proptest! {
    #[test]
    fn damaged_archive_stays_within_its_budget(at in 0_usize..4000, byte in any::<u8>(), cut in 0_usize..4000, form in 0_usize..3) {
        let tar = tar_of(&[("a/x.json", b"{}"), ("b", &[7; 700])]);
        let [gz, zst] = packed(&tar);
        let mut bytes = [tar, gz, zst][form].clone();
        let len = bytes.len();
        bytes[at % len] = byte;
        bytes.truncate(cut.max(1));
        let mut budget = Budget { bytes: 1 << 20, entries: 100 };
        if let Ok(Unpacked::Tree(tree)) = unpack(&blob(&bytes), &mut budget, |_| true) {
            for (path, held) in &tree.files {
                prop_assert_eq!(clean(path.as_bytes()), Ok(path.clone()));
                prop_assert!(held.len() <= 1 << 20);
            }
        }
    }

    #[test]
    fn clean_path_stays_inside(name in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(path) = clean(&name) {
            prop_assert!(!path.starts_with('/'));
            prop_assert!(path.split('/').all(|part| part != ".."));
            prop_assert_eq!(clean(path.as_bytes()), Ok(path.clone()));
        }
    }
}

/// A zip archive of named contents, compressed or stored; some are links.
fn zip_of(files: &[(&str, &[u8])], packed: bool) -> Vec<u8> {
    use rawzip::{CompressionMethod, ZipArchiveWriter};
    let mut out = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut out);
    for (path, bytes) in files {
        let method = if packed { CompressionMethod::DEFLATE } else { CompressionMethod::STORE };
        let (mut entry, config) = archive.new_file(*path).compression_method(method).start().unwrap();
        if packed {
            let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
            let mut writer = config.wrap(encoder);
            writer.write_all(bytes).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(bytes).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
    }
    archive.finish().unwrap();
    out
}

fn unzipped(bytes: &[u8], budget: &mut Budget) -> Tree {
    let Ok(Unpacked::Tree(tree)) = unpack(&blob(bytes), budget, |_| true) else { panic!() };
    tree
}

#[test]
fn zip_is_read_by_its_directory() {
    for packed in [false, true] {
        let bytes = zip_of(&[("a/x.json", b"{}"), ("b.yaml", b"kind: Pod"), ("b.yaml", b"kind: Node")], packed);
        let tree = unzipped(&bytes, &mut Budget::default());
        assert_eq!(tree.files.keys().collect::<Vec<_>>(), ["a/x.json", "b.yaml"]);
        assert_eq!(tree.files["b.yaml"].bytes(99).unwrap(), b"kind: Node");
        assert!(tree.trouble.is_empty() && tree.notes.len() == 1, "{tree:?}");
        // Zip Slip: writers clean names, so unsafe names are inserted afterwards.
        let text = |bytes: &[u8], from: &[u8], to: &[u8]| -> Vec<u8> {
            let mut bytes = bytes.to_vec();
            while let Some(at) = memchr::memmem::find(&bytes, from) {
                bytes[at..at + to.len()].copy_from_slice(to);
            }
            bytes
        };
        for name in [&b"../x.json"[..8], b"/./x.jso"] {
            let tree = unzipped(&text(&bytes, b"a/x.json", name), &mut Budget::default());
            assert_eq!(tree.files.len(), 1, "{tree:?}");
            assert_eq!(tree.trouble.len(), 1, "{tree:?}");
        }
    }
}

#[test]
fn truncated_zip_is_reported() {
    let long = "kind: Pod\n".repeat(5000);
    for packed in [false, true] {
        let bytes = zip_of(&[("x.yaml", long.as_bytes()), ("y.yaml", b"kind: Node")], packed);
        // A byte of its content.
        let mut damaged = bytes.clone();
        damaged[60] ^= 1;
        let tree = unzipped(&damaged, &mut Budget::default());
        assert_eq!(tree.files.keys().collect::<Vec<_>>(), ["y.yaml"], "{:?}", tree.trouble);
        assert!(tree.corrupt && tree.trouble[0].0 == "x.yaml", "{:?}", tree.trouble);
        // Its end, with the central directory.
        let cut = unpack(&blob(&bytes[..bytes.len() - 30]), &mut Budget::default(), |_| true);
        assert!(cut.is_err_and(|error| error.to_string().contains("truncated")));
        let mut budget = Budget { bytes: 1000, entries: 10 };
        let tree = unzipped(&bytes, &mut budget);
        assert!(tree.trouble[0].1.contains("more than the limit"), "{:?}", tree.trouble);
        let mut budget = Budget { bytes: 1 << 20, entries: 1 };
        let tree = unzipped(&bytes, &mut budget);
        assert!(tree.files.len() == 1 && tree.trouble[0].1.contains("entries"), "{:?}", tree.trouble);
    }
}

proptest! {
    #[test]
    fn no_zip_panics(at in 0usize..400, byte: u8, cut in 0usize..400) {
        let mut bytes = zip_of(&[("a/x.json", b"{\"kind\": \"Pod\"}"), ("b.yaml", b"kind: Node")], true);
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut % bytes.len() / 4);
        _ = unpack(&blob(&bytes), &mut Budget::default(), |_| true);
    }
}
