//! Node evidence in all supported forms, alone and with a cluster.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::fetched::Why;
use meshdoctor::item::{Item, Kind};
use meshdoctor::model::cluster::TimeSource;
use meshdoctor::node_files::NodeFiles;
use meshdoctor::save::{ClosingEntries, Writer};
use meshdoctor::source::error::LoadError;
use meshdoctor::source::evidence::Captured;
use meshdoctor::source::layered::Layered;
use meshdoctor::source::memory::Memory;
use meshdoctor::source::nodes::{NodeEvidence, NodesInput};
use meshdoctor::source::{Completeness, Source};

use crate::binary::{meshdoctor, ran};

const CONFLIST: &str = r#"{"cniVersion":"0.3.1","name":"x","plugins":[{"type":"cilium-cni"},{"type":"linkerd-cni"}]}"#;

fn meta(node: &str, at: &str) -> String {
    format!(r#"{{"schema":"node-snapshot/1","node":"{node}","collectedAt":"{at}"}}"#)
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn one(name: &str, path: &Path) -> NodesInput {
    NodesInput::Node { name: name.to_owned(), path: path.to_owned() }
}

fn several(path: &Path) -> NodesInput {
    NodesInput::Several(path.to_owned())
}

fn tgz(folder: &Path, archive: &Path) -> PathBuf {
    let gz = flate2::write::GzEncoder::new(fs::File::create(archive).unwrap(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gz);
    tar.append_dir_all(folder.file_name().unwrap(), folder).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    archive.to_owned()
}

fn collected(source: &impl Source) -> Collected {
    collect_now(source, &BTreeSet::from([Item::NodeFiles, Item::List(Kind::Pod)]), &Options::default(), None)
}

/// Each node, with the names of its CNI configuration.
fn node_files(source: &impl Source) -> Vec<(String, String)> {
    let snapshots = collected(source).cluster.nodes.unwrap();
    snapshots.iter().map(|snapshot| (snapshot.node.clone(), format!("{snapshot:?}"))).collect()
}

fn trouble(source: &impl Source) -> Vec<String> {
    collected(source).cluster.node_trouble.iter().map(ToString::to_string).collect()
}

fn open(given: &[NodesInput]) -> Result<NodeEvidence, LoadError> {
    NodeEvidence::open(given)
}

#[test]
fn a_node_is_read_from_a_copy_a_snapshot_and_archives_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("net.d"), &[("05-cilium.conflist", CONFLIST)]);
    write(&path("etc-copy"), &[("etc/cni/net.d/05-cilium.conflist", CONFLIST)]);
    write(
        &path("snapshot"),
        &[("meta.json", &meta("n1", "2026-01-15T11:00:00Z")), ("cni/net.d/05-cilium.conflist", CONFLIST)],
    );
    for given in [
        one("n1", &path("net.d")),
        one("n1", &path("etc-copy")),
        one("n1", &path("snapshot")),
        several(&path("snapshot")),
        one("n1", &tgz(&path("net.d"), &path("a.tgz"))),
        one("n1", &tgz(&path("snapshot"), &path("b.tgz"))),
    ] {
        let evidence = open(std::slice::from_ref(&given)).unwrap_or_else(|e| panic!("{given:?}: {e}"));
        let seen = node_files(&evidence);
        assert_eq!(seen.len(), 1, "{given:?}");
        assert_eq!(seen[0].0, "n1", "{given:?}");
        assert!(seen[0].1.contains("05-cilium.conflist") && seen[0].1.contains("linkerd-cni"), "{given:?}: {seen:?}");
        assert!(trouble(&evidence).is_empty(), "{given:?}");
    }
}

#[test]
fn folders_of_nodes_are_read_with_and_without_their_folder_and_from_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (top, nodes) in [("plain", ""), ("layout", "nodes/")] {
        for node in ["n1", "n2"] {
            write(&path(top), &[(&format!("{nodes}{node}/cni/net.d/05-x.conflist"), CONFLIST)]);
        }
    }
    let mut memory = Memory::default();
    for node in ["n1", "n2"] {
        let files = [("cni/net.d/05-x.conflist".to_owned(), CONFLIST.as_bytes().to_vec())].into();
        memory.nodes.push(NodeFiles { node: node.to_owned(), files });
    }
    let writer = Writer::create(&path("b.tar.zst")).unwrap();
    let saved = collect_now(&memory, &BTreeSet::from([Item::NodeFiles]), &Options::default(), Some(&writer));
    writer.finish(ClosingEntries::new(&saved, None, None)).unwrap();
    let archive = tgz(&path("layout/nodes"), &path("nodes.tgz"));
    for given in [path("plain"), path("layout"), path("layout/nodes"), archive, path("b.tar.zst")] {
        let evidence = open(&[several(&given)]).unwrap_or_else(|e| panic!("{}: {e}", given.display()));
        let names: Vec<String> = node_files(&evidence).into_iter().map(|(node, _)| node).collect();
        assert_eq!(names, ["n1", "n2"], "{}", given.display());
    }
}

#[test]
fn evidence_that_names_no_node_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("net.d"), &[("05-cilium.conflist", CONFLIST)]);
    write(&path("half"), &[("cni/net.d/05-cilium.conflist", CONFLIST)]);
    write(&path("notes"), &[("README.md", "x")]);
    for (given, usage, part) in [
        (several(&path("net.d")), true, "use --nodes NAME="),
        (several(&path("half")), true, "use --nodes NAME="),
        (one("Not_A_Node", &path("net.d")), true, "is not a valid node name"),
        (one("..", &path("net.d")), true, "is not a valid node name"),
        (one("n1", &path("net.d/05-cilium.conflist")), false, "give the whole folder"),
        (several(&path("notes")), false, "neither a node snapshot nor a copy"),
        (one("n1", &path("gone")), true, "No such file"),
    ] {
        let error = open(std::slice::from_ref(&given)).map(|_| ()).expect_err(&format!("{given:?}"));
        assert_eq!(error.is_usage(), usage, "{given:?}: {error}");
        assert!(error.to_string().contains(part), "{given:?}: {error}");
    }
}

#[test]
fn a_node_given_twice_counts_as_it_was_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("new"), &[("meta.json", &meta("n1", "2026-01-15T12:00:00Z")), ("cni/net.d/05-new.conflist", CONFLIST)]);
    write(&path("old"), &[("meta.json", &meta("n1", "2026-01-15T11:00:00Z")), ("cni/net.d/05-old.conflist", CONFLIST)]);
    let orders = [[several(&path("new")), several(&path("old"))], [several(&path("old")), several(&path("new"))]];
    for given in orders {
        let evidence = open(&given).unwrap();
        let seen = node_files(&evidence);
        assert!(seen.len() == 1 && seen[0].1.contains("05-new"), "{given:?}");
        assert!(evidence.warnings()[0].contains("n1"), "{:?}", evidence.warnings());
        let at = collected(&evidence).cluster;
        assert_eq!((at.at.to_string().as_str(), at.time_source), ("2026-01-15T12:00:00Z", TimeSource::Captured));
    }
}

#[test]
fn alone_it_offers_nothing_of_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("05-x.conflist", CONFLIST)]);
    let evidence = open(&[one("n1", folder.path())]).unwrap();
    let cluster = collected(&evidence).cluster;
    let pods = &cluster.answer(&Item::List(Kind::Pod)).unwrap().fetched;
    assert_eq!(*pods, meshdoctor::fetched::Fetched::Missing { reason: Why::NotOffered });
    assert_eq!(cluster.time_source, TimeSource::Clock, "a copy has no capture time");
}

#[test]
fn laid_over_a_bundle_both_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut memory = Memory { completeness: Completeness::All, ..Memory::default() };
    for (node, name) in [("n1", "05-bundle.conflist"), ("n2", "05-bundle.conflist")] {
        let files = [
            ("meta.json".to_owned(), meta(node, "2026-01-15T11:00:00Z").into_bytes()),
            (format!("cni/net.d/{name}"), CONFLIST.as_bytes().to_vec()),
        ];
        memory.nodes.push(NodeFiles { node: node.to_owned(), files: files.into() });
    }
    let writer = Writer::create(&path("b.tgz")).unwrap();
    let items = BTreeSet::from([Item::NodeFiles, Item::List(Kind::Pod)]);
    let saved = collect_now(&memory, &items, &Options::default(), Some(&writer));
    writer.finish(ClosingEntries::new(&saved, None, None)).unwrap();
    write(&path("n2"), &[("05-given.conflist", CONFLIST)]);
    write(&path("n3"), &[("05-given.conflist", CONFLIST)]);
    write(
        &path("n1"),
        &[("meta.json", &meta("n1", "2026-01-15T10:00:00Z")), ("cni/net.d/05-older.conflist", CONFLIST)],
    );

    let base = Captured::open(&[path("b.tgz")], Completeness::Unstated, std::io::empty()).unwrap();
    let given = ["n1", "n2", "n3"].map(|node| one(node, &path(node)));
    let layered = Layered::new(base, Some(open(&given).unwrap()));
    let files: Vec<(String, bool)> =
        node_files(&layered).into_iter().map(|(node, text)| (node, text.contains("05-given"))).collect();
    let wanted = [("n1", false), ("n2", true), ("n3", true)].map(|(node, given)| (node.to_owned(), given));
    assert_eq!(files, wanted);
    assert!(node_files(&layered)[0].1.contains("05-bundle"), "the bundle's is the later one");
    let warnings = layered.warnings().join("\n");
    assert!(warnings.contains("node n1: both the bundle") && warnings.contains("node n2: both --nodes"), "{warnings}");
    let pods = collected(&layered).cluster;
    assert_eq!(pods.answer(&Item::List(Kind::Pod)).unwrap().fetched, meshdoctor::fetched::Fetched::Complete);
}

#[test]
fn what_cannot_be_read_is_a_gap_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("all"), &[("n1/05-x.conflist", CONFLIST), ("UPPER/05-x.conflist", CONFLIST)]);
    fs::create_dir(path("empty")).unwrap();
    let whole = tgz(&path("all/n1"), &path("whole.tgz"));
    let bytes = fs::read(&whole).unwrap();
    fs::write(path("all/n2.tgz"), &bytes[..bytes.len() / 2]).unwrap();
    let evidence = open(&[several(&path("all")), one("n3", &path("empty"))]).unwrap();
    let said = trouble(&evidence);
    for part in ["UPPER", "n2.tgz", "empty: it contains no files"] {
        assert!(said.iter().any(|said| said.contains(part)), "{part}: {said:?}");
    }
    assert!(node_files(&evidence).iter().any(|(node, _)| node == "n1"));
    assert!(open(&[one("n3", &path("empty"))]).unwrap_err().to_string().contains("no files"));
}

#[cfg(unix)]
#[test]
fn a_link_beside_its_file_is_read_as_the_runtime_reads_it_and_no_other_is_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("real/10-x.conflist", CONFLIST)]);
    let copy = folder.path().join("real");
    symlink("10-x.conflist", copy.join("00-first.conflist")).unwrap();
    let inside = open(&[one("n1", &copy)]).unwrap();
    assert!(node_files(&inside)[0].1.contains("00-first.conflist"));
    assert!(trouble(&inside).is_empty());
    symlink("/etc/hostname", copy.join("01-out.conflist")).unwrap();
    let outside = open(&[one("n1", &copy)]).unwrap();
    assert!(trouble(&outside)[0].contains("01-out.conflist"), "{:?}", trouble(&outside));
}

#[cfg(target_os = "linux")]
#[test]
fn a_snapshot_that_was_printed_to_a_log_is_read_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("host"), &[("etc/cni/net.d/05-cilium.conflist", CONFLIST), ("etc/os-release", "ID=amzn\n")]);
    let host = path("host");
    let words = ["node-snapshot", "--to-log", "--node", "n1", "--root", host.to_str().unwrap()];
    let printed = ran(meshdoctor(&words));
    assert!(printed.status == 0, "{}", printed.err);
    let log = printed.out;
    fs::create_dir(path("logs")).unwrap();
    // Lines in the format of kubectl logs --prefix --timestamps.
    let dressed: String = log.lines().map(|line| format!("[pod/x/y] 2026-01-15T12:00:00Z {line}\n")).collect();
    fs::write(path("logs/n1.log"), dressed).unwrap();
    for given in [one("n1", &path("logs/n1.log")), several(&path("logs/n1.log")), several(&path("logs"))] {
        let evidence = open(std::slice::from_ref(&given)).unwrap_or_else(|e| panic!("{given:?}: {e}"));
        let seen = node_files(&evidence);
        assert!(seen.len() == 1 && seen[0].0 == "n1" && seen[0].1.contains("05-cilium.conflist"), "{seen:?}");
        assert!(trouble(&evidence).is_empty() && evidence.warnings().is_empty(), "{given:?}");
    }
    fs::write(path("cut.log"), &log[..log.len() - 30]).unwrap();
    let error = open(&[several(&path("cut.log"))]).unwrap_err().to_string();
    assert!(error.contains("the log ends in the middle of the snapshot"), "{error}");
}
