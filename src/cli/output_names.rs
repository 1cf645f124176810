//! `{cluster}` in output file names: replaced by the name of the context, or of the bundle without its extension, for
//! one or several clusters.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::args::Check;
use super::stop::Stop;

/// Placeholder for the cluster's name in file names.
pub(super) const CLUSTER: &str = "{cluster}";

/// Replacement of the placeholder in this run.
static NAME: OnceLock<String> = OnceLock::new();

/// Whether a file name has the placeholder.
pub(super) fn is_named(path: &Path) -> bool {
    path.to_string_lossy().contains(CLUSTER)
}

/// A file name with the placeholder replaced.
pub(super) fn with(path: &Path, cluster: &str) -> PathBuf {
    PathBuf::from(path.to_string_lossy().replace(CLUSTER, &in_file_name(cluster)))
}

/// A cluster's name for use in a file name: context names may contain slashes and colons.
pub(super) fn in_file_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "-")
}

/// The flags of a run on one cluster, with the placeholder replaced.
///
/// # Errors
/// A file name has the placeholder, but the cluster has no name before it is read.
pub(super) fn one(args: &Check) -> Result<Check, Stop> {
    let mut own = args.clone();
    let outputs = own.report.output.iter_mut().filter_map(|output| output.file.as_mut());
    let mut files: Vec<&mut PathBuf> = outputs.chain(own.save.as_mut()).filter(|path| is_named(path)).collect();
    let Some(first) = files.first() else { return Ok(own) };
    let name = name(args).ok_or_else(|| {
        Stop::usage(
            format!("{}: the cluster has no name before it is read", first.display()),
            format!("remove {CLUSTER} from the name, or name the cluster with --context NAME or --bundle FILE"),
        )
    })?;
    for path in &mut files {
        **path = with(path, &name);
    }
    _ = NAME.set(name);
    Ok(own)
}

/// Destination of a requested document, also for a run without a report; `None` if its name is unknown.
pub(super) fn resolved(path: &Path) -> Option<PathBuf> {
    match is_named(path) {
        true => NAME.get().map(|name| with(path, name)),
        false => Some(path.to_owned()),
    }
}

fn name(args: &Check) -> Option<String> {
    match (args.connection.context.first(), &args.evidence.bundle[..]) {
        (Some(context), _) => Some(context.clone()),
        (None, [bundle]) => stem(bundle),
        (None, []) if args.manifests.manifests.is_empty() && !super::chart::is_alone(args) => current(args),
        (None, _) => None,
    }
}

#[cfg(feature = "live")]
fn current(args: &Check) -> Option<String> {
    crate::source::live::current_context(args.connection.kubeconfig.as_deref())
}

#[cfg(not(feature = "live"))]
fn current(_: &Check) -> Option<String> {
    None
}

/// Name of the cluster of a bundle or dump, by its file; `None` for other files.
pub(super) fn stem(path: &Path) -> Option<String> {
    const ENDINGS: [&str; 8] = [".tar.gz", ".tgz", ".tar.zst", ".tar", ".zip", ".json", ".yaml", ".yml"];
    let name = path.file_name()?.to_string_lossy();
    let stem = match path.is_dir() {
        true => Some(&*name),
        false => ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)),
    };
    stem.filter(|stem| !stem.is_empty() && !stem.starts_with('.')).map(ToOwned::to_owned)
}
