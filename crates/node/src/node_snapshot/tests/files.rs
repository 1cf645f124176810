//! Hostile files and directories: no access leaves the root or blocks, and existing files never look absent.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::node::{Content, Effective, RuntimeKind};
use root::ReadFailure;

const DIR: &str = "etc/cni/net.d";

fn content(snapshot: &NodeSnapshot, name: &str) -> String {
    match &snapshot.conf_file(&format!("/{DIR}/{name}")).expect(name).content {
        Content::Captured { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        Content::NotCaptured(why) => format!("({why})"),
    }
}

#[test]
fn links_are_followed_only_inside_the_root() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.conflist"), "{\"outside\":1}").unwrap();
    let outside = outside.path().display().to_string();
    let made = Made::whole()
        .file("opt/real.conflist", "{\"inside\":1}")
        .link(&format!("{DIR}/10-absolute.conflist"), "/opt/real.conflist")
        .link(&format!("{DIR}/11-relative.conflist"), "../../../opt/real.conflist")
        .link(&format!("{DIR}/12-above.conflist"), "../../../../../../../../opt/real.conflist")
        .link(&format!("{DIR}/13-outside.conflist"), &format!("{outside}/x.conflist"))
        .link(&format!("{DIR}/14-loop.conflist"), "14-loop.conflist")
        .link(&format!("{DIR}/15-dangling.conflist"), "/nowhere")
        .link("mnt/etc", "/etc")
        .link(&format!("{DIR}/16-through.conflist"), "/mnt/etc/../opt/real.conflist");
    let snapshot = made.read();
    for name in ["10-absolute", "11-relative", "12-above", "16-through"] {
        assert_eq!(content(&snapshot, &format!("{name}.conflist")), "{\"inside\":1}", "{name}");
    }
    for (name, why) in
        [("13-outside", "(a dangling link: "), ("14-loop", "(too many"), ("15-dangling", "(a dangling link: /nowhere)")]
    {
        assert!(
            content(&snapshot, &format!("{name}.conflist")).starts_with(why),
            "{}",
            content(&snapshot, &format!("{name}.conflist"))
        );
    }
    assert!(!shown(&made.take()).contains("\"outside\""));
}

#[test]
fn only_configuration_is_copied_through_a_link() {
    let made = Made::whole()
        .file("etc/shadow", "root:$6$hunter2:19000::::::\n")
        .file("etc/kubernetes/admin.conf", mk_kubeconfig())
        .link(&format!("{DIR}/10.conflist"), "/etc/shadow")
        .link(&format!("{DIR}/20.conf"), "/etc/kubernetes/admin.conf")
        .link(&format!("{DIR}/30.conf"), "/etc");
    let snapshot = made.read();
    assert!(content(&snapshot, "10.conflist").contains("does not look like configuration"));
    assert!(content(&snapshot, "20.conf").contains("does not look like configuration"));
    assert_eq!(content(&snapshot, "30.conf"), "(not a regular file but a directory)");
}

#[test]
fn special_files_are_not_opened() {
    let made = Made::whole().dir(&format!("{DIR}/10-dir.conflist"));
    let fifo = made.path(&format!("{DIR}/20-fifo.conflist"));
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(made.path(&format!("{DIR}/30.conf"))).unwrap();
    let made = made.link(&format!("{DIR}/40.conf"), "20-fifo.conflist");
    let snapshot = made.read();
    for name in ["10-dir.conflist", "20-fifo.conflist", "30.conf"] {
        assert_eq!(content(&snapshot, name), "(not a file)", "{name}");
    }
    assert_eq!(content(&snapshot, "40.conf"), "(not a regular file but a FIFO)");
    let root = Root::open(made.root()).unwrap();
    assert!(matches!(root.read(Path::new("/etc/cni/net.d/20-fifo.conflist"), 10), Err(ReadFailure::NotAFile("FIFO"))));
    assert!(matches!(root.list(Path::new("/etc/hostname")), Err(ReadFailure::NotAFolder)));
}

#[test]
fn oversized_files_are_listed() {
    let made = Made::whole().file(&format!("{DIR}/10.conflist"), vec![b' '; (2 << 20) + 1]);
    let sparse = fs::File::create(made.path(&format!("{DIR}/20.conflist"))).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let snapshot = made.read();
    for name in ["10.conflist", "20.conflist"] {
        assert_eq!(content(&snapshot, name), "(larger than the limit of 2097152 bytes)");
    }
}

#[test]
fn growing_file_is_not_read_as_complete() {
    let made = Made::whole().file(&format!("{DIR}/10.conflist"), "{");
    let path = made.path(&format!("{DIR}/10.conflist"));
    let root = Root::open(made.root()).unwrap();
    assert_eq!(root.read(Path::new("/etc/cni/net.d/10.conflist"), 100).unwrap().bytes, b"{");
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            use std::io::Write;
            let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
            while !stop.load(Ordering::Relaxed) {
                file.write_all(&[b' '; 512]).unwrap();
                file.sync_data().unwrap_or(());
            }
        }
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    let read = root.read(Path::new("/etc/cni/net.d/10.conflist"), 1 << 30);
    let bounded = root.read(Path::new("/etc/cni/net.d/10.conflist"), 16);
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    // A fast reader may have read a complete state; a partial one never counts.
    if let Ok(content) = &read {
        assert_eq!(content.metadata.len(), content.bytes.len() as u64);
    } else {
        assert!(matches!(read, Err(ReadFailure::Changing)), "{read:?}");
    }
    assert!(matches!(bounded, Err(ReadFailure::TooLarge(16))));
}

#[test]
fn unprintable_names_are_listed() {
    let made = Made::whole().file(&format!("{DIR}/10-x.conflist"), "{}");
    fs::write(made.path(DIR).join("05-a\nb.conflist"), "{}").unwrap();
    fs::write(made.path(DIR).join(OsStr::from_bytes(b"06-\xff.conflist")), "{}").unwrap();
    let snapshot = made.read();
    assert_eq!(snapshot.loadable_files().len(), 3);
    assert_eq!(content(&snapshot, "05-a\u{FFFD}b.conflist"), "(its name contains characters that are not shown)");
    // The first file is known to exist, but not its content.
    let Effective::File(loaded) = snapshot.effective(RuntimeKind::Containerd) else { panic!() };
    assert!(loaded.assuming[0].contains("not shown"), "{:?}", loaded.assuming);
    // If a secret is part of a name, the order is not known either.
    let made = made.file(&format!("{DIR}/eyJhIjoxfQ.eyJiIjoyfQ.c2ln.conflist"), "{}");
    assert!(matches!(made.read().effective(RuntimeKind::Containerd), Effective::Unknown { .. }));
}

#[test]
fn secrets_become_facts_and_markers() {
    let made = Made::whole()
        .file(&format!("{DIR}/10-x.conflist"), CONFLIST.replace("@TOKEN@", &mk_secret()))
        .file(&format!("{DIR}/20-plain.conflist"), "{}")
        .file(&format!("{DIR}/ZZZ-linkerd-cni-kubeconfig"), mk_kubeconfig())
        .file(&format!("{DIR}/multus.d/multus.kubeconfig"), mk_kubeconfig())
        .file(&format!("{DIR}/README"), "nothing of interest")
        .file(&format!("{DIR}/10-x.conflist.cilium_bak"), "{\"type\":\"linkerd-cni\"}");
    let snapshot = made.read();
    assert!(content(&snapshot, "10-x.conflist").contains("REDACTED(sha256:"));
    let facts = &snapshot.kubeconfigs.as_ref().unwrap()[..];
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].token_claims.as_ref().unwrap().pod_uid.as_deref(), Some("p-uid"));
    assert!(facts[0].mode.is_some() && facts[0].mtime.is_some());
    let row = |name: &str| snapshot.index.as_ref().unwrap().iter().find(|row| row.name == name).unwrap();
    // The hash of a secret would make it guessable.
    assert!(row("10-x.conflist").sha256.is_none() && row("ZZZ-linkerd-cni-kubeconfig").sha256.is_none());
    assert_eq!(row("20-plain.conflist").sha256, Some(crate::token::sha256_hex(b"{}")));
    assert_eq!(row("multus.kubeconfig").dir, "/etc/cni/net.d/multus.d");
    assert_eq!(content(&snapshot, "README"), "(only listed)");
    assert_eq!(content(&snapshot, "10-x.conflist.cilium_bak"), "{\"type\":\"linkerd-cni\"}");
    assert_eq!(snapshot.lists("/etc/cni/net.d"), Some(true));
    assert_eq!(snapshot.lists("/etc/cni/multus/net.d"), Some(false));
    assert_eq!(snapshot.meta.collected_at.unwrap().to_string(), "2026-01-15T12:00:00Z");
}

#[test]
fn directories_named_by_configuration_are_read() {
    let multus = r#"{"name":"m","type":"multus","confDir":"/opt/cni/more/net.d","clusterNetwork":"x"}"#;
    let elsewhere = CONFLIST.replace("/etc/cni/net.d/", "/run/cni-of-linkerd/../cni-k/").replace("@TOKEN@", "x");
    let made = Made::whole()
        .file(&format!("{DIR}/00-multus.conf"), multus)
        .file(&format!("{DIR}/10-x.conflist"), elsewhere)
        .file("opt/cni/more/net.d/10-x.conflist", "{}")
        .file("run/cni-k/ZZZ-linkerd-cni-kubeconfig", mk_kubeconfig());
    let snapshot = made.read();
    assert!(snapshot.conf_file("/opt/cni/more/net.d/10-x.conflist").is_some());
    assert_eq!(snapshot.kubeconfigs.unwrap()[0].path, "/run/cni-k/ZZZ-linkerd-cni-kubeconfig");
}
