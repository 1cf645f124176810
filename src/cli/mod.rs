//! The command line: the only module that prints, reads arguments and uses anyhow. One file per command.

mod rerun_from_bundle;
mod waivers;
// The fields and variants of clap's structs are documented by their help texts.
#[allow(missing_docs)]
pub mod args;
mod before;
mod change;
mod chart;
mod check;
mod collect;
mod completions;
mod config;
mod custom_checks;
mod demo;
mod diff;
mod evaluation_time;
mod evidence;
mod examine;
mod explain;
mod files;
mod fix;
mod fleet;
mod format;
mod generate;
mod injection;
mod interrupt;
mod list;
mod live;
mod manifest_steps;
mod mcp;
mod namespaces;
#[cfg(feature = "live")]
mod node_pods;
mod node_snapshot;
#[cfg(feature = "live")]
mod nothing_read;
mod output;
mod output_names;
mod params;
mod policy;
mod progress;
#[cfg(feature = "live")]
mod prometheus;
mod publish;
mod rbac;
mod reach;
mod request;
mod rerun;
mod role;
mod rotate;
mod saved;
mod scripts;
#[cfg(any(feature = "live", feature = "mcp"))]
mod signals;
mod stop;
mod sync;
mod ticket;
mod values;
mod verify;
mod version;
mod wait;

use std::ffi::OsString;

use clap::error::ErrorKind;

use crate::exit;
use crate::render::text::clean;
use args::{Color, Command};
use role::CommandLine;
use stop::Stop;

pub use format::{Format, Output};
pub use scripts::completion;

/// Runs the command line; returns the exit status.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    output::panics_are_said();
    let words: Vec<OsString> = words.into_iter().collect();
    let typed = words.clone();
    let words = match role::takes_a_file(&words).then(|| config::applied(&words)).transpose() {
        Ok(applied) => applied.unwrap_or(words),
        Err(stop) => return stopped(&typed, &stop.into()),
    };
    let cli = match role::parse(&words) {
        Ok(CommandLine::Command(cli)) => cli,
        Ok(CommandLine::Answered(outcome)) => return outcome.unwrap_or_else(|error| stopped(&words, &error)),
        Err(error) => return usage(&words, error),
    };
    match cli.color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    config::say_used();
    // `test` registers its checks itself.
    let folders = if matches!(cli.command, Command::Test(_)) { &[][..] } else { &cli.checks };
    if let Err(error) = custom_checks::register(folders) {
        return stopped(&words, &error);
    }
    let outcome = match &cli.command {
        Command::Check(args) => check::run(args),
        Command::Collect(args) => collect::run(args),
        Command::Ticket(args) => ticket::run(args),
        Command::NodeSnapshot(args) => node_snapshot::run(args),
        Command::Report(args) => saved::run(args),
        Command::Fix(args) => fix::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Policy(args) => policy::run(args),
        Command::Injection(args) => injection::run(args),
        Command::Reach(args) => reach::run(args),
        Command::Sync(args) => sync::run(args),
        Command::Rotate(args) => rotate::run(args),
        Command::Demo(args) => demo::run(args),
        Command::List(args) => list::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Rbac(args) => rbac::run(args),
        Command::Test(args) => custom_checks::test(args, &cli.checks),
        Command::New(args) => custom_checks::new::run(args),
        Command::Config => config::show(&typed),
        Command::Version(args) => version::run(args),
    };
    outcome.unwrap_or_else(|error| stopped(&words, &error))
}

/// Output of clap: help and version on standard output, errors on standard error with status 2. Callers that requested
/// a document get one.
fn usage(words: &[OsString], error: clap::Error) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A closed terminal cannot be reported to.
        let _ = error.print();
        return exit::FINE;
    }
    // clap repeats unknown words.
    let cleaned: Vec<OsString> = words.iter().map(|word| OsString::from(&*clean(&word.to_string_lossy()))).collect();
    let error = if cleaned == words { error } else { role::parse(&cleaned).err().unwrap_or(error) };
    if let Some((cause, next)) = role::refusal(&error) {
        return stopped(words, &Stop::usage(cause, next).into());
    }
    if let Some((cause, next)) = wait::refusal(&error) {
        return stopped(words, &Stop::usage(cause, next).into());
    }
    output::say_usage(&error);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => exit::FINE,
        _ => {
            let message = error.render().to_string();
            let line = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            output::failure(words, exit::USAGE, &line, None);
            exit::USAGE
        }
    }
}

fn stopped(words: &[OsString], error: &anyhow::Error) -> u8 {
    let status = error.downcast_ref::<Stop>().map_or(exit::COULD_NOT_RUN, |stop| stop.status);
    if error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        return exit::FINE;
    }
    let message = crate::redact::own_words(&format!("{error:#}")).into_owned();
    let stop = error.downcast_ref::<Stop>();
    if error.downcast_ref::<output::Unwritten>().is_some() {
        output::say_error(&message, Some("other reports of the run, if any, were written"));
        return status;
    }
    output::say_error(&message, stop.and_then(|stop| stop.next.as_deref()));
    output::failure(words, status, &message, stop);
    status
}
