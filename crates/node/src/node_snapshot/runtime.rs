//! The kubelet's container runtime and its CNI settings, from the running processes, the kubelet's own
//! settings, configuration files, and `crictl` if it can be run. If two runtimes remain, the snapshot records
//! that, and neither is chosen.

use std::path::Path;

use super::notes::{Notes, shown};
use super::process::{self, Process};
use super::root::Root;
use super::settings::{MAX_CONFIG, Settings, directory};
use super::{Options, containerd, crictl, crio};
use crate::knowledge::Knowledge;
use crate::node::{RuntimeInfo, RuntimeKind};

/// The snapshot file with the runtime.
const INFO: &str = "runtime/info.json";

/// Facts about the node's runtime.
#[derive(Debug)]
pub(super) struct Runtime {
    pub(super) settings: Settings,
    /// Its process, if visible.
    pub(super) process: Option<Process>,
    /// The content of `runtime/info.json`; `None` if no runtime is known.
    pub(super) info: Option<RuntimeInfo>,
    /// Directories of CNI configuration of a runtime that may not be the kubelet's.
    pub(super) other_conf_dirs: Vec<String>,
}

/// A runtime found on the node.
struct Candidate {
    settings: Settings,
    process: Option<Process>,
    present: bool,
    disabled: bool,
    /// Why it counts, for the user.
    seen: String,
}

pub(super) fn find(root: &Root, options: &Options, knowledge: &Knowledge, notes: &mut Notes) -> Runtime {
    let mut candidates: Vec<Candidate> =
        [containerd_here(root, knowledge, notes), crio_here(root, knowledge, notes)].into_iter().flatten().collect();
    let endpoint = kubelet_endpoint(root, knowledge, notes);
    let asked = if root.is_own() && options.run { crictl::ask(root, knowledge, notes) } else { None };
    // Without its own configuration crictl uses any runtime that answers, which may not be the kubelet's.
    let told = asked.as_ref().filter(|answer| answer.told).and_then(|answer| answer.info.name.as_deref());
    let wanted = match &endpoint {
        Some(endpoint) => Some(kind_of(endpoint, knowledge)),
        None => told.map(RuntimeKind::parse),
    };
    let wanted = wanted.filter(|kind| *kind != RuntimeKind::Unknown);
    match wanted {
        // The kubelet's setting counts, even if nothing else of that runtime is visible.
        Some(wanted) => candidates.retain(|candidate| candidate.settings.kind == wanted),
        None => {
            for keep in [|c: &Candidate| !c.disabled, |c: &Candidate| c.process.is_some(), |c: &Candidate| c.present] {
                if candidates.iter().any(keep) {
                    candidates.retain(keep);
                }
            }
        }
    }
    let asked = asked.filter(|answer| answer.told || candidates.len() < 2);
    let mut runtime = match candidates.len() {
        0 => unseen(wanted, endpoint.as_deref(), notes),
        1 => certain(candidates.remove(0), notes),
        _ => ambiguous(candidates, notes),
    };
    runtime.add(asked.map(|answer| answer.info));
    if let Some(dir) = options.conf_dir.as_deref().and_then(directory) {
        runtime.settings.conf_dir = Some(dir);
        runtime.settings.source = "flag";
    }
    if !options.bin_dirs.is_empty() {
        runtime.settings.bin_dirs = Some(options.bin_dirs.iter().filter_map(|dir| directory(dir)).collect());
    }
    runtime
}

fn unknown() -> Runtime {
    let settings = Settings {
        kind: RuntimeKind::Unknown,
        conf_dir: None,
        bin_dirs: None,
        max_conf_num: None,
        default_network: None,
        source: "default",
    };
    Runtime { settings, process: None, info: None, other_conf_dirs: Vec::new() }
}

/// The runtime that the kubelet names by its socket, if nothing else of it is visible.
fn unseen(wanted: Option<RuntimeKind>, endpoint: Option<&str>, notes: &mut Notes) -> Runtime {
    let mut runtime = unknown();
    if let Some(endpoint) = endpoint {
        let endpoint = shown(Path::new(endpoint));
        notes.error(
            Path::new(INFO),
            format!("the kubelet uses {endpoint}, but no configuration of that runtime was found"),
        );
    }
    if let Some(kind) = wanted {
        runtime.settings.kind = kind;
        runtime.info = Some(RuntimeInfo { name: Some(name(kind).to_owned()), ..RuntimeInfo::default() });
    }
    runtime
}

/// The runtime that listens on a socket, by the socket's name. `dockershim.sock` is ambiguous, because
/// containerd has used it too.
fn kind_of(endpoint: &str, knowledge: &Knowledge) -> RuntimeKind {
    let file = endpoint.rsplit('/').next().unwrap_or(endpoint);
    let has = |words: &[String]| words.iter().any(|word| file.contains(word.as_str()));
    match () {
        () if file.contains("cri-dockerd") => RuntimeKind::Dockershim,
        () if has(&knowledge.node().crio.endpoints) => RuntimeKind::Crio,
        () if has(&knowledge.node().containerd.endpoints) => RuntimeKind::Containerd,
        () => RuntimeKind::Unknown,
    }
}

fn certain(candidate: Candidate, notes: &mut Notes) -> Runtime {
    let Candidate { settings, process, seen, disabled, .. } = candidate;
    let name = name(settings.kind);
    notes.read(format!("the runtime is {name}: {seen}"));
    if disabled {
        notes.error(Path::new(INFO), format!("{name} exists but its CRI plugin is disabled: a kubelet cannot use it"));
    }
    let info = RuntimeInfo { name: Some(name.to_owned()), ..RuntimeInfo::default() };
    Runtime { settings, process, info: Some(info), other_conf_dirs: Vec::new() }
}

/// Two runtimes without evidence of which one the kubelet uses: the rules of neither are applied alone.
fn ambiguous(candidates: Vec<Candidate>, notes: &mut Notes) -> Runtime {
    let all: Vec<String> = candidates.iter().map(|one| format!("{} ({})", name(one.settings.kind), one.seen)).collect();
    let why = format!("two runtimes exist, and the kubelet's is not known: {}", all.join(", "));
    notes.error(Path::new(INFO), why);
    let mut runtime = unknown();
    let dirs: Vec<&String> = candidates.iter().filter_map(|one| one.settings.conf_dir.as_ref()).collect();
    if dirs.len() == candidates.len() && dirs.windows(2).all(|pair| pair[0] == pair[1]) {
        runtime.settings.conf_dir = dirs.first().map(|dir| (*dir).clone());
        let mut bins: Vec<String> =
            candidates.iter().flat_map(|one| one.settings.bin_dirs.iter().flatten().cloned()).collect();
        bins.dedup();
        runtime.settings.bin_dirs = Some(bins).filter(|bins| !bins.is_empty());
    }
    runtime.other_conf_dirs = dirs.into_iter().cloned().collect();
    runtime
}

impl Runtime {
    /// Adds the runtime's own answer, which takes precedence over its files, because they may be newer than
    /// the running process.
    fn add(&mut self, asked: Option<RuntimeInfo>) {
        let Some(asked) = asked else { return };
        let kind = asked.name.as_deref().map_or(RuntimeKind::Unknown, RuntimeKind::parse);
        let other = kind != self.settings.kind && self.settings.kind != RuntimeKind::Unknown;
        if other && kind != RuntimeKind::Unknown {
            return;
        }
        if let Some(dir) = &asked.conf_dir {
            self.settings.conf_dir = Some(dir.clone());
            self.settings.source = "crictl";
        }
        if !asked.bin_dirs.is_empty() {
            self.settings.bin_dirs = Some(asked.bin_dirs.clone());
        }
        self.settings.max_conf_num = asked.max_conf_num.or(self.settings.max_conf_num);
        let known = self.info.take().and_then(|info| info.name);
        self.info = Some(RuntimeInfo { name: asked.name.clone().or(known), ..asked });
    }
}

fn name(kind: RuntimeKind) -> &'static str {
    match kind {
        RuntimeKind::Containerd => "containerd",
        RuntimeKind::Crio => "cri-o",
        RuntimeKind::Dockershim => "docker",
        RuntimeKind::Unknown => "unknown",
    }
}

fn containerd_here(root: &Root, knowledge: &Knowledge, notes: &mut Notes) -> Option<Candidate> {
    let places = &knowledge.node().containerd;
    let process = first_process(root, &places.processes);
    let program = places.programs.iter().find(|path| root.has(path));
    let found = containerd::configured(root, process.as_ref(), knowledge, notes);
    let seen = runtime_evidence(process.as_ref(), found.present, program)?;
    let containerd::Configured { settings, disabled, present } = found;
    Some(Candidate { settings, process, present, disabled, seen })
}

fn crio_here(root: &Root, knowledge: &Knowledge, notes: &mut Notes) -> Option<Candidate> {
    let places = &knowledge.node().crio;
    let process = first_process(root, &places.processes);
    let program = places.programs.iter().find(|path| root.has(path));
    let (settings, present) = crio::configured(root, process.as_ref(), knowledge, notes);
    let seen = runtime_evidence(process.as_ref(), present, program)?;
    Some(Candidate { settings, process, present, disabled: false, seen })
}

fn first_process(root: &Root, names: &[String]) -> Option<Process> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    process::find(root, &names).into_iter().next()
}

/// Evidence that a runtime exists on the node.
fn runtime_evidence(process: Option<&Process>, configured: bool, program: Option<&String>) -> Option<String> {
    match (process, configured, program) {
        (Some(process), _, _) => Some(format!("process {}", process.pid)),
        (None, true, _) => Some("its configuration exists".to_owned()),
        (None, false, Some(program)) => Some(format!("{program} exists, without configuration")),
        (None, false, None) => None,
    }
}

/// The runtime's socket from the kubelet's settings.
fn kubelet_endpoint(root: &Root, knowledge: &Knowledge, notes: &mut Notes) -> Option<String> {
    const FLAG: &str = "--container-runtime-endpoint";
    let places = &knowledge.node().kubelet;
    let process = first_process(root, &places.processes);
    if let Some(endpoint) = process.as_ref().and_then(|process| process.flag(&[FLAG])) {
        return Some(endpoint.to_owned());
    }
    let config = process.as_ref().and_then(|process| process.flag(&["--config"]));
    let mut files: Vec<(&str, &str)> = config.into_iter().map(|path| (path, "containerRuntimeEndpoint:")).collect();
    files.extend(places.config_files.iter().map(|path| (path.as_str(), "containerRuntimeEndpoint:")));
    files.extend(places.flag_files.iter().map(|path| (path.as_str(), FLAG)));
    for (path, key) in files {
        let path = Path::new(path);
        let Some(content) = notes.unless_absent(path, root.read(path, MAX_CONFIG)) else { continue };
        let text = String::from_utf8_lossy(&content.bytes);
        let value = text.lines().filter(|line| !line.trim_start().starts_with('#')).find_map(|line| {
            let rest = line.split_once(key)?.1;
            let rest = rest.trim_start_matches(['=', ' ', '"', '\'']);
            let value: String = rest.chars().take_while(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
            (!value.is_empty()).then_some(value)
        });
        if value.is_some() {
            return value;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime(kind: RuntimeKind) -> Runtime {
        let mut runtime = unknown();
        runtime.settings =
            Settings { kind, conf_dir: Some("/file".to_owned()), source: "config.toml", ..runtime.settings };
        runtime.info = Some(RuntimeInfo { name: Some(name(kind).to_owned()), ..RuntimeInfo::default() });
        runtime
    }

    #[test]
    fn runtime_answer_overrides_files_of_the_same_runtime() {
        let asked = |name: Option<&str>| RuntimeInfo {
            name: name.map(str::to_owned),
            conf_dir: Some("/said".to_owned()),
            last_cni_load_status: Some("OK".to_owned()),
            ..RuntimeInfo::default()
        };
        for (kind, name, dir, source) in [
            (RuntimeKind::Containerd, Some("containerd"), "/said", "crictl"),
            (RuntimeKind::Containerd, None, "/said", "crictl"),
            (RuntimeKind::Crio, Some("containerd"), "/file", "config.toml"),
            (RuntimeKind::Unknown, Some("containerd"), "/said", "crictl"),
        ] {
            let mut runtime = runtime(kind);
            runtime.add(Some(asked(name)));
            assert_eq!(runtime.settings.conf_dir.as_deref(), Some(dir), "{kind:?} {name:?}");
            assert_eq!(runtime.settings.source, source);
        }
    }
}
