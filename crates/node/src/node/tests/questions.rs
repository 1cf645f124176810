//! The questions that checks ask a snapshot.

use super::*;

fn mk_eks() -> NodeSnapshot {
    let cilium = CILIUM.replace("@TOKEN@", &mk_secret());
    mk_node(&[
        ("05-cilium.conflist", &cilium),
        ("10-aws.conflist", AWS),
        ("10-aws.conflist.cilium_bak", &cilium),
        ("ZZZ-linkerd-cni-kubeconfig", &mk_kubeconfig()),
    ])
}

#[test]
fn bare_copy_shows_the_chain_and_the_token() {
    let node = mk_eks();
    let chain = node.chain(RuntimeKind::Containerd);
    assert_eq!(describe(&chain.effective), "05-cilium.conflist");
    assert_eq!((chain.entries.len(), chain.gaps.len()), (1, 0));
    let ChainEntry { file, entry } = chain.entries[0];
    assert_eq!((file.path().as_str(), entry.json_path.as_str()), ("/etc/cni/net.d/05-cilium.conflist", "plugins[1]"));
    assert_eq!((entry.place().line, entry.place().column), (12, 15));
    assert_eq!((entry.span.start.line, entry.span.end.line), (10, 29));
    assert_eq!(file.line(entry.place().line).unwrap().trim(), r#""type": "linkerd-cni","#);
    assert_eq!(entry.iptables_mode.value().unwrap(), "plain");
    assert_eq!(entry.path_of("linkerd.iptables-mode"), "plugins[1].linkerd.iptables-mode");
    assert_eq!(entry.proxy_uid.value(), Some(&2102));
    assert_eq!((entry.index, entry.siblings, entry.depth), (1, 3, 0));
    // A string instead of a boolean makes the plugin fail.
    assert_eq!(entry.wrong_fields()[0].0, "plugins[1].linkerd.ipv6");

    let KubeconfigLookup::Facts(facts) = node.kubeconfig_of(entry) else { panic!("{:?}", node.kubeconfig_of(entry)) };
    let claims = facts.token_claims.as_ref().unwrap();
    assert_eq!((claims.pod_uid.as_deref(), claims.node_name.as_deref()), (Some("p-uid"), Some("n1")));
    let PolicyToken::Jwt { sha256_prefix } = entry.policy_token.value().unwrap() else { panic!() };
    assert_eq!(Some(sha256_prefix), facts.token_sha256_prefix.as_ref(), "one token in both places");
    // Entries of inert files are also known, as residue.
    assert_eq!(node.all_linkerd_entries().len(), 2);
    assert!(node.index.is_none() && facts.mode.is_none(), "a bare copy does not say");
}

#[test]
fn positions_hold_in_minified_crlf_and_redacted_files() {
    let cilium = CILIUM.replace("@TOKEN@", &mk_secret());
    let minified = serde_json::to_string(&serde_json::from_str::<serde_json::Value>(&cilium).unwrap()).unwrap();
    for raw in [cilium.replace('\n', "\r\n"), minified, cilium] {
        let node = mk_node(&[("10-x.conflist", &raw)]);
        let entry = node.chain(RuntimeKind::Containerd).entries[0].entry;
        let at = raw.find("\"linkerd-cni\",\"").or_else(|| raw.find("\"linkerd-cni\",\r\n      \"log"));
        let at = raw
            .find("\"type\":\"linkerd-cni\"")
            .map(|at| at + 7)
            .or(at)
            .or_else(|| raw.find("\"type\": \"linkerd-cni\"").map(|at| at + 8));
        let before = &raw[..at.unwrap()];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        let place = entry.type_place.unwrap();
        assert_eq!((place.line, place.column, place.offset), (line, column, before.len()));
    }
}

#[test]
fn byte_order_and_spelling_of_extensions_decide() {
    let names = |names: &[&str]| {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, AWS)).collect();
        let node = mk_node(&files);
        node.loadable_files().iter().map(|file| file.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&[
            "a-.conflist",
            "Z-.conflist",
            "9-.conflist",
            "10-.conflist",
            "05.conflist.bak",
            "06.CONFLIST",
            "07.conflist~"
        ]),
        ["10-.conflist", "9-.conflist", "Z-.conflist", "a-.conflist"]
    );
    // The duplicate: `.conf` sorts first.
    let single = r#"{"cniVersion":"0.3.1","name":"k","type":"bridge"}"#;
    let node = mk_node(&[("10-k.conf", single), ("10-k.conflist", CILIUM)]);
    assert_eq!(describe(&node.effective(RuntimeKind::Containerd)), "10-k.conf");
    assert!(node.chain(RuntimeKind::Containerd).proves_absence());
}

#[test]
fn bad_first_file_fails_containerd_and_crio_skips_it() {
    for (bad, message) in [
        (&CILIUM[..300], "unexpected end of JSON input"),
        ("", "unexpected end of JSON input"),
        ("\u{FEFF}{}", "invalid character 'ï' looking for beginning of value"),
        (r#"{"plugins":[{"type":"x"}]}"#, "no name"),
        (r#"{"name":"x","plugins":[]}"#, "no plugins in list"),
        (r#"{"name":"x","plugins":[{"type":"a"},{}]}"#, "failed to parse plugin config 1: missing 'type'"),
        (r#"{"name":"x","plugins":[null]}"#, "failed to parse plugin config 0: missing 'type'"),
        (r#"{"name":"x","plugins":[{"type":"a"},]}"#, "invalid character ']' looking for beginning of value"),
        (r#"{"name":7,"plugins":[{"type":"a"}]}"#, "invalid name type: number"),
    ] {
        let node = mk_node(&[("00-bad.conflist", bad), ("10-aws.conflist", AWS)]);
        let answer = describe(&node.effective(RuntimeKind::Containerd));
        assert_eq!(answer, format!("broken 00-bad.conflist: {message}"));
        assert_eq!(describe(&node.effective(RuntimeKind::Crio)), "10-aws.conflist");
        let both = node.effective(RuntimeKind::Unknown);
        assert!(matches!(both, Effective::Disagree { .. }), "{}", describe(&both));
        assert!(!node.chain(RuntimeKind::Unknown).proves_absence());
    }
    let node = mk_node(&[("10-list.conf", AWS)]);
    assert_eq!(describe(&node.effective(RuntimeKind::Containerd)), "broken 10-list.conf: missing 'type'");
}

#[test]
fn files_accepted_by_go_are_loaded() {
    for good in [
        "{\"name\":\"a\\ud800\",\"plugins\":[{\"type\":\"x\"}]}",
        r#"{"name":"a","name":"b","plugins":[{"type":"x"}]}"#,
        r#"{"name":"","plugins":[{"Type":"x","ipam":null}]}"#,
    ] {
        let node = mk_node(&[("00.conflist", good)]);
        assert_eq!(describe(&node.effective(RuntimeKind::Unknown)), "00.conflist", "{good}");
    }
    let mut raw = mk_raw(&[]);
    raw.files.insert("00.conflist".into(), b"{\"name\":\"\xFF\",\"plugins\":[{\"type\":\"x\"}]}".to_vec());
    let node = NodeSnapshot::parse(&normalise(&raw, &Defaults::default()));
    assert_eq!(describe(&node.effective(RuntimeKind::Containerd)), "00.conflist");
}

const DIRS: &str = r#"{"confDir":"/etc/cni/net.d","binDirs":["/opt/cni/bin"],"source":"crictl","maxConfNum":1,
    "dirs":[{"path":"/etc/cni/net.d","exists":true},{"path":"/etc/cni/multus/net.d","exists":false}]}"#;

#[test]
fn crio_skips_bad_files_and_uses_the_default_network() {
    let bins = r#"{"entries":[{"dir":"/opt/cni/bin","name":"aws-cni"},{"dir":"/opt/cni/bin","name":"portmap"},
        {"dir":"/home/kubernetes/bin","name":"linkerd-cni"}]}"#;
    let base = [("cni/net.d/05-cilium.conflist", CILIUM), ("cni/net.d/10-aws.conflist", AWS), ("cni/bin.json", bins)];
    let node = mk_node(&[&base[..], &[("cni/dirs.json", DIRS), ("cni/index.json", "[]")]].concat());
    assert_eq!(describe(&node.effective(RuntimeKind::Crio)), "10-aws.conflist");
    assert_eq!(describe(&node.effective(RuntimeKind::Dockershim)), "10-aws.conflist");
    assert!(node.plugin_binary("linkerd-cni").is_absent(), "the runtime does not look where it is");
    assert_eq!(node.plugin_binary_elsewhere("linkerd-cni").unwrap().dir, "/home/kubernetes/bin");
    // Without a listing of binaries, the result assumes that they exist.
    let node = mk_node(&[("cni/net.d/05-cilium.conflist", CILIUM)]);
    let Effective::File(loaded) = node.effective(RuntimeKind::Crio) else { panic!() };
    assert_eq!((loaded.file.name.as_str(), loaded.assuming.len()), ("05-cilium.conflist", 3));
    assert!(matches!(node.plugin_binary("linkerd-cni"), Looked::NotLookedFor(_)));

    let named = DIRS.replace("\"maxConfNum\":1", "\"cniDefaultNetwork\":\"second\"");
    let second = r#"{"name":"second","plugins":[{"type":"x"}]}"#;
    let files = [("cni/net.d/1.conflist", AWS), ("cni/net.d/2.conflist", second), ("cni/dirs.json", named.as_str())];
    assert_eq!(describe(&mk_node(&files).effective(RuntimeKind::Crio)), "2.conflist");
    assert!(describe(&mk_node(&[files[0], files[2]]).effective(RuntimeKind::Crio)).starts_with("none: "));
}

#[test]
fn crio_skips_files_that_need_a_newer_plugin() {
    let bins = |supported: &str| {
        format!(
            r#"{{"entries":[{{"dir":"/opt/cni/bin","name":"aws-cni"}},{{"dir":"/opt/cni/bin","name":"cilium-cni"}},
                {{"dir":"/opt/cni/bin","name":"linkerd-cni"}}],
                "linkerdCniVersion":{{"cniVersion":"1.0.0","supportedVersions":[{supported}]}}}}"#
        )
    };
    for (supported, answer) in [(r#""0.4.0","1.0.0""#, "05.conflist"), (r#""0.3.1""#, "none: CRI-O skips every file")] {
        let node = mk_node(&[("cni/net.d/05.conflist", CILIUM), ("cni/bin.json", &bins(supported))]);
        assert!(describe(&node.effective(RuntimeKind::Crio)).starts_with(answer));
        assert_eq!(node.linkerd_cni_version().unwrap().cni_version.as_deref(), Some("1.0.0"));
    }
}

#[test]
fn listing_decides_the_file_but_not_its_content() {
    let index = r#"[{"name":"05-cilium.conflist","type":"file","size":10,"mode":"0644","mtime":"2025-10-20T20:00:00Z"},
        {"dir":"/etc/cni/net.d","name":"00-dir.conflist","type":"dir"},
        {"dir":"/etc/cni/net.d","name":"ZZZ-linkerd-cni-kubeconfig","type":"file","mode":"0600"}]"#;
    let node = mk_node(&[("cni/index.json", index), ("cni/dirs.json", DIRS)]);
    let chain = node.chain(RuntimeKind::Containerd);
    assert_eq!(describe(&chain.effective), "05-cilium.conflist");
    assert!(!chain.proves_absence() && chain.gaps[0].why.contains("content not captured"));
    let Effective::File(loaded) = &chain.effective else { panic!() };
    assert!(loaded.assuming[0].contains("only listed"));
    assert!(matches!(node.effective(RuntimeKind::Crio), Effective::Unknown { .. }), "it could be one CRI-O skips");
    assert_eq!(
        node.conf_file("/etc/cni/net.d/05-cilium.conflist").unwrap().index.as_ref().unwrap().mode.as_deref(),
        Some("0644")
    );
    let look = |path: &str| node.kubeconfig(path);
    assert!(matches!(look("/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig"), KubeconfigLookup::NotLookedFor { .. }));
    assert!(matches!(look("/etc/cni/net.d/gone"), KubeconfigLookup::Absent { .. }));
    assert!(
        matches!(look("/etc/cni/multus/net.d/gone"), KubeconfigLookup::Absent { .. }),
        "that directory does not exist"
    );
    assert!(matches!(look("/var/lib/rancher/k3s/x"), KubeconfigLookup::NotLookedFor { .. }));
    // An empty file is known without a copy.
    let node = mk_node(&[("cni/index.json", r#"[{"name":"1.conflist","type":"file","size":0}]"#)]);
    assert!(describe(&node.effective(RuntimeKind::Containerd)).starts_with("broken 1.conflist"));
}

#[test]
fn unsearched_objects_are_not_absent() {
    for files in [
        &[("host/uname", "5.10.0")][..],
        &[("cni/index.json", r#"[{"dir":"/other","name":"a.conflist"}]"#), ("cni/dirs.json", DIRS)],
        &[("cni/index.json", "[{]"), ("cni/net.d/10-aws.conflist", AWS)],
        &[("cni/index.json", r#"[{"size":1}]"#), ("cni/net.d/10-aws.conflist", AWS)],
        &[
            ("cni/net.d/10-aws.conflist", AWS),
            ("cni/index.json", r#"[{"name":"10-aws.conflist"}]"#),
            ("meta.json", r#"{"errors":[{"path":"/etc/cni/net.d","error":"permission denied"}]}"#),
        ],
    ] {
        let node = mk_node(files);
        let looked_at =
            files.iter().any(|(path, content)| *path == "cni/dirs.json" && content.contains("\"exists\":true"));
        let answer = describe(&node.effective(RuntimeKind::Containerd));
        assert!(answer.starts_with("unknown") || looked_at && answer.starts_with("none"), "{answer} for {files:?}");
        assert!(!node.chain(RuntimeKind::Containerd).proves_absence());
    }
    assert!(matches!(mk_node(&[]).binary("nsenter"), Looked::NotLookedFor(_)));
    // Copies without a listing: every configuration is included, other files may be missing.
    let node = mk_node(&[("meta.json", "{}"), ("cni/net.d/05.conflist", CILIUM)]);
    let chain = node.chain(RuntimeKind::Containerd);
    assert_eq!(describe(&chain.effective), "05.conflist");
    assert!(matches!(node.kubeconfig_of(chain.entries[0].entry), KubeconfigLookup::NotLookedFor { .. }));
}

#[test]
fn empty_directory_differs_from_an_unknown_one() {
    let node = mk_node(&[("cni/index.json", "[]"), ("cni/dirs.json", DIRS)]);
    assert!(describe(&node.effective(RuntimeKind::Containerd)).starts_with("none: /etc/cni/net.d contains no file"));
    let gone = DIRS.replace("net.d\",\"exists\":true", "net.d\",\"exists\":false");
    let node = mk_node(&[("cni/index.json", "[]"), ("cni/dirs.json", &gone)]);
    assert_eq!(describe(&node.effective(RuntimeKind::Containerd)), "none: /etc/cni/net.d does not exist");
    // Only renamed files, as left by an exclusive Cilium.
    let node = mk_node(&[("10-aws.conflist.cilium_bak", CILIUM)]);
    assert!(describe(&node.effective(RuntimeKind::Unknown)).starts_with("none: "));
}

#[test]
fn one_bad_file_of_several_networks_fails_all() {
    let all = DIRS.replace("\"maxConfNum\":1", "\"maxConfNum\":0");
    let node = mk_node(&[("cni/net.d/1.conflist", AWS), ("cni/net.d/2.conflist", CILIUM), ("cni/dirs.json", &all)]);
    let chain = node.chain(RuntimeKind::Containerd);
    assert_eq!((describe(&chain.effective).as_str(), chain.entries.len()), ("1.conflist", 1));
    let node = mk_node(&[("cni/net.d/1.conflist", AWS), ("cni/net.d/2.conflist", "{"), ("cni/dirs.json", &all)]);
    assert!(describe(&node.effective(RuntimeKind::Containerd)).starts_with("broken 2.conflist"));
}

#[test]
fn multus_is_followed_into_delegates_and_other_directories() {
    let delegates = format!(r#"{{"name":"m","type":"multus","delegates":[{CILIUM}]}}"#);
    let node = mk_node(&[("00-multus.conf", &delegates), ("10-x.conflist", AWS)]);
    let chain = node.chain(RuntimeKind::Containerd);
    let entry = chain.entries[0].entry;
    assert_eq!((entry.json_path.as_str(), entry.depth), ("delegates[0].plugins[1]", 1));

    let list =
        format!(r#"{{"name":"m","plugins":[{{"type":"multus","delegates":[{{"type":"linkerd-cni"}},{CILIUM}]}}]}}"#);
    let node = mk_node(&[("00-multus.conflist", &list)]);
    let paths: Vec<_> = node.chain(RuntimeKind::Containerd).entries.iter().map(|e| e.entry.json_path.clone()).collect();
    assert_eq!(paths, ["plugins[0].delegates[0]", "plugins[0].delegates[1].plugins[1]"]);

    for network in ["aws-cni", "/etc/cni/multus/net.d", "/etc/cni/multus/net.d/10-aws.conflist"] {
        let named = format!(r#"{{"name":"m","type":"multus","clusterNetwork":"{network}"}}"#);
        let other = "cni/other/%2Fetc%2Fcni%2Fmultus%2Fnet.d/10-aws.conflist";
        let node = mk_node(&[("cni/net.d/00-multus.conf", &named), (other, CILIUM)]);
        let chain = node.chain(RuntimeKind::Containerd);
        assert_eq!(chain.entries[0].file.path(), "/etc/cni/multus/net.d/10-aws.conflist", "{network}");
        let node = mk_node(&[("00-multus.conf", &named)]);
        assert!(!node.chain(RuntimeKind::Containerd).proves_absence(), "the network may be in the API");
    }
    let deep = (0..40).fold(r#"{"type":"linkerd-cni"}"#.to_owned(), |inner, _| {
        format!(r#"{{"type":"multus","delegates":[{inner}]}}"#)
    });
    let node = mk_node(&[("00.conf", &format!(r#"{{"name":"m","type":"multus","delegates":[{deep}]}}"#))]);
    assert!(node.chain(RuntimeKind::Containerd).entries.is_empty(), "the guard holds");
}

#[test]
fn binaries_and_the_host_are_typed() {
    let node = mk_node(&[
        (
            "host/binaries.json",
            r#"{"runtimePath":"/usr/sbin","pathSource":"environ","binaries":[
            {"name":"iptables","path":"/usr/sbin/iptables","links":["/usr/sbin/xtables-nft-multi"],"version":"iptables v1.8.10 (nf_tables)","executable":true},
            {"name":"iptables-legacy","path":null},{"name":"odd"}],"proxyEnv":{"HTTPS_PROXY":"http://u:p@proxy:1"}}"#,
        ),
        ("host/os-release", "ID=\"amzn\"\nVERSION_ID='2023'\n# X\n"),
        ("host/uname", "Linux host 6.1.115-126 #1 SMP x86_64\n"),
        ("host/modules.txt", "nf_tables 1 2 - Live 0x0\nkernel/net/ipv4/netfilter/ip_tables.ko.xz\nxt-owner\n"),
        ("host/sysctl.json", r#"{"net.ipv6.conf.all.disable_ipv6":1,"user.max_inotify_instances":"128"}"#),
        ("host/lsm.json", r#"{"selinux":"Enforcing","apparmor":false}"#),
        (
            "runtime/info.json",
            r#"{"name":"containerd","version":"1.7","lastcniloadstatus":"OK","config":{"cni":{"confDir":"/etc/cni/net.d","maxConfNum":1,"binDir":"/opt/cni/bin"}}}"#,
        ),
        ("logs/runtime.txt", "x\nnsenter: failed to execute iptables-legacy\n"),
    ]);
    assert_eq!(node.binary("iptables").found().unwrap().links, ["/usr/sbin/xtables-nft-multi"]);
    assert!(node.binary("iptables-legacy").is_absent());
    assert!(matches!(node.binary("iptables-nft"), Looked::NotLookedFor(_)));
    assert!(matches!(node.binary("odd"), Looked::NotLookedFor(_)), "a row without a path says nothing");
    assert!(node.host_binaries.as_ref().unwrap().path_is_certain());
    assert_eq!(node.host_binaries.as_ref().unwrap().proxy_env["HTTPS_PROXY"], "http://REDACTED(len=3)@proxy:1");
    assert_eq!(node.os_release.as_ref().unwrap().id(), Some("amzn"));
    assert_eq!(node.kernel_release(), Some("6.1.115-126"));
    assert_eq!(node.modules.as_ref().unwrap().iter().collect::<Vec<_>>(), ["ip_tables", "nf_tables", "xt_owner"]);
    assert_eq!(node.sysctl.as_ref().unwrap()["net.ipv6.conf.all.disable_ipv6"], "1");
    assert_eq!(node.lsm.as_ref().unwrap().selinux.as_deref(), Some("Enforcing"));
    let info = node.runtime_info.as_ref().unwrap();
    assert_eq!((info.last_cni_load_status.as_deref(), info.max_conf_num), (Some("OK"), Some(1)));
    assert_eq!(
        (info.bin_dirs.as_slice(), node.runtime_hint()),
        (["/opt/cni/bin".to_owned()].as_slice(), RuntimeKind::Containerd)
    );
    assert_eq!(node.logs.runtime.as_ref().unwrap().len(), 1);
    assert_eq!(node.logs.kubelet, None);
    assert!(node.problems.iter().any(|problem| problem.file == "host/binaries.json"));
}
