//! `meshdoctor fix`: the repair plan of a cluster or of a saved report, as a script or as patches. Each step
//! is judged on top of the evidence first. [`apply`] runs the steps, [`manifests`] edits files instead.

mod apply;
mod cluster;
mod manifests;
mod overlay;

use std::path::Path;

use super::args::{Fix, FixFormat};
use super::stop::Stop;
use super::{evidence, output, verify};
use crate::command::{Arg, meshdoctor, own};
use crate::exit;
use crate::render::document::restore;
use crate::render::fix as render;
use crate::repair::JudgedPlan;
use crate::report::Report;
use cluster::FixCluster;

pub(super) fn run(args: &Fix) -> anyhow::Result<u8> {
    let is_of_files = !args.manifests.is_empty() || !args.values.is_empty();
    match (args.output, is_of_files) {
        (Some(FixFormat::Diff | FixFormat::Sarif), false) => {
            let cause = "-o diff and sarif show edits of files, but no --manifests or --values are given";
            return Err(Stop::usage(cause, "use script, patch, values or json").into());
        }
        (Some(FixFormat::Script | FixFormat::Patch | FixFormat::Values), true) => {
            let cause = "--manifests and --values are repaired in their files, not in a cluster";
            return Err(Stop::usage(cause, "use diff, sarif or json").into());
        }
        _ => {}
    }
    if args.apply
        && let Some(file) = args.report.as_ref().or(args.evidence.bundle.first())
    {
        let fix = meshdoctor().words("fix").arg(Arg::path(file.display().to_string())).to_file("fix.sh");
        let cause = "--apply changes a live cluster, and reads no file";
        return Err(Stop::usage(cause, format!("write the script: {fix}")).into());
    }
    match &args.report {
        Some(path) if !verify::is_report(path) => {
            let evidence = evidence::with_files(&args.evidence, std::slice::from_ref(path), |_| None)?;
            of_cluster(&Fix { evidence, ..args.clone() })
        }
        Some(path) => of_report(args, path),
        None if is_of_files => manifests::run(args),
        None => of_cluster(args),
    }
}

/// Prints the plan of a saved report.
fn of_report(args: &Fix, path: &Path) -> anyhow::Result<u8> {
    let evidence = &args.evidence;
    let selects = !args.selection.only.is_empty() || !args.selection.skip.is_empty() || !args.namespace.is_empty();
    if selects || !evidence.bundle.is_empty() || !evidence.nodes.is_empty() || !evidence.logs.is_empty() {
        let cause = format!("{} is a saved report, whose checks have run", path.display());
        let next = "leave out --only, --skip, -n, --bundle, --nodes and --logs, or give the bundle";
        return Err(Stop::usage(cause, next).into());
    }
    let document = verify::read(path, &own("fix"))?;
    let Some(report) = restore(&document) else { return Err(verify::no_result(&document, path).into()) };
    print(args, &report, &JudgedPlan::without_evidence(&report.repair))
}

/// Checks a cluster, judges each step of its plan, and prints or applies the plan.
fn of_cluster(args: &Fix) -> anyhow::Result<u8> {
    let cluster = FixCluster::new(args)?;
    let reading = cluster.read()?;
    let plan = cluster.plan(&reading);
    if !args.apply {
        return print(args, &reading.report, &plan);
    }
    let after = apply::run(&cluster, &reading, &plan)?;
    let latest = after.as_ref().unwrap_or(&reading.report);
    if !args.verbosity.quiet {
        output::print_line(&render::applied(latest));
    }
    Ok(status(latest))
}

fn print(args: &Fix, report: &Report, plan: &JudgedPlan) -> anyhow::Result<u8> {
    let text = match args.output.unwrap_or(FixFormat::Script) {
        FixFormat::Script | FixFormat::Diff | FixFormat::Sarif => render::script(report, plan),
        FixFormat::Patch => render::patches(report, plan),
        FixFormat::Values => render::values(report, plan),
        FixFormat::Json => render::json(report, plan),
    };
    output::print(&text)?;
    if !args.verbosity.quiet {
        for line in render::summary(report, plan) {
            output::print_line(&line);
        }
    }
    Ok(status(report))
}

/// The exit status of a plan.
fn status(report: &Report) -> u8 {
    match report.repair.findings.is_empty() {
        false => exit::FINDINGS,
        // Infos do not need a repair.
        true if report.verdict.status == exit::FINDINGS => exit::FINE,
        true => report.verdict.status,
    }
}
