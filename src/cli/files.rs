//! Validates the files of a run before it starts: an output may not be an input or another output under any name,
//! existing evidence is not overwritten, and a report gets its name only when it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::args::EvidenceArgs;
use super::format::Output;
use super::stop::Stop;
use super::values::{LogsArg, NodesArg};

/// The working directory as the system names it and, if it was reached through a link, as the shell names it.
pub(super) fn working_directory() -> Vec<String> {
    let Ok(here) = std::env::current_dir() else { return Vec::new() };
    let typed = std::env::var_os("PWD").map(PathBuf::from);
    let typed = typed.filter(|typed| *typed != here && fs::canonicalize(typed).is_ok_and(|real| real == here));
    std::iter::once(here).chain(typed).map(|path| path.display().to_string()).collect()
}

/// A file with its role in the run, for messages.
struct Used<'a> {
    flag: String,
    path: &'a Path,
}

/// Rejects a run that would overwrite its inputs, or write twice to one file.
pub(super) fn reject_overwriting(
    outputs: &[Output],
    save: Option<(&str, &Path)>,
    evidence: Option<&EvidenceArgs>,
) -> Result<(), Stop> {
    let word = |output: &Output| output.format.label();
    let mut written: Vec<Used<'_>> = outputs
        .iter()
        .filter_map(|output| {
            let path = output.file.as_deref()?;
            Some(Used { flag: format!("-o {}={}", word(output), path.display()), path })
        })
        .collect();
    written.extend(save.map(|(flag, path)| Used { flag: format!("{flag} {}", path.display()), path }));
    let read: Vec<Used<'_>> = evidence.map(inputs).unwrap_or_default();
    for (at, one) in written.iter().enumerate() {
        let places = FileIdentity::from_path(one.path);
        let other = written[..at].iter().find(|other| FileIdentity::from_path(other.path).is_one_with(&places));
        if let Some(other) = other {
            let cause = format!("{} and {} write to the same file", other.flag, one.flag);
            return Err(Stop::usage(cause, "use a different file for each"));
        }
        let input = read.iter().find(|other| {
            let read = FileIdentity::from_path(other.path);
            read.is_one_with(&places) || read.holds(&places)
        });
        if let Some(input) = input {
            let cause = format!("{} would overwrite what {} reads", one.flag, input.flag);
            return Err(Stop::usage(cause, "write to another file"));
        }
    }
    Ok(())
}

/// Two reports cannot share standard output.
pub(super) fn one_standard_output(outputs: &[Output]) -> Result<(), Stop> {
    let mut plain = outputs.iter().filter(|output| output.file.is_none()).map(|output| output.format);
    match (plain.next(), plain.next()) {
        (Some(first), Some(second)) => Err(Stop::usage(
            format!("-o {} and -o {} both write to standard output", first.label(), second.label()),
            format!("write one of them to a file: -o {}=FILE", second.label()),
        )),
        _ => Ok(()),
    }
}

/// Refuses to overwrite an existing file with a bundle or snapshot.
pub(super) fn not_there(flag: &str, path: &Path, force: bool) -> Result<(), Stop> {
    // A link counts as existing, even if its target does not.
    if force || !fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_dir()) {
        return Ok(());
    }
    let cause = format!("{flag} {}: the file already exists, and evidence is not overwritten", path.display());
    Err(Stop::usage(cause, "name another file, or overwrite it with --force"))
}

fn inputs(evidence: &EvidenceArgs) -> Vec<Used<'_>> {
    let is_stdin = |path: &Path| path.as_os_str() == "-";
    let bundles = evidence.bundle.iter().map(|path| Used { flag: format!("--bundle {}", path.display()), path });
    let nodes = evidence.nodes.iter().map(|nodes| {
        let (NodesArg::One { path, .. } | NodesArg::Folder(path)) = nodes;
        Used { flag: format!("--nodes {}", path.display()), path }
    });
    let logs = evidence.logs.iter().filter_map(|logs| match logs {
        LogsArg::File(_, path) => Some(Used { flag: format!("--logs {}", path.display()), path }),
        LogsArg::Live => None,
    });
    let diagnostics =
        evidence.diagnostics.iter().map(|given| Used { flag: format!("--diagnostics {given}"), path: &given.path });
    let prometheus = [
        ("--prometheus-token-file", &evidence.prometheus.prometheus_token_file),
        ("--prometheus-ca", &evidence.prometheus.prometheus_ca),
    ];
    let prometheus = prometheus.into_iter().filter_map(|(flag, path)| {
        let path = path.as_deref()?;
        Some(Used { flag: format!("{flag} {}", path.display()), path })
    });
    bundles.chain(nodes).chain(logs).chain(diagnostics).chain(prometheus).filter(|used| !is_stdin(used.path)).collect()
}

/// Identity of a file: its resolved path, and its device and inode.
struct FileIdentity {
    /// Path with all links resolved; the file itself may not exist yet.
    full: PathBuf,
    /// Device and inode, which hard links share. Only for regular files: writing twice to a terminal or pipe overwrites
    /// nothing.
    known: Option<(u64, u64)>,
    is_there: bool,
    is_stream: bool,
    is_folder: bool,
}

impl FileIdentity {
    fn from_path(path: &Path) -> FileIdentity {
        let meta = fs::metadata(path).ok();
        let full = fs::canonicalize(path).unwrap_or_else(|_| {
            let (parent, name) = (parent(path), path.file_name().unwrap_or_default());
            fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()).join(name)
        });
        let is_file = meta.as_ref().is_some_and(fs::Metadata::is_file);
        let is_folder = meta.as_ref().is_some_and(fs::Metadata::is_dir);
        FileIdentity {
            full,
            known: meta.as_ref().filter(|meta| meta.is_file()).and_then(number),
            is_there: meta.is_some(),
            is_stream: meta.is_some() && !is_file && !is_folder,
            is_folder,
        }
    }

    fn is_one_with(&self, other: &FileIdentity) -> bool {
        let known = self.known.is_some() && self.known == other.known;
        (known || self.full == other.full) && !self.is_stream
    }

    /// Whether the other is an existing file in this folder.
    fn holds(&self, other: &FileIdentity) -> bool {
        self.is_folder && other.is_there && other.full.starts_with(&self.full)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn number(meta: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Whether another word of the command line names an output file. For command lines that could not be
/// parsed.
pub(super) fn is_named_elsewhere(path: &Path, words: &[OsString]) -> bool {
    let places = FileIdentity::from_path(path);
    let named = words.iter().skip(1).filter_map(|word| word.to_str()).filter(|word| {
        // `NAME=FILE`, `--flag=FILE`, `--flag=NAME=FILE`
        let ends = word.match_indices('=').map(|(at, _)| &word[at + 1..]);
        ends.chain([*word]).filter(|end| !end.is_empty()).any(|end| {
            let other = FileIdentity::from_path(Path::new(end));
            other.is_one_with(&places) || other.holds(&places)
        })
    });
    named.count() > 1
}

/// The folder of a path.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates the folder of a path if it is missing.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    let folder = parent(path);
    let said = |error: io::Error| {
        io::Error::new(error.kind(), format!("the folder {} could not be created: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(said)
}

/// Writes a report to a temporary file next to its destination and renames it, so that readers never see half of it,
/// and targets of links are not overwritten. Pipes and terminals are written directly.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if is_stream(path) {
        let mut stream = fs::OpenOptions::new().write(true).open(path)?;
        return stream.write_all(text.as_bytes());
    }
    let mut temporary = temporary(path)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Replaces files of the user, all or none of them: each new text is complete on disk before the first file
/// is replaced. Each keeps its mode and owner, and links keep pointing to it. On an error of the last step,
/// files before it are replaced.
pub(super) fn replace_all<'a>(edits: impl IntoIterator<Item = (&'a Path, &'a str)>) -> Result<(), Stop> {
    let stop = |path: &Path| {
        let name = path.display().to_string();
        move |error: io::Error| {
            Stop::could_not_run(format!("cannot write {name}: {error}"), replacement_advice(error.kind()))
        }
    };
    let staged: Vec<(&Path, StagedFile)> = edits
        .into_iter()
        .map(|(path, text)| Ok((path, StagedFile::write(path, text).map_err(stop(path))?)))
        .collect::<Result<_, Stop>>()?;
    staged.into_iter().try_for_each(|(path, file)| file.replace().map_err(stop(path)))
}

/// The next step after a file could not be replaced. The file is unchanged.
fn replacement_advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free space on its file system, and run again; the file is unchanged"
        }
        ErrorKind::FileTooLarge => "raise the limit of the file size (ulimit -f), and run again; the file is unchanged",
        ErrorKind::ReadOnlyFilesystem => "mount the file system for writing, or edit a copy; the file is unchanged",
        ErrorKind::PermissionDenied => {
            "run as the owner of the file, with permission to write it and its folder; the file is unchanged"
        }
        ErrorKind::NotFound => "check that the file and its folder still exist, and run again",
        _ => "repair the cause, and run again; the file is unchanged",
    }
}

/// The new text of a file, complete on disk under a temporary name next to it.
struct StagedFile {
    temporary: tempfile::NamedTempFile,
    target: PathBuf,
}

impl StagedFile {
    fn write(path: &Path, text: &str) -> io::Result<StagedFile> {
        let target = fs::canonicalize(path)?;
        // A file that may not be written is not replaced either.
        let earlier = fs::OpenOptions::new().write(true).open(&target)?.metadata()?;
        if !earlier.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut temporary = temporary(&target)?;
        keep_owner(temporary.as_file(), &earlier)?;
        // A change of the owner resets parts of the mode.
        keep_mode(temporary.as_file(), &earlier)?;
        temporary.write_all(text.as_bytes())?;
        temporary.as_file().sync_all()?;
        Ok(StagedFile { temporary, target })
    }

    fn replace(self) -> io::Result<()> {
        self.temporary.persist(&self.target).map_err(|error| error.error)?;
        // The new name survives a crash only after the folder is written too; some file systems do not support this.
        if let Ok(folder) = File::open(parent(&self.target)) {
            _ = folder.sync_all();
        }
        Ok(())
    }
}

#[cfg(unix)]
fn keep_owner(file: &File, earlier: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let now = file.metadata()?;
    let changed = |wanted: u32, now: u32| (wanted != now).then_some(wanted);
    let (user, group) = (changed(earlier.uid(), now.uid()), changed(earlier.gid(), now.gid()));
    if user.is_none() && group.is_none() {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, user, group)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "fails on other systems")]
fn keep_owner(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// System links such as `/dev/stdout` are not regular files, whatever their target.
fn is_stream(path: &Path) -> bool {
    let of_system = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    of_system || fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Keeps the mode of the file that it replaces, else uses the umask.
fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".meshdoctor-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(parent(path)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            io::Error::new(error.kind(), format!("the folder {} does not exist", parent(path).display()))
        }
        _ => error,
    })?;
    if let Some(earlier) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) {
        keep_mode(temporary.as_file(), &earlier)?;
    }
    Ok(temporary)
}

fn keep_mode(file: &File, earlier: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(earlier.permissions())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::cli::format::Format;
    use std::os::unix::fs::{MetadataExt, symlink};

    fn outputs(paths: &[&Path]) -> Vec<Output> {
        paths.iter().map(|path| Output { format: Format::Json, file: Some((*path).to_owned()) }).collect()
    }

    #[test]
    fn same_file_by_other_name_is_detected() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "x").expect("written");
        fs::hard_link(at("a"), at("hard")).expect("linked");
        symlink(at("a"), at("soft")).expect("linked");
        fs::create_dir(at("d")).expect("made");
        symlink(at("d"), at("e")).expect("linked");
        for (one, other) in [
            (at("a"), at("a")),
            (at("new"), folder.path().join("./new")),
            (at("new"), at("d/../new")),
            (at("a"), at("hard")),
            (at("a"), at("soft")),
            (at("d/new"), at("e/new")),
        ] {
            assert!(reject_overwriting(&outputs(&[&one, &other]), None, None).is_err(), "{one:?} {other:?}");
            assert!(
                reject_overwriting(&outputs(&[&one]), Some(("--save", &other)), None).is_err(),
                "{one:?} {other:?}"
            );
        }
        assert!(reject_overwriting(&outputs(&[&at("new"), &at("other")]), Some(("--save", &at("a"))), None).is_ok());
        assert!(reject_overwriting(&outputs(&[Path::new("/dev/null"), Path::new("/dev/null")]), None, None).is_ok());
    }

    #[test]
    fn report_replaces_link_and_keeps_file_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), "before").expect("written");
        symlink(at("target"), at("link")).expect("linked");
        write(&at("link"), "report").expect("written");
        assert_eq!(fs::read_to_string(at("target")).expect("read"), "before");
        assert_eq!(fs::read_to_string(at("link")).expect("read"), "report");
        assert!(!fs::symlink_metadata(at("link")).expect("there").is_symlink());
        keep_mode_of(&at("target"), 0o600);
        write(&at("target"), "after").expect("written");
        assert_eq!(fs::metadata(at("target")).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 2, "nothing is left behind");
    }

    #[test]
    fn replaced_file_keeps_mode_and_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("d")).expect("made");
        fs::write(at("d/target"), "before").expect("written");
        symlink("d/target", at("link")).expect("linked");
        keep_mode_of(&at("d/target"), 0o640);
        let earlier = fs::metadata(at("d/target")).expect("there");
        replace_all([(at("link").as_path(), "after")]).expect("replaced");
        assert!(fs::symlink_metadata(at("link")).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(at("d/target")).expect("read"), "after");
        let now = fs::metadata(at("d/target")).expect("there");
        assert_eq!((now.mode(), now.uid(), now.gid()), (earlier.mode(), earlier.uid(), earlier.gid()));
        assert_eq!(fs::read_dir(at("d")).expect("read").count(), 1, "nothing is left behind");
    }

    #[test]
    fn failed_replacement_changes_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "before").expect("written");
        fs::create_dir(at("b")).expect("made");
        let stop = replace_all([(at("a").as_path(), "after"), (at("b").as_path(), "after")]).expect_err("a folder");
        assert!(stop.cause.contains("/b: "), "{}", stop.cause);
        assert_eq!(fs::read_to_string(at("a")).expect("read"), "before");
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 2, "nothing is left behind");
        let full = replacement_advice(io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error()).kind());
        assert!(full.starts_with("free space"), "{full}");
    }

    fn keep_mode_of(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    }

    #[test]
    fn existing_evidence_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.tar.gz");
        assert!(not_there("-o", &path, false).is_ok());
        symlink("nowhere", &path).expect("linked");
        assert!(not_there("-o", &path, false).is_err_and(|stop| stop.cause.contains("already exists")));
        assert!(not_there("-o", &path, true).is_ok());
        assert!(not_there("-o", folder.path(), false).is_ok(), "an empty folder is filled");
    }
}
