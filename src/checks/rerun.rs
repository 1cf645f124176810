//! The command that checks a finding again, with the same selection and options, on fresh evidence. It fails
//! while the finding exists, and if nothing can be checked.

use std::collections::BTreeSet;

use super::{KNOWN_DEFECT, Settings, TRAFFIC};
use crate::card::{Card, Mode};
use crate::checks::prelude::*;
use crate::command::{Call, Line, Repeated, Rerun, collect_from_nodes, meshdoctor};
use crate::finding::{Place, When};
use crate::item::Query;

/// The file for new evidence.
const FRESH: &str = "after.tar.gz";

/// The command for one finding of a check.
///
/// Symptoms in `beside` are checked too: if the finding only has their severity, it is fixed when they are
/// gone.
pub(super) fn command(card: &Card, finding: &Finding, beside: &[&str], settings: &Settings) -> Command {
    let rerun = &settings.rerun;
    let rests_on_nodes = card.front.needs.contains(&Item::NodeFiles)
        || finding.subjects.iter().any(|subject| matches!(subject, Subject::Node { file: Some(_), .. }))
        || finding.evidence.iter().any(|evidence| matches!(evidence.place, Place::File { .. }));
    if rests_on_nodes && rerun.provided.is_empty() {
        let collect = collect_from_nodes().words("--force --output").arg(FRESH);
        let collect =
            in_mode(rerun.with_scope_options(collect, None), settings.mode).option("--only", only(finding, beside));
        let check = meshdoctor().words("check --bundle").arg(FRESH).offline();
        return Line::from(collect).and(judged(check, finding, beside, settings)).into();
    }
    let check = rerun.providing(meshdoctor().words("check"));
    let check = judged(rerun.with_scope_options(check, required(finding, card, rerun)), finding, beside, settings);
    match rerun.provided.is_empty() {
        true => check.into(),
        false => Command::lines([Line::comment("# first collect these files again, as before"), check.into()]).whole(),
    }
}

/// Evidence from output that only the linkerd command prints.
const OF_LINKERD_COMMAND: [&str; 2] = ["linkerd diagnostics endpoints", "linkerd diagnostics policy"];

/// The option without which the evidence of a check is not read.
fn required(finding: &Finding, card: &Card, rerun: &Rerun) -> Option<Repeated> {
    let needs = &card.front.needs;
    let asks_programs = needs.iter().any(|item: &Item| item.query().is_some_and(Query::is_probed));
    let is_of_command = |evidence: &Evidence| match &evidence.place {
        Place::Other { name } => OF_LINKERD_COMMAND.iter().any(|command| name.starts_with(command)),
        _ => false,
    };
    let is_given = || rerun.provided.iter().any(|flag| flag.option == Repeated::Diagnostics);
    match asks_programs {
        true => Some(Repeated::Probe),
        false if finding.evidence.iter().any(is_of_command) => None,
        false if needs.contains(&Item::Diagnostics) && !is_given() => Some(Repeated::Proxies),
        false => None,
    }
}

/// The checks to run. Other known defects than the one that was found may need other evidence.
fn only(finding: &Finding, beside: &[&str]) -> String {
    let own = match finding.parameters.as_slice() {
        [row] if finding.check == KNOWN_DEFECT => format!("{KNOWN_DEFECT}/{row}"),
        _ => finding.check.to_owned(),
    };
    let mut all = vec![own];
    for &id in beside.iter().filter(|id| **id != finding.check) {
        if !all.iter().any(|known| known == id) {
            all.push(id.to_owned());
        }
    }
    all.join(",")
}

/// The mode of the run.
fn in_mode(call: Call, mode: Mode) -> Call {
    match mode {
        Mode::Installed | Mode::Upgrade => call,
        Mode::Pre => call.words("--pre"),
        Mode::Crds => call.words("--crds"),
    }
}

/// The evaluation options of the run.
fn judged(mut call: Call, finding: &Finding, beside: &[&str], settings: &Settings) -> Call {
    call = settings.rerun.judged(in_mode(call, settings.mode));
    if settings.cni_expected {
        call = call.words("--linkerd-cni-enabled");
    }
    if !settings.namespaces.is_empty() {
        call = call.option("-n", settings.namespaces.join(","));
    }
    let brought: BTreeSet<&str> = std::iter::once(finding.check)
        .chain(beside.iter().copied())
        .filter_map(|id| super::find(id)?.brought_from())
        .collect();
    for folder in brought {
        call = call.option("--checks", Arg::path(folder));
    }
    let judged: BTreeSet<&str> = std::iter::once(finding.check).chain(beside.iter().copied()).collect();
    for (check, params) in settings.params.iter().filter(|(check, _)| judged.contains(check.as_str())) {
        for (name, value) in params {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            call = call.option("--param", format!("{check}.{name}={value}"));
        }
    }
    let compares = judged.contains(TRAFFIC);
    if let Some(before) = settings.before.as_ref().filter(|_| compares) {
        call = call.option("--before", Arg::path(before.file.clone()));
    }
    for (flag, value) in &settings.manifests {
        call = if value.is_empty() { call.words(flag) } else { call.option(flag, value.clone()) };
    }
    // Findings of the current state are checked without the upgrade.
    if let Some(upgrade) = settings.upgrade.as_ref().filter(|_| finding.when == When::AfterUpgrade || settings.upgraded)
    {
        call = call.option("--to", upgrade.given.clone());
        if let Some(version) = &upgrade.from {
            call = call.option("--from", version.to_string());
        }
        if let Some(version) = &upgrade.kubernetes {
            call = call.option("--to-kubernetes", version.to_string());
        }
    }
    if let Some(version) = &settings.to_cni {
        call = call.option("--to-cni", version.to_string());
    }
    if let Some(version) = &settings.expected_version {
        call = call.option("--expected-version", version.to_string());
    }
    call = call.option("--only", only(finding, beside));
    match finding.severity {
        // Errors fail a run by default.
        Severity::Error => call,
        lesser => call.option("--fail-on", lesser.label()),
    }
}
