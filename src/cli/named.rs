//! `{cluster}` in the names of files that a run on one cluster writes: as in a run on several, the name of its context, or of its
//! bundle without the ending.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::args::Check;
use super::stop::Stop;

/// What stands in the names of files for the name of a cluster.
pub(super) const CLUSTER: &str = "{cluster}";

/// The name that the files of this run have instead.
static NAME: OnceLock<String> = OnceLock::new();

/// Whether a file is named after its cluster.
pub(super) fn is_named(path: &Path) -> bool {
    path.to_string_lossy().contains(CLUSTER)
}

/// A file's name with the name of a cluster in it.
pub(super) fn with(path: &Path, cluster: &str) -> PathBuf {
    PathBuf::from(path.to_string_lossy().replace(CLUSTER, &in_file_name(cluster)))
}

/// The name of a cluster in that of a file: names of contexts hold slashes and colons.
pub(super) fn in_file_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "-")
}

/// The flags of a run on one cluster, with its name in those of its files.
///
/// # Errors
/// A file is to be named after the cluster, and nothing names that before it is read.
pub(super) fn one(args: &Check) -> Result<Check, Stop> {
    let mut own = args.clone();
    let outputs = own.report.output.iter_mut().filter_map(|output| output.file.as_mut());
    let mut files: Vec<&mut PathBuf> =
        outputs.chain(own.save.as_mut()).filter(|path| is_named(path)).collect();
    let Some(first) = files.first() else { return Ok(own) };
    let name = name(args).ok_or_else(|| {
        Stop::usage(
            format!("{}: nothing names the cluster before it is read", first.display()),
            format!("name the file without {CLUSTER}, or the cluster: --context NAME, --bundle FILE"),
        )
    })?;
    for path in &mut files {
        **path = with(path, &name);
    }
    _ = NAME.set(name);
    Ok(own)
}

/// Where a document goes that the command line asks for, also of a run that came to no report; `None` where nobody knows its name.
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

/// The name of the cluster that a bundle or dump is of, by its file; `None` of a file that is none.
pub(super) fn stem(path: &Path) -> Option<String> {
    const ENDINGS: [&str; 8] = [".tar.gz", ".tgz", ".tar.zst", ".tar", ".zip", ".json", ".yaml", ".yml"];
    let name = path.file_name()?.to_string_lossy();
    let stem = match path.is_dir() {
        true => Some(&*name),
        false => ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)),
    };
    stem.filter(|stem| !stem.is_empty() && !stem.starts_with('.')).map(ToOwned::to_owned)
}
