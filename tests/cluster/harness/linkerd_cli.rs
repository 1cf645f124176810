//! The real Linkerd CLI, if available: `linkerd` on PATH, or every program in the folder in
//! `MESHDOCTOR_LINKERD`. It renders the manifests of its installs, so keys and certificates are fresh and
//! complete.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Cluster;
use super::objects::{ObjectSet, rank};
use super::skip::{Need, skipped};

/// A program and the release it is of.
#[derive(Debug, Clone)]
pub struct LinkerdCli {
    pub program: PathBuf,
    pub version: String,
}

/// All available CLIs, by version; prints a message without any.
pub fn linkerd_clis() -> Vec<LinkerdCli> {
    let programs: Vec<PathBuf> = match std::env::var_os("MESHDOCTOR_LINKERD").map(PathBuf::from) {
        Some(folder) => std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("MESHDOCTOR_LINKERD, {}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .collect(),
        None => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&path).map(|folder| folder.join("linkerd"));
            found.filter(|program| program.is_file()).take(1).collect()
        }
    };
    let mut clis: Vec<LinkerdCli> = programs.into_iter().map(LinkerdCli::new).collect();
    clis.sort_by(|a, b| a.version.cmp(&b.version));
    if clis.is_empty() {
        skipped(
            Need::Linkerd,
            "a test against linkerd check: no linkerd on PATH or in the folder of MESHDOCTOR_LINKERD",
        );
    }
    clis
}

impl LinkerdCli {
    fn new(program: PathBuf) -> LinkerdCli {
        let mut cli = LinkerdCli { program, version: String::new() };
        let said = cli.run(Path::new("/nonexistent"), Path::new("/"), &["version", "--client", "--short"]);
        cli.version = String::from_utf8(said.stdout).unwrap().trim().to_owned();
        assert!(!cli.version.is_empty(), "{} has no version", cli.program.display());
        cli
    }

    /// Runs it with this PATH and home folder, and nothing else of the environment.
    pub fn run(&self, path: &Path, home: &Path, words: &[&str]) -> Output {
        Command::new(&self.program)
            .args(words)
            .env_clear()
            .env("HOME", home)
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()))
    }

    /// The objects that a command prints.
    fn rendered(&self, folder: &Path, words: &[&str]) -> ObjectSet {
        let output = self.run(Path::new("/nonexistent"), folder, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {words:?}: {error}", self.version);
        let file = folder.join("rendered.yaml");
        std::fs::write(&file, output.stdout).unwrap();
        ObjectSet::read(&file)
    }
}

impl Cluster {
    /// Installs what this CLI renders, and these workloads as it injects them, and waits until all their pods run. Gives
    /// everything that was applied.
    pub fn install_with(&mut self, cli: &LinkerdCli, kubeconfig: &Path, workloads: &Path) -> ObjectSet {
        let folder = self.folder().to_owned();
        let crds = cli.rendered(&folder, &["install", "--crds", "--ignore-cluster"]);
        let routes = |name: &str| name == "httproutes.gateway.networking.k8s.io";
        if !crds.objects.iter().any(|object| object["metadata"]["name"].as_str().is_some_and(routes)) {
            self.install_gateway_api();
        }
        let mut objects = crds.objects;
        objects.extend(cli.rendered(&folder, &["install", "--ignore-cluster"]).objects);
        objects.sort_by_key(rank);
        self.apply_in_order(&objects);
        let kubeconfig = kubeconfig.to_str().unwrap();
        let inject = ["inject", "--manual", "--kubeconfig", kubeconfig, workloads.to_str().unwrap()];
        let workloads = cli.rendered(&folder, &inject).objects;
        self.apply_in_order(&workloads);
        objects.extend(workloads);
        ObjectSet::new(objects)
    }
}
