//! Permissions of a configuration file that was found rather than named. A found file can come from a checked-out pull
//! request or another user, so it may only tune checks: it cannot choose a cluster, program or credential, write
//! outside its own folder, or accept what the default gate rejects. `--config FILE` and `MESHDOCTOR_CONFIG` lift this.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use clap::CommandFactory;

use super::super::args::Cli;
use super::super::format;
use super::Setting;

/// Permission of a found file for a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Every value: the flag affects only presentation or time limits.
    Any,
    /// Every value. The flag affects the exit status, so the result names the file.
    Gate,
    /// Only these values: none is looser than the default. The result names the file.
    Strict(&'static [&'static str]),
    /// A folder to write into, inside the folder of the file and not hidden.
    Folder,
    /// Paths inside the folder of the file. The result names the file.
    InsideGate,
    /// Reports on standard output, and files inside the folder of the file.
    Reports,
    /// No value; the text is the reason.
    Nothing(&'static str),
}

use Allowed::{Any, Folder, Gate, InsideGate, Nothing, Reports, Strict};

const CLUSTER: &str = "it selects the cluster, the user or the programs to run";
const EVIDENCE: &str = "it replaces or adds evidence of the cluster";
const SERVER: &str = "it selects a server to query, or the credentials for it";
const MORE_ACCESS: &str = "it makes the run use more of your permissions in the cluster";
const WRITES_CLUSTER: &str = "it writes to the cluster";
const NODE_PODS: &str = "it controls privileged pods on nodes";
const WRITES: &str = "it writes or overwrites files";
const ON_NODE: &str = "it selects files and programs of the node";
const HIDES: &str = "it hides warnings";
const OTHER_QUESTION: &str = "it replaces the findings about the cluster by others";
const FACTS: &str = "it replaces facts that checks and redaction use";
const OTHER_OUTPUT: &str = "it replaces the output by manifests";
const CONFIRMS: &str = "it confirms a step that evidence does not show";
const GRANTS: &str = "it grants permissions to an account";

/// Commands, a flag, and its permission. An empty list of commands means all others. A flag without a row is rejected.
pub(super) const ROWS: &[(&[&str], &str, Allowed)] = &[
    // The connection.
    (&[], "kubeconfig", Nothing(CLUSTER)),
    (&[], "context", Nothing(CLUSTER)),
    (&[], "all-contexts", Nothing(CLUSTER)),
    (&[], "cluster", Nothing(CLUSTER)),
    (&["rbac"], "user", Nothing(GRANTS)),
    (&[], "user", Nothing(CLUSTER)),
    (&[], "as", Nothing(CLUSTER)),
    (&[], "as-group", Nothing(CLUSTER)),
    (&[], "linkerd-cli", Nothing(CLUSTER)),
    (&[], "probe", Nothing(MORE_ACCESS)),
    (&[], "request-timeout", Any),
    (&[], "timeout", Any),
    (&[], "disable-compression", Any),
    (&[], "parallel", Any),
    (&["rbac"], "service-account", Nothing(GRANTS)),
    (&["rbac"], "namespaced", Any),
    (&["rbac"], "proxies", Nothing(GRANTS)),
    // Evidence.
    (&[], "bundle", Nothing(EVIDENCE)),
    (&[], "bundles", Nothing(EVIDENCE)),
    (&[], "live", Nothing(CLUSTER)),
    (&[], "complete", Nothing(EVIDENCE)),
    (&[], "nodes", Nothing(EVIDENCE)),
    (&[], "logs", Nothing(EVIDENCE)),
    (&[], "diagnostics", Nothing(EVIDENCE)),
    (&[], "proxies", Nothing(MORE_ACCESS)),
    (&[], "max-proxies", Nothing(MORE_ACCESS)),
    (&[], "prometheus", Nothing(SERVER)),
    (&[], "prometheus-window", Any),
    (&[], "prometheus-token-file", Nothing(SERVER)),
    (&[], "prometheus-ca", Nothing(SERVER)),
    (&[], "prometheus-label", Nothing(EVIDENCE)),
    (&[], "at", Nothing(EVIDENCE)),
    (&[], "max-age", Gate),
    (&[], "expect", Gate),
    (&[], "linkerd-namespace", Gate),
    (&[], "cni-namespace", Gate),
    // Manifests and values of a repository.
    (&[], "manifests", Nothing(EVIDENCE)),
    (&[], "with", Nothing(OTHER_QUESTION)),
    (&[], "values", Nothing(EVIDENCE)),
    (&[], "prune", Gate),
    (&[], "chart", Nothing(EVIDENCE)),
    (&[], "into", Gate),
    (&[], "linkerd-version", Gate),
    (&[], "kubernetes-version", Gate),
    // Selected checks and the gate.
    (&[], "checks", InsideGate),
    (&[], "only", Gate),
    (&[], "skip", Gate),
    (&["check", "ticket", "sync", "fix"], "namespace", Gate),
    (&["check"], "all-namespaces", Any),
    (&["policy", "reach", "injection"], "namespace", Any),
    (&[], "severity", Gate),
    (&[], "param", Gate),
    (&[], "waivers", InsideGate),
    (&[], "baseline", InsideGate),
    (&[], "before", InsideGate),
    (&["check", "diff"], "fail-on", Strict(&["error", "warning", "info"])),
    (&[], "on-not-checked", Strict(&["fail"])),
    (&[], "confidence", Strict(&["likely"])),
    (&[], "wait", Gate),
    (&[], "pre", Nothing(OTHER_QUESTION)),
    (&[], "crds", Nothing(EVIDENCE)),
    (&[], "linkerd-cni-enabled", Gate),
    (&[], "proxy", Any),
    (&["policy"], "to", Any),
    (&["policy"], "from", Any),
    (&[], "to", Gate),
    (&[], "from", Gate),
    (&[], "to-kubernetes", Gate),
    (&[], "to-cni", Gate),
    (&[], "expected-version", Gate),
    (&[], "verify", Nothing(OTHER_QUESTION)),
    (&[], "knowledge", Nothing(FACTS)),
    // Output.
    (&["collect", "ticket", "node-snapshot"], "output", Nothing(WRITES)),
    (&["check", "demo", "report"], "output", Reports),
    (&["list", "explain", "version", "diff", "policy", "reach", "sync", "injection", "fix", "rotate"], "output", Any),
    (&[], "color", Any),
    (&[], "coverage", Any),
    (&[], "verbose", Any),
    (&[], "quiet", Nothing(HIDES)),
    (&["demo"], "cured", Any),
    (&["test"], "builtin", Any),
    (&["list"], "defects", Any),
    (&["policy"], "generate", Nothing(OTHER_OUTPUT)),
    (&["policy"], "enforce", Nothing(OTHER_OUTPUT)),
    (&["rotate"], "of", Any),
    (&["rotate"], "may", Nothing(CONFIRMS)),
    (&["rotate"], "confirm", Nothing(CONFIRMS)),
    (&["rotate"], "issuer-since", Nothing(CONFIRMS)),
    (&["rotate"], "bundle-since", Nothing(CONFIRMS)),
    (&["reach"], "matrix", Any),
    (&["reach"], "traffic", Any),
    // Writing.
    (&[], "publish", Nothing(WRITES_CLUSTER)),
    (&["fix"], "apply", Nothing(WRITES_CLUSTER)),
    (&["fix"], "write", Nothing(WRITES)),
    (&[], "save", Nothing(WRITES)),
    (&[], "force", Nothing(WRITES)),
    (&["ticket", "collect"], "dry-run", Any),
    (&["new"], "dir", Folder),
    (&["new"], "for", Any),
    (&["new"], "kind", Any),
    (&["new"], "cluster-scoped", Any),
    // Nodes.
    (&[], "node-pods", Nothing(NODE_PODS)),
    (&["collect"], "node", Nothing(NODE_PODS)),
    (&[], "node-image", Nothing(NODE_PODS)),
    (&[], "node-namespace", Nothing(NODE_PODS)),
    (&[], "yes", Nothing(NODE_PODS)),
    (&["node-snapshot"], "node", Nothing(ON_NODE)),
    (&["node-snapshot"], "root", Nothing(ON_NODE)),
    (&["node-snapshot"], "conf-dir", Nothing(ON_NODE)),
    (&["node-snapshot"], "bin-dir", Nothing(ON_NODE)),
    (&["node-snapshot"], "ask-plugin", Nothing(ON_NODE)),
    (&["node-snapshot"], "to-log", Nothing(WRITES)),
    (&["node-snapshot"], "hold", Nothing(ON_NODE)),
    (&["node-snapshot"], "no-run", Any),
];

/// Permission for a flag of a command; `None` for a flag without a row.
pub(super) fn allowed(command: &str, flag: &str) -> Option<Allowed> {
    let of_flag = || ROWS.iter().filter(|(_, name, _)| *name == flag);
    let own = of_flag().find(|(commands, ..)| commands.contains(&command));
    own.or_else(|| of_flag().find(|(commands, ..)| commands.is_empty())).map(|(.., allowed)| *allowed)
}

/// Whether a flag affects the exit status.
pub(super) fn is_of_gate(command: &str, flag: &str) -> bool {
    matches!(allowed(command, flag), Some(Gate | Strict(_) | InsideGate | Nothing(EVIDENCE | OTHER_QUESTION)))
}

/// A file that was found, and the run that it applies to.
pub(super) struct FoundConfig<'a> {
    /// The file.
    pub(super) path: &'a Path,
    /// `check --verify`, which has a stricter default gate.
    pub(super) verifies: bool,
}

impl FoundConfig<'_> {
    /// Reason why a setting for this command is rejected; `None` if it is allowed.
    pub(super) fn refuses(&self, command: &str, setting: &Setting) -> Option<String> {
        let value = setting.value.as_deref().unwrap_or_default();
        match allowed(command, &setting.flag) {
            Some(Any | Gate) => None,
            Some(Strict(values)) => {
                let loose = self.verifies && setting.flag == "fail-on" && value == "error";
                (loose || !values.contains(&value)).then(|| "it accepts more than the default".to_owned())
            }
            // The caller controls standard input.
            Some(InsideGate) if value == "-" => None,
            Some(Folder) => self.refuses_input(value).or_else(|| self.refuses_hidden(Path::new(value))),
            Some(InsideGate) => {
                let paths = match delimiter(&setting.flag) {
                    Some(delimiter) => value.split(delimiter).collect(),
                    None => vec![value],
                };
                paths.into_iter().find_map(|path| self.refuses_input(path))
            }
            Some(Reports) => format::output(value).ok()?.file.and_then(|file| self.refuses_report(&file)),
            Some(Nothing(why)) => Some(why.to_owned()),
            None => Some("it is not known to be safe".to_owned()),
        }
    }

    /// Reason why a path may not be read.
    fn refuses_input(&self, path: &str) -> Option<String> {
        if self.below(Path::new(path)).is_none() {
            return Some(format!("{path} is outside the folder of the file"));
        }
        // Reading a pipe can wait forever.
        let other = std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        other.then(|| format!("{path} is neither a regular file nor a folder"))
    }

    /// Reason why nothing may be written to this path: it is outside, or hidden. Hidden files and folders configure
    /// other tools: `.git`, `.github`.
    fn refuses_hidden(&self, path: &Path) -> Option<String> {
        let shown = path.display();
        let Some(inside) = self.below(path) else {
            return Some(format!("{shown} is outside the folder of the file"));
        };
        let hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        let is_hidden = inside.components().any(hidden);
        is_hidden.then(|| format!("{shown} is a hidden file or in a hidden folder"))
    }

    /// Reason why a report may not be written to this path.
    fn refuses_report(&self, file: &Path) -> Option<String> {
        let shown = file.display();
        let hidden = self.refuses_hidden(file);
        if hidden.is_some() {
            return hidden;
        }
        match std::fs::symlink_metadata(file) {
            Err(_) => None,
            Ok(meta) if !meta.is_file() => Some(format!("{shown} exists and is not a regular file")),
            Ok(_) => (!is_earlier_report(file))
                .then(|| format!("{shown} exists and is not known to be a report of meshdoctor: remove it first")),
        }
    }

    /// Resolves a path below the folder of the file, following every link; `None` if it is elsewhere or unknown.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        resolved(path)?.strip_prefix(&folder).ok().map(Path::to_owned)
    }
}

/// Texts at the beginning of a report, by format. A script, a card or a configuration that only names meshdoctor has
/// none.
const REPORTS: [&[&str]; 7] = [
    &["{", "\"schema\": \"meshdoctor."],
    &["schema: meshdoctor."],
    &["{", "sarif-schema", "\"id\": \"meshdoctor/"],
    &["<?xml", "<testsuites name=\"meshdoctor\""],
    &["<!doctype html>", "Content-Security-Policy", "meshdoctor"],
    &["# meshdoctor: "],
    &["# HELP meshdoctor_"],
];

/// Whether a file is empty or begins as a report, or is a text or log file with a report's commands. Others are not
/// overwritten: they may be sources, or configure other tools.
fn is_earlier_report(file: &Path) -> bool {
    const HEAD: u64 = 64 * 1024;
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let names = |name: &&str| memchr::memmem::find(&head, name.as_bytes()).is_some();
    let begins = |marks: &[&str]| head.starts_with(marks[0].as_bytes()) && marks.iter().all(names);
    let is_text = file.extension().is_some_and(|end| end == "txt" || end == "log");
    let is_report = REPORTS.iter().any(|marks| begins(marks)) || is_text && names(&"meshdoctor");
    read.is_ok() && (head.is_empty() || is_report)
}

/// Separator of the values in one word of a flag.
fn delimiter(flag: &str) -> Option<char> {
    let command = Cli::command();
    let all = command.get_subcommands().flat_map(clap::Command::get_arguments).chain(command.get_arguments());
    all.filter(|arg| arg.get_long() == Some(flag)).find_map(clap::Arg::get_value_delimiter)
}

/// A path without links; names that do not exist yet are kept. `None` if a link is broken or `..` follows such a name.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut known = if path.is_absolute() { path.to_owned() } else { std::env::current_dir().ok()?.join(path) };
    loop {
        if let Ok(mut full) = std::fs::canonicalize(&known) {
            full.extend(missing.iter().rev());
            return Some(full);
        }
        if std::fs::symlink_metadata(&known).is_ok_and(|meta| meta.is_symlink()) {
            return None;
        }
        let Some(Component::Normal(name)) = known.components().next_back() else { return None };
        missing.push(name.to_owned());
        if !known.pop() {
            return None;
        }
    }
}

/// Reason why a found file is never used: another user can write it.
#[cfg(unix)]
pub(super) fn foreign(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    // A link can belong to another user than its target.
    for meta in [std::fs::symlink_metadata(path), std::fs::metadata(path)].into_iter().flatten() {
        if meta.uid() != own && meta.uid() != 0 {
            return Some(format!("it belongs to another user (uid {}, this is uid {own})", meta.uid()));
        }
        if !meta.is_symlink() && meta.mode() & 0o002 != 0 {
            return Some("every user can write it".to_owned());
        }
    }
    None
}

#[cfg(not(unix))]
pub(super) fn foreign(_: &Path) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All flags that a file can set, by command.
    fn flags() -> Vec<(String, String)> {
        let command = Cli::command();
        let global: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        let mut flags = Vec::new();
        for of in command.get_subcommands() {
            let own = of.get_arguments().filter_map(clap::Arg::get_long);
            for flag in own.chain(global.iter().copied()) {
                if !["config", "no-config", "help", "version"].contains(&flag) {
                    flags.push((of.get_name().to_owned(), flag.to_owned()));
                }
            }
        }
        flags
    }

    #[test]
    fn every_flag_of_every_command_is_classified() {
        let missing: Vec<_> = flags().into_iter().filter(|(command, flag)| allowed(command, flag).is_none()).collect();
        assert!(missing.is_empty(), "decide whether a found file may set: {missing:?}");
    }

    #[test]
    fn every_row_names_a_flag() {
        let flags = flags();
        for (commands, flag, _) in ROWS {
            let named = |command: &str| flags.iter().any(|(of, name)| of == command && name == flag);
            assert!(commands.iter().all(|command| named(command)), "{commands:?} --{flag}");
            assert!(flags.iter().any(|(_, name)| name == flag), "--{flag}");
        }
    }

    #[test]
    fn unclassified_flag_is_refused() {
        let setting = Setting {
            command: "check".to_owned(),
            flag: "new-flag".to_owned(),
            value: None,
            written: super::super::ValueForm::Truth,
            line: 1,
        };
        let found = FoundConfig { path: Path::new("meshdoctor.toml"), verifies: false };
        assert!(found.refuses("check", &setting).is_some());
    }
}
