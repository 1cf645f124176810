//! `meshdoctor sync`: whether control-plane replicas and proxies are in sync with the mesh.

use std::time::Duration;

use super::args::{EvidenceArgs, Sync, SyncFormat};
use super::evidence::{self, EvidenceSource, Save};
use super::values::CompleteArg;
use super::{namespaces, output, policy};
use crate::command::{Arg, Call, Command, Repeated, Rerun, meshdoctor};
use crate::exit;
use crate::inspect::sync::{self, items};
use crate::knowledge::Knowledge;
use crate::render::{json, sync as render, yaml};

/// Time between two reads of metrics if `--proxies` does not set it.
const INTERVAL: Duration = Duration::from_secs(30);

pub(super) fn run(args: &Sync) -> anyhow::Result<u8> {
    let given = evidence::with_files(&args.evidence, &args.files, |_| None)?;
    let evidence = sampling(&given);
    let way = EvidenceSource { sampled: &args.namespace, ..EvidenceSource::new(&evidence, &args.connection) };
    let read = evidence::read(&way, &args.verbosity, &items(), Save::No)?;
    namespaces::known(&args.namespace, &evidence, false, &read.collected, &args.verbosity)?;
    let mesh = sync::Sync::read(&read.collected.cluster, Knowledge::embedded(), &args.namespace);
    let text = match args.output {
        SyncFormat::Table => {
            let repair = repair(&mesh, args, &given, &read.rerun);
            render::table(&mesh, repair.as_deref(), output::look())
        }
        SyncFormat::Json => json::document(&render::json(&mesh)),
        SyncFormat::Yaml => yaml::document(&render::json(&mesh)),
    };
    output::print(&text)?;
    let gaps = policy::gaps(&mesh.gaps, &super::rerun::connection(&args.connection));
    Ok(match () {
        () if mesh.is_out_of_sync() => exit::FINDINGS,
        () if mesh.is_incomplete() => exit::NOT_CHECKED,
        () => gaps,
    })
}

/// The evidence to read: a live cluster is sampled, unless metrics are given.
fn sampling(evidence: &EvidenceArgs) -> EvidenceArgs {
    let mut evidence = evidence.clone();
    let is_given =
        !evidence.bundle.is_empty() || !evidence.diagnostics.is_empty() || evidence.prometheus.prometheus.is_some();
    if !is_given && evidence.proxies.is_none() {
        evidence.proxies = Some(INTERVAL);
    }
    evidence
}

/// The command that prints evidence and repair of the problems, from the same evidence.
fn repair(mesh: &sync::Sync<'_>, args: &Sync, given: &EvidenceArgs, rerun: &Rerun) -> Option<String> {
    let mut ids: Vec<&str> = mesh.problems().map(|finding| finding.check).collect();
    ids.dedup();
    if ids.is_empty() {
        return None;
    }
    let check = meshdoctor().words("check");
    let call = if given.bundle.is_empty() {
        let required = rerun.provided.is_empty().then_some(Repeated::Proxies);
        rerun.with_scope_options(rerun.providing(check), required)
    } else {
        of_files(check, given)
    };
    let call = if args.namespace.is_empty() { call } else { call.option("-n", args.namespace.join(",")) };
    let command = Command::from(call.option("--only", ids.join(",")));
    let is_live = given.bundle.is_empty();
    Some(if is_live { command.aimed(&rerun.connection) } else { command }.to_string())
}

/// The options for evidence from files.
fn of_files(call: Call, evidence: &EvidenceArgs) -> Call {
    let call =
        evidence.bundle.iter().fold(call, |call, path| call.option("--bundle", Arg::path(path.display().to_string())));
    let call = evidence.complete.iter().fold(call, |call, kinds| match kinds {
        CompleteArg::All => call.words("--complete all"),
        CompleteArg::Kinds(kinds) => {
            let names: Vec<String> = kinds.iter().map(|kind| kind.resource()).collect();
            call.option("--complete", names.join(","))
        }
    });
    let given = evidence.diagnostics.iter();
    let call = given.fold(call, |call, given| call.option("--diagnostics", given.to_string()));
    let call = match &evidence.at {
        Some(at) => call.option("--at", at.to_string()),
        None => call,
    };
    call.offline()
}
