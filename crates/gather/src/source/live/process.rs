//! Runs another program once: with a deadline, bounded output, and killed when dropped. All programs of live sources
//! run here; those of a node run in `node_snapshot/run.rs`, which needs no runtime.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// Number of bytes to keep of each output.
const LONGEST_OUTPUT: usize = 1 << 20;
/// Time that outputs may stay open after the program ended: a child may hold them.
const AFTERMATH: Duration = Duration::from_millis(300);

/// A program that exited.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    /// Empty if it went to the terminal.
    pub(super) stderr: Vec<u8>,
}

/// Reason for a missing result.
#[derive(Debug)]
pub(super) enum NotRun {
    /// The program does not exist.
    Absent,
    /// It could not be started or awaited.
    Failed(io::Error),
    /// It was killed at the deadline.
    TimedOut,
}

/// Runs the command. Standard input is empty and standard error is captured, unless it may use the terminal.
pub(super) async fn run(mut command: Command, deadline: Duration, terminal: bool) -> Result<Ran, NotRun> {
    command.stdout(Stdio::piped()).kill_on_drop(true);
    if terminal {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
    }
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => NotRun::Absent,
        _ => NotRun::Failed(error),
    })?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (from_stdout, from_stderr) = (child.stdout.take(), child.stderr.take());
    let ended = tokio::time::timeout(deadline, async {
        let mut reading =
            std::pin::pin!(async { tokio::join!(keep(from_stdout, &mut stdout), keep(from_stderr, &mut stderr)) });
        tokio::select! {
            _ = &mut reading => child.wait().await,
            status = child.wait() => {
                // Output so far is kept, whether or not the streams end.
                let _ = tokio::time::timeout(AFTERMATH, reading).await;
                status
            }
        }
    });
    match ended.await {
        Ok(Ok(status)) => Ok(Ran { status, stdout, stderr }),
        Ok(Err(error)) => Err(NotRun::Failed(error)),
        Err(_) => Err(NotRun::TimedOut),
    }
}

/// Reads to the end, and keeps the start.
async fn keep(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    let Some(mut from) = from else { return };
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let room = LONGEST_OUTPUT - into.len();
        into.extend_from_slice(&piece[..length.min(room)]);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn sh(script: &str, deadline: Duration) -> Result<Ran, NotRun> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, deadline, false).await
    }

    #[tokio::test]
    async fn outputs_and_status_come_back() {
        let ran = sh("cat; echo out; echo err >&2; exit 3", Duration::from_secs(20)).await.unwrap();
        assert_eq!((ran.status.code(), &ran.stdout[..], &ran.stderr[..]), (Some(3), &b"out\n"[..], &b"err\n"[..]));
    }

    #[tokio::test]
    async fn hanging_program_is_killed() {
        let begun = std::time::Instant::now();
        let ran = sh("sleep 60", Duration::from_millis(200)).await;
        assert!(matches!(ran, Err(NotRun::TimedOut)));
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[tokio::test]
    async fn open_output_of_grandchild_is_not_awaited() {
        let begun = std::time::Instant::now();
        let ran = sh("echo out; sleep 30 & exit 0", Duration::from_secs(25)).await.unwrap();
        assert_eq!(ran.stdout, b"out\n");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[tokio::test]
    async fn endless_output_is_cut() {
        let ran = sh("head -c 3000000 /dev/zero", Duration::from_secs(20)).await.unwrap();
        assert_eq!(ran.stdout.len(), LONGEST_OUTPUT);
    }

    #[tokio::test]
    async fn missing_program_is_absent() {
        let ran = run(Command::new("/nonexistent/linkerd"), Duration::from_secs(5), false).await;
        assert!(matches!(ran, Err(NotRun::Absent)));
    }
}
