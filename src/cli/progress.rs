//! What is said while evidence is read: a line that moves on a terminal after a second, and with `-v` what each item
//! took. Always on standard error, never a body.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Verbosity;
use super::output::{WIDTH, one_line, say};
use crate::collect::Observer;
use crate::fetched::Fetched;
use crate::render::text::width;
use crate::request::Request;

/// How long a run stays silent before the line appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Follows a run.
pub(super) struct Progress {
    began: Instant,
    bar: Option<ProgressBar>,
    verbose: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: BTreeMap<String, Instant>,
    objects: usize,
}

impl Progress {
    pub(super) fn new(verbosity: &Verbosity) -> Progress {
        let shown = std::io::stderr().is_terminal() && !verbosity.quiet && verbosity.verbose == 0;
        let bar = shown.then(|| {
            // As wide as the terminal, and no wider: it is one line.
            let style = ProgressStyle::with_template("{spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Progress { began: Instant::now(), bar, verbose: verbosity.verbose > 0, state: Mutex::default() }
    }

    /// What each item cost on the wire.
    #[cfg(feature = "live")]
    pub(super) fn traffic(&self, items: &[(Request, crate::source::live::Traffic)]) {
        if !self.verbose {
            return;
        }
        let mut all = crate::source::live::Traffic::default();
        for (request, traffic) in items {
            all += *traffic;
            say(&format!("{}  {request}", cost(traffic)));
        }
        // Items are read at the same time, so their times do not add up.
        all.elapsed = self.began.elapsed();
        say(&format!("{}  in all", cost(&all)));
    }

    /// Shows this on the line, at once.
    #[cfg(feature = "live")]
    pub(super) fn message(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(fitting(&one_line(&text)));
            bar.tick();
        }
    }

    /// Takes the line away.
    pub(super) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self, state: &State) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.began.elapsed() > PATIENCE) {
            let names: Vec<&str> = state.running.keys().map(String::as_str).take(3).collect();
            let more = state.running.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let line = format!("{} objects read; reading {}{more}", state.objects, names.join(", "));
            bar.set_message(fitting(&one_line(&line)));
            bar.tick();
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        // A poisoned lock means another thread panicked while counting; its counts are as good as any.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut state);
        self.show(&state);
    }
}

/// As much of a text as fits behind the spinner on the terminal, with a mark if that is not all.
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
            if self.verbose {
                let end = match fetched {
                    Fetched::Complete => String::new(),
                    Fetched::Partial { reasons } => {
                        format!("  partly: {}", reasons.first().map(ToString::to_string).unwrap_or_default())
                    }
                    Fetched::Missing { reason } => format!("  {reason}"),
                };
                say(&format!("{:>7.3} s  {objects:>7} objects  {name}{end}", took.as_secs_f64()));
            }
        });
    }
}

#[cfg(feature = "live")]
fn cost(traffic: &crate::source::live::Traffic) -> String {
    let kib = |bytes: u64| bytes.div_ceil(1024);
    let retries =
        if traffic.retries > 0 { format!(", {} of them again", traffic.retries) } else { String::new() };
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
    fn cut_text_has_a_mark_and_fits() {
        assert_eq!(cut("12 objects read", 15), "12 objects read");
        assert_eq!(cut("12 objects read; reading pods", 15), "12 objects rea…");
        assert_eq!(cut("한국어한국어", 5), "한국…");
        assert_eq!(cut("text", 0), "…");
    }
}
