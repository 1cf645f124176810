//! Progress on standard error: a status line on terminals after one second, and with `-v` the cost of each item. Never
//! prints response bodies.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Verbosity;
use super::output::{WIDTH, one_line, print_line};
use crate::collect::Observer;
use crate::fetched::Fetched;
use crate::render::text::width;
use crate::request::Request;

/// Delay before the status line appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tracks a run.
pub(super) struct Progress {
    began: Instant,
    bar: Option<ProgressBar>,
    /// Whether to print the time and the objects of each request.
    traces: bool,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    running: BTreeMap<String, Instant>,
    objects: usize,
}

impl Progress {
    pub(super) fn new(verbosity: &Verbosity) -> Progress {
        let shown = std::io::stderr().is_terminal() && !verbosity.quiet && verbosity.verbose == 0;
        let bar = shown.then(|| {
            // One line, limited to the terminal's width.
            let style = ProgressStyle::with_template("{spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Progress { began: Instant::now(), bar, traces: verbosity.verbose > 1, state: Mutex::default() }
    }

    /// Prints the cost of each request.
    #[cfg(feature = "live")]
    pub(super) fn traffic(&self, items: &[(Request, crate::source::live::Traffic)]) {
        if !self.traces {
            return;
        }
        let mut all = crate::source::live::Traffic::default();
        for (request, traffic) in items {
            all += *traffic;
            print_line(&format!("{}  {request}", cost(traffic)));
        }
        // Items are read in parallel, so their times do not add up.
        all.elapsed = self.began.elapsed();
        print_line(&format!("{}  total", cost(&all)));
    }

    /// Shows a text on the status line immediately.
    #[cfg(feature = "live")]
    pub(super) fn message(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(fitting(&one_line(&text)));
            bar.tick();
        }
    }

    /// Removes the status line.
    pub(super) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self, state: &ProgressState) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.began.elapsed() > PATIENCE) {
            let names: Vec<&str> = state.running.keys().map(String::as_str).take(3).collect();
            let more = state.running.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let line = format!("{} objects read; reading {}{more}", state.objects, names.join(", "));
            bar.set_message(fitting(&one_line(&line)));
            bar.tick();
        }
    }

    fn change(&self, change: impl FnOnce(&mut ProgressState)) {
        // After a panic of another thread, its counts are still usable.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut state);
        self.show(&state);
    }
}

/// The part of a text that fits next to the spinner, with a mark if it was cut.
fn fitting(text: &str) -> String {
    let columns = terminal_size::terminal_size_of(std::io::stderr()).map_or(WIDTH, |(w, _)| usize::from(w.0));
    cut(text, columns.saturating_sub(2))
}

fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = text.to_owned();
    while width(&kept) >= columns.max(1) {
        kept.pop();
    }
    kept + "…"
}

impl Observer for Progress {
    fn started(&self, request: &Request) {
        self.change(|state| _ = state.running.insert(request.to_string(), Instant::now()));
    }

    fn arrived(&self, _: &Request, _: usize) {
        self.change(|_| ());
    }

    fn ended(&self, request: &Request, fetched: &Fetched, objects: usize) {
        let name = request.to_string();
        self.change(|state| {
            let took = state.running.remove(&name).map(|since| since.elapsed()).unwrap_or_default();
            state.objects += objects;
            if self.traces {
                let end = match fetched {
                    Fetched::Complete => String::new(),
                    Fetched::Partial { reasons } => {
                        format!("  incomplete: {}", reasons.first().map(ToString::to_string).unwrap_or_default())
                    }
                    Fetched::Missing { reason } => format!("  {reason}"),
                };
                print_line(&format!("{:>7.3} s  {objects:>7} objects  {name}{end}", took.as_secs_f64()));
            }
        });
    }
}

#[cfg(feature = "live")]
fn cost(traffic: &crate::source::live::Traffic) -> String {
    let kib = |bytes: u64| bytes.div_ceil(1024);
    let retries = if traffic.retries > 0 { format!(", {} retried", traffic.retries) } else { String::new() };
    format!(
        "{:>7.3} s  {:>4} requests{retries}  {:>8} KiB on the wire  {:>8} KiB of JSON",
        traffic.elapsed.as_secs_f64(),
        traffic.requests,
        kib(traffic.wire_bytes),
        kib(traffic.body_bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn cut_text_is_marked_and_fits() {
        assert_eq!(cut("12 objects read", 15), "12 objects read");
        assert_eq!(cut("12 objects read; reading pods", 15), "12 objects rea…");
        assert_eq!(cut("한국어한국어", 5), "한국…");
        assert_eq!(cut("text", 0), "…");
    }
}
