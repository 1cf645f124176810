//! Binaries, plugins, host and logs, and the difference between absent and not looked for.

use super::*;
use crate::node::Looked;

#[test]
fn binaries_on_the_runtime_path_are_found_with_link_targets() {
    let made = Made::whole()
        .program("usr/sbin/xtables-nft-multi")
        .link("etc/alternatives/iptables", "/usr/sbin/iptables-nft")
        .link("usr/sbin/iptables", "/etc/alternatives/iptables")
        .link("usr/sbin/iptables-nft", "xtables-nft-multi")
        .file("usr/sbin/iptables-save", "not executable")
        .link("usr/sbin/iptables-legacy", "gone")
        .link("sbin", "usr/sbin")
        .program("own/bin/nsenter")
        .process(
            7,
            &["containerd"],
            &[
                "PATH=/own/bin:/sbin",
                "SECRET=hunter2",
                "https_proxy=http://me:hunter2@proxy:3128",
                "NO_PROXY=10.0.0.0/8,.svc",
            ],
        );
    let snapshot = made.read();
    let host = snapshot.host_binaries.as_ref().unwrap();
    assert_eq!((host.runtime_path.as_deref(), host.path_is_certain()), (Some("/own/bin:/sbin"), true));
    let iptables = snapshot.binary("iptables").found().unwrap();
    assert_eq!(iptables.path, "/sbin/iptables");
    assert_eq!(iptables.links, ["/etc/alternatives/iptables", "/usr/sbin/iptables-nft", "/usr/sbin/xtables-nft-multi"]);
    assert_eq!(
        (iptables.executable, iptables.version.as_deref()),
        (Some(true), None),
        "nothing is run in another root"
    );
    assert!(snapshot.binary("iptables-save").is_absent(), "a file that cannot be executed");
    assert!(snapshot.absent_binary("iptables-save").ends_with("is not executable)"));
    assert_eq!(snapshot.binary("nsenter").found().unwrap().path, "/own/bin/nsenter");
    assert!(snapshot.binary("iptables-legacy").is_absent() && snapshot.binary("ip6tables").is_absent());
    assert_eq!(host.binaries.len(), 13);
    assert_eq!(host.proxy_env["https_proxy"], "http://proxy:3128");
    assert_eq!(host.proxy_env.len(), 2);
}

#[test]
fn guessed_path_is_marked() {
    let snapshot = Made::whole().program("usr/sbin/iptables").read();
    let host = snapshot.host_binaries.as_ref().unwrap();
    assert_eq!(host.path_source.as_deref(), Some("default"));
    assert!(why(&snapshot, "/proc").contains("assumed to be the default one"));
}

#[test]
fn partial_root_has_no_absent_files() {
    let made = Made::empty().file("etc/cni/net.d/10-x.conflist", "{}").process(7, &["containerd"], &["PATH=/usr/sbin"]);
    let mut options = made.options();
    options.node = Some("n1".to_owned());
    let snapshot = read(&take(&options).unwrap());
    assert!(matches!(snapshot.binary("iptables"), Looked::NotLookedFor(_)));
    assert!(matches!(snapshot.plugin_binary("linkerd-cni"), Looked::NotLookedFor(_)));
    assert_eq!(snapshot.lists("/etc/cni/multus/net.d"), None);
    assert_eq!(snapshot.lists("/etc/cni/net.d"), Some(true));
    assert!(why(&snapshot, "/opt/cni/bin").contains("only a part"));
}

#[test]
fn pod_with_a_partial_root_reads_the_kernel() {
    let made = Made::empty().file("etc/cni/net.d/10-x.conflist", "{}");
    let options = Options { node: Some("n1".to_owned()), ..made.options() };
    assert_eq!(read(&take(&options).unwrap()).uname, None);
    let in_pod = read(&take(&Options { in_pod: true, ..options }).unwrap());
    let own = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(in_pod.kernel_release(), Some(own.trim()));
}

#[test]
fn plugins_are_listed_in_runtime_and_platform_directories() {
    let made = Made::whole()
        .file("etc/containerd/config.toml", "version = 2\n")
        .program("opt/cni/bin/ptp")
        .program("home/kubernetes/bin/linkerd-cni")
        .link("opt/cni/bin/gone", "nowhere");
    let snapshot = made.read();
    assert!(snapshot.plugin_binary("ptp").found().is_some());
    assert!(snapshot.plugin_binary("linkerd-cni").is_absent());
    let elsewhere = snapshot.plugin_binary_elsewhere("linkerd-cni").unwrap();
    assert_eq!(elsewhere.sha256.as_deref(), Some(crate::token::sha256_hex(b"#!/bin/sh\n").as_str()));
    assert_eq!(why(&snapshot, "/opt/cni/bin/gone"), "does not exist");
}

#[test]
fn plugin_of_another_root_is_run_only_on_request() {
    let answer = r#"{"cniVersion":"1.1.0","supportedVersions":["0.4.0","1.0.0"]}"#;
    let script = format!("#!/bin/sh\n[ \"$CNI_COMMAND\" = VERSION ] && echo '{answer}'\n");
    let made = Made::whole().program("opt/cni/bin/linkerd-cni").file("opt/cni/bin/linkerd-cni", script);
    assert_eq!(made.read().linkerd_cni_version(), None);
    let asked = |made: &Made| read(&take(&Options { ask_plugin: true, ..made.options() }).unwrap());
    let snapshot = asked(&made);
    assert_eq!(snapshot.linkerd_cni_version().unwrap().supported_versions, ["0.4.0", "1.0.0"]);
    for script in
        ["#!/bin/sh\necho hunter2\n", "#!/bin/sh\necho '{\"supportedVersions\":[\"a\\u001bb\"]}'\n", "not a program"]
    {
        let made = made_with(script);
        let snapshot = asked(&made);
        assert_eq!(snapshot.linkerd_cni_version(), None);
        assert!(why(&snapshot, "/opt/cni/bin/linkerd-cni").starts_with("CNI_COMMAND=VERSION: "));
    }
}

fn made_with(script: &str) -> Made {
    Made::whole().program("opt/cni/bin/linkerd-cni").file("opt/cni/bin/linkerd-cni", script)
}

#[test]
fn host_system_kernel_and_modules_are_read() {
    let made = Made::whole()
        .link("etc/os-release", "../usr/lib/os-release")
        .file("usr/lib/os-release", "ID=bottlerocket\nVERSION_ID=1.20\n")
        .process(7, &["containerd"], &[])
        .file("proc/modules", "nf_tables 1 2 - Live 0x0\nbtrfs 1 0 - Live 0x0\n")
        .file("proc/sys/fs/inotify/max_user_instances", "128\n")
        .file("proc/sys/net/ipv6/conf/all/disable_ipv6", "1\n")
        .file("sys/kernel/x", "")
        .file("sys/fs/selinux/enforce", "1")
        .file("lib/modules/6.1.0-1/modules.builtin", "kernel/net/netfilter/xt_owner.ko\nkernel/fs/ext4/ext4.ko\n");
    let snapshot = made.read();
    assert_eq!(snapshot.os_release.as_ref().unwrap().id(), Some("bottlerocket"));
    assert_eq!(snapshot.kernel_release(), Some("6.1.0-1"));
    assert_eq!(snapshot.modules.as_ref().unwrap().iter().collect::<Vec<_>>(), ["nf_tables", "xt_owner"]);
    let lsm = snapshot.lsm.as_ref().unwrap();
    assert_eq!((lsm.selinux.as_deref(), lsm.apparmor.as_deref()), (Some("enforcing"), Some("disabled")));
    let sysctl = snapshot.sysctl.as_ref().unwrap();
    assert_eq!(sysctl["fs.inotify.max_user_instances"], "128");
    // This process is not in that node's network, so the setting may differ.
    assert!(!sysctl.contains_key("net.ipv6.conf.all.disable_ipv6"));
    assert!(!snapshot.meta.truncated.contains("host/modules.txt"));
    fs::remove_file(made.path("lib/modules/6.1.0-1/modules.builtin")).unwrap();
    assert!(made.read().meta.truncated.contains("host/modules.txt"));
}

#[test]
fn logs_keep_cni_lines_of_relevant_programs() {
    let secret = mk_secret();
    let syslog = format!(
        "Jan 1 00:00:00 n1 containerd[7]: failed to setup network: plugin type=\"linkerd-cni\" {secret}\n\
         Jan 1 00:00:00 n1 app[8]: cni of somebody else\n\
         Jan 1 00:00:00 n1 kubelet[9]: cni plugin not initialized\nJan 1 00:00:00 n1 containerd[7]: hello\n"
    );
    let snapshot = Made::whole().file("var/log/syslog", syslog).read();
    let (runtime, kubelet) = (snapshot.logs.runtime.unwrap(), snapshot.logs.kubelet.unwrap());
    assert!(runtime.len() == 1 && runtime[0].contains("REDACTED(sha256:"), "{runtime:?}");
    assert!(kubelet.len() == 1 && kubelet[0].contains("not initialized"), "{kubelet:?}");
    let snapshot = Made::whole().read();
    assert!(snapshot.logs.runtime.is_none() && why(&snapshot, "logs/runtime.txt").contains("neither"));
}

#[test]
fn node_name_comes_from_the_best_source() {
    let made = Made::whole();
    assert_eq!((made.take().files.node.as_str(), made.take().named_by), ("node-1", "/etc/hostname"));
    let made = made.process(4, &["/usr/bin/kubelet", "--hostname-override=ip-10-0-1-11"], &[]);
    assert_eq!(made.take().files.node, "ip-10-0-1-11");
    let named = |node: &str| take(&Options { node: Some(node.to_owned()), ..made.options() });
    assert_eq!(named("n2").unwrap().files.node, "n2");
    assert!(matches!(named("../n2"), Err(NotTaken::BadName { .. })));
    assert!(matches!(take(&Made::empty().options()), Err(NotTaken::NoName)));
}

#[test]
fn empty_root_is_an_error() {
    let made = Made::empty().file("etc/hostname", "n1\n");
    assert!(matches!(take(&made.options()), Err(NotTaken::Nothing { .. })));
    let gone = Options { root: made.path("gone"), ..made.options() };
    assert!(matches!(take(&gone), Err(NotTaken::Root { .. })));
}
