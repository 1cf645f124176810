//! Normalisation: which files are kept, which are noted, and that it is idempotent.

use proptest::prelude::*;

use super::*;
use crate::node_files::NodeFiles;

fn mk_normal(raw: &NodeFiles) -> NodeFiles {
    normalise(raw, &Defaults::default())
}

fn shown(files: &NodeFiles) -> String {
    files.files.iter().map(|(path, bytes)| format!("{path}\n{}\n", String::from_utf8_lossy(bytes))).collect()
}

#[test]
fn raw_kubeconfig_becomes_facts_and_is_removed() {
    let raw = mk_raw(&[
        ("05.conflist", &CILIUM.replace("@TOKEN@", &mk_secret())),
        ("ZZZ-linkerd-cni-kubeconfig", &mk_kubeconfig()),
        ("calico-kubeconfig", &mk_kubeconfig()),
        ("README", "nothing"),
        ("old.bak", "mentions linkerd-cni"),
    ]);
    let normal = mk_normal(&raw);
    let paths: Vec<_> = normal.files.keys().map(String::as_str).collect();
    assert_eq!(paths, ["cni/kubeconfig.facts.json", "cni/net.d/05.conflist", "cni/net.d/old.bak", "meta.json"]);
    assert!(!shown(&normal).contains("eyJ"));
    assert_eq!(mk_normal(&normal), normal, "once for all");
    let node = NodeSnapshot::parse(&normal);
    assert_eq!(node.kubeconfigs.as_ref().unwrap().len(), 2);
    assert_eq!(node.lists("/etc/cni/net.d"), Some(true));
    assert!(node.index.is_none());
}

#[test]
fn facts_from_the_node_override_those_of_copies() {
    let facts = r#"[{"path":"/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig","mode":"0644","server":"https://known"}]"#;
    let node = mk_node(&[
        ("cni/kubeconfig.facts.json", facts),
        ("cni/net.d/ZZZ-linkerd-cni-kubeconfig", &mk_kubeconfig()),
        ("cni/other/%2Fetc%2Fcni%2Fmultus%2Fnet.d/x.kubeconfig", &mk_kubeconfig()),
    ]);
    let known = node.kubeconfigs.as_ref().unwrap();
    assert_eq!(
        known.iter().map(|facts| facts.server.as_deref().unwrap()).collect::<Vec<_>>(),
        ["https://10.96.0.1:443", "https://known"]
    );
    assert_eq!(known[0].path, "/etc/cni/multus/net.d/x.kubeconfig");
}

#[test]
fn copied_tree_is_mapped_to_the_node() {
    let raw = mk_raw(&[
        ("./etc/cni/net.d/10-aws.conflist", AWS),
        ("etc/cni/multus/net.d/10-x.conflist", CILIUM),
        ("etc/os-release", "ID=ubuntu\n"),
    ]);
    let node = NodeSnapshot::parse(&mk_normal(&raw));
    let paths: Vec<_> = node.conf_files.iter().map(ConfFile::path).collect();
    assert_eq!(paths, ["/etc/cni/multus/net.d/10-x.conflist", "/etc/cni/net.d/10-aws.conflist"]);
    assert_eq!(node.os_release.unwrap().id(), Some("ubuntu"));
}

#[test]
fn a_copy_of_another_directory_keeps_its_kubeconfig() {
    let dir = "/var/lib/rancher/k3s/agent/etc/cni/net.d";
    let flannel = CILIUM.replace("/etc/cni/net.d", dir);
    let raw = mk_raw(&[("10-flannel.conflist", &flannel), ("ZZZ-linkerd-cni-kubeconfig", &mk_kubeconfig())]);
    for defaults in [Defaults { conf_dir: dir.into(), ..Defaults::default() }, Defaults::default()] {
        let named = defaults.conf_dir == dir;
        let normal = normalise(&raw, &defaults);
        assert_eq!(normalise(&normal, &defaults), normal);
        let node = NodeSnapshot::parse(&normal);
        assert_eq!((node.conf_dir() == dir, node.conf_dir_is_assumed()), (named, !named));
        let chain = node.chain(RuntimeKind::Containerd);
        assert!(matches!(node.kubeconfig_of(chain.entries[0].entry), KubeconfigLookup::Facts(_)), "{named}");
    }
}

#[test]
fn unreadable_facts_are_not_absent() {
    for facts in [
        "[{",
        r#"[{"server":"https://x"}]"#,
        r#"[{"path":"/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig","size":-1,"server":"s"}]"#,
    ] {
        let node = mk_node(&[("cni/kubeconfig.facts.json", facts), ("cni/net.d/05.conflist", CILIUM)]);
        match node.kubeconfig_of(node.chain(RuntimeKind::Containerd).entries[0].entry) {
            KubeconfigLookup::NotLookedFor { .. } => assert!(!facts.contains("path")),
            KubeconfigLookup::Facts(known) => assert_eq!(known.server.as_deref(), Some("s")),
            other => panic!("{other:?}"),
        }
        assert!(!node.problems.is_empty());
    }
    let node = mk_node(&[("host/binaries.json", r#"{"binaries":[{"name":"nsenter","path":7}]}"#)]);
    assert!(matches!(node.binary("nsenter"), Looked::NotLookedFor(_)), "only null says absent");
}

#[test]
fn hostile_names_are_noted_and_not_used() {
    let token = format!("{}.conflist", mk_secret());
    let raw = mk_raw(&[
        ("../../etc/shadow", "x"),
        ("/etc/passwd", "x"),
        ("cni/net.d/a\0b.conflist", AWS),
        ("cni/net.d/..", "x"),
        ("cni/net.d/sub/x.conflist", AWS),
        ("cni/other/%2Fetc%2F..%2Fx/x.conflist", AWS),
        ("cni/net.d/\u{202E}x.conflist", AWS),
        (&token, AWS),
        ("cni/net.d/10-aws.conflist", AWS),
    ]);
    let normal = mk_normal(&NodeFiles { node: "../n\u{1b}[0m".into(), ..raw });
    assert_eq!(normal.files.keys().collect::<Vec<_>>(), ["cni/net.d/10-aws.conflist", "meta.json"]);
    assert!(!normal.node.contains(['/', '\u{1b}']), "{}", normal.node);
    let node = NodeSnapshot::parse(&normal);
    assert_eq!(node.meta.errors.len(), 8);
    assert!(!shown(&normal).contains("eyJ"));
    assert_eq!(mk_normal(&normal), normal);
}

#[test]
fn oversized_files_remain_known() {
    let big = format!("{}{}", AWS, " ".repeat(files::MAX_CONF));
    let raw = mk_raw(&[("00-big.conflist", &big), ("10-aws.conflist", AWS)]);
    let node = NodeSnapshot::parse(&mk_normal(&raw));
    let Effective::File(loaded) = node.effective(RuntimeKind::Containerd) else { panic!() };
    assert_eq!(loaded.file.name, "00-big.conflist");
    assert!(loaded.assuming[0].contains("exceed the limit"), "{:?}", loaded.assuming);
    let many: Vec<(String, String)> = (0..300).map(|n| (format!("{n:03}.conflist"), AWS.to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
    let normal = mk_normal(&mk_raw(&many));
    assert_eq!(normal.files.len(), files::MAX_CONF_FILES + 1);
    assert_eq!(NodeSnapshot::parse(&normal).conf_files.len(), 300);
    assert_eq!(mk_normal(&normal), normal);
}

#[test]
fn broken_parts_are_problems_and_the_rest_is_read() {
    let node = mk_node(&[
        ("meta.json", r#"{"schema":"node-snapshot/2","node":"other","collectedAt":"yesterday"}"#),
        ("cni/dirs.json", "{\n \"confDir\": }"),
        ("cni/kubeconfig.facts.json", r#"[{"path":7},{"path":"/x","tokenClaims":{"exp":1}}]"#),
        ("cni/net.d/10-aws.conflist", AWS),
    ]);
    let found = |file: &str| node.problems.iter().filter(|problem| problem.file == file).collect::<Vec<_>>();
    assert_eq!((found("cni/dirs.json")[0].line, found("cni/dirs.json")[0].column), (Some(2), Some(13)));
    assert_eq!(found("meta.json").len(), 3);
    assert!(node.meta.is_newer_format());
    assert_eq!(node.kubeconfigs.as_ref().unwrap().len(), 1);
    assert_eq!(node.conf_files.len(), 1);
    // A truncated copy is not a broken file.
    let node = mk_node(&[
        ("meta.json", r#"{"schema":"node-snapshot/1","truncated":["cni/net.d/10-aws.conflist"]}"#),
        ("cni/index.json", r#"[{"name":"10-aws.conflist"}]"#),
        ("cni/net.d/10-aws.conflist", &AWS[..30]),
    ]);
    assert_eq!(describe(&node.effective(RuntimeKind::Containerd)), "10-aws.conflist");
}

#[test]
fn provided_meta_is_kept() {
    let meta =
        r#"{"schema":"node-snapshot/1","node":"ip-10-0-1-12","collectedAt":"2025-10-20T22:05:00Z","nodeUID":"u"}"#;
    let raw = mk_raw(&[("meta.json", meta), ("cni/net.d/10-aws.conflist", AWS)]);
    let normal = mk_normal(&raw);
    assert_eq!(normal.files["meta.json"], meta.as_bytes());
    let node = NodeSnapshot::parse(&normal);
    assert_eq!(node.meta.collected_at.unwrap().to_string(), "2025-10-20T22:05:00Z");
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let defaults = Defaults { collected_at: Some(at), ..Defaults::default() };
    let node = NodeSnapshot::parse(&normalise(&mk_raw(&[("10-aws.conflist", AWS)]), &defaults));
    assert_eq!(node.meta.collected_at, Some(at), "a copy without a time takes the caller's");
}

fn mk_path() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(vec![
        "meta.json",
        "cni/dirs.json",
        "cni/index.json",
        "cni/kubeconfig.facts.json",
        "cni/bin.json",
        "host/binaries.json",
        "host/os-release",
        "runtime/info.json",
        "logs/runtime.txt",
        "cni/net.d/05-x.conflist",
        "cni/net.d/06.conf",
        "cni/net.d/ZZZ-kubeconfig",
        "cni/other/%2Fx/1.json",
        "05-cilium.conflist",
        "ZZZ-linkerd-cni-kubeconfig",
        "x.bak",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[a-z./%]{1,12}", 1 => ".{0,10}"]
}

fn mk_content() -> impl Strategy<Value = Vec<u8>> {
    let secret = mk_secret();
    let piece = prop_oneof![
        Just(CILIUM.replace("@TOKEN@", &secret)),
        Just(mk_kubeconfig()),
        Just(secret.clone()),
        Just(format!("{{\"token\":\"{secret}\"}}")),
        Just(format!("cni said {secret}\n")),
        Just(r#"[{"name":"05-x.conflist","type":"file","size":3}]"#.to_owned()),
        Just(r#"{"confDir":"/x","maxConfNum":0,"dirs":[{"path":"/x","exists":true}]}"#.to_owned()),
        Just("linkerd-cni {\"type\":\"multus\",\"delegates\":[".to_owned()),
        "[\\[\\]{}:,\"\\\\ \n]{1,4}",
        ".{0,6}",
    ];
    let whole = proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat().into_bytes());
    (whole, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(mut bytes, at, cut)| {
        if cut && !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes.truncate(at);
        }
        bytes
    })
}

/// Whether a text contains a token, or a part that starts like one. The start alone, inside a longer run of
/// letters and without the dots of a token, also occurs in any base64 text, for example certificates.
fn holds_a_token(text: &str) -> bool {
    let base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    text.match_indices("eyJ").any(|(at, _)| {
        let glued = text[..at].chars().next_back().is_some_and(base64);
        let run: String = text[at..].chars().take_while(|c| base64(*c) || *c == '.').collect();
        !glued || run.split('.').filter(|part| !part.is_empty()).count() >= 3
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn normalising_is_idempotent_and_removes_tokens(
        files in proptest::collection::btree_map(mk_path(), mk_content(), 0..6), node in ".{0,12}",
    ) {
        let raw = NodeFiles { node, files };
        let normal = mk_normal(&raw);
        let text = shown(&normal);
        prop_assert!(!text.contains(&mk_secret()), "{}", text);
        prop_assert!(!holds_a_token(&text), "{}", text);
        prop_assert_eq!(&mk_normal(&normal), &normal);
        let snapshot = NodeSnapshot::parse(&normal);
        for runtime in [RuntimeKind::Containerd, RuntimeKind::Crio, RuntimeKind::Unknown] {
            let chain = snapshot.chain(runtime);
            for found in &chain.entries {
                let _ = snapshot.kubeconfig_of(found.entry);
            }
        }
        let debug = format!("{snapshot:?}");
        prop_assert!(!holds_a_token(&debug), "{}", debug);
    }
}
