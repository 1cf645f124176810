//! The verdict on a rehearsed upgrade, and what it brings, as the heading of its findings.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::coverage;
use super::look::Look;
use super::plan::{by_then, is_of_an_upgrade};
use super::text::{count, wrap};
use crate::card::Part;
use crate::checks::{Phase, Plan};
use crate::finding::{Severity, Standing, When};
use crate::report::{Rehearsal, Report};
use crate::version::LinkerdVersion;

/// Whether a cluster can be upgraded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Readiness {
    /// No error or warning, today or after the upgrade.
    Ready,
    /// Only warnings, or changes that need a decision.
    ReadyWithWarnings,
    /// An error exists today that the upgrade does not resolve, or begins with the upgrade.
    NotReady,
    /// No error was found, but evidence is missing.
    Undetermined,
}

impl Readiness {
    /// The verdict on the rehearsal of a report.
    pub(super) fn from_report(report: &Report) -> Readiness {
        let counts = report.findings.iter().filter(|finding| {
            finding.when != When::UntilUpgrade
                && finding.caused_by.is_empty()
                && matches!(finding.standing, Standing::Passes | Standing::Fails)
        });
        match counts.map(|finding| finding.severity).max() {
            Some(Severity::Error) => Readiness::NotReady,
            _ if !is_complete(report) => Readiness::Undetermined,
            Some(Severity::Warning) => Readiness::ReadyWithWarnings,
            Some(Severity::Info) | None => Readiness::Ready,
        }
    }

    /// `NOT READY`.
    pub(super) fn label(self) -> &'static str {
        match self {
            Readiness::Ready => "READY",
            Readiness::ReadyWithWarnings => "READY WITH WARNINGS",
            Readiness::NotReady => "NOT READY",
            Readiness::Undetermined => "UNDETERMINED",
        }
    }

    fn painted(self, look: Look) -> String {
        match self {
            Readiness::Ready => look.good(self.label()),
            Readiness::ReadyWithWarnings | Readiness::Undetermined => look.doubtful(self.label()),
            Readiness::NotReady => look.bad(self.label()),
        }
    }
}

/// Whether no requested evidence about the upgrade is missing.
fn is_complete(report: &Report) -> bool {
    !coverage::deciding(report).iter().any(|gap| is_of_an_upgrade(&gap.checks))
}

/// The phase until which the control plane can be rolled back, from 1: the first that restarts workloads.
pub(super) fn rollback_until(plan: &Plan) -> Option<usize> {
    let replaces_proxies = |phase: &Phase| matches!(phase.part, Part::DataPlane | Part::Extensions);
    (1..).zip(&plan.phases).find(|(_, phase)| replaces_proxies(phase)).map(|(number, _)| number)
}

/// `UPGRADE to 2.20 (edge-26.6.3): NOT READY`, the findings of today and those of the upgrade as counts, the plan and
/// the rollback.
pub(super) fn lines(report: &Report, rehearsal: &Rehearsal, look: Look) -> Vec<String> {
    let by_then = by_then(report).map(|version| format!(", on Kubernetes {version} by then")).unwrap_or_default();
    let verdict = match is_downgrade(report, rehearsal) {
        true => look.bad(verdict(report, rehearsal)),
        false => Readiness::from_report(report).painted(look),
    };
    let change = change(report, rehearsal).to_uppercase();
    let first = format!("{change} to {}{by_then}: {verdict}", rehearsal.target);
    let room = look.prose() - 2;
    let rest = rows(report, rehearsal, false).into_iter().flat_map(|words| wrap(&words, room));
    std::iter::once(first).chain(rest.map(|line| format!("  {line}"))).collect()
}

/// The verdict in words: Linkerd supports no downgrade.
pub(super) fn verdict(report: &Report, rehearsal: &Rehearsal) -> &'static str {
    match is_downgrade(report, rehearsal) {
        true => "NOT SUPPORTED",
        false => Readiness::from_report(report).label(),
    }
}

/// `upgrade`, or `downgrade` to an earlier release.
pub(super) fn change(report: &Report, rehearsal: &Rehearsal) -> &'static str {
    if is_downgrade(report, rehearsal) { "downgrade" } else { "upgrade" }
}

/// Why a downgrade is not supported. If the cluster runs the target's minor, its release suffices.
fn unsupported(report: &Report, rehearsal: &Rehearsal) -> String {
    let why = "Linkerd has no procedure for a downgrade, and no release supports proxies that are newer than its \
               control plane";
    let newest = report.subject.control_plane.values().next();
    match (&rehearsal.same_minor, newest) {
        (Some(minor), Some(installed)) => {
            let to = &rehearsal.to;
            format!("the cluster already runs {minor} ({installed}, which is newer than {to}). {why}")
        }
        _ => why.to_owned(),
    }
}

/// Whether every known component of the control plane is newer than the target.
fn is_downgrade(report: &Report, rehearsal: &Rehearsal) -> bool {
    let versions = || report.subject.control_plane.values();
    let is_newer = |version: &String| version.parse::<LinkerdVersion>().is_ok_and(|version| version > rehearsal.to);
    versions().next().is_some() && versions().all(is_newer)
}

/// The rows below the verdict. `is_plan`: the steps and the missing evidence follow.
pub(super) fn rows(report: &Report, rehearsal: &Rehearsal, is_plan: bool) -> Vec<String> {
    let change = change(report, rehearsal);
    let mut rows = Vec::new();
    if is_downgrade(report, rehearsal) {
        rows.push(unsupported(report, rehearsal));
    }
    rows.extend([today(report), change_summary(report, change)]);
    if Readiness::from_report(report) == Readiness::Undetermined {
        let place = if is_plan { "\"Could not be rehearsed\" below" } else { "not checked" };
        rows.push(format!("evidence about the {change} is missing, see {place}"));
    }
    if let Some(plan) = &rehearsal.plan {
        let phases = count(plan.phases.len(), "phase", "phases");
        let print = if is_plan { "" } else { "; -o plan prints the steps in order" };
        rows.push(format!("plan: {phases}{print}"));
        rows.extend(pulled(plan));
        rows.extend(rollback_until(plan).map(|phase| {
            format!(
                "rollback: to the previous release until phase {phase} begins, without the CRDs; settings that only \
                 the newer release knows lose their effect"
            )
        }));
    }
    rows
}

/// `images: 3 to pull from cr.l5d.io, not tested; phase 1 tests them`; `None` if the plan names no image.
fn pulled(plan: &Plan) -> Option<String> {
    let before = plan.phases.iter().position(|phase| phase.part == Part::Before)?;
    let commands = plan.phases[before].remedy.steps.iter().filter_map(|step| step.command.as_ref());
    let lines: Vec<String> = commands.flat_map(|command| command.rendered()).collect();
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let images: BTreeSet<&str> = words.filter_map(|word| word.strip_prefix("--image=")).collect();
    let registries: BTreeSet<&str> = images.iter().filter_map(|image| image.split('/').next()).collect();
    let from: Vec<&str> = registries.into_iter().collect();
    (!images.is_empty()).then(|| {
        let number = images.len();
        format!("images: {number} to pull from {}, not tested; phase {} tests them", from.join(", "), before + 1)
    })
}

/// `today: 1 error, 1 warning, to repair first`.
fn today(report: &Report) -> String {
    let planned = || report.repair.findings.keys().map(|&at| &report.findings[at]);
    let of = |severity| planned().filter(|finding| finding.severity == severity).count();
    match counted([of(Severity::Error), of(Severity::Warning), 0]) {
        words if words.is_empty() => "today: no error or warning found".to_owned(),
        words => format!("today: {words}, to repair first"),
    }
}

/// `with the upgrade: 1 error, 2 warnings, 1 info; resolves 2 current findings`. Symptoms are not counted.
fn change_summary(report: &Report, change: &str) -> String {
    let roots = || report.findings.iter().filter(|finding| finding.caused_by.is_empty());
    let begin = || roots().filter(|finding| finding.when == When::AfterUpgrade);
    let of = |severity| begin().filter(|finding| finding.severity == severity).count();
    let brought = match counted([of(Severity::Error), of(Severity::Warning), of(Severity::Info)]) {
        words if words.is_empty() => "no error and no change found".to_owned(),
        words => words,
    };
    let ended = report.findings.iter().filter(|finding| finding.when == When::UntilUpgrade);
    let ended: Vec<&str> = ended.map(|finding| finding.check).collect();
    let ended = match ended.as_slice() {
        [] => String::new(),
        [one] => format!("; resolves {one}"),
        several => format!("; resolves {} current findings", several.len()),
    };
    format!("with the {change}: {brought}{ended}")
}

/// `1 error, 2 warnings`, without zeros; empty if all are zero.
fn counted([errors, warnings, infos]: [usize; 3]) -> String {
    let all = [(errors, "error", "errors"), (warnings, "warning", "warnings"), (infos, "info", "infos")];
    let words = all.into_iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(n, one, many));
    words.collect::<Vec<_>>().join(", ")
}
