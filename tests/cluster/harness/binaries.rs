//! Finds or builds the programs that a cluster consists of.
//!
//! They are built from their Go modules (`modules/`, with pinned versions) into an ignored folder that later
//! runs reuse; `KUBEBUILDER_ASSETS` wins if it contains all of them. A machine that cannot build them gets a
//! message, and its tests are skipped. This module does not start the programs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::print_line;
use super::skip::{Need, skipped};

/// The programs: name, folder of the module, and Go package.
const PROGRAMS: [(&str, &str, &str); 5] = [
    ("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    ("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    ("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
];

/// The Go modules under `modules/`, each a pinned set of versions.
const MODULES: [&str; 4] = ["etcd", "gateway-api", "kubernetes", "kwok"];

/// The programs of a cluster, all in one folder.
#[derive(Debug, Clone)]
pub struct Binaries {
    folder: PathBuf,
}

/// The programs, built at the first call in this process if needed; `None`, with a single message, if that
/// fails.
pub fn binaries() -> Option<&'static Binaries> {
    static BINARIES: OnceLock<Option<Binaries>> = OnceLock::new();
    BINARIES
        .get_or_init(|| match find_or_build() {
            Ok(binaries) => Some(binaries),
            Err(why) => {
                skipped(Need::ApiServer, &format!("every test that needs an API server: {why}"));
                None
            }
        })
        .as_ref()
}

impl Binaries {
    /// The path of one of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder with the standard Gateway API definitions of the pinned version.
    pub fn gateway_api(&self) -> Result<PathBuf, String> {
        Ok(downloaded("gateway-api", "sigs.k8s.io/gateway-api")?.join("config/crd/standard"))
    }

    /// The definition of kwok's `Logs`, which set the place of a simulated pod's log.
    pub fn kwok_logs(&self) -> Result<Value, String> {
        let path = downloaded("kwok", "sigs.k8s.io/kwok")?.join("kustomize/crd/bases/kwok.x-k8s.io_logs.yaml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_yaml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The folder of a module that one of ours requires.
fn downloaded(ours: &str, path: &str) -> Result<PathBuf, String> {
    need_go()?;
    let module = module_folder(ours);
    let version = required(&module, path);
    let answer = Command::new("go")
        .current_dir(&module)
        .args(["mod", "download", "-json", &format!("{path}@{version}")])
        .output()
        .map_err(|error| format!("go mod download: {error}"))?;
    let answer: Value = serde_json::from_slice(&answer.stdout)
        .map_err(|error| format!("go mod download of {path} did not answer in JSON: {error}"))?;
    match answer["Dir"].as_str() {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => Err(format!("{path} {version} is unavailable: {}", answer["Error"])),
    }
}

/// The version of Kubernetes that `modules/kubernetes/go.mod` pins, such as `v1.34.4`.
pub fn kubernetes_version() -> String {
    required(&module_folder("kubernetes"), "k8s.io/kubernetes")
}

fn find_or_build() -> Result<Binaries, String> {
    let built = built_folder();
    if let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from) {
        match PROGRAMS.iter().find(|(name, ..)| !folder.join(name).is_file()) {
            None => return Ok(Binaries { folder }),
            Some((missing, ..)) => {
                print_line(&format!("KUBEBUILDER_ASSETS is not used: it holds no {missing}"));
            }
        }
    }
    if PROGRAMS.iter().any(|(name, ..)| !built.join(name).is_file()) {
        need_go()?;
        let _lock = lock(&built)?;
        let missing: Vec<_> = PROGRAMS.iter().filter(|(name, ..)| !built.join(name).is_file()).collect();
        if !missing.is_empty() {
            print_line(&format!("building {} programs into {}", missing.len(), built.display()));
            print_line("this takes 5 minutes on 2 cores, and later runs reuse them");
        }
        for module in ["etcd", "kwok", "kubernetes"] {
            if missing.iter().any(|(_, of, _)| *of == module) {
                download(module)?;
            }
        }
        for (name, module, package) in missing {
            build(&built, name, module, package)?;
            print_line(&format!("built {name}"));
        }
    }
    Ok(Binaries { folder: built })
}

/// `.cluster/<version>-<hash of the pinned modules>/bin`, so that a changed pin never meets an old program.
fn built_folder() -> PathBuf {
    let root = std::env::var_os("MESHDOCTOR_CLUSTER_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".cluster"));
    let mut pins = Sha256::new();
    for module in MODULES {
        for file in ["go.mod", "go.sum"] {
            pins.update(fs::read(module_folder(module).join(file)).unwrap());
        }
    }
    let pins: String = pins.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    root.join(format!("{}-{pins}", kubernetes_version())).join("bin")
}

fn module_folder(module: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/modules").join(module)
}

/// The version of `path` that the go.mod in `folder` requires.
fn required(folder: &Path, path: &str) -> String {
    let text = fs::read_to_string(folder.join("go.mod")).unwrap();
    text.lines()
        .find_map(|line| {
            let mut words = line.trim().trim_start_matches("require ").split_whitespace();
            (words.next() == Some(path)).then(|| words.next().map(str::to_owned)).flatten()
        })
        .filter(|version| version.starts_with('v'))
        .unwrap_or_else(|| panic!("{}/go.mod does not require {path}", folder.display()))
}

fn need_go() -> Result<(), String> {
    match Command::new("go").arg("version").output() {
        Ok(answer) if answer.status.success() => Ok(()),
        Ok(answer) => Err(format!("`go version` fails: {}", String::from_utf8_lossy(&answer.stderr).trim())),
        Err(error) => Err(format!("the servers are built with Go 1.26 or newer, and `go` cannot be run: {error}")),
    }
}

/// A lock that is held while building, so that test processes that start together build once.
fn lock(built: &Path) -> Result<File, String> {
    let tell = |error: std::io::Error| format!("{}: {error}", built.display());
    fs::create_dir_all(built).map_err(tell)?;
    let file = File::create(built.join(".lock")).map_err(tell)?;
    file.lock().map_err(tell)?;
    Ok(file)
}

/// Downloads a module and its dependencies. Without a module proxy or with an older Go, this tier cannot run.
fn download(module: &str) -> Result<(), String> {
    let run = Command::new("go").current_dir(module_folder(module)).args(["mod", "download"]).output();
    let run = run.map_err(|error| format!("go mod download: {error}"))?;
    match run.status.success() {
        true => Ok(()),
        false => Err(format!("`go mod download` fails: {}", last_lines(&String::from_utf8_lossy(&run.stderr)))),
    }
}

fn build(folder: &Path, name: &str, module: &str, package: &str) -> Result<(), String> {
    // The version that the servers report, which is set when they are linked.
    let version = kubernetes_version();
    let mut numbers = version.trim_start_matches('v').split('.');
    let variables = "-X k8s.io/component-base/version";
    let flags = format!(
        "-s -w {variables}.gitVersion={version} {variables}.gitMajor={} {variables}.gitMinor={}",
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    );
    let unfinished = folder.join(format!("{name}.unfinished"));
    let run = Command::new("go")
        .current_dir(module_folder(module))
        .env("CGO_ENABLED", "0")
        .args(["build", "-trimpath", "-ldflags", &flags, "-o"])
        .arg(&unfinished)
        .arg(package)
        .output()
        .map_err(|error| format!("go build: {error}"))?;
    // The modules are here: a build that fails now is a defect of this folder, not of the machine.
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "building {name} fails: {}", last_lines(&errors));
    fs::rename(&unfinished, folder.join(name)).map_err(|error| format!("{}: {error}", unfinished.display()))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(5)..].join(" / ")
}
