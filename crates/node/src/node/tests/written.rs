//! Written snapshots are read back unchanged: both use one definition.

use super::*;
use crate::node_files::NodeFiles;

fn mk_read(path: &str, value: &impl serde::Serialize) -> NodeSnapshot {
    let files = [(path.to_owned(), serde_json::to_vec(value).unwrap())].into();
    let snapshot = NodeSnapshot::parse(&NodeFiles { node: "n1".to_owned(), files });
    assert_eq!(snapshot.problems, []);
    snapshot
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn meta_and_directories() {
    let meta = Meta {
        schema: text("node-snapshot/1"),
        node: text("n1"),
        node_uid: text("u"),
        collected_at: Some("2026-01-15T12:00:00Z".parse().unwrap()),
        collector: text("meshdoctor 0.1.0"),
        host_root: text("/host"),
        errors: vec![PathError { path: "/run/x".to_owned(), error: "permission denied".to_owned() }],
        truncated: ["logs/runtime.txt".to_owned()].into(),
        not_captured: [("cni/net.d/x.conf".to_owned(), "too large".to_owned())].into(),
        listed: ["/etc/cni/net.d".to_owned()].into(),
    };
    assert_eq!(mk_read("meta.json", &meta).meta, meta);
    for known in [true, false] {
        let dirs = Dirs {
            conf_dir: known.then(|| "/x/net.d".to_owned()),
            bin_dirs: known.then(|| vec!["/x/bin".to_owned()]),
            source: text("config.toml"),
            max_conf_num: known.then_some(0),
            cni_default_network: known.then(|| "net".to_owned()),
            looked_at: [("/x/net.d".to_owned(), true), ("/y".to_owned(), false)].into(),
        };
        assert_eq!(mk_read("cni/dirs.json", &dirs).dirs, Some(dirs));
    }
}

#[test]
fn listings_and_binaries() {
    let mtime = Some("2026-01-15T12:00:00Z".parse().unwrap());
    let kinds = [FileKind::Dir, FileKind::File, FileKind::Other, FileKind::Symlink];
    let index: Vec<IndexEntry> = (kinds.into_iter().enumerate())
        .map(|(at, kind)| IndexEntry {
            dir: "/etc/cni/net.d".to_owned(),
            name: format!("{at}.conf"),
            kind,
            size: Some(3),
            mode: text("0644"),
            uid: Some(0),
            gid: Some(0),
            mtime,
            sha256: text("00"),
            link_target: text("/opt/x"),
        })
        .collect();
    assert_eq!(mk_read("cni/index.json", &index).index, Some(index));
    let bins = PluginBins {
        entries: vec![BinEntry {
            dir: "/opt/cni/bin".to_owned(),
            name: "linkerd-cni".to_owned(),
            size: Some(9),
            mode: text("0755"),
            mtime,
            sha256: text("00"),
        }],
        linkerd_cni_version: Some(VersionAnswer {
            cni_version: text("1.1.0"),
            supported_versions: vec!["1.0.0".to_owned()],
        }),
    };
    assert_eq!(mk_read("cni/bin.json", &bins).bins, Some(bins));
    let found = HostBinary {
        name: "iptables".to_owned(),
        path: "/usr/sbin/iptables".to_owned(),
        links: vec!["/usr/sbin/xtables-nft-multi".to_owned()],
        version: text("iptables v1.8.10 (nf_tables)"),
        executable: Some(true),
    };
    let host = HostBinaries {
        runtime_path: text("/usr/sbin"),
        path_source: text("environ"),
        binaries: [("iptables".to_owned(), Some(found)), ("nsenter".to_owned(), None)].into(),
        proxy_env: [("NO_PROXY".to_owned(), "10.96.0.0/16".to_owned())].into(),
    };
    assert_eq!(mk_read("host/binaries.json", &host).host_binaries, Some(host));
}

#[test]
fn runtime_and_security_modules() {
    let lsm = Lsm { selinux: text("enforcing"), apparmor: None };
    assert_eq!(mk_read("host/lsm.json", &lsm).lsm, Some(lsm));
    let info = RuntimeInfo {
        name: text("containerd"),
        version: text("1.7.25"),
        last_cni_load_status: text("OK"),
        conf_dir: text("/etc/cni/net.d"),
        bin_dirs: vec!["/opt/cni/bin".to_owned()],
        max_conf_num: Some(1),
        loaded_files: vec!["/etc/cni/net.d/10-x.conflist".to_owned()],
    };
    assert_eq!(mk_read("runtime/info.json", &info).runtime_info, Some(info));
    let nothing = RuntimeInfo::default();
    assert_eq!(mk_read("runtime/info.json", &nothing).runtime_info, Some(nothing));
}
