//! One process: wall time, processor time and peak memory. Read from /proc while it runs, because the peak
//! memory from `wait` includes that of the parent process.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// Longer than any of them takes. A process that hangs is ended.
const LIMIT: Duration = Duration::from_secs(180);

/// The cost of a process.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    /// Processor time of its threads together.
    pub(crate) busy: Duration,
    /// Bytes of its resident memory at its largest.
    pub(crate) peak: u64,
}

/// Runs a command to its end. `fine` are the exit statuses that it may have.
pub(crate) fn run(command: &mut Command, fine: &[i32]) -> anyhow::Result<Cost> {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let times = format!("/proc/{}/stat", child.id());
    let mut peak = 0;
    let ended = loop {
        // The mark only ever rises, and is read again until the very end.
        let text = std::fs::read_to_string(&status).context("this benchmark needs Linux")?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(kilobytes) = field("VmHWM:").and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok()) {
            peak = peak.max(kilobytes * 1024);
        }
        if field("State:").is_some_and(|state| state.starts_with('Z')) {
            break began.elapsed();
        }
        if began.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("{command:?} did not end within {} s", LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let busy = busy(&std::fs::read_to_string(times)?).context("/proc/PID/stat in an unknown form")?;
    let status = child.wait()?;
    if !status.code().is_some_and(|code| fine.contains(&code)) {
        bail!("{command:?}: {status}");
    }
    Ok(Cost { wall: ended, busy, peak })
}

/// User and system time; Linux gives both in hundredths of a second.
fn busy(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}
