//! `meshdoctor diff`: compares two reports or bundles, finding by finding.

use std::path::Path;

use anyhow::Context;
use clap::Parser;

use super::args::{Cli, Command, Diff, DiffFormat, FailOn};
use super::stop::Stop;
use super::{check, output, request, verify};
use crate::command::{Arg, meshdoctor};
use crate::exit;
use crate::render::diff;
use crate::render::document::Document;

pub(super) fn run(args: &Diff) -> anyhow::Result<u8> {
    let (before, after) = (report(&args.before, "diff")?, report(&args.after, "diff")?);
    for (path, document) in [(&args.before, &before), (&args.after, &after)] {
        if document.run.judged_at.is_none() {
            return Err(verify::no_result(document, path).into());
        }
    }
    let difference = diff::compare(&before, &after);
    output::print(&match args.output {
        DiffFormat::Table => output::for_people(difference.table(output::width())),
        DiffFormat::Json => difference.json(),
    })?;
    let gate = request::gate(args.fail_on.unwrap_or(FailOn::Error));
    let fails = |severity: Option<_>| severity.is_some_and(|severity| gate.fails(severity));
    Ok(match (fails(difference.worst_new()), fails(difference.worst_unknown())) {
        (true, _) => exit::FINDINGS,
        (false, true) => exit::NOT_CHECKED,
        (false, false) => exit::FINE,
    })
}

/// Names the command that makes a report, if the file exists and is something else, such as a dump.
fn make_report(stop: Stop, path: &Path) -> Stop {
    if !path.is_file() {
        return stop;
    }
    let made = meshdoctor()
        .words("check")
        .option("--bundle", Arg::path(path.display().to_string()))
        .words("-o json=report.json");
    let next = format!(
        "diff compares two reports (-o json=FILE) or bundles (a folder or an archive); make a report of a \
         dump first: {}",
        crate::command::Command::from(made)
    );
    Stop { next: Some(next), ..stop }
}

/// Reads a report for a flag or command; for a bundle, runs check first.
pub(super) fn report(path: &Path, by: &str) -> anyhow::Result<Document> {
    let name = path.to_string_lossy();
    let archive = [".tar.gz", ".tgz", ".tar.zst", ".tar", ".zip"].iter().any(|ending| name.ends_with(ending));
    if !archive && !path.is_dir() {
        return Ok(verify::read(path, by).map_err(|stop| make_report(stop, path))?);
    }
    let folder = tempfile::tempdir().context("cannot create a temporary folder for the report")?;
    let made = folder.path().join("report.json");
    let output = format!("json={}", made.display());
    let words = ["meshdoctor", "check", "--quiet", "--output", &output, "--bundle", &name];
    let Command::Check(args) = Cli::try_parse_from(words)?.command else {
        anyhow::bail!("{name} could not be checked");
    };
    check::one(&args, None)?;
    Ok(verify::read(&made, by)?)
}
