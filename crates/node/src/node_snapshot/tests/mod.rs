//! Snapshots of generated roots: runtime configurations, found files, and notes about the rest.

mod files;
mod found;
mod runtimes;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::node::NodeSnapshot;
use meshdoctor_test_support::{bound_token_payload, sample_token};

pub(super) const CONFLIST: &str = r#"{"cniVersion":"0.4.0","name":"x","plugins":[{"type":"ptp"},{"type":"linkerd-cni","name":"linkerd-cni",
"policy":{"type":"k8s","k8s_auth_token":"@TOKEN@"},"kubernetes":{"kubeconfig":"/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig"},
"linkerd":{"iptables-mode":"plain"}}]}"#;

/// The root of a node, generated file by file.
pub(super) struct Made {
    folder: TempDir,
}

impl Made {
    /// A root with only `/etc` and `/usr/sbin`, which counts as whole.
    pub(super) fn whole() -> Made {
        let made = Made::empty();
        made.dir("etc").dir("usr/sbin").file("etc/hostname", "Node-1\n")
    }

    pub(super) fn empty() -> Made {
        Made { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn dir(self, path: &str) -> Made {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    pub(super) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Made {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
        self
    }

    pub(super) fn program(self, path: &str) -> Made {
        let made = self.file(path, "#!/bin/sh\n");
        fs::set_permissions(made.path(path), fs::Permissions::from_mode(0o755)).unwrap();
        made
    }

    pub(super) fn link(self, path: &str, target: &str) -> Made {
        let link = self.path(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
        self
    }

    /// A process as `/proc` shows it.
    pub(super) fn process(self, pid: u32, words: &[&str], environment: &[&str]) -> Made {
        let zeros = |words: &[&str]| words.iter().map(|word| format!("{word}\0")).collect::<String>();
        self.file(&format!("proc/{pid}/cmdline"), zeros(words))
            .file(&format!("proc/{pid}/environ"), zeros(environment))
            .file(&format!("proc/{pid}/cgroup"), "0::/system.slice/x.service\n")
            .file("proc/version", "Linux version 6.1.0\n")
            .file("proc/sys/kernel/osrelease", "6.1.0-1\n")
    }

    pub(super) fn options(&self) -> Options {
        Options {
            root: self.root().to_owned(),
            node: None,
            in_pod: false,
            run: true,
            ask_plugin: false,
            conf_dir: None,
            bin_dirs: Vec::new(),
            at: "2026-01-15T12:00:00.5Z".parse().unwrap(),
        }
    }

    pub(super) fn take(&self) -> Taken {
        take(&self.options()).unwrap()
    }

    /// The snapshot as it is read, without problems.
    pub(super) fn read(&self) -> NodeSnapshot {
        read(&self.take())
    }
}

pub(super) fn read(taken: &Taken) -> NodeSnapshot {
    assert_eq!(normalise(&taken.files, &Defaults::default()), taken.files, "written as it is read");
    let text = shown(taken);
    assert!(!text.contains("eyJ") && !text.contains("hunter2"), "{text}");
    let snapshot = NodeSnapshot::parse(&taken.files);
    assert_eq!(snapshot.problems, []);
    snapshot
}

/// Everything that leaves the node, as text.
pub(super) fn shown(taken: &Taken) -> String {
    let files = taken.files.files.iter();
    let files: String = files.map(|(path, bytes)| format!("{path}\n{}\n", String::from_utf8_lossy(bytes))).collect();
    format!("{files}{:?}{:?}", taken.read, taken.errors)
}

/// The noted reason why a path was not read.
pub(super) fn why(snapshot: &NodeSnapshot, path: &str) -> String {
    let errors = snapshot.meta.errors.iter().filter(|error| error.path == path);
    errors.map(|error| error.error.as_str()).collect::<Vec<_>>().join("; ")
}

pub(super) fn mk_secret() -> String {
    sample_token(&bound_token_payload(), "the signature of it")
}

pub(super) fn mk_kubeconfig() -> String {
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: local\n  cluster:\n    server: https://10.96.0.1:443\nusers:\n\
         - name: linkerd-cni\n  user:\n    token: {}\n    password: hunter2\ncontexts:\n- name: linkerd-cni-context\n  context:\n    \
         cluster: local\n    user: linkerd-cni\ncurrent-context: linkerd-cni-context\n",
        mk_secret()
    )
}
