//! `--wait`: retries until the checks pass, the time is over, or a finding remains that waiting does not fix.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;

use super::args::Check;
use super::evidence::asks_for_logs;
use super::stop::Stop;
use super::{live, output};
use crate::report::{Outlook, Report};

/// Minimum pause between two retries.
const PAUSE: Duration = Duration::from_secs(5);

/// The conflict of `--wait` with another flag, and the next step; `None` if the command line is rejected for another
/// reason.
pub(super) fn refusal(error: &clap::Error) -> Option<(String, &'static str)> {
    let message = error.to_string();
    let first = message.lines().next()?.trim_start_matches("error: ");
    if error.kind() != ErrorKind::ArgumentConflict || !first.contains("'--wait ") {
        return None;
    }
    let why = "it reads a live cluster repeatedly";
    Some((format!("{first}: {why}"), "omit --wait, or select the cluster with --context"))
}

/// State of a waiting run.
pub(super) struct Wait {
    /// Deadline.
    end: Instant,
    /// Total time limit.
    limit: Duration,
    /// Start of the last read.
    looked: Instant,
    /// Findings that were already reported as waited for.
    said: BTreeSet<&'static str>,
    quiet: bool,
}

impl Wait {
    /// From the flags; `None` without `--wait`.
    ///
    /// # Errors
    /// The evidence does not change, or cannot be saved repeatedly.
    pub(super) fn new(args: &Check, began: Instant) -> Result<Option<Wait>, Stop> {
        let Some(limit) = args.wait else { return Ok(None) };
        let evidence = &args.evidence;
        let offline = !evidence.nodes.is_empty() || !evidence.logs.is_empty();
        if offline && !evidence.live && !asks_for_logs(evidence) {
            let cause = "--wait needs a live cluster, and --nodes or --logs alone reads none";
            return Err(Stop::usage(cause, "add --live to also read the cluster"));
        }
        let folder =
            |path: &&std::path::PathBuf| matches!(crate::save::Form::from_path(path), Ok(crate::save::Form::Folder));
        if let Some(path) = args.save.as_ref().filter(folder) {
            let cause = format!("--save {} is a folder, but --wait saves again after each retry", path.display());
            return Err(Stop::usage(cause, "use a file: --save FILE.tar.gz"));
        }
        let wait =
            Wait { end: began + limit, limit, looked: began, said: BTreeSet::new(), quiet: args.verbosity.quiet };
        Ok(Some(wait))
    }

    /// Whether to retry, after a pause; reports what is waited for, and why waiting ends.
    ///
    /// # Errors
    /// A signal ended the run.
    pub(super) fn wait_for_next(&mut self, report: &Report) -> anyhow::Result<bool> {
        let waited_for = match report.outlook() {
            Outlook::Fine => return Ok(false),
            Outlook::Stays(lasting) => {
                self.print_line(&format!("stopped waiting: {}", lasting.words()));
                return Ok(false);
            }
            Outlook::May(checks) => checks,
        };
        let now = Instant::now();
        // Limits the load on a large cluster.
        let pause = PAUSE.max(now.duration_since(self.looked) * 2);
        if now + pause > self.end {
            let list = list(&waited_for);
            self.print_line(&format!("waited for {list} until the time limit (--wait {})", words(self.limit)));
            return Ok(false);
        }
        if waited_for != self.said {
            let left = words(self.end.duration_since(now));
            self.print_line(&format!(
                "waiting up to {left} for findings that may resolve themselves: {}",
                list(&waited_for)
            ));
            self.said = waited_for;
        }
        live::pause(pause)?;
        self.looked = Instant::now();
        Ok(true)
    }

    fn print_line(&self, text: &str) {
        if !self.quiet {
            output::print_line(text);
        }
    }
}

fn list(checks: &BTreeSet<&'static str>) -> String {
    checks.iter().copied().collect::<Vec<_>>().join(", ")
}

/// A duration as people write it, in whole seconds: `4m 55s`.
fn words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}
