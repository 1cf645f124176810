//! The operator's own `linkerd` command: which version it is. It is run once, asks no cluster, and is given little time.

use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;

use super::process::{NotRun, run};
use super::quote::quote;
use crate::source::Why;
use crate::version::LinkerdVersion;

/// How long the command may take.
const DEADLINE: Duration = Duration::from_secs(20);

/// Where the version of the operator's CLI comes from (`--linkerd-cli`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cli {
    /// The `linkerd` on PATH, if there is one.
    #[default]
    OnPath,
    /// The program at this path.
    At(PathBuf),
    /// This one, without asking.
    Given(LinkerdVersion),
    /// There is none, or nobody wants to know.
    None,
}

/// The version, as its own command states it.
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
        Err(NotRun::Absent) => Err(Why::Failed { message: format!("there is no program {name}") }),
        Err(NotRun::Failed(error)) => {
            Err(Why::Failed { message: quote(&format!("{name} cannot be run: {error}"), 200) })
        }
        Err(NotRun::TimedOut) => Err(Why::TimedOut { seconds: DEADLINE.as_secs() }),
        Ok(ran) if !ran.status.success() => {
            Err(Why::Failed { message: format!("{name} version --client --short failed ({})", ran.status) })
        }
        Ok(ran) => parse(&String::from_utf8_lossy(&ran.stdout)).ok_or_else(|| Why::Malformed {
            message: format!(
                "{name} version --client --short printed no version, but {:?}",
                quote(&String::from_utf8_lossy(&ran.stdout), 80)
            ),
        }),
    }
}

/// The version in the command's output: alone on a line, or behind `Client version:` when `--short` was not understood.
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
    async fn a_version_that_was_given_is_not_asked_for() {
        let given: LinkerdVersion = "2.15.7".parse().unwrap();
        assert_eq!(version(&Cli::Given(given.clone())).await, Ok(given));
        assert_eq!(version(&Cli::None).await, Err(Why::NotOffered));
    }

    #[tokio::test]
    async fn a_program_that_is_named_must_be_there() {
        let absent = version(&Cli::At("/nonexistent/linkerd".into())).await.unwrap_err();
        assert_eq!(absent.to_string(), "there is no program /nonexistent/linkerd");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn programs_that_fail_or_babble_are_no_version() {
        let failed = version(&Cli::At("/bin/false".into())).await.unwrap_err();
        assert!(matches!(failed, Why::Failed { .. }), "{failed:?}");
        let babble = version(&Cli::At("/bin/echo".into())).await.unwrap_err();
        assert!(matches!(babble, Why::Malformed { .. }), "{babble:?}");
    }
}
