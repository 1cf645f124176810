//! The evidence that the server may read, the run of a command on it, and the results that are kept for later calls.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser;
use serde_json::{Map, Value};

use super::super::args::{Cli, Command, Mcp};
use super::super::stop::Stop;
use super::super::{check, diff, explain, fix, injection, list, output, policy, reach, rotate};
use super::answer::Whole;

/// Number of reports that are kept for diff and coverage, and of other results that are kept for the next page.
const KEPT: usize = 8;
/// The report of `--baseline`.
const BASELINE: &str = "baseline";

/// The state of a server.
pub(super) struct Session {
    args: Mcp,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    results: VecDeque<Arc<Whole>>,
    last: usize,
}

/// The result of a command.
pub(super) struct Ran {
    pub(super) status: u8,
    pub(super) notes: Vec<String>,
    pub(super) document: Map<String, Value>,
}

/// How answers show the document of a command.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The list to answer in pages, as a path of keys.
    pub(super) list: &'static [&'static str],
    /// Keys that answers leave out.
    pub(super) without: &'static [&'static str],
    /// Whether the document is a report.
    pub(super) is_report: bool,
}

impl Session {
    pub(super) fn new(args: Mcp) -> Session {
        Session { args, kept: Mutex::default() }
    }

    /// The evidence in words, for the client.
    pub(super) fn evidence(&self) -> String {
        let bundles: Vec<String> = self.args.evidence.bundle.iter().map(|path| path.display().to_string()).collect();
        match (bundles.is_empty(), self.args.connection.context.first()) {
            (false, _) => format!("the bundle {}", bundles.join(", ")),
            (true, Some(context)) => format!("the cluster of the kubeconfig context {context}"),
            (true, None) => "the cluster of the current kubeconfig context".to_owned(),
        }
    }

    /// Runs a command with the evidence of the server, and returns its JSON document.
    ///
    /// # Errors
    /// The words are not valid, or the command has no result.
    pub(super) fn run(&self, words: &[String]) -> anyhow::Result<Ran> {
        let (status, captured) = self.captured(words)?;
        let document = serde_json::from_str(&captured.out)?;
        Ok(Ran { status, notes: captured.lines, document })
    }

    /// Runs a command with the evidence of the server, and returns the lines of its text in this format.
    ///
    /// # Errors
    /// The words are not valid, or the command has no result.
    pub(super) fn run_to_lines(&self, words: &[String], format: &str) -> anyhow::Result<Ran> {
        let (status, captured) = self.captured(words)?;
        let mut document = Map::new();
        document.insert("format".to_owned(), Value::from(format));
        document.insert("lines".to_owned(), captured.out.lines().collect());
        Ok(Ran { status, notes: captured.lines, document })
    }

    /// The exit status of a command, and its output.
    fn captured(&self, words: &[String]) -> anyhow::Result<(u8, output::Captured)> {
        let cli = Cli::try_parse_from([&["meshdoctor".to_owned()], words].concat()).map_err(|error| refused(&error))?;
        let (evidence, connection) = (self.args.evidence.clone(), self.args.connection.clone());
        let (status, captured) = output::captured(words, || match cli.command {
            Command::Check(mut args) => {
                (args.evidence, args.connection) = (evidence, connection);
                check::one(&args, None)
            }
            Command::Policy(mut args) => {
                (args.evidence, args.connection) = (evidence, connection);
                policy::run(&args)
            }
            Command::Reach(mut args) => {
                (args.evidence, args.connection) = (evidence, connection);
                reach::run(&args)
            }
            Command::Injection(mut args) => {
                (args.evidence, args.connection) = (evidence, connection);
                // The settings of the injector come from the cluster also if manifests are given.
                args.evidence.live |= args.evidence.bundle.is_empty();
                injection::run(&args)
            }
            Command::Fix(mut args) => {
                (args.evidence, args.connection) = (evidence, connection);
                // A tool only shows the plan.
                (args.apply, args.write) = (false, false);
                fix::run(&args)
            }
            Command::Rotate(mut args) => {
                (args.evidence, args.connection) = (evidence, connection);
                rotate::run(&args)
            }
            Command::Diff(args) => diff::run(&args),
            Command::List(args) => list::run(&args),
            Command::Explain(args) => explain::run(&args),
            _ => Err(Stop::usage("this command is not a tool", "use one of the tools of the server").into()),
        });
        Ok((status?, captured))
    }

    /// Keeps a result, so that later calls can refer to it.
    pub(super) fn keep(&self, ran: Ran, shape: Shape) -> Arc<Whole> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let whole = Arc::new(Whole {
            id: format!("r{}", kept.last),
            status: ran.status,
            notes: ran.notes,
            document: ran.document,
            list: shape.list,
            without: shape.without,
            is_report: shape.is_report,
        });
        kept.results.push_back(Arc::clone(&whole));
        // A report outlives the explanations and traces after it.
        let is_same = |one: &Arc<Whole>| one.is_report == whole.is_report;
        if kept.results.iter().filter(|one| is_same(one)).count() > KEPT
            && let Some(oldest) = kept.results.iter().position(is_same)
        {
            kept.results.remove(oldest);
        }
        whole
    }

    /// A result that was kept.
    ///
    /// # Errors
    /// It is not known, or no longer.
    pub(super) fn stored_answer(&self, id: &str) -> Result<Arc<Whole>, Stop> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.results.iter().find(|whole| whole.id == id).cloned();
        found.ok_or_else(|| {
            if id == BASELINE {
                let next = "start the server with --baseline FILE, or name a report such as r1";
                return Stop::usage("the server has no baseline", next);
            }
            let next = format!(
                "call the tool again; the server keeps the last {KEPT} reports and the last {KEPT} other results"
            );
            Stop::usage(format!("there is no result {id:?}"), next)
        })
    }

    /// Writes a report to a folder, for a command that reads it from a file.
    ///
    /// # Errors
    /// The report is not known, or the file cannot be written.
    pub(super) fn write_report(&self, id: &str, folder: &Path) -> anyhow::Result<std::path::PathBuf> {
        if let (BASELINE, Some(path)) = (id, &self.args.baseline) {
            return Ok(path.clone());
        }
        let whole = self.stored_answer(id)?;
        if !whole.is_report {
            let next = "give the report of an answer of check, rehearse or with";
            return Err(Stop::usage(format!("the result {id:?} is not a report"), next).into());
        }
        let path = folder.join(format!("{id}.json"));
        std::fs::write(&path, serde_json::to_string_pretty(&whole.document)?)?;
        Ok(path)
    }

    /// The report to compare with if the client names none.
    pub(super) fn default_before(&self) -> Option<String> {
        if self.args.baseline.is_some() {
            return Some(BASELINE.to_owned());
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.results.iter().rev().find(|whole| whole.is_report).map(|whole| whole.id.clone())
    }
}

/// The error of clap for arguments of a tool, in one line.
fn refused(error: &clap::Error) -> Stop {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let cause = lines.join(" ").trim_start_matches("error: ").to_owned();
    // The client knows the arguments by their names in the schema.
    let names = [("'[FROM]'", "from"), ("'[TO[:PORT]]'", "to"), ("'[TARGET]...'", "targets")];
    let cause = names.iter().fold(cause, |cause, (operand, name)| cause.replace(operand, name));
    Stop::usage(cause, "correct the argument; the input schema of the tool describes it")
}
