//! Runs a program of the node once, with a deadline, bounded output and only the given standard input, and
//! never leaves it running. Only the node's own programs on the node's own root are run. Calls block, because
//! the program that takes snapshots is built without an asynchronous runtime, so the runner of a live source
//! (`source/live/process.rs`) is not available to it.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Polling interval of a running program.
const STEP: Duration = Duration::from_millis(10);
/// How long an output may stay open after the program has ended, because a child process may still hold it.
const AFTERMATH: Duration = Duration::from_millis(300);

/// Limits of a program run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) deadline: Duration,
    /// Maximum number of bytes kept of its standard output, from the end.
    pub(super) output: usize,
}

/// The output of a program.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) bytes: Vec<u8>,
    /// Whether some of it was dropped.
    pub(super) cut: bool,
    /// Whether it exited with success.
    pub(super) success: bool,
}

/// Runs `program` with these arguments and no environment but `env`.
///
/// # Errors
/// The program could not be started, or did not end in time.
pub(super) fn run(
    program: &Path,
    args: &[&str],
    env: &[(&str, &str)],
    input: &[u8],
    limits: Limits,
) -> Result<Printed, String> {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env.iter().copied()).current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("it could not be run: {error}"))?;
    let outcome = watch(&mut child, input, limits);
    if outcome.is_err() {
        stop(&mut child);
    }
    outcome
}

fn watch(child: &mut Child, input: &[u8], limits: Limits) -> Result<Printed, String> {
    let until = Instant::now() + limits.deadline;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("its input and output are not available".to_owned());
    };
    let (send, output) = mpsc::channel();
    // The threads are not joined: each ends with its pipe.
    let limit = limits.output;
    thread::spawn(move || send.send(keep_last(stdout, limit)));
    let input = input.to_vec();
    // A program need not read its input.
    thread::spawn(move || _ = stdin.write_all(&input));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() >= until => {
                return Err(format!("it did not end within {} s", limits.deadline.as_secs()));
            }
            Ok(None) => thread::sleep(STEP),
            Err(error) => return Err(format!("it could not be waited for: {error}")),
        }
    };
    match output.recv_timeout(AFTERMATH) {
        Ok((bytes, cut)) => Ok(Printed { bytes, cut, success: status.success() }),
        Err(_) => Err("a child process that it left behind keeps its output open".to_owned()),
    }
}

/// Kills it and its child processes.
fn stop(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // They may have ended already.
        _ = kill_process_group(group, Signal::KILL);
    }
    _ = child.wait();
}

fn keep_last(mut from: impl Read, limit: usize) -> (Vec<u8>, bool) {
    let (mut kept, mut cut) = (Vec::new(), false);
    let mut chunk = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..count]);
        if kept.len() > 2 * limit {
            cut = true;
            kept.drain(..kept.len() - limit);
        }
    }
    if kept.len() > limit {
        cut = true;
        kept.drain(..kept.len() - limit);
    }
    (kept, cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, milliseconds: u64) -> Result<Printed, String> {
        let limits = Limits { deadline: Duration::from_millis(milliseconds), output: 1000 };
        run(Path::new("/bin/sh"), &["-c", script], &[("PATH", "/usr/bin:/bin"), ("X", "y")], b"in", limits)
    }

    #[test]
    fn program_output_is_bounded() {
        let printed = sh("cat; echo $X; echo no >&2", 20_000).expect("runs");
        assert_eq!((&printed.bytes[..], printed.cut, printed.success), (&b"iny\n"[..], false, true));
        let printed = sh("head -c 300000 /dev/zero; printf end; exit 3", 20_000).expect("runs");
        assert!(printed.cut && !printed.success && printed.bytes.len() == 1000 && printed.bytes.ends_with(b"end"));
    }

    #[test]
    fn hanging_program_is_killed_with_its_children() {
        let begun = Instant::now();
        assert!(sh("sleep 60", 200).is_err_and(|why| why.contains("did not end")));
        assert!(sh("sleep 60 & exit 0", 20_000).is_err_and(|why| why.contains("left behind")));
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert!(
            run(Path::new("/nonexistent/x"), &[], &[], b"", Limits { deadline: Duration::from_secs(1), output: 1 })
                .is_err()
        );
    }
}
