//! Runs of the binary with a time limit, and how their times grow.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The words of the command line, which select rows.
pub fn words() -> Vec<String> {
    std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect()
}

/// Whether the row with this name is selected.
pub fn is_selected(name: &str, words: &[String]) -> bool {
    words.is_empty() || words.iter().any(|word| name.contains(word))
}

/// The factor from one time to the next.
pub fn growth(before: Duration, then: Duration) -> f64 {
    then.as_secs_f64() / before.as_secs_f64().max(0.000_1)
}

/// The factor from one run to the next, for a table; `-` if one of them was stopped.
pub fn shown_growth(before: Option<Duration>, then: Option<Duration>) -> String {
    match (before, then) {
        (Some(before), Some(then)) => format!("{:.1}", growth(before, then)),
        (_, _) => "-".to_owned(),
    }
}

/// The time of a run, for a table.
pub fn shown(time: Option<Duration>, patience: Duration) -> String {
    match time {
        Some(time) => format!("{:.2} s", time.as_secs_f64()),
        None => format!("> {} s", patience.as_secs()),
    }
}

/// The time of a check of a bundle; `None` if it was stopped after `patience`.
pub fn timed(program: &OsStr, bundle: &Path, patience: Duration) -> io::Result<Option<Duration>> {
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(["check", "-q", "--no-config", "--complete", "all", "--at", "2026-01-15T12:00:00Z"])
        .args(["-o", "json", "--linkerd-cli", "none", "--bundle"])
        .arg(bundle)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(Some(began.elapsed()));
        }
        if began.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
