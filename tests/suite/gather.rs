//! `docs/platforms/gather-node.sh` with the shells of this machine on prepared file systems: its output is
//! read without warnings, describes the node, claims nothing that it could not see, and contains no secret.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use meshdoctor::collect::{Options, collect_now};
use meshdoctor::item::Item;
use meshdoctor::model::node::{Content, Effective, KubeconfigLookup, Looked, NodeSnapshot, PolicyToken, RuntimeKind};
use meshdoctor::source::nodes::{NodeEvidence, NodesInput};

const SIGNATURE: &str = "dGhlLXNpZ25hdHVyZS1vZi1hLXRva2Vu";
const PASSWORD: &str = "hun\\\"ter.2[*";

/// A token in the API server's format.
fn token() -> String {
    let claims = r#"{"aud":["https://kubernetes.default.svc"],"exp":1792526000,"iat":1760990000,"iss":"https://oidc.example/id/X","kubernetes.io":{"namespace":"linkerd-cni","node":{"name":"n1","uid":"n-uid"},"pod":{"name":"linkerd-cni-x","uid":"p-uid"},"serviceaccount":{"name":"linkerd-cni","uid":"sa-uid"},"warnafter":1760993607},"nbf":1760990000,"sub":"system:serviceaccount:linkerd-cni:linkerd-cni"}"#;
    format!("{}.{}.{SIGNATURE}", URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","kid":"k"}"#), URL_SAFE_NO_PAD.encode(claims))
}

fn conflist(dir: &str) -> String {
    let token = token();
    format!(
        r#"{{ "cniVersion": "0.3.1", "name": "aws-cni", "plugins": [
  {{ "type": "cilium-cni", "password": "{PASSWORD}" }},
  {{ "type": "linkerd-cni", "policy": {{ "type": "k8s", "k8s_auth_token": "{token}" }},
    "kubernetes": {{ "kubeconfig": "{dir}/ZZZ-linkerd-cni-kubeconfig" }}, "linkerd": {{ "iptables-mode": "legacy" }} }} ] }}
"#
    )
}

fn kubeconfig() -> String {
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: local\n  cluster:\n    server: https://[10.96.0.1]:443\n    \
         certificate-authority-data: Zm9v\nusers:\n- name: linkerd-cni\n  user:\n    token: \"{}\"\ncontexts:\n- name: \
         linkerd-cni-context\n  context:\n    cluster: local\n    user: linkerd-cni\ncurrent-context: linkerd-cni-context\n",
        token()
    )
}

pub(crate) struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Root {
        Root(tempfile::tempdir().unwrap())
    }

    /// Path of the root.
    pub(crate) fn place(&self) -> String {
        self.0.path().display().to_string()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn file(&self, path: &str, text: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn link(&self, target: &str, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }
}

/// A node with containerd and Amazon Linux 2023's programs, and the kubeconfigs of others.
pub(crate) fn containerd() -> Root {
    let root = Root::new();
    let kubeconfig = kubeconfig();
    root.file("etc/cni/net.d/05-cilium.conflist", &conflist("/etc/cni/net.d"), 0o644);
    root.file("etc/cni/net.d/10-aws.conflist.cilium_bak", "{}", 0o644);
    root.file("etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig", &kubeconfig, 0o600);
    root.file("etc/cni/net.d/calico-kubeconfig", &kubeconfig, 0o600);
    root.file("etc/cni/net.d/multus.d/multus.kubeconfig", &kubeconfig, 0o600);
    root.file("etc/cni/net.d/half", &format!("linkerd-cni\n\"token\": \"{}", &token()[..80]), 0o644);
    root.file(
        "etc/containerd/config.toml",
        "[plugins.\"io.containerd.grpc.v1.cri\".cni]\n  bin_dir = \"/opt/cni/bin\"\n  conf_dir = '/etc/cni/net.d/'\n  \
         max_conf_num = 1 # one\n# conf_dir = \"/no\"\n",
        0o644,
    );
    for name in ["linkerd-cni", "cilium-cni"] {
        root.file(&format!("opt/cni/bin/{name}"), "ELF", 0o755);
    }
    root.file("usr/sbin/xtables-nft-multi", "ELF", 0o755);
    for name in ["iptables", "iptables-save"] {
        root.link("/usr/sbin/xtables-nft-multi", &format!("usr/sbin/{name}"));
    }
    // A program of this machine, which a link must not reach.
    root.link("/bin/sh", "usr/sbin/ip6tables");
    root.file("usr/bin/nsenter", "ELF", 0o755);
    root.link("usr/bin", "bin");
    root.file("proc/7/comm", "containerd\n", 0o644);
    root.file("proc/7/environ", "A=b\0PATH=/usr/sbin:/bin\0", 0o644);
    root.file("proc/modules", "nf_tables 1 1 - Live 0x0\nfoo 1 1 - Live 0x0\n", 0o644);
    root.file("proc/sys/kernel/osrelease", "6.1.0\n", 0o644);
    root.file("proc/sys/net/ipv6/conf/all/disable_ipv6", "0\n", 0o644);
    root.file("lib/modules/6.1.0/modules.builtin", "kernel/net/netfilter/xt_owner.ko\n", 0o644);
    root.file("usr/lib/os-release", "ID=\"amzn\"\nVERSION_ID=\"2023\"\n", 0o644);
    root.link("../usr/lib/os-release", "etc/os-release");
    root.file(
        "var/lib/rancher/k3s/agent/containerd/containerd.log",
        &format!("level=error msg=\"plugin type=linkerd-cni Bearer {}\"\nother\n", token()),
        0o644,
    );
    root
}

/// The shells of this machine, each as its command line.
pub(crate) fn shells() -> Vec<Vec<&'static str>> {
    let all = [vec!["sh"], vec!["dash"], vec!["bash"], vec!["busybox", "sh"]];
    let works = |shell: &Vec<&str>| {
        let run = Command::new(shell[0]).args(&shell[1..]).args(["-c", "exit 0"]).stderr(Stdio::null()).status();
        run.is_ok_and(|status| status.success())
    };
    let here: Vec<_> = all.into_iter().filter(works).collect();
    assert!(!here.is_empty(), "no shell is here to run docs/platforms/gather-node.sh");
    here
}

/// Runs the script as a pod does: from standard input.
pub(crate) fn gather(shell: &[&str], arguments: &[&str]) -> Vec<u8> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/platforms/gather-node.sh");
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-s", "--"])
        .args(arguments)
        .stdin(fs::File::open(script).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell:?}: {said}");
    output.stdout
}

/// Reads the output with the node reader, and asserts that it has no warnings.
pub(crate) fn read(name: &str, tar: &[u8]) -> NodeSnapshot {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.tar");
    fs::write(&path, tar).unwrap();
    let evidence = NodeEvidence::open(&[NodesInput::Node { name: name.to_owned(), path }]).unwrap();
    assert!(evidence.warnings().is_empty(), "{:?}", evidence.warnings());
    let cluster = collect_now(&evidence, &[Item::NodeFiles].into(), &Options::default(), None).cluster;
    assert!(cluster.node_trouble.is_empty(), "{:?}", cluster.node_trouble);
    let snapshot = cluster.nodes.unwrap().remove(0);
    assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
    snapshot
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

pub(crate) fn refuse_secrets(tar: &[u8]) {
    for secret in ["eyJ", SIGNATURE, PASSWORD] {
        assert!(!holds(tar, secret), "{secret} is in the archive");
    }
}

#[test]
fn every_shell_brings_a_whole_snapshot_without_a_secret() {
    let root = containerd();
    let place = root.place();
    for shell in shells() {
        let tar = gather(&shell, &["-r", &place, "-n", "n1"]);
        refuse_secrets(&tar);
        let node = read("n1", &tar);
        assert!(node.meta.errors.is_empty(), "{shell:?}: {:?}", node.meta.errors);
        assert_eq!(node.conf_dir(), "/etc/cni/net.d");
        assert!(!node.conf_dir_is_assumed());
        assert_eq!(node.dirs.as_ref().unwrap().max_conf_num, Some(1));

        let Effective::File(loaded) = node.effective(RuntimeKind::Unknown) else { panic!("{shell:?}") };
        assert_eq!(loaded.file.name, "05-cilium.conflist");
        assert!(loaded.assuming.is_empty(), "{:?}", loaded.assuming);
        assert_eq!(loaded.file.index.as_ref().unwrap().mode.as_deref(), Some("0644"));
        let entry = &loaded.file.linkerd_entries().unwrap()[0];
        let KubeconfigLookup::Facts(facts) = node.kubeconfig_of(entry) else { panic!("{shell:?}") };
        let claims = facts.token_claims.as_ref().unwrap();
        assert_eq!(
            (claims.pod_uid.as_deref(), claims.sa_uid.as_deref(), claims.exp, claims.warnafter),
            (Some("p-uid"), Some("sa-uid"), Some(1_792_526_000), Some(1_760_993_607))
        );
        assert_eq!(facts.server.as_deref(), Some("https://[10.96.0.1]:443"));
        assert_eq!((facts.mode.as_deref(), facts.size), (Some("0600"), Some(kubeconfig().len() as u64)));
        let Some(PolicyToken::Jwt { sha256_prefix }) = entry.policy_token.value() else { panic!("{entry:?}") };
        assert_eq!(facts.token_sha256_prefix.as_ref(), Some(sha256_prefix), "the same token in both");
        assert_eq!(node.kubeconfigs.as_ref().unwrap().len(), 1, "those of others stay on the node");
        assert!(node.conf_files.iter().any(|file| file.name == "10-aws.conflist.cilium_bak"));

        assert!(node.binary("iptables").found().unwrap().links.contains(&"/usr/sbin/xtables-nft-multi".to_owned()));
        assert_eq!(node.binary("nsenter").found().unwrap().executable, Some(true));
        assert!(node.binary("iptables-legacy").is_absent() && node.binary("ip6tables").is_absent());
        assert!(node.host_binaries.as_ref().unwrap().path_is_certain());
        assert!(node.plugin_binary("linkerd-cni").found().is_some() && node.plugin_binary("portmap").is_absent());
        let modules: Vec<&str> = node.modules.as_ref().unwrap().iter().map(String::as_str).collect();
        assert_eq!(modules, ["nf_tables", "xt_owner"]);
        assert_eq!(node.os_release.as_ref().unwrap().id(), Some("amzn"));
        assert_eq!(node.kernel_release(), Some("6.1.0"));
        assert_eq!(node.sysctl.as_ref().unwrap()["net.ipv6.conf.all.disable_ipv6"], "0");
        assert!(node.logs.runtime.as_ref().unwrap()[0].contains("Bearer REDACTED(sha256:"));
    }
}

#[test]
fn the_directories_of_openshift_are_found_in_its_configuration() {
    let root = Root::new();
    root.file("etc/crio/crio.conf", "[crio.network]\nnetwork_dir = \"/etc/cni/net.d\"\n", 0o644);
    root.file(
        "etc/crio/crio.conf.d/00-default",
        "[crio.network]\nnetwork_dir = \"/etc/kubernetes/cni/net.d/\"\nplugin_dirs = [\n  # \"/no\",\n  \
         \"/var/lib/cni/bin\",\n  \"/usr/libexec/cni\",\n]\n",
        0o644,
    );
    let multus = r#"{"cniVersion":"0.3.1","name":"multus","type":"multus-shim"}"#;
    root.file("etc/kubernetes/cni/net.d/00-multus.conf", multus, 0o600);
    root.file("etc/cni/multus/net.d/10-ovn.conflist", &conflist("/etc/cni/multus/net.d"), 0o644);
    root.file("etc/cni/multus/net.d/ZZZ-linkerd-cni-kubeconfig", &kubeconfig(), 0o600);
    root.file("var/lib/cni/bin/linkerd-cni", "ELF", 0o755);
    root.file("usr/bin/nsenter", "ELF", 0o644);
    let place = root.place();
    for shell in shells() {
        let tar = gather(&shell, &["-r", &place]);
        refuse_secrets(&tar);
        let node = read("n1", &tar);
        let dirs = node.dirs.as_ref().unwrap();
        assert_eq!(dirs.conf_dir.as_deref(), Some("/etc/kubernetes/cni/net.d"));
        assert_eq!(dirs.bin_dirs.as_deref().unwrap(), ["/var/lib/cni/bin", "/usr/libexec/cni"]);
        assert_eq!(node.runtime_hint(), RuntimeKind::Crio);
        assert_eq!((node.lists("/etc/cni/multus/net.d"), node.lists("/etc/cni/net.d")), (Some(true), Some(false)));
        assert_eq!(node.all_linkerd_entries()[0].0.path(), "/etc/cni/multus/net.d/10-ovn.conflist");
        assert_eq!(node.kubeconfigs.as_ref().unwrap()[0].path, "/etc/cni/multus/net.d/ZZZ-linkerd-cni-kubeconfig");
        assert!(node.binary("nsenter").is_absent(), "a file that cannot be executed");
        assert!(node.absent_binary("nsenter").ends_with("is not executable)"));
        assert!(!node.host_binaries.as_ref().unwrap().path_is_certain());
        assert!(node.modules.is_none() && node.meta.errors.iter().any(|error| error.path == "/lib/modules"));
    }
}

#[test]
fn of_a_part_of_a_file_system_nothing_is_said_to_be_absent() {
    let root = Root::new();
    root.file("etc/cni/net.d/10-flannel.conflist", &conflist("/etc/cni/net.d"), 0o644);
    root.file("etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig", &kubeconfig(), 0o600);
    let place = root.place();
    for shell in shells() {
        let tar = gather(&shell, &["-r", &place, "-c", "/etc/cni/net.d"]);
        refuse_secrets(&tar);
        let node = read("n1", &tar);
        assert_eq!((node.conf_dir(), node.conf_dir_is_assumed()), ("/etc/cni/net.d", false));
        assert_eq!(node.lists("/etc/cni/multus/net.d"), None);
        for name in ["iptables", "nsenter"] {
            assert!(matches!(node.binary(name), Looked::NotLookedFor(_)), "{name}");
        }
        assert!(matches!(node.plugin_binary("linkerd-cni"), Looked::NotLookedFor(_)));
        assert!(node.modules.is_none() && node.os_release.is_none());
        assert!(matches!(node.effective(RuntimeKind::Containerd), Effective::File(_)));
    }
}

#[test]
fn what_cannot_be_told_is_named_and_not_made_up() {
    let root = Root::new();
    root.file("etc/cni/net.d/05-x.conflist", &conflist("/etc/cni/net.d"), 0o644);
    root.file("etc/cni/net.d/06 \"quoted\"\n.conflist", "{}", 0o644);
    root.link("/nowhere", "etc/cni/net.d/07-dangling.conflist");
    root.link("/etc/passwd", "etc/cni/net.d/08-out.conflist");
    root.file("usr/bin/x", "", 0o755);
    // Claims in another order than the API server's are not guessed at.
    let odd = URL_SAFE_NO_PAD.encode(r#"{"kubernetes.io":{"pod":{"uid":"u","name":"p"}},"exp":5}"#);
    let other = kubeconfig().replace(&token(), &format!("eyJhIjoxfQ.{odd}.{SIGNATURE}"));
    root.file("etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig", &other, 0o600);
    let place = root.place();
    for shell in shells() {
        let tar = gather(&shell, &["-r", &place]);
        refuse_secrets(&tar);
        let node = read("n1", &tar);
        assert_eq!(node.lists("/etc/cni/net.d"), None, "a name is missing from the listing");
        let content = |name: &str| &node.conf_file(&format!("/etc/cni/net.d/{name}")).unwrap().content;
        assert!(matches!(content("07-dangling.conflist"), Content::NotCaptured(_)));
        assert!(matches!(content("08-out.conflist"), Content::NotCaptured(_)), "nothing outside of the root is read");
        let facts = &node.kubeconfigs.as_ref().unwrap()[0];
        assert_eq!((facts.token_claims.as_ref(), facts.token_present()), (None, Some(true)));
    }
}

#[test]
fn through_a_terminal_it_comes_as_text() {
    let root = containerd();
    let place = root.place();
    for shell in shells() {
        let text = String::from_utf8(gather(&shell, &["-t", "-r", &place])).unwrap();
        let inner: String = text
            .lines()
            .skip_while(|line| *line != "-----BEGIN NODE SNAPSHOT-----")
            .skip(1)
            .take_while(|line| *line != "-----END NODE SNAPSHOT-----")
            .collect();
        let tar = STANDARD.decode(inner).unwrap();
        refuse_secrets(&tar);
        assert!(read("n1", &tar).conf_file("/etc/cni/net.d/05-cilium.conflist").is_some(), "{shell:?}");
    }
}
