//! Printing: reports to standard output and files, everything else to standard error. A closed pipe is not an error.
//! Only this module writes to terminals: it escapes control characters in texts of clusters, files and command lines.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::args::{Reports, Verbosity};
use super::format::{Format, Output};
use super::stop::Stop;
use super::{config, files, output_names};
use crate::exit;
use crate::render::sync::SCHEMA as SYNC;
use crate::render::text::{clean, escape_ci_commands, escape_json, wrap};
use crate::render::{self, Look};
use crate::report::{Report, Run};
use crate::terminal::is_hostile;

/// Width of text if standard output is not a terminal, in columns.
pub(super) const WIDTH: usize = 100;

/// The width to write for, in columns: `COLUMNS`, else the terminal's, else 100.
pub(super) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.trim().parse::<usize>().ok());
    let terminal =
        || io::stdout().is_terminal().then(terminal_size::terminal_size).flatten().map(|(w, _)| usize::from(w.0));
    columns.or_else(terminal).unwrap_or(WIDTH).clamp(40, 400)
}

/// The style of text on standard output.
pub(super) fn look() -> Look {
    let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    Look { colour, ..Look::plain(width()) }
}

/// Output of a command whose caller wants it instead of the terminal.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "only the MCP server captures output"))]
pub(super) struct Captured {
    /// Standard output.
    pub(super) out: String,
    /// Lines of standard error.
    pub(super) lines: Vec<String>,
    /// The words of the command.
    words: Vec<String>,
}

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// Runs a command on this thread, and returns its output instead of printing it.
#[cfg(feature = "mcp")]
pub(super) fn captured<T>(words: &[String], work: impl FnOnce() -> T) -> (T, Captured) {
    let captured = Captured { words: words.to_vec(), ..Captured::default() };
    CAPTURED.with(|held| held.replace(Some(captured)));
    let result = work();
    (result, CAPTURED.with(RefCell::take).unwrap_or_default())
}

/// Whether the output of this thread is captured; the process then outlives the command.
pub(super) fn is_captured() -> bool {
    CAPTURED.with(|held| held.borrow().is_some())
}

/// Applies `keep` to the captured output of this thread, if it is captured.
fn keep<T>(keep: impl FnOnce(&mut Captured) -> T) -> Option<T> {
    CAPTURED.with(|held| held.borrow_mut().as_mut().map(keep))
}

/// Prints a text to standard output.
pub(super) fn print(text: &str) -> anyhow::Result<u8> {
    if keep(|captured| captured.out.push_str(text)).is_some() {
        return Ok(exit::FINE);
    }
    quiet_on_broken_pipe(anstream::stdout().write_all(text.as_bytes()).and_then(|()| anstream::stdout().flush()))?;
    Ok(exit::FINE)
}

fn quiet_on_broken_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Held while a document is written, so that a second one cannot be mixed in.
static WRITING: Mutex<()> = Mutex::new(());

/// Waits until no document is being written, and blocks others.
pub(super) fn lock_output() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the report in every requested format; by default a table to standard output.
pub(super) fn report(report: &Report, reports: &Reports, verbosity: &Verbosity) -> anyhow::Result<()> {
    let outputs = &reports.output;
    let linkerd = |output: &Output| output.format == Format::Linkerd && output.file.is_none();
    let quiet = verbosity.quiet;
    if let Some(beside) = render::linkerd::beside(report).filter(|_| outputs.iter().any(linkerd) && !quiet) {
        print_line(&beside);
    }
    write(reports, verbosity, |format, look| text(report, format, look))?;
    if !outputs.is_empty() && outputs.iter().all(|output| output.file.is_some()) && !quiet {
        print_line(&render::table::result_line(report));
    }
    Ok(())
}

/// Reports that could not be written to their files.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unwritten(String);

/// Writes a text in every requested format; by default a table to standard output.
pub(super) fn write(
    reports: &Reports,
    verbosity: &Verbosity,
    text: impl Fn(Format, Look) -> String,
) -> anyhow::Result<()> {
    let (verbose, coverage, quiet) = (verbosity.verbose > 0, reports.coverage, verbosity.quiet);
    let _held = lock_output();
    let table = [Output { format: Format::Table, file: None }];
    let outputs = if reports.output.is_empty() { &table[..] } else { &reports.output };
    let mut unwritten = Vec::new();
    for output in outputs {
        match &output.file {
            None => {
                print(&text(output.format, Look { verbose, coverage, ..look() }))?;
            }
            Some(path) => {
                let text = text(output.format, Look { width: WIDTH, colour: false, verbose, coverage });
                match files::write(path, &text) {
                    Err(error) => unwritten.push(format!("cannot write the report to {}: {error}", path.display())),
                    Ok(()) if quiet => {}
                    Ok(()) => print_line(&format!("wrote {}", path.display())),
                }
            }
        }
    }
    if unwritten.is_empty() { Ok(()) } else { Err(Unwritten(unwritten.join("; ")).into()) }
}

/// A report in one format.
pub(super) fn text(report: &Report, format: Format, look: Look) -> String {
    match format {
        Format::Table => for_people(render::table::report(report, look)),
        Format::Short => for_people(render::short::report(report)),
        Format::Json => render::json::report(report),
        Format::Yaml => render::yaml::report(report),
        Format::Linkerd => render::linkerd::report(report),
        Format::Plan => for_people(render::plan::markdown(report)),
        Format::Html => render::html::report(report),
        Format::LinkerdTable => escape_ci_commands(&render::linkerd::table(report, look)).into_owned(),
        Format::Sarif => render::ci::sarif::report(report),
        Format::Junit => render::ci::junit::report(report),
        Format::Github => render::ci::github::report(report),
        Format::Gitlab => render::ci::gitlab::report(report),
        Format::Markdown => for_people(render::ci::markdown::report(report)),
        Format::Prometheus => render::ci::prometheus::report(report),
        Format::Ndjson => render::ci::ndjson::report(report),
        Format::Extension => render::extension::report(report),
    }
}

/// A multi-line text whose values are already escaped, with CI commands disabled.
pub(super) fn for_people(text: String) -> String {
    escape_ci_commands(&text).into_owned()
}

/// Prints one line on standard error. The text always stays one line, and cannot act as a command of a terminal or CI
/// system.
pub(super) fn print_line(line: &str) {
    if keep(|captured| captured.lines.push(clean(line).into_owned())).is_some() {
        return;
    }
    // A closed standard error cannot be handled.
    let _ = writeln!(anstream::stderr(), "{}", one_line(line));
}

/// Prints a sentence on standard error, in lines that fit the terminal.
pub(super) fn print_wrapped(text: &str) {
    const INDENT: &str = "  ";
    for (at, line) in wrap(&clean(text), width() - INDENT.len()).iter().enumerate() {
        print_line(&format!("{}{line}", if at == 0 { "" } else { INDENT }));
    }
}

/// The line that [`print_line`] prints.
pub(super) fn one_line(text: &str) -> String {
    escape_ci_commands(&clean(text)).into_owned()
}

/// Prints clap's error for a wrong command line, with its colors.
pub(super) fn say_usage(error: &clap::Error) {
    let plain = error.to_string();
    // Colors are the only control characters that clap writes.
    if plain.contains(|c| is_hostile(c) && c != '\n') {
        plain.lines().for_each(print_line);
    } else {
        let text = error.render().ansi().to_string();
        let _ = anstream::stderr().write_all(escape_ci_commands(&text).as_bytes());
    }
}

/// Prints panics like other errors from now on: their message can quote text of a cluster.
pub(super) fn panics_are_said() {
    std::panic::set_hook(Box::new(|panic| {
        format!("internal error: {panic}").lines().for_each(print_line);
        print_line("  this is a defect of meshdoctor: report it with this text and the command");
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0") {
            std::backtrace::Backtrace::force_capture().to_string().lines().for_each(print_line);
        }
    }));
}

/// Prints the reason for the end of a run, and the next step.
pub(super) fn say_error(cause: &str, next: Option<&str>) {
    print_line(&format!("error: {cause}"));
    if let Some(next) = next {
        print_line(&format!("  {next}"));
    }
}

/// The words of the command line, without secrets, for the report.
pub(super) fn command() -> Vec<String> {
    if let Some(words) = keep(|captured| captured.words.clone()) {
        return shown(words.into_iter());
    }
    shown(std::env::args().skip(1))
}

/// A token may not look like one, so the value of its flag is never shown.
fn shown(words: impl Iterator<Item = String>) -> Vec<String> {
    const FLAG: &str = "--token";
    let (mut secret, mut named) = (false, false);
    let each = words.map(|word| {
        let was_flag = std::mem::replace(&mut secret, word == FLAG);
        let is_namespace = std::mem::replace(&mut named, matches!(word.as_str(), "-n" | "--namespace"));
        match word.strip_prefix(FLAG) {
            _ if was_flag => "REDACTED".to_owned(),
            _ if is_namespace => crate::redact::object_name(&word).into_owned(),
            Some(value) if value.starts_with('=') => format!("{FLAG}=REDACTED"),
            _ => crate::redact::text(&word).into_owned(),
        }
    });
    each.collect()
}

/// Writes a valid document for a run without a report, if the command line requests one.
pub(super) fn failure(words: &[OsString], status: u8, message: &str, stop: Option<&Stop>) {
    if let Some(schema) = answer_schema(words) {
        let errors: Vec<&str> = [message].into_iter().chain(stop.and_then(|stop| stop.next.as_deref())).collect();
        let document = serde_json::json!({"schema": schema, "status": status, "errors": errors});
        let text = match values_of_output(words.iter().filter_map(|word| word.to_str())).pop() {
            Some("yaml") => render::yaml::document(&document),
            _ => escape_json(format!("{document:#}")) + "\n",
        };
        // A second failure changes nothing, as below.
        _ = print(&text);
        return;
    }
    let next = stop.and_then(|stop| stop.next.as_deref());
    let was_asked = stop.is_some_and(|stop| stop.was_asked);
    for output in asked_for(words) {
        let failure = render::json::Failure {
            status,
            errors: vec![message.to_owned()],
            run: Run { command: command(), config: config::used(), ..Run::default() },
            origin: None,
        };
        let document = match output.format {
            Format::Table | Format::Short | Format::LinkerdTable | Format::Plan => continue,
            Format::Linkerd => render::linkerd::failure(message, was_asked),
            Format::Json => render::json::failure(&failure),
            Format::Yaml => render::yaml::failure(&failure),
            Format::Sarif => render::ci::sarif::failure(&failure),
            Format::Junit => render::ci::junit::failure(&failure),
            Format::Github => render::ci::github::failure(&failure),
            Format::Gitlab => render::ci::gitlab::failure(&failure),
            Format::Markdown => for_people(render::ci::markdown::failure(&failure)),
            Format::Prometheus => render::ci::prometheus::failure(&failure),
            Format::Ndjson => render::ci::ndjson::failure(&failure),
            Format::Html => render::html::failure(&failure),
            Format::Extension => render::extension::failure(message, next),
        };
        // The run has already failed; a second failure changes nothing.
        let _ = match &output.file {
            None => print(&document).map(|_| ()),
            // A command line that was rejected because it overwrites its inputs must not do so here.
            Some(path) if files::is_named_elsewhere(path, words) => Ok(()),
            Some(path) => match output_names::resolved(path) {
                Some(path) => files::write(&path, &document).map_err(Into::into),
                None => Ok(()),
            },
        };
    }
}

/// Schema of the JSON or YAML output of a command that does not write a report.
fn answer_schema(words: &[OsString]) -> Option<&'static str> {
    let plain = || words.iter().skip(1).filter_map(|word| word.to_str());
    let is_flag = |flag: &str| plain().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
    let schema = match plain().find(|word| !word.starts_with('-'))? {
        "policy" if is_flag("--to") => "meshdoctor.outbound/1",
        "policy" => "meshdoctor.policy/1",
        "reach" => "meshdoctor.reach/1",
        "sync" => SYNC,
        "rotate" => crate::render::rotation::SCHEMA,
        "injection" => "meshdoctor.injection/1",
        "diff" => "meshdoctor.diff/1",
        "list" if is_flag("--defects") => "meshdoctor.defects/1",
        "list" => "meshdoctor.list/1",
        "explain" => "meshdoctor.explanation/1",
        "fix" => crate::render::fix::SCHEMA,
        _ => return None,
    };
    let last = values_of_output(plain()).pop()?;
    let is_document = last == "json" || last == "yaml" && schema == SYNC;
    is_document.then_some(schema)
}

/// The values of `-o` on a command line.
fn values_of_output<'a>(mut words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        let value = match word {
            "--" => break,
            "-o" | "--output" => words.next(),
            _ => word.strip_prefix("--output=").or_else(|| word.strip_prefix("-o")),
        };
        values.extend(value.map(|value| value.trim_start_matches('=')));
    }
    values
}

/// The outputs of a command line, parsed without clap, which may have rejected it.
fn asked_for(words: &[OsString]) -> Vec<Output> {
    let words = || words.iter().skip(1).filter_map(|word| word.to_str());
    if !matches!(words().find(|word| !word.starts_with('-')), Some("check" | "demo" | "report")) {
        return Vec::new();
    }
    values_of_output(words()).into_iter().filter_map(|value| super::format::output(value).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_never_shown() {
        // A repeated flag is an error, but its value is still a token.
        let line = "check --token opaque --token=opaque --token --token opaque -n shop";
        let shown = shown(line.split(' ').map(str::to_owned));
        assert_eq!(shown.join(" "), "check --token REDACTED --token=REDACTED --token REDACTED REDACTED -n shop");
    }
}
