//! Run time of commands that need neither a cluster nor files.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Times that each is run; the best counts.
const TIMES: usize = 21;

/// Each command's words and its time.
pub(crate) fn measure() -> anyhow::Result<Vec<(String, Duration)>> {
    let commands: [&[&str]; 3] = [&["--help"], &["list"], &["explain", "cni-entry-orphaned"]];
    commands
        .iter()
        .map(|words| {
            let times = (0..TIMES).map(|_| once(words)).collect::<anyhow::Result<Vec<_>>>()?;
            Ok((words[0].to_owned(), times.into_iter().min().unwrap_or_default()))
        })
        .collect()
}

fn once(words: &[&str]) -> anyhow::Result<Duration> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshdoctor"));
    let began = Instant::now();
    let status = command.env_clear().args(words).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    anyhow::ensure!(status.success(), "{words:?}: {status}");
    Ok(began.elapsed())
}
