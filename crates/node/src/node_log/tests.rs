use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::node_files::NodeFiles;

fn snapshot(files: &[(&str, &[u8])]) -> NodeFiles {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    NodeFiles { node: "ip-10-0-1-12".to_owned(), files }
}

fn written(files: &NodeFiles) -> Vec<u8> {
    let mut log = Vec::new();
    write(files, &mut log).unwrap();
    log
}

fn files_of(held: &FoundSnapshot) -> BTreeMap<String, Vec<u8>> {
    assert!(held.tree.trouble.is_empty(), "{:?}", held.tree.trouble);
    held.tree.files.iter().map(|(path, blob)| (path.clone(), blob.bytes(1 << 30).unwrap())).collect()
}

/// Incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}

#[test]
fn prefixes_and_foreign_lines_are_ignored() {
    let files = snapshot(&[("meta.json", b"{}"), ("cni/net.d/05-x.conflist", &noise(20_000))]);
    let log = String::from_utf8(written(&files)).unwrap();
    assert!(log.lines().count() > 5 && log.lines().all(|line| line.len() < 5000));
    let mut dressed = String::from("pulling\n");
    for line in log.lines() {
        dressed += &format!("[pod/x] 2026-01-15T12:00:00.000000001Z {line}\r\nwarning: /host/x: permission denied\n");
    }
    let held = read(dressed.as_bytes()).unwrap();
    assert_eq!((held.node.as_str(), files_of(&held)), ("ip-10-0-1-12", files.files));
}

#[test]
fn errors_name_the_missing_part() {
    let files = snapshot(&[("meta.json", &noise(10_000))]);
    let log = String::from_utf8(written(&files)).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let of = |lines: &[&str]| read(lines.join("\n").as_bytes()).unwrap_err().to_string();
    let none = "the log contains no snapshot; its last line: exec: meshdoctor: not found";
    assert_eq!(of(&["exec: meshdoctor: not found", ""]), none);
    assert_eq!(of(&[]), "the log contains no snapshot");
    let cut = "the log ends in the middle of the snapshot, after 2 of its lines";
    assert_eq!(of(&lines[..3]), cut);
    assert_eq!(of(&[&lines[..3], &["Killed"]].concat()), format!("{cut}; its last line: Killed"));
    let torn = "line 2 of the snapshot in the log is missing or damaged";
    assert_eq!(of(&[&lines[..2], &lines[3..]].concat()), torn);
    assert_eq!(of(&[&lines[..3], &lines[2..]].concat()), "line 3 of the snapshot in the log is missing or damaged");
    let newer = log.replacen("node-log/1", "node-log/2", 1);
    assert!(of(&[&newer]).contains("in format 2, but only format 1 is supported"), "{}", of(&[&newer]));
    let other = log.replacen("sha256=", "sha256=0", 1);
    assert!(of(&[&other]).contains("checksum"), "{}", of(&[&other]));
}

#[test]
fn truncated_snapshot_hides_no_other_and_is_named() {
    let node = |name: &str| {
        let files = NodeFiles { node: name.to_owned(), ..snapshot(&[("meta.json", &noise(10_000))]) };
        String::from_utf8(written(&files)).unwrap()
    };
    let cut: Vec<_> = node("node-1").lines().take(3).map(|line| format!("{line}\n")).collect();
    let cut = cut.concat();
    let names = |log: &str| {
        let each = read_all(log.as_bytes()).into_iter();
        each.map(|found| found.map(|held| held.node).map_err(|(node, _)| node)).collect::<Vec<_>>()
    };
    let ok = |name: &str| Ok(name.to_owned());
    let gone = || Err("node-1".to_owned());
    assert_eq!(names(&format!("{}{cut}", node("node-2"))), [ok("node-2"), gone()]);
    assert_eq!(names(&format!("{cut}{}", node("node-2"))), [gone(), ok("node-2")]);
    let torn = format!("{}\n", node("node-1").lines().nth(1).unwrap());
    assert_eq!(names(&torn), [Err(String::new())]);
    assert!(!is_log(b"pulling\nexec: not found") && is_log(torn.as_bytes()));
}

#[test]
fn largest_files_are_omitted_and_named() {
    let files = snapshot(&[
        ("cni/net.d/05-x.conflist", b"{}"),
        ("logs/kubelet.txt", &noise(MAX_PACKED - 4096)),
        ("logs/runtime.txt", &noise(MAX_PACKED + 1)),
        ("meta.json", br#"{"schema":"node-snapshot/1","truncated":["logs/other.txt"]}"#),
    ]);
    let mut log = Vec::new();
    let told = write(&files, &mut log).unwrap();
    assert_eq!(told.left_out, ["logs/runtime.txt"]);
    assert!(told.bytes <= MAX_PACKED && log.len() < MAX_LOG);
    let files = files_of(&read(&log).unwrap());
    assert_eq!(files.len(), 3);
    let meta: serde_json::Value = serde_json::from_slice(&files["meta.json"]).unwrap();
    assert_eq!(meta["truncated"], serde_json::json!(["logs/other.txt", "logs/runtime.txt"]));
}

#[test]
fn compression_bomb_is_rejected() {
    // 128 MiB of zeros are 12 KiB of zstd.
    let files = snapshot(&[("logs/kubelet.txt", &vec![0; 128 << 20])]);
    let log = written(&files);
    assert!(log.len() < 64 << 10, "{}", log.len());
    let held = read(&log).unwrap();
    let unpacked: u64 = held.tree.files.values().map(crate::archive::spool::Blob::len).sum();
    assert!(unpacked <= crate::node_files::MAX_NODE && !held.tree.trouble.is_empty());
}

proptest! {
    #[test]
    fn written_snapshot_is_read_back(
        files in prop::collection::btree_map(
            "[a-z]{1,8}(/[a-z%.]{1,20}[a-z])?",
            prop::collection::vec(any::<u8>(), 0..6000),
            1..6,
        ),
        strangers in prop::collection::vec("[ -~]{0,40}", 1..4),
    ) {
        let files = NodeFiles { node: "n1".to_owned(), files };
        let log = String::from_utf8(written(&files)).unwrap();
        let mut mixed = String::new();
        for (index, line) in log.lines().enumerate() {
            mixed += &format!("{line}\n{}\n", strangers[index % strangers.len()]);
        }
        let held = read(mixed.as_bytes()).unwrap();
        prop_assert_eq!(files_of(&held), files.files);
    }

    /// A log that is truncated or has a changed byte yields no snapshot or the same one.
    #[test]
    fn damaged_log_is_rejected(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let files = snapshot(&[("meta.json", b"{}"), ("cni/net.d/05-x.conflist", &noise(7_000))]);
        let log = written(&files);
        // The final newline is optional.
        let cut = at.index(log.len() - 1);
        prop_assert!(read(&log[..cut]).is_err());
        let mut damaged = log.clone();
        damaged[at.index(log.len())] = byte;
        if let Ok(held) = read(&damaged) {
            prop_assert_eq!(files_of(&held), files.files);
        }
    }

    #[test]
    fn hostile_log_is_rejected(log in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(read(&log).is_err());
        let ours = [b"meshdoctor-node-log/1 begin n\nmeshdoctor-node-log/1 0 ".as_slice(), &log].concat();
        prop_assert!(read(&ours).is_err());
    }
}
