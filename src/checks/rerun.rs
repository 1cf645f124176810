//! The command that judges a finding again: the same selection, asked the same way, of fresh evidence. It fails as long as
//! the finding is there, and where nothing can be judged.

use super::Settings;
use crate::card::{Card, Mode};
use crate::command::{Call, Command, Connection, Line, meshdoctor};
use crate::finding::{Finding, Place, Severity, Subject};
use crate::item::Item;

/// What it takes to ask the same question again, as the command line had it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rerun {
    /// How the cluster is reached.
    pub connection: Connection,
    /// Options of `check` that say what is looked at: `-L mesh`, `--probe`; the value stands behind its option.
    pub options: Vec<(&'static str, Option<String>)>,
    /// The options that gave evidence of nodes and logs: `--nodes`, `--logs`.
    pub offered: Vec<(&'static str, String)>,
}

/// The file that fresh evidence is collected into.
const FRESH: &str = "after.tar.gz";

/// The command for one finding of a check.
pub(super) fn command(card: &Card, finding: &Finding, settings: &Settings) -> Command {
    let rerun = &settings.rerun;
    let rests_on_nodes = card.front.needs.contains(&Item::NodeFiles)
        || finding.subjects.iter().any(|subject| matches!(subject, Subject::Node { file: Some(_), .. }))
        || finding.evidence.iter().any(|evidence| matches!(evidence.place, Place::File { .. }));
    if rests_on_nodes && rerun.offered.is_empty() {
        let collect = meshdoctor().words("collect --node-pods --force --output").arg(FRESH);
        let collect = in_mode(asked(collect, rerun, false), settings.mode).option("--only", finding.check);
        let check = meshdoctor().words("check --bundle").arg(FRESH).offline();
        return Line::from(collect).and(judged(check, finding, settings)).into();
    }
    let mut check = meshdoctor().words("check");
    if !rerun.offered.is_empty() {
        check = check.words("--live");
        for (option, value) in &rerun.offered {
            check = check.option(option, value);
        }
    }
    let asks_programs = card.front.needs.iter().any(|item| matches!(item, Item::Probe(_) | Item::Served(_)));
    let check = judged(asked(check, rerun, asks_programs), finding, settings);
    match rerun.offered.is_empty() {
        true => check.into(),
        false => Command::lines([
            Line::comment("# first gather these files of nodes and logs again, as before"),
            check.into(),
        ])
        .whole(),
    }
}

/// What is looked at.
fn asked(mut call: Call, rerun: &Rerun, probe: bool) -> Call {
    for (option, value) in &rerun.options {
        call = call.words(option);
        if let Some(value) = value {
            call = call.arg(value);
        }
    }
    let is_said = rerun.options.iter().any(|(option, _)| *option == "--probe");
    if probe && !is_said { call.words("--probe") } else { call }
}

/// The moment in the life of the mesh.
fn in_mode(call: Call, mode: Mode) -> Call {
    match mode {
        Mode::Installed => call,
        Mode::Pre => call.words("--pre"),
        Mode::Crds => call.words("--crds"),
    }
}

/// What is judged of it.
fn judged(mut call: Call, finding: &Finding, settings: &Settings) -> Call {
    call = in_mode(call, settings.mode);
    if settings.cni_expected {
        call = call.words("--linkerd-cni-enabled");
    }
    if !settings.namespaces.is_empty() {
        call = call.option("-n", settings.namespaces.join(","));
    }
    if let Some(version) = &settings.to_cni {
        call = call.option("--to-cni", version.to_string());
    }
    if let Some(version) = &settings.expected_version {
        call = call.option("--expected-version", version.to_string());
    }
    call = call.option("--only", finding.check);
    match finding.severity {
        // What a run fails on by itself.
        Severity::Error => call,
        lesser => call.option("--fail-on", lesser.word()),
    }
}
