//! `meshdoctor report`: a saved report in another form. Nothing is read from a cluster, and nothing is judged again.

use std::path::Path;

use super::args::{Reports, Saved, Verbosity};
use super::format::{Format, Output};
use super::stop::Stop;
use super::{files, output, verify};
use crate::command::own;
use crate::render::document::{Document, restore};
use crate::render::text::clean;

pub(super) fn run(args: &Saved) -> anyhow::Result<u8> {
    show(&args.file, &args.report, &args.verbosity)
}

/// Writes a saved report in every requested form, and returns the exit status that it was saved with.
///
/// # Errors
/// The file is not a report, its run came to no result, or the requested form cannot be made from it.
pub(super) fn show(path: &Path, reports: &Reports, verbosity: &Verbosity) -> anyhow::Result<u8> {
    files::one_standard_output(&reports.output)?;
    verify::reject_overwriting(&reports.output, None, path, "report")?;
    let document = verify::read(path, &own("report"))?;
    let Some(mut report) = restore(&document) else { return Err(verify::no_result(&document, path).into()) };
    has_form(&document, &reports.output)?;
    report.run.folders = files::working_directory();
    if !verbosity.quiet {
        let origin = &report.origin;
        output::print_line(&format!(
            "saved report of {} {}, judged at {}",
            clean(&origin.kind),
            clean(&origin.name),
            report.at.0
        ));
    }
    output::report(&report, reports, verbosity)?;
    Ok(report.verdict.status)
}

/// Refuses the forms that need more than the file holds.
fn has_form(document: &Document, outputs: &[Output]) -> Result<(), Stop> {
    let asks = |formats: &[Format]| outputs.iter().any(|output| formats.contains(&output.format));
    if asks(&[Format::Plan]) && document.rehearsal.is_none() {
        return Err(Stop::usage(
            "-o plan: the saved report rehearsed no upgrade",
            format!("save one with {}", own("check --to RELEASE -o json=FILE")),
        ));
    }
    let rows = [Format::Linkerd, Format::LinkerdTable, Format::Extension];
    let lacks_rows = document.run.linkerd_check_mode.is_none() || document.verdict.inferred > 0;
    if asks(&rows) && lacks_rows {
        return Err(Stop::usage(
            "the saved report does not hold all rows of linkerd check",
            format!("print them from the cluster or a bundle: {}", own("check -o linkerd-table")),
        ));
    }
    Ok(())
}
