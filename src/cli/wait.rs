//! `--wait`: looks again until nothing fails the run, the time is over, or something fails that waiting does not mend.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;

use super::args::Check;
use super::evidence::asks_for_logs;
use super::stop::Stop;
use super::{live, output};
use crate::report::{Outlook, Report};

/// The shortest time from one look to the next.
const PAUSE: Duration = Duration::from_secs(5);

/// Why `--wait` does not go with what else is said, and what to do; `None` where a command line is refused for something else.
pub(super) fn refusal(error: &clap::Error) -> Option<(String, &'static str)> {
    let message = error.to_string();
    let first = message.lines().next()?.trim_start_matches("error: ");
    if error.kind() != ErrorKind::ArgumentConflict || !first.contains("'--wait ") {
        return None;
    }
    let why = "it looks at a cluster again and again, and nothing else changes meanwhile";
    Some((format!("{first}: {why}"), "leave --wait out, or read the cluster itself: --context"))
}

/// A run that waits.
pub(super) struct Wait {
    /// When it stops to.
    end: Instant,
    /// How long it may take in all.
    limit: Duration,
    /// When the last look began.
    looked: Instant,
    /// What was said to be waited for.
    said: BTreeSet<&'static str>,
    quiet: bool,
}

impl Wait {
    /// Of the flags; nothing where the run is not to wait.
    ///
    /// # Errors
    /// What is judged does not change, or cannot be kept.
    pub(super) fn new(args: &Check, began: Instant) -> Result<Option<Wait>, Stop> {
        let Some(limit) = args.wait else { return Ok(None) };
        let evidence = &args.evidence;
        let offline = !evidence.nodes.is_empty() || !evidence.logs.is_empty();
        if offline && !evidence.live && !asks_for_logs(evidence) {
            let cause = "--wait looks at a cluster again, and --nodes or --logs alone reads none";
            return Err(Stop::usage(cause, "add --live to read the cluster as well"));
        }
        let folder =
            |path: &&std::path::PathBuf| matches!(crate::save::Form::of(path), Ok(crate::save::Form::Folder));
        if let Some(path) = args.save.as_ref().filter(folder) {
            let cause =
                format!("--save {} is a folder, and --wait saves anew with each look", path.display());
            return Err(Stop::usage(cause, "save to a file: --save FILE.tar.gz"));
        }
        let wait = Wait {
            end: began + limit,
            limit,
            looked: began,
            said: BTreeSet::new(),
            quiet: args.verbosity.quiet,
        };
        Ok(Some(wait))
    }

    /// Whether to look again, after a pause; says what is waited for, and why it ends.
    ///
    /// # Errors
    /// A signal ended the run.
    pub(super) fn again(&mut self, report: &Report) -> anyhow::Result<bool> {
        let waited_for = match report.outlook() {
            Outlook::Fine => return Ok(false),
            Outlook::Stays(lasting) => {
                self.say(&format!("not waited any longer: {}", lasting.words()));
                return Ok(false);
            }
            Outlook::May(checks) => checks,
        };
        let now = Instant::now();
        // A large cluster is not to be read without a break.
        let pause = PAUSE.max(now.duration_since(self.looked) * 2);
        if now + pause > self.end {
            let list = list(&waited_for);
            self.say(&format!("waited for {list} until the time was over (--wait {})", words(self.limit)));
            return Ok(false);
        }
        if waited_for != self.said {
            let left = words(self.end.duration_since(now));
            self.say(&format!("waiting, {left} at most, for what may go by itself: {}", list(&waited_for)));
            self.said = waited_for;
        }
        live::pause(pause)?;
        self.looked = Instant::now();
        Ok(true)
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            output::say(text);
        }
    }
}

fn list(checks: &BTreeSet<&'static str>) -> String {
    checks.iter().copied().collect::<Vec<_>>().join(", ")
}

/// Whole seconds and more, as people write them: `4m 55s`.
fn words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}
