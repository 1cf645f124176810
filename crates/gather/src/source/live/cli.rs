//! The version of the operator's `linkerd` command. It runs once, with a short time limit, and contacts no cluster.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use super::process::{NotRun, run};
use super::quote::quote;
use crate::fetched::Why;
use crate::version::LinkerdVersion;

/// Time limit for the command.
const DEADLINE: Duration = Duration::from_secs(20);

/// Source of the CLI version (`--linkerd-cli`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cli {
    /// The `linkerd` on PATH, if it exists.
    #[default]
    OnPath,
    /// The program at this path.
    At(PathBuf),
    /// This version, without running a command.
    Given(LinkerdVersion),
    /// No CLI, or its version is not relevant.
    None,
}

/// The version that the command prints.
pub(super) async fn version(cli: &Cli) -> Result<LinkerdVersion, Why> {
    let program = match cli {
        Cli::OnPath => PathBuf::from("linkerd"),
        Cli::At(path) => path.clone(),
        Cli::Given(version) => return Ok(version.clone()),
        Cli::None => return Err(Why::NotOffered),
    };
    let mut command = Command::new(&program);
    command.args(["version", "--client", "--short"]);
    let name = program.display();
    match run(command, DEADLINE, false).await {
        Err(NotRun::Absent) if *cli == Cli::OnPath => Err(Why::NotOffered),
        Err(NotRun::Absent) => Err(Why::Failed { message: format!("the program {name} does not exist") }),
        Err(NotRun::Failed(error)) => {
            Err(Why::Failed { message: quote(&format!("{name} cannot be run: {error}"), 200) })
        }
        Err(NotRun::TimedOut) => Err(Why::TimedOut { seconds: DEADLINE.as_secs() }),
        Ok(ran) if !ran.status.success() => {
            Err(Why::Failed { message: format!("{name} version --client --short failed ({})", ran.status) })
        }
        Ok(ran) => parse(&String::from_utf8_lossy(&ran.stdout)).ok_or_else(|| Why::Malformed {
            message: format!(
                "{name} version --client --short printed {:?} instead of a version",
                quote(&String::from_utf8_lossy(&ran.stdout), 80)
            ),
        }),
    }
}

/// Extensions that the CLI would find: programs on PATH named `linkerd-NAME`, each name once, in order. `None` if no
/// command was run.
pub(super) fn extensions(cli: &Cli) -> Option<Vec<String>> {
    match cli {
        Cli::OnPath | Cli::At(_) => Some(on_path(&std::env::var_os("PATH")?)),
        Cli::Given(_) | Cli::None => None,
    }
}

fn on_path(path: &OsStr) -> Vec<String> {
    let folders = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
    let entries = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let named = entries.filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with("linkerd-")) && is_program(&entry.path())
    });
    let names: BTreeSet<String> = named.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.into_iter().collect()
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

/// The version in the output: alone on a line, or after `Client version:` if `--short` was not understood.
fn parse(output: &str) -> Option<LinkerdVersion> {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.find_map(|line| line.strip_prefix("Client version:").unwrap_or(line).trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_among_other_lines() {
        let version = |output: &str| parse(output).map(|v| v.to_string());
        assert_eq!(version("edge-25.4.4\n").as_deref(), Some("edge-25.4.4"));
        assert_eq!(version("\nClient version: stable-2.14.10\n").as_deref(), Some("stable-2.14.10"));
        assert_eq!(version("a notice first\nenterprise-2.17.0-1\n").as_deref(), Some("enterprise-2.17.0-1"));
        assert_eq!(version("command not found"), None);
        assert_eq!(version(""), None);
    }

    #[tokio::test]
    async fn given_version_runs_no_command() {
        let given: LinkerdVersion = "2.15.7".parse().unwrap();
        assert_eq!(version(&Cli::Given(given.clone())).await, Ok(given));
        assert_eq!(version(&Cli::None).await, Err(Why::NotOffered));
    }

    #[tokio::test]
    async fn named_program_must_exist() {
        let absent = version(&Cli::At("/nonexistent/linkerd".into())).await.unwrap_err();
        assert_eq!(absent.to_string(), "the program /nonexistent/linkerd does not exist");
    }

    #[cfg(unix)]
    #[test]
    fn commands_of_extensions_are_programs_on_the_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(first.join("linkerd-folder")).unwrap();
        std::fs::create_dir(&second).unwrap();
        for (file, mode) in [
            (first.join("linkerd-smi"), 0o755),
            (second.join("linkerd-smi"), 0o755),
            (second.join("linkerd-buoyant"), 0o700),
            (second.join("linkerd-notes"), 0o644),
            (second.join("linkerd"), 0o755),
        ] {
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([first, folder.path().join("absent"), second]).unwrap();
        assert_eq!(on_path(&path), ["linkerd-buoyant", "linkerd-smi"]);
        assert_eq!(extensions(&Cli::Given("2.15.7".parse().unwrap())), None);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn failing_programs_give_no_version() {
        let failed = version(&Cli::At("/bin/false".into())).await.unwrap_err();
        assert!(matches!(failed, Why::Failed { .. }), "{failed:?}");
        let babble = version(&Cli::At("/bin/echo".into())).await.unwrap_err();
        assert!(matches!(babble, Why::Malformed { .. }), "{babble:?}");
    }
}
