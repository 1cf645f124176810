//! The configuration of each runtime, in all its forms.

use super::*;
use crate::node::{Effective, RuntimeKind};

/// conf dir, bin dirs, source, max_conf_num
fn dirs(made: &Made) -> (Option<String>, Option<Vec<String>>, String, Option<u64>) {
    let dirs = made.read().dirs.unwrap();
    (dirs.conf_dir, dirs.bin_dirs, dirs.source.unwrap(), dirs.max_conf_num)
}

fn runtime(
    conf: &str,
    bins: &[&str],
    source: &str,
    max: Option<u64>,
) -> (Option<String>, Option<Vec<String>>, String, Option<u64>) {
    let bins = bins.iter().map(|dir| (*dir).to_owned()).collect();
    (Some(conf.to_owned()), Some(bins), source.to_owned(), max)
}

#[test]
fn containerd_configuration_is_read_in_each_version() {
    for (text, conf, bins, max) in [
        (
            "[plugins.cri.cni]\nconf_dir = '/a/net.d'\nbin_dir = '/a/bin'\nmax_conf_num = 0\n",
            "/a/net.d",
            &["/a/bin"][..],
            0,
        ),
        (
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = \"/b/net.d/\"\nbin_dir = \"/b/bin/\"\n",
            "/b/net.d",
            &["/b/bin"],
            1,
        ),
        (
            "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\nconf_dir = '/c/net.d'\nbin_dirs = ['/c/bin', '/d/bin']\n",
            "/c/net.d",
            &["/c/bin", "/d/bin"],
            1,
        ),
        // The old table has no meaning in a file of version 3.
        (
            "version = 3\n[plugins.'io.containerd.grpc.v1.cri'.cni]\nconf_dir = '/c/net.d'\n",
            "/etc/cni/net.d",
            &["/opt/cni/bin"],
            1,
        ),
        ("version = 2\n", "/etc/cni/net.d", &["/opt/cni/bin"], 1),
    ] {
        let made = Made::whole().file("etc/containerd/config.toml", text);
        assert_eq!(dirs(&made), runtime(conf, bins, "config.toml", Some(max)), "{text}");
        assert_eq!(made.read().runtime_hint(), RuntimeKind::Containerd);
    }
}

#[test]
fn containerd_imports_are_applied_last() {
    let made = Made::whole()
        .file("etc/containerd/config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml', 'more.toml']\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = '/a'\n")
        .file("etc/containerd/conf.d/10.toml", "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = '/b'\nbin_dir = '/bin-of-b'\n")
        .file("etc/containerd/conf.d/20.toml", "version = 2\nimports = ['../config.toml']\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nbin_dir = '/c'\n")
        .file("etc/containerd/more.toml", "version = 2\n")
        .file("etc/containerd/conf.d/30.bak", "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = '/z'\n");
    assert_eq!(dirs(&made), runtime("/b", &["/c"], "config.toml", Some(1)));
    // A missing import stops containerd itself.
    let made = Made::whole().file("etc/containerd/config.toml", "version = 2\nimports = ['gone.toml']\n");
    assert_eq!(dirs(&made).0, None);
    assert_eq!(why(&made.read(), "/etc/containerd/gone.toml"), "does not exist");
}

#[test]
fn broken_configuration_is_unknown_and_not_quoted() {
    let made = Made::whole()
        .file("etc/containerd/config.toml", "version = 2\n[plugins\npassword = \"hunter2\"\n")
        .file("etc/cni/net.d/10-x.conflist", CONFLIST.replace("@TOKEN@", &mk_secret()));
    let snapshot = made.read();
    assert_eq!(why(&snapshot, "/etc/containerd/config.toml"), "not TOML at line 2, column 9");
    assert!(snapshot.conf_dir_is_assumed());
    assert_eq!(snapshot.dirs.as_ref().unwrap().source.as_deref(), Some("default"));
    assert!(snapshot.conf_file("/etc/cni/net.d/10-x.conflist").is_some());
}

#[test]
fn process_arguments_select_the_configuration() {
    let k3s = "var/lib/rancher/k3s/agent/etc/containerd/config.toml";
    let text = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = '/var/lib/rancher/k3s/agent/etc/cni/net.d'\nbin_dir = '/var/lib/rancher/k3s/data/cni'\n";
    let expected =
        runtime("/var/lib/rancher/k3s/agent/etc/cni/net.d", &["/var/lib/rancher/k3s/data/cni"], "config.toml", Some(1));
    let found_by_place = Made::whole().file(k3s, text);
    assert_eq!(dirs(&found_by_place), expected);
    let found_by_process = Made::whole().file(k3s, text).file("etc/containerd/config.toml", "version = 2\n").process(
        70,
        &["/usr/local/bin/containerd", "-c", &format!("/{k3s}"), "-a", "/run/k3s/containerd.sock"],
        &[],
    );
    assert_eq!(dirs(&found_by_process), expected);
}

#[test]
fn crio_applies_drop_ins_then_flags_after_its_file() {
    let made = Made::whole()
        .file("etc/crio/crio.conf", "[crio.network]\nnetwork_dir = '/a/net.d/'\nplugin_dirs = ['/a/bin/']\n")
        .file("etc/crio/crio.conf.d/10-x", "[crio.network]\nnetwork_dir = '/b/net.d'\nplugin_dir = '/b/bin'\n")
        .file("etc/crio/crio.conf.d/20-y/z.conf", "[crio.network]\ncni_default_network = 'mine'\n");
    assert_eq!(dirs(&made), runtime("/b/net.d", &["/a/bin", "/b/bin"], "crio.conf", None));
    let snapshot = made.read();
    assert_eq!(snapshot.dirs.as_ref().unwrap().cni_default_network.as_deref(), Some("mine"));
    assert_eq!(snapshot.runtime_hint(), RuntimeKind::Crio);
    let made = made.process(9, &["/usr/bin/crio", "--cni-config-dir=/flag/net.d"], &[]);
    assert_eq!(dirs(&made).0.as_deref(), Some("/flag/net.d"));
    let alone = Made::whole().program("usr/bin/crio");
    assert_eq!(dirs(&alone), runtime("/etc/cni/net.d", &["/opt/cni/bin"], "default", None));
}

#[test]
fn kubelet_setting_decides_between_two_runtimes() {
    let both = || {
        Made::whole()
            .file(
                "etc/containerd/config.toml",
                "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = '/a/net.d'\n",
            )
            .file("etc/crio/crio.conf", "[crio.network]\nnetwork_dir = '/b/net.d'\n")
            .file("a/net.d/1.conflist", "{}")
            .file("b/net.d/2.conflist", "{}")
    };
    let snapshot = both().read();
    assert_eq!(snapshot.runtime_hint(), RuntimeKind::Unknown);
    assert!(snapshot.conf_dir_is_assumed());
    assert!(why(&snapshot, "runtime/info.json").contains("two runtimes exist"), "{:?}", snapshot.meta.errors);
    assert!(snapshot.conf_file("/a/net.d/1.conflist").is_some() && snapshot.conf_file("/b/net.d/2.conflist").is_some());
    for made in [
        both().process(5, &["/usr/bin/kubelet", "--container-runtime-endpoint=unix:///var/run/crio/crio.sock"], &[]),
        both().file(
            "var/lib/kubelet/config.yaml",
            "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/crio/crio.sock\n",
        ),
        both().file(
            "var/lib/kubelet/kubeadm-flags.env",
            "KUBELET_KUBEADM_ARGS=\"--container-runtime-endpoint=unix:///run/crio/crio.sock --x\"\n",
        ),
        both().process(6, &["crio"], &[]),
    ] {
        assert_eq!(dirs(&made).0.as_deref(), Some("/b/net.d"));
        assert_eq!(made.read().runtime_hint(), RuntimeKind::Crio);
    }
    // An unknown configuration of the kubelet's runtime does not select another runtime.
    let docker =
        both().process(5, &["/usr/bin/kubelet", "--container-runtime-endpoint", "unix:///run/cri-dockerd.sock"], &[]);
    let snapshot = docker.read();
    assert_eq!(snapshot.runtime_hint(), RuntimeKind::Dockershim);
    assert!(snapshot.conf_dir_is_assumed() && why(&snapshot, "runtime/info.json").contains("cri-dockerd.sock"));
    // Docker's own containerd does not serve a kubelet.
    let docker = both().file("etc/containerd/config.toml", "disabled_plugins = [\"cri\"]\n");
    assert_eq!(dirs(&docker).0.as_deref(), Some("/b/net.d"));
}

#[test]
fn container_process_is_not_the_runtime_of_the_node() {
    let made = Made::whole()
        .process(5, &["containerd", "--config", "/inner.toml"], &[])
        .file("proc/5/cgroup", "0::/kubepods.slice/x\n")
        .process(9, &["containerd"], &[]);
    let snapshot = made.read();
    assert!(made.take().read.iter().any(|line| line.contains("process 9")), "{:?}", made.take().read);
    assert_eq!(snapshot.dirs.unwrap().source.as_deref(), Some("default"));
}

#[test]
fn no_runtime_leaves_its_settings_unknown() {
    let snapshot = Made::whole().read();
    assert!(snapshot.runtime_info.is_none() && snapshot.conf_dir_is_assumed());
    assert!(matches!(snapshot.effective(RuntimeKind::Containerd), Effective::None { .. }));
    let mut options = Made::whole().options();
    let made = Made::whole().file("x/net.d/1.conf", "{}");
    options.root = made.root().to_owned();
    options.conf_dir = Some("/x/net.d/".to_owned());
    options.bin_dirs = vec!["/x/bin".to_owned()];
    let dirs = read(&take(&options).unwrap()).dirs.unwrap();
    assert_eq!((dirs.conf_dir.as_deref(), dirs.source.as_deref()), (Some("/x/net.d"), Some("flag")));
    assert_eq!(dirs.bin_dirs.unwrap(), ["/x/bin"]);
}
