//! The request of a run, from its flags: selected checks, gate, upgrade and facts.

use std::collections::BTreeMap;
use std::path::Path;

use super::args::{Check, ConfidenceArg, FailOn, OnNotChecked, Rehearsal};
use super::stop::Stop;
use super::{chart, config, waivers};
use crate::card::Mode;
use crate::checks::{self, Upgrade};
use crate::command::own;
use crate::finding::{Confidence, Severity};
use crate::knowledge::{Knowledge, KnownDefect};
use crate::nearest::closest;
use crate::policy::{Gate, Policy, UnknownCheck};

/// The selection and the gate, without waivers and baseline.
pub(super) fn policy(args: &Check) -> anyhow::Result<Policy> {
    Ok(Policy {
        only: args.selection.only.clone(),
        skip: args.selection.skip.clone(),
        mode: match args.rehearsal.to {
            Some(_) => Mode::Upgrade,
            None => mode(args.stage.pre, args.stage.crds),
        },
        severities: severities(&args.severity)?,
        confidence: match args.confidence {
            ConfidenceArg::Likely => Confidence::Likely,
            ConfidenceArg::Observed => Confidence::Observed,
        },
        gate: args.fail_on.map_or(Gate::Error, gate),
        on_change: !args.manifests.with.is_empty() || values_over_a_cluster(args),
        not_checked_passes: args.on_not_checked == OnNotChecked::Pass,
        waivers: waivers::waivers(args)?,
        baseline: None,
    })
}

/// Whether values are applied on top of those in a cluster; before an upgrade they only replace settings.
fn values_over_a_cluster(args: &Check) -> bool {
    !args.manifests.values.is_empty() && !chart::is_alone(args) && args.rehearsal.to.is_none()
}

/// Severities by check id.
fn severities(asked: &[(String, Severity)]) -> Result<BTreeMap<String, Severity>, Stop> {
    let known = |(name, severity): &(String, Severity)| {
        let check = checks::find(name).ok_or_else(|| {
            let near = closest(name, checks::all().map(|check| check.id));
            let perhaps = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let place = config::place("severity", &format!("{name}={severity}"));
            let place = place.unwrap_or_else(|| "--severity".to_owned());
            Stop::usage(format!("{place}: unknown check {name}{perhaps}"), format!("{} lists all checks", own("list")))
        })?;
        Ok((check.id.to_owned(), *severity))
    };
    asked.iter().map(known).collect()
}

/// Parses `--fail-on`.
pub(super) fn gate(fail_on: FailOn) -> Gate {
    match fail_on {
        FailOn::Error => Gate::Error,
        FailOn::Warning => Gate::Warning,
        FailOn::Info => Gate::Info,
        FailOn::Never => Gate::Never,
        FailOn::ErrorObserved => Gate::ErrorObserved,
        FailOn::WarningObserved => Gate::WarningObserved,
    }
}

/// The stage that `--pre` and `--crds` select.
pub(super) fn mode(pre: bool, crds: bool) -> Mode {
    match (pre, crds) {
        (true, _) => Mode::Pre,
        (false, true) => Mode::Crds,
        (false, false) => Mode::Installed,
    }
}

/// The checks that are selected.
///
/// # Errors
/// An id, category or known defect is unknown, or no check is left.
pub(super) fn select(policy: &Policy, knowledge: &Knowledge) -> anyhow::Result<Vec<&'static checks::Check>> {
    let checks = policy.select().map_err(|error| {
        let flag = if policy.only.contains(&error.word) { "only" } else { "skip" };
        let said = config::flag(flag, &error.word);
        let error = match knowledge.known_defects().row(&error.word) {
            Some(row) => {
                let nearest = Some(format!("{}/{}", checks::KNOWN_DEFECT, row.id));
                UnknownCheck { nearest, ..error }
            }
            None => error,
        };
        Stop::usage(format!("{said}: {error}"), format!("{} lists all checks", own("list")))
    })?;
    for id in policy.known_defects() {
        defect(id, knowledge)?;
    }
    if checks.is_empty() {
        return Err(Stop::usage(
            "no check is selected",
            "--skip removes everything that --only selects; change one of them",
        )
        .into());
    }
    Ok(checks)
}

/// The row of a known defect.
///
/// # Errors
/// No row has the id.
pub(super) fn defect<'a>(id: &str, knowledge: &'a Knowledge) -> Result<&'a KnownDefect, Stop> {
    let defects = knowledge.known_defects();
    defects.row(id).ok_or_else(|| {
        let nearest = closest(id, defects.rows().iter().map(|row| row.id.as_str()));
        let hint = nearest.map(|id| format!("; did you mean {}/{id}?", checks::KNOWN_DEFECT)).unwrap_or_default();
        Stop::usage(
            format!("unknown defect {id:?}{hint}"),
            format!("{} lists all known defects", own("list --defects")),
        )
    })
}

/// Rejects flags of an upgrade without its target, which the parser accepts next to a flag that excludes the target.
pub(super) fn has_target(rehearsal: &Rehearsal) -> Result<(), Stop> {
    let Rehearsal { to, from, to_kubernetes } = rehearsal;
    let next = "name the release to upgrade to: --to 2.20. Before an installation, use --pre --linkerd-version 2.20";
    let needs = |flag: &str| Err(Stop::usage(format!("{flag} needs --to"), next));
    match (to, from, to_kubernetes) {
        (None, Some(_), _) => needs("--from"),
        (None, None, Some(_)) => needs("--to-kubernetes"),
        (Some(_), _, _) | (None, None, None) => Ok(()),
    }
}

/// The upgrade of `--to`.
pub(super) fn upgrade(rehearsal: &Rehearsal, knowledge: &Knowledge) -> Result<Option<Upgrade>, Stop> {
    has_target(rehearsal)?;
    let Rehearsal { to: Some(given), from, to_kubernetes } = rehearsal.clone() else { return Ok(None) };
    let upgrade = Upgrade::new(&given, from, to_kubernetes, knowledge.releases());
    upgrade.map(Some).map_err(|error| {
        Stop::usage(
            format!("--to: {error}"),
            "name a minor such as 2.20 or a release such as edge-26.8.3; for a newer release, give current \
             release data with --knowledge",
        )
    })
}

/// The facts of `--knowledge`, if given.
pub(super) fn knowledge(args: &Check) -> Result<Option<Knowledge>, Stop> {
    args.knowledge.as_ref().map(|folder| knowledge_of(folder)).transpose()
}

/// The facts of a folder.
pub(super) fn knowledge_of(folder: &Path) -> Result<Knowledge, Stop> {
    let unusable =
        |error: String| Stop::usage(error, format!("the format: {}", crate::page::document_url("knowledge.md")));
    let knowledge = Knowledge::load(folder).map_err(|error| unusable(error.to_string()))?;
    crate::checks::validate_defects(&knowledge).map_err(unusable)?;
    Ok(knowledge)
}
