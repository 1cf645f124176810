//! What a configuration file may set when it was found rather than named. A found file can come from a checked-out pull request or
//! another user, so it tunes the checks and nothing else: it chooses no cluster, program or credential, writes nothing outside its own
//! folder, and cannot accept what the default gate refuses. `--config FILE` and `MESHDOCTOR_CONFIG` lift this.

use std::path::{Component, Path, PathBuf};

use clap::CommandFactory;

use super::super::args::Cli;
use super::super::format;
use super::Setting;

/// What a found file may say of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Every value: the flag decides how the answer looks or how long it may take.
    Any,
    /// Every value. The flag takes part in what fails the run, so the result names the file.
    Gate,
    /// These values only: none of them is looser than the default. The result names the file.
    Strict(&'static [&'static str]),
    /// Paths inside the folder of the file.
    Inside,
    /// Paths inside the folder of the file. The result names the file.
    InsideGate,
    /// Reports on standard output, and files inside the folder of the file.
    Reports,
    /// Nothing, because of what the flag decides.
    Nothing(&'static str),
}

use Allowed::{Any, Gate, Inside, InsideGate, Nothing, Reports, Strict};

const CLUSTER: &str = "it decides which cluster is read, as whom and by which programs";
const EVIDENCE: &str = "it replaces or adds evidence of the cluster";
const MORE_ACCESS: &str = "it makes the run use more of your rights in the cluster";
const WRITES_CLUSTER: &str = "it writes to the cluster";
const NODE_PODS: &str = "it decides about privileged pods on nodes";
const WRITES: &str = "it writes or overwrites files";
const ON_NODE: &str = "it decides which files and programs of the node are used";
const HIDES: &str = "it hides warnings";
const OTHER_QUESTION: &str = "it replaces the findings that decide by those of a file";
const FACTS: &str = "it replaces the facts that checks and redaction rest on";
const GRANTS: &str = "it grants rights to an account";

/// Commands, a flag of theirs, and what a found file may say of it. An empty list of commands means all others. A flag without a
/// row is refused.
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
    // Evidence.
    (&[], "bundle", Nothing(EVIDENCE)),
    (&[], "bundles", Nothing(EVIDENCE)),
    (&[], "live", Nothing(CLUSTER)),
    (&[], "complete", Nothing(EVIDENCE)),
    (&[], "nodes", Nothing(EVIDENCE)),
    (&[], "logs", Nothing(EVIDENCE)),
    (&[], "diagnostics", Nothing(EVIDENCE)),
    (&[], "at", Nothing(EVIDENCE)),
    (&[], "max-age", Gate),
    (&[], "expect", Gate),
    (&[], "linkerd-namespace", Gate),
    (&[], "cni-namespace", Gate),
    // Manifests and values of a repository.
    (&[], "manifests", InsideGate),
    (&[], "with", InsideGate),
    (&[], "values", InsideGate),
    (&[], "prune", Gate),
    (&[], "chart", Gate),
    (&[], "into", Gate),
    (&[], "linkerd-version", Gate),
    (&[], "kubernetes-version", Gate),
    // What is checked, and what of it counts.
    (&[], "checks", InsideGate),
    (&[], "only", Gate),
    (&[], "skip", Gate),
    (&["check", "ticket"], "namespace", Gate),
    (&["check"], "all-namespaces", Any),
    (&["reach"], "namespace", Any),
    (&[], "severity", Gate),
    (&[], "param", Gate),
    (&[], "waivers", InsideGate),
    (&[], "baseline", InsideGate),
    (&["check", "diff"], "fail-on", Strict(&["error", "warning", "info"])),
    (&[], "on-not-checked", Strict(&["fail"])),
    (&[], "confidence", Strict(&["likely"])),
    (&[], "wait", Gate),
    (&[], "pre", Gate),
    (&[], "crds", Gate),
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
    // Answers.
    (&["collect", "ticket", "node-snapshot"], "output", Nothing(WRITES)),
    (&["check", "demo"], "output", Reports),
    (&["list", "explain", "version", "diff", "policy", "reach", "injection"], "output", Any),
    (&[], "color", Any),
    (&[], "coverage", Any),
    (&[], "verbose", Any),
    (&[], "quiet", Nothing(HIDES)),
    (&["demo"], "cured", Any),
    (&["reach"], "matrix", Any),
    (&["reach"], "traffic", Any),
    // What writes.
    (&[], "publish", Nothing(WRITES_CLUSTER)),
    (&[], "save", Nothing(WRITES)),
    (&[], "force", Nothing(WRITES)),
    (&["ticket", "collect"], "dry-run", Any),
    (&["new"], "dir", Inside),
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

/// What a found file may say of a flag of a command; `None` of a flag without a row.
pub(super) fn allowed(command: &str, flag: &str) -> Option<Allowed> {
    let of_flag = || ROWS.iter().filter(|(_, name, _)| *name == flag);
    let own = of_flag().find(|(commands, ..)| commands.contains(&command));
    own.or_else(|| of_flag().find(|(commands, ..)| commands.is_empty())).map(|(.., allowed)| *allowed)
}

/// Whether a flag takes part in what fails a run.
pub(super) fn is_of_gate(command: &str, flag: &str) -> bool {
    matches!(allowed(command, flag), Some(Gate | Strict(_) | InsideGate))
}

/// A file that was found, and how the run that it adds to was called.
pub(super) struct Found<'a> {
    /// The file.
    pub(super) path: &'a Path,
    /// `check --verify`, where the default gate is stricter.
    pub(super) verifies: bool,
}

impl Found<'_> {
    /// Why a setting is refused that adds to this command; `None` if it is allowed.
    pub(super) fn refuses(&self, command: &str, setting: &Setting) -> Option<String> {
        let value = setting.value.as_deref().unwrap_or_default();
        match allowed(command, &setting.flag) {
            Some(Any | Gate) => None,
            Some(Strict(values)) => {
                let loose = self.verifies && setting.flag == "fail-on" && value == "error";
                (loose || !values.contains(&value)).then(|| "it accepts more than the default".to_owned())
            }
            // Standard input is the caller's.
            Some(Inside | InsideGate) if value == "-" => None,
            Some(Inside | InsideGate) => {
                let paths = match delimiter(&setting.flag) {
                    Some(delimiter) => value.split(delimiter).collect(),
                    None => vec![value],
                };
                let outside = paths.into_iter().find(|path| self.below(Path::new(path)).is_none())?;
                Some(format!("{outside} is outside the folder of the file"))
            }
            Some(Reports) => format::output(value).ok()?.file.and_then(|file| self.refuses_report(&file)),
            Some(Nothing(why)) => Some(why.to_owned()),
            None => Some("it is not known to be harmless".to_owned()),
        }
    }

    /// Why a report may not be written there. Hidden files and folders configure other tools: `.git`, `.github`.
    fn refuses_report(&self, file: &Path) -> Option<String> {
        let shown = file.display();
        let Some(inside) = self.below(file) else {
            return Some(format!("{shown} is outside the folder of the file"));
        };
        let hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if inside.components().any(hidden) {
            return Some(format!("{shown} is a hidden file or in a hidden folder"));
        }
        let other = std::fs::symlink_metadata(file).is_ok_and(|meta| !meta.is_file());
        other.then(|| format!("{shown} exists and is not a regular file"))
    }

    /// Where a path leads below the folder of the file, with every link followed; `None` if that is elsewhere or unknown.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        resolved(path)?.strip_prefix(&folder).ok().map(Path::to_owned)
    }
}

/// Between the values that one word gives to a flag.
fn delimiter(flag: &str) -> Option<char> {
    let command = Cli::command();
    let all = command.get_subcommands().flat_map(clap::Command::get_arguments).chain(command.get_arguments());
    all.filter(|arg| arg.get_long() == Some(flag)).find_map(clap::Arg::get_value_delimiter)
}

/// A path without links; names that do not exist yet stay as they are. `None` if a link leads nowhere or `..` follows such a name.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut known =
        if path.is_absolute() { path.to_owned() } else { std::env::current_dir().ok()?.join(path) };
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

/// Why a found file is not used whatever it says: another user can write it.
#[cfg(unix)]
pub(super) fn foreign(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    // A link by itself can belong to another user than the file that it leads to.
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

    /// Every flag that a file can set, by command.
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
        let missing: Vec<_> =
            flags().into_iter().filter(|(command, flag)| allowed(command, flag).is_none()).collect();
        assert!(missing.is_empty(), "decide what a found file may say of: {missing:?}");
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
            written: super::super::Written::Truth,
            line: 1,
        };
        let found = Found { path: Path::new("meshdoctor.toml"), verifies: false };
        assert!(found.refuses("check", &setting).is_some());
    }
}
