//! Detects the content of each path: bundles, dumps (in folders and archives), and other files.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use super::charts::Charts;
use super::manifests::{Layout, ManifestRole};
use crate::archive::spool::{Blob, Spool};
use crate::archive::{self, Budget, Tree, Unpacked};
use crate::source::Completeness;
use crate::source::bundle::{Bundle, MANIFEST};
use crate::source::dump::aside::Aside;
use crate::source::dump::sysdump::{self, Beside};
use crate::source::dump::{Builder, Taken, detect_format, layout};
use crate::source::error::LoadError;
use crate::source::folder;

/// The path of standard input.
pub(super) const STDIN: &str = "-";
/// Its name in messages.
const STDIN_NAME: &str = "stdin";
/// Number of bytes of a pipe to look at.
const HEAD: u64 = 4096;
/// Maximum number of bundles in one run.
const MAX_BUNDLES: usize = 100;
/// Maximum nesting of archives.
const MAX_NESTING: usize = 2;

/// Results of opening the paths.
pub(super) struct Loading {
    budget: Budget,
    pub(super) builder: Builder,
    pub(super) bundles: Vec<Bundle>,
    pub(super) warnings: Vec<String>,
    /// Files without evidence that were not meant to have any.
    pub(super) ignored: Vec<String>,
    /// Reason why a file that the operator named has no evidence.
    pub(super) reasons: Vec<String>,
    /// CNI configuration files in sysdumps: names as [`sysdump::configuration`] reads them, and positions.
    pub(super) configurations: Vec<(String, String, Blob)>,
    /// Whether manifests are read rather than evidence of a cluster.
    pub(super) manifests: bool,
    /// Texts of manifests.
    pub(super) charts: Charts,
}

impl Loading {
    pub(super) fn new(completeness: Completeness) -> Loading {
        Loading {
            budget: Budget::default(),
            builder: Builder::new(completeness),
            bundles: Vec::new(),
            warnings: Vec::new(),
            ignored: Vec::new(),
            reasons: Vec::new(),
            configurations: Vec::new(),
            manifests: false,
            charts: Charts::default(),
        }
    }

    fn keep_text(&mut self, name: &str, path: &str, blob: &Blob) {
        let is_text = [".yaml", ".yml", "Kustomization"].iter().any(|end| path.ends_with(end));
        if self.manifests && (is_text || name == STDIN_NAME) {
            self.charts.keep(name, path, blob);
        }
    }

    /// For manifests that are not applied yet; objects without a namespace belong to `into`.
    pub(super) fn of_manifests(into: Option<String>) -> Loading {
        let mut loading = Loading { manifests: true, ..Loading::new(Completeness::Unstated) };
        loading.builder.into_namespace(into);
        loading.builder.with_places();
        loading
    }

    pub(super) fn path(&mut self, path: &Path, stdin: &mut Option<impl Read>) -> Result<(), LoadError> {
        let name = shown(path);
        let open = |error| LoadError::Open { path: name.clone(), error };
        if path.as_os_str() == STDIN {
            return match stdin.take() {
                Some(stdin) => self.piped(&name, stdin),
                None => self.file(&name, &Spool::new().finish(), 0, true),
            };
        }
        let kind = std::fs::metadata(path).map_err(open)?.file_type();
        if kind.is_dir() {
            let mut tree = folder::tree(path, &mut self.budget).map_err(open)?;
            self.skip_links(path, &name, &mut tree);
            let separator = if name.ends_with('/') { "" } else { "/" };
            return self.tree(&name, separator, &tree, 0);
        }
        if !kind.is_file() {
            return self.piped(&name, std::fs::File::open(path).map_err(open)?);
        }
        self.file(&name, &Blob::file(path).map_err(open)?, 0, true)
    }

    /// Skips links that lead out of a folder to files without objects: nothing is missing without them.
    fn skip_links(&mut self, folder: &Path, name: &str, tree: &mut Tree) {
        let manifests = self.manifests;
        let (skipped, trouble): (Vec<_>, Vec<_>) =
            std::mem::take(&mut tree.trouble).into_iter().partition(|(path, _)| {
                let full = folder.join(path);
                full.is_symlink() && !may_hold_objects(&full, path, manifests)
            });
        tree.trouble = trouble;
        for (path, _) in skipped {
            self.builder.set_aside(Aside::Link, &format!("{}/{path}", name.trim_end_matches('/')));
        }
    }

    /// Input that can be read only once, of unknown size.
    fn piped(&mut self, name: &str, input: impl Read) -> Result<(), LoadError> {
        let left = self.budget.left();
        let blob = spooled(input, left).map_err(|error| LoadError::Open { path: name.to_owned(), error })?;
        self.budget.take(blob.len());
        if blob.len() > left {
            self.useless(name, &format!("more than {} MiB: the rest is not read", left >> 20), true);
        }
        self.file(name, &blob.slice(0, left), 0, true)
    }

    /// A file; `given` if the operator named it rather than its folder.
    fn file(&mut self, name: &str, blob: &Blob, nesting: usize, given: bool) -> Result<(), LoadError> {
        match archive::unpack(blob, &mut self.budget, detect_format::is_text) {
            Ok(Unpacked::Tree(_)) if nesting >= MAX_NESTING => {
                self.useless(name, "archives that are nested this deep are not opened", true);
                Ok(())
            }
            Ok(Unpacked::Tree(tree)) => self.tree(name, ": ", &tree, nesting + 1),
            Ok(Unpacked::Plain(blob, cut)) => {
                if given {
                    self.keep_text(name, name, &blob);
                }
                let read = self.text(name, blob, given);
                if let Some(why) = cut.filter(|_| read || given || is_dump_name(name)) {
                    self.useless(name, &why, true);
                }
                Ok(())
            }
            Err(error) => {
                self.useless(name, &error.to_string(), true);
                Ok(())
            }
        }
    }

    /// Whether it contained evidence.
    fn text(&mut self, name: &str, blob: Blob, given: bool) -> bool {
        if !given && is_log_name(name) {
            // Output of workloads could look like objects.
            self.useless(name, "a log", false);
            return false;
        }
        match self.builder.file(name, blob) {
            Ok(Taken::Read) => return true,
            Ok(Taken::SetAside) => {}
            Ok(Taken::Nothing(why)) => self.useless(name, &why, given),
            Ok(Taken::Broken(why)) => self.useless(name, &why, given || is_dump_name(name)),
            Err(error) => self.useless(name, &error.to_string(), true),
        }
        false
    }

    /// Reads a file of a sysdump without objects; `false` if it is another file.
    fn beside(&mut self, name: &str, blob: &Blob) -> bool {
        match sysdump::beside(name) {
            None => return false,
            Some(Beside::Version) => match sysdump::version(blob) {
                Some(version) => self.builder.server_version(name, &version),
                None => self.useless(name, "it contains no Kubernetes version", false),
            },
            Some(Beside::Configuration(written)) => {
                self.configurations.push((written, name.to_owned(), blob.clone()));
            }
        }
        true
    }

    /// A file without evidence. If evidence was expected, this is an error.
    fn useless(&mut self, name: &str, why: &str, expected: bool) {
        let message = if why.starts_with(name) { why.to_owned() } else { format!("{name}: {why}") };
        if expected {
            self.builder.trouble(message.clone());
            self.reasons.push(message);
        } else {
            self.ignored.push(message);
        }
    }

    fn tree(&mut self, name: &str, separator: &str, tree: &Tree, nesting: usize) -> Result<(), LoadError> {
        let mut tops: BTreeSet<&str> = BTreeSet::new();
        let manifests = tree.files.keys().filter(|path| path.rsplit('/').next() == Some(MANIFEST));
        for path in manifests {
            let top = path.strip_suffix(MANIFEST).unwrap_or(path);
            if is_below(&tops, top) {
                continue;
            }
            let whole = if top.is_empty() {
                name.to_owned()
            } else {
                format!("{name}{separator}{}", top.trim_end_matches('/'))
            };
            if let Some(bundle) = Bundle::open(tree.below(top), &whole) {
                tops.insert(top);
                if self.bundles.len() < MAX_BUNDLES {
                    self.bundles.push(bundle?);
                } else {
                    self.useless(&whole, &format!("not read: more than {MAX_BUNDLES} bundles are given"), true);
                }
            }
        }
        if tree.trouble.is_empty() {
            self.builder.complete(layout::complete(tree));
        }
        let is_sysdump = !self.manifests && sysdump::is_one(tree);
        let layout = self.manifests.then(|| Layout::from_tree(tree, name));
        for (path, blob) in tree.files.iter().filter(|(path, _)| !is_below(&tops, path)) {
            let whole = format!("{name}{separator}{path}");
            if is_sysdump && self.beside(&whole, blob) {
                continue;
            }
            self.keep_text(&whole, path, blob);
            match layout.as_ref().map_or(ManifestRole::Manifest, |layout| layout.role(name, path, blob)) {
                ManifestRole::Manifest => {
                    self.builder.moved_to(layout.as_ref().and_then(|layout| layout.namespace(path)));
                    self.file(&whole, blob, nesting, false)?;
                    self.builder.moved_to(None);
                }
                ManifestRole::Template(chart) => self.builder.set_aside(Aside::Chart, &chart),
                ManifestRole::Program => self.builder.set_aside(Aside::Program, &whole),
                ManifestRole::Other(why) => self.useless(&whole, why, false),
            }
        }
        for folder in layout.iter().flat_map(|layout| &layout.changing) {
            self.builder.set_aside(Aside::Kustomization, folder);
        }
        if !tops.contains(&"") {
            for (path, why) in &tree.trouble {
                let place = if path.is_empty() { name.to_owned() } else { format!("{name}{separator}{path}") };
                self.useless(&place, why, true);
            }
            self.warnings.extend(tree.notes.iter().map(|(path, why)| format!("{name}{separator}{path}: {why}")));
        }
        Ok(())
    }
}

/// Whether one of the parent folders of a path is among `tops`; the top of all is "".
fn is_below(tops: &BTreeSet<&str>, path: &str) -> bool {
    tops.contains("") || path.match_indices('/').any(|(at, _)| tops.contains(&path[..=at]))
}

/// Whether a file in a folder is meant to contain objects.
fn is_dump_name(name: &str) -> bool {
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end))
}

/// Whether the target of a link may contain objects: by its beginning if readable, else by its name.
fn may_hold_objects(full: &Path, path: &str, manifests: bool) -> bool {
    if manifests && !is_dump_name(path) {
        return false;
    }
    let is_file = std::fs::metadata(full).map(|data| data.is_file());
    let head = is_file.and_then(|is_file| {
        let mut head = Vec::new();
        // Opening a pipe would wait for its other end.
        if is_file {
            std::fs::File::open(full)?.take(HEAD).read_to_end(&mut head)?;
        }
        Ok((is_file, head))
    });
    match head {
        Ok((true, head)) => archive::is_packed(&head) || detect_format::is_text(&head),
        // A folder may contain anything.
        Ok((false, _)) => full.is_dir(),
        Err(_) => is_dump_name(path),
    }
}

/// Whether a file in a folder is a container's log; `kubectl cluster-info dump` writes `logs.txt`.
fn is_log_name(name: &str) -> bool {
    name.ends_with(".log") || name.rsplit('/').next() == Some("logs.txt")
}

pub(super) fn shown(path: &Path) -> String {
    if path.as_os_str() == STDIN { STDIN_NAME.to_owned() } else { path.display().to_string() }
}

/// Reads `input`, up to one byte more than `most`; only its beginning, if that is not evidence.
/// no evidence.
fn spooled(mut input: impl Read, most: u64) -> io::Result<Blob> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    let mut output = BufWriter::with_capacity(1 << 16, Spool::new());
    output.write_all(&head)?;
    if archive::is_packed(&head) || detect_format::is_text(&head) {
        io::copy(&mut input.take(most.saturating_add(1).saturating_sub(HEAD)), &mut output)?;
    }
    Ok(output.into_inner().map_err(io::IntoInnerError::into_error)?.finish())
}
