//! The pages of `docs/platforms/`: their commands are valid and have the described effect, with a stand-in
//! for the command that needs a platform that runs the rest on a prepared file system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::gather;

/// The arguments after `--` of `kubectl exec`, those of ssh, and so on, with the prepared root in place of
/// the platform's.
const STAND_INS: [(&str, &str); 7] = [
    (
        "kubectl",
        r#"case " $* " in
*" debug "*) echo "$*" >> "$LOG"
  echo "Creating debugging pod node-debugger-x-abcde with container debugger on node x." ;;
*" delete pod/node-debugger-x-abcde "*) echo deleted | tee -a "$LOG" ;;
*" wait pod/node-debugger-x-abcde "*) echo "pod/x condition met" ;;
*"{range "*) printf 'n1 10.0.0.1\nn2 10.0.0.2\n' ;;
*" get nodes "*) printf 'n1 n2' ;;
*" exec -i node-debugger-x-abcde "*)
  while [ "$1" != -- ]; do shift; done
  [ "$2 $3 $4 $5 $6" = "sh -s -- -r /host" ] || exit 64
  shift 6
  exec sh -s -- -r "$ROOT" "$@" ;;
*) exit 64 ;;
esac"#,
    ),
    ("ssh", r#"shift; eval "$*""#),
    (
        "sudo",
        r#"case "$*" in
"sh -s -- -r /.bottlerocket/rootfs "*) shift 5; exec sh -s -- -r "$ROOT" "$@" ;;
"sh -s -- -n "*) shift 3; exec sh -s -- -r "$ROOT" "$@" ;;
"tar -C /etc/cni "*) shift 3; exec tar -C "$ROOT/etc/cni" "$@" ;;
*) exit 64 ;;
esac"#,
    ),
    ("gcloud", r#"[ "$1 $2 $4 $6" = "compute ssh --zone --command" ] || exit 64; eval "$7""#),
    (
        "oc",
        r#"case "$1 $2" in
"get nodes") printf 'n1 n2' ;;
"debug -q")
  [ "$4 $5 $6 $7 $8" = "-- chroot /host sh -c" ] || exit 64
  script=$9
  shift 10
  # The log of a pod turns nothing into anything else here, and there is no standard input.
  exec sh -c "$script" sh -r "$ROOT" "$@" < /dev/null ;;
*) exit 64 ;;
esac"#,
    ),
    (
        "talosctl",
        r#"[ "$1" = -n ] || exit 64
case "$3 $4 $5" in
"copy /etc/cni/net.d -") exec tar -C "$ROOT/etc/cni/net.d" -czf - . ;;
"read /etc/os-release ") exec cat "$ROOT/etc/os-release" ;;
*) exit 64 ;;
esac"#,
    ),
    (
        "meshdoctor",
        r#"command=$1
shift
for word; do shift; [ "$word" = --live ] || set -- "$@" "$word"; done
"$MESHDOCTOR" "$command" "$@" > out.txt 2>&1 || [ $? -eq 1 ] || { cat out.txt; exit 65; }"#,
    ),
];

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/platforms");
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages
}

/// The command blocks of a page.
fn blocks(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start() == "```sh" {
            let block = lines.by_ref().take_while(|line| line.trim() != "```");
            blocks.push(block.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect());
        }
    }
    blocks
}

#[test]
fn every_command_does_what_its_page_says() {
    let sh = gather::shells().remove(0);
    let root = gather::containerd();
    let pages = pages();
    assert!(pages.len() > 8, "{pages:?}");
    for page in pages {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("bin")).unwrap();
        for (name, text) in STAND_INS {
            fs::write(at("bin").join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(at("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::copy(page.with_file_name("gather-node.sh"), at("gather-node.sh")).unwrap();
        fs::write(at("session.txt"), gather::gather(&sh, &["-t", "-r", &root.place()])).unwrap();
        let blocks = blocks(&page);
        assert!(!blocks.is_empty(), "{}", page.display());
        fs::write(at("page.sh"), format!("set -e\n{}", blocks.concat())).unwrap();
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
        let run = Command::new(sh[0])
            .args(["page.sh"])
            .current_dir(folder.path())
            .env("PATH", path)
            .env("ROOT", root.place())
            .env("LOG", at("log"))
            .env("MESHDOCTOR", env!("CARGO_BIN_EXE_meshdoctor"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{}: {}\n{said}", page.display(), run.status);
        let brought: Vec<PathBuf> = fs::read_dir(at("nodes")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!brought.is_empty(), "{}", page.display());
        for tar in brought {
            let bytes = fs::read(&tar).unwrap();
            gather::refuse_secrets(&bytes);
            let node = tar.file_stem().unwrap().to_string_lossy();
            assert_eq!(
                gather::read(&node, &bytes).all_linkerd_entries().len(),
                1,
                "{}: {}",
                page.display(),
                tar.display()
            );
        }
        for gone in ["part", "copy.tar.gz"] {
            assert!(!at(gone).exists(), "{}: {gone} is left, with a token", page.display());
        }
        let log = fs::read_to_string(at("log")).unwrap_or_default();
        let count = |word: &str| log.lines().filter(|line| line.contains(word)).count();
        assert_eq!(count(" debug "), count("deleted"), "{}: a pod is left behind", page.display());
    }
}

#[test]
fn every_page_says_what_was_run() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let top: String = text.lines().take(8).collect();
        assert!(top.contains("Tested") && top.contains("Not tested"), "{}", page.display());
        for line in text.lines().filter(|line| !line.contains("http")) {
            assert!(line.chars().count() <= 120, "{}: {line}", page.display());
        }
    }
}
