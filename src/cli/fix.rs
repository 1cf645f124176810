//! `meshdoctor fix`: the repair plan of a cluster or of a saved report, as a script or as patches. Each step is judged on
//! top of the evidence first. [`manifests`] edits files instead.

mod manifests;
mod overlay;

use std::path::Path;
use std::time::Instant;

use super::args::{Fix, FixFormat, Reports};
use super::evidence::Way;
use super::examine::{self, Examination};
use super::stop::Stop;
use super::{asked, change, check, namespaces, output, verify};
use crate::command::{Arg, meshdoctor, own};
use crate::exit;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::policy;
use crate::render::document::restore;
use crate::render::fix as render;
use crate::repair::{JudgedPlan, Overlay as _};
use crate::report::Report;
use crate::source::change::Set;
use overlay::{Overlay, Questions};

pub(super) fn run(args: &Fix) -> anyhow::Result<u8> {
    let is_of_files = !args.manifests.is_empty();
    match (args.output, is_of_files) {
        (Some(FixFormat::Diff), false) => {
            let cause = "-o diff shows edits of files, but no --manifests are given";
            return Err(Stop::usage(cause, "use script, patch or json").into());
        }
        (Some(FixFormat::Script | FixFormat::Patch), true) => {
            let cause = "--manifests are repaired in their files, not in a cluster";
            return Err(Stop::usage(cause, "use diff or json").into());
        }
        _ => {}
    }
    match &args.report {
        Some(path) => of_report(args, path),
        None if is_of_files => manifests::run(args),
        None => of_cluster(args),
    }
}

/// Prints the plan of a saved report.
fn of_report(args: &Fix, path: &Path) -> anyhow::Result<u8> {
    if path.is_file() && !verify::is_report(path) || path.is_dir() {
        let bundle = meshdoctor().words("fix --bundle").arg(Arg::path(path.display().to_string()));
        let cause = format!("{} is not a saved report", path.display());
        return Err(Stop::usage(cause, format!("for a bundle or dump, use {bundle}")).into());
    }
    let document = verify::read(path, &own("fix"))?;
    let Some(report) = restore(&document) else { return Err(verify::no_result(&document, path).into()) };
    print(args, &report, &JudgedPlan::without_evidence(&report.repair))
}

/// Checks a cluster, judges each step of its plan, and prints the plan.
fn of_cluster(args: &Fix) -> anyhow::Result<u8> {
    let began = Instant::now();
    let check = args.as_check();
    let knowledge = Knowledge::embedded();
    let policy = asked::policy(&check)?;
    let checks = asked::select(&policy)?;
    let mut settings = check::settings(&check, &policy)?;
    let mut items = policy::run_items(&checks);
    items.insert(Item::List(Kind::Namespace));
    change::items(&mut items);
    let way = Way::new(&check.evidence, &check.connection);
    let kept = change::kept(&way, &check.verbosity, &items, None)?;
    settings.rerun = kept.read.rerun.clone();
    namespaces::of_check(&check, &kept.read.collected)?;
    let report = examine::judge(&Examination {
        checks: &checks,
        policy: &policy,
        settings: &settings,
        knowledge,
        origin: kept.read.origin.clone(),
        collected: &kept.read.collected,
        change: None,
        places: None,
        began,
        named: (check.evidence.linkerd_namespace.clone(), check.evidence.cni_namespace.clone()),
        reports: &Reports::default(),
        verbosity: &check.verbosity,
    });
    let plan = match report.repair.steps.is_empty() {
        true => JudgedPlan::default(),
        false => {
            let questions =
                Questions { checks: &checks, policy: &policy, settings: &settings, knowledge, items: &items };
            let today = Some(&kept.read.collected);
            let overlay = Overlay { base: &kept.again, release: None, today, args: &check, questions };
            let begin = Set::default();
            // The stored evidence is judged again, so that both states come from the same evidence.
            let today = overlay.judge(&begin);
            JudgedPlan::new(&report.repair, &begin, &today, &overlay)
        }
    };
    print(args, &report, &plan)
}

fn print(args: &Fix, report: &Report, plan: &JudgedPlan) -> anyhow::Result<u8> {
    let text = match args.output.unwrap_or(FixFormat::Script) {
        FixFormat::Script | FixFormat::Diff => render::script(report, plan),
        FixFormat::Patch => render::patches(report, plan),
        FixFormat::Json => render::json(report, plan),
    };
    output::print(&text)?;
    if !args.verbosity.quiet {
        for line in render::summary(report, plan) {
            output::say(&line);
        }
    }
    Ok(match report.repair.findings.is_empty() {
        false => exit::FINDINGS,
        // Infos do not need a repair.
        true if report.verdict.status == exit::FINDINGS => exit::FINE,
        true => report.verdict.status,
    })
}
