//! `node-snapshot`, the real binary, on prepared roots: the written files, the output, and `check` on the
//! result. Also as an ordinary user.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::binary::{meshdoctor, write};
use crate::skip::{Need, skipped};

const NET_D: &str = "etc/cni/net.d";

/// Three base64url runs, the last one a canary.
fn token() -> String {
    use base64::Engine;
    let part = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let claims = r#"{"sub":"system:serviceaccount:linkerd-cni:linkerd-cni","exp":1600000000}"#;
    format!("{}.{}.{}", part(r#"{"alg":"RS256"}"#), part(claims), part("signature-canary-do-not-print"))
}

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nTUlJQ2Rrey1jYW5hcnk\n-----END PRIVATE KEY-----\n";

/// A node with containerd, linkerd-cni and secrets in every place.
fn node(root: &Path) {
    let token = token();
    write(root, "etc/hostname", "ip-10-0-1-11\n");
    write(root, "etc/os-release", "ID=ubuntu\nVERSION_ID=\"24.04\"\n");
    write(
        root,
        "etc/containerd/config.toml",
        "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.x.auth]\npassword = \"canary-password\"\n",
    );
    let entry = format!(
        r#"{{"cniVersion":"0.4.0","name":"aws-cni","plugins":[{{"type":"aws-cni","key":"{}"}},{{"type":"linkerd-cni","policy":{{"k8s_auth_token":"{token}"}},
"kubernetes":{{"kubeconfig":"/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig"}},"linkerd":{{"iptables-mode":"legacy"}}}}]}}"#,
        KEY.replace('\n', "\\n")
    );
    write(root, &format!("{NET_D}/10-aws.conflist"), entry);
    write(root, &format!("{NET_D}/10-aws.conflist.bak"), format!("linkerd-cni {token}\n{KEY}"));
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: local, cluster: {{server: 'https://10.96.0.1:443'}}}}]\nusers: [{{name: linkerd-cni, user: {{token: {token}, password: canary-password}}}}]\ncontexts: [{{name: linkerd-cni-context, context: {{cluster: local, user: linkerd-cni}}}}]\ncurrent-context: linkerd-cni-context\n"
    );
    write(root, &format!("{NET_D}/ZZZ-linkerd-cni-kubeconfig"), kubeconfig);
    write(root, "var/log/syslog", format!("Jan 1 00:00:00 n containerd[1]: cni said {token}\n{KEY}"));
    write(root, "usr/sbin/iptables", "#!/bin/sh\n");
    write(root, "opt/cni/bin/linkerd-cni", "#!/bin/sh\nexit 1\n");
    for program in ["usr/sbin/iptables", "opt/cni/bin/linkerd-cni"] {
        fs::set_permissions(root.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn snapshot(root: &Path, more: &[&str]) -> Output {
    let root = root.display().to_string();
    meshdoctor(&[&["node-snapshot", "--root", &root], more].concat()).output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Panics if a secret is in these bytes.
fn clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for canary in ["eyJ", "TUlJQ2Rr", "canary-password", "c2lnbmF0dXJl", "BEGIN PRIVATE"] {
        assert!(!text.contains(canary), "{what} holds {canary}:\n{text}");
    }
}

/// The report of `check`, and the number of snapshots that it read.
fn checked(nodes: &str) -> (Output, serde_json::Value) {
    let output = meshdoctor(&["check", "--nodes", nodes, "-o", "json"]).output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{nodes}: {e}\n{}", err(&output)));
    (output, report)
}

#[test]
fn each_form_is_private_and_read_by_check() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    node(&root);
    let many = folder.path().join("many");
    fs::create_dir(&many).unwrap();
    for (name, given) in [
        ("n1/", "ip-10-0-1-11="),
        ("n2.tar.gz", "ip-10-0-1-11="),
        ("n3.tgz", ""),
        ("n4.tar.zst", ""),
        ("n5.tar", "ip-10-0-1-11="),
        ("n6/", ""),
    ] {
        let path = format!("{}/{name}", folder.path().display());
        let output = snapshot(&root, &["-o", &path]);
        assert_eq!(status(&output), 0, "{}", err(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{path}\n"));
        assert!(
            err(&output).contains(&format!("next      meshdoctor check --nodes ip-10-0-1-11={path}\n")),
            "{}",
            err(&output)
        );
        clean("what it says", &output.stderr);
        let kept = if name.ends_with('/') { format!("{path}meta.json") } else { path.clone() };
        assert_eq!(fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
        let (output, report) = checked(&format!("{given}{path}"));
        let tokens = report["findings"].as_array().unwrap().iter().filter(|f| f["check"] == "cni-token-expired");
        assert_eq!(tokens.count(), 1, "{name}: {report:#}");
        clean("the report", &output.stdout);
    }
    let files = walkdir::WalkDir::new(folder.path().join("n1"));
    for file in files.into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file()) {
        clean(&file.path().display().to_string(), &fs::read(file.path()).unwrap());
    }
    // Several nodes in one folder.
    for name in ["ip-10-0-1-11", "ip-10-0-1-12"] {
        let path = format!("{}/{name}.tar.gz", many.display());
        assert_eq!(status(&snapshot(&root, &["--node", name, "-q", "-o", &path])), 0);
    }
    let (_, report) = checked(&many.display().to_string());
    assert!(report.to_string().contains("ip-10-0-1-12"), "{report:#}");
}

#[test]
fn an_archive_comes_on_standard_output_and_by_default_under_the_nodes_name() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    node(&root);
    let output = snapshot(&root, &["-o", "-"]);
    assert_eq!(status(&output), 0, "{}", err(&output));
    let mut names = Vec::new();
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&output.stdout[..]));
    for entry in tar.entries().unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.header().mode().unwrap(), 0o600);
        names.push(entry.path().unwrap().display().to_string());
    }
    assert!(names.contains(&"ip-10-0-1-11/cni/net.d/10-aws.conflist".to_owned()), "{names:?}");
    assert!(names.contains(&"ip-10-0-1-11/meta.json".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("kubeconfig")), "{names:?}");
    let here = |more: &[&str]| {
        let root = root.display().to_string();
        let mut command = meshdoctor(&[&["node-snapshot", "--root", &root], more].concat());
        command.current_dir(folder.path()).output().unwrap()
    };
    let output = here(&[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ip-10-0-1-11.tar.gz\n");
    let again = here(&[]);
    assert_eq!(status(&again), 2);
    assert!(err(&again).contains("ip-10-0-1-11.tar.gz: the file already exists"), "{}", err(&again));
    let output = here(&["-q", "--force"]);
    assert_eq!(err(&output), "");
}

#[test]
fn mistakes_are_told_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    node(&root);
    let full = folder.path().display().to_string();
    for (args, code, said) in [
        (&["-o", "x.zip"][..], 2, "x.zip: end the name in .tar.gz"),
        (&["-o", "/nonexistent/x.tar.gz"], 2, "/nonexistent/x.tar.gz"),
        (&["-o", &full], 2, "not empty"),
        (&["--node", "Node 1", "-o", "-"], 2, "is not a valid node name"),
        (&["--conf-dir", "net.d", "-o", "-"], 2, "not an absolute path"),
        (&["--root", "/nonexistent", "-o", "-"], 2, "cannot be used multiple times"),
    ] {
        let output = snapshot(&root, args);
        assert_eq!(status(&output), code, "{args:?}: {}", err(&output));
        assert!(err(&output).contains(said), "{args:?}: {}", err(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    fs::create_dir(folder.path().join("empty")).unwrap();
    for empty in [folder.path().join("gone"), folder.path().join("empty")] {
        let output = snapshot(&empty, &["--node", "n1", "-o", "-"]);
        assert_eq!(status(&output), 3, "{}", err(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_fifo_and_unreadable_folders_do_not_stop_an_ordinary_user() {
    if !Path::new("/usr/bin/setpriv").exists() || !am_root() {
        skipped(Need::OtherUser, "to drop rights, this needs to be root and setpriv (util-linux)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    node(&root);
    write(&root, "etc/cni/multus/net.d/10-x.conflist", "{}");
    write(&root, "etc/crio/crio.conf.d/x.conf", "");
    let closed = ["etc/cni/multus/net.d", "etc/crio/crio.conf.d", "etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig"];
    for path in closed {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let fifo = root.join("etc/cni/net.d/20-fifo.conflist");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Both the folder of the test and the binary must be within reach of an ordinary user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = folder.path().join("meshdoctor");
    fs::copy(env!("CARGO_BIN_EXE_meshdoctor"), &binary).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&binary)
        .args(["node-snapshot", "-o", "-", "--root"])
        .arg(&root)
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(status(&output), 0, "{}", err(&output));
    for said in
        ["/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig: permission denied", "/etc/cni/multus/net.d: permission denied"]
    {
        assert!(err(&output).contains(&format!("not read  {said}\n")), "{}", err(&output));
    }
    clean("what it says", &output.stderr);
    let archive = folder.path().join("n.tar.gz");
    fs::write(&archive, &output.stdout).unwrap();
    let (_, report) = checked(&format!("ip-10-0-1-11={}", archive.display()));
    assert_ne!(report["coverage"], serde_json::Value::Null);
}

/// Root reads every file, whatever its mode.
fn am_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|text| text.lines().any(|line| line.starts_with("Uid:\t0\t0")))
}
