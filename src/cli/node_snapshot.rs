//! `meshdoctor node-snapshot`: saves the CNI and runtime files of a node in one file; runs on the node.

use super::args::NodeSnapshot;
use super::stop::Stop;

#[cfg(not(target_os = "linux"))]
pub(super) fn run(_: &NodeSnapshot) -> anyhow::Result<u8> {
    let cause = "node-snapshot works only on Linux";
    Err(Stop::usage(cause, "run it on the node, or in a pod that mounts the node's files").into())
}

#[cfg(target_os = "linux")]
pub(super) fn run(args: &NodeSnapshot) -> anyhow::Result<u8> {
    linux::run(args)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{self, IsTerminal};
    use std::path::{Path, PathBuf};

    use anyhow::Context;

    use super::{NodeSnapshot, Stop};
    use crate::cli::{files, output};
    use crate::exit;
    use crate::node_log;
    use crate::node_snapshot::{self, NotTaken, Options, Taken};
    use crate::save::{self, Form};

    pub(super) fn run(args: &NodeSnapshot) -> anyhow::Result<u8> {
        let to_stdout = args.output.as_deref() == Some(Path::new("-"));
        if to_stdout && io::stdout().is_terminal() {
            let cause = "-o - writes an archive, but standard output is a terminal";
            return Err(Stop::usage(cause, "redirect it to a file or pipe, or name a file with -o").into());
        }
        // A path that cannot be written is an error in the command line: report it before anything is read.
        let named = args.output.as_deref().filter(|_| !to_stdout);
        let form = named
            .map(save::ready)
            .transpose()
            .map_err(|error| Stop::usage(error.to_string(), "give a writable path: -o FILE.tar.gz"))?;
        if let Some(path) = named {
            files::not_there("-o", path, args.force)?;
        }
        let options = options(args)?;
        if !args.quiet && args.root.is_none() && options.root == Path::new(HOST) {
            output::print_line("reading the node's files under /host; use --root / to read those of the pod");
        }
        let taken = node_snapshot::take(&options).map_err(not_taken)?;
        if !args.quiet {
            account(&taken);
        }
        let node = taken.files.node.clone();
        if args.to_log {
            let written = node_log::write(&taken.files, &mut io::stdout().lock());
            for path in written.context("the log was not written")?.left_out {
                output::print_line(&format!("left out  {path}: too large for a log"));
            }
            if args.hold {
                loop {
                    std::thread::park();
                }
            }
            return Ok(exit::FINE);
        }
        if to_stdout {
            let stdout = io::stdout().lock();
            save::stream(stdout, in_folder(taken), options.at).context("the archive was not written")?;
            if !args.quiet {
                next(&node, "FILE.tar.gz");
            }
            return Ok(exit::FINE);
        }
        let (path, form) = match (named, form) {
            (Some(path), Some(form)) => (path.to_owned(), form),
            _ => {
                let path = PathBuf::from(format!("{node}.tar.gz"));
                let form = save::ready(&path)
                    .map_err(|error| Stop::usage(error.to_string(), "give a writable path: -o FILE.tar.gz"))?;
                files::not_there("-o", &path, args.force)?;
                (path, form)
            }
        };
        let files: Vec<(String, Vec<u8>)> = match form {
            Form::Folder => taken.files.files.into_iter().collect(),
            Form::Tar | Form::TarGz | Form::TarZst => in_folder(taken),
        };
        save::save(&path, form, files, options.at)?;
        if !args.quiet {
            next(&node, &path.display().to_string());
        }
        output::print(&format!("{}\n", output::one_line(&path.display().to_string())))
    }

    /// Customary mount point of the node's files in a pod.
    const HOST: &str = "/host";

    fn options(args: &NodeSnapshot) -> anyhow::Result<Options> {
        let in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
        let root = args.root.clone().unwrap_or_else(|| {
            let host = in_pod && Path::new(HOST).join("etc").is_dir();
            PathBuf::from(if host { HOST } else { "/" })
        });
        for dir in args.conf_dir.iter().chain(&args.bin_dir) {
            if !node_snapshot::is_directory(dir) {
                let cause = format!("{dir:?} is not an absolute path");
                return Err(Stop::usage(cause, "give the path on the node: /etc/cni/net.d").into());
            }
        }
        Ok(Options {
            root,
            node: args.node.clone().filter(|name| !name.is_empty()),
            in_pod,
            run: !args.no_run,
            ask_plugin: args.ask_plugin,
            conf_dir: args.conf_dir.clone(),
            bin_dirs: args.bin_dir.clone(),
            at: jiff::Timestamp::now(),
        })
    }

    /// One line for each part that was read, and for each part that was not.
    fn account(taken: &Taken) {
        output::print_line(&format!("node {} (from {})", taken.files.node, taken.named_by));
        for line in &taken.read {
            output::print_line(&format!("read      {line}"));
        }
        for error in &taken.errors {
            output::print_line(&format!("not read  {}: {}", error.path, error.error));
        }
    }

    fn next(node: &str, path: &str) {
        let check = crate::command::meshdoctor().words("check --nodes").arg(format!("{node}={path}"));
        output::print_line(&format!("next      {check}"));
    }

    /// The files in a folder with the node's name, so that an archive unpacks into one folder.
    fn in_folder(taken: Taken) -> Vec<(String, Vec<u8>)> {
        let node = taken.files.node;
        taken.files.files.into_iter().map(|(path, bytes)| (format!("{node}/{path}"), bytes)).collect()
    }

    fn not_taken(error: NotTaken) -> Stop {
        let cause = error.to_string();
        match error {
            NotTaken::Root { .. } => {
                Stop::could_not_run(cause, "give the folder that contains the node's /etc: --root DIR")
            }
            NotTaken::NoName | NotTaken::BadName { .. } => {
                Stop::usage(cause, "give the name that kubectl get nodes prints: --node NAME")
            }
            NotTaken::Nothing { errors, .. } => {
                let tried: Vec<String> =
                    errors.iter().take(5).map(|error| format!("{}: {}", error.path, error.error)).collect();
                Stop::could_not_run(cause, format!("tried {}", tried.join("; ")))
            }
        }
    }
}
