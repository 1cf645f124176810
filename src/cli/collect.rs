//! `meshdoctor collect`: writes the redacted evidence for all checks into one bundle.

use std::collections::BTreeSet;

use super::args::Collect;
use super::evidence::{self, EvidenceSource, Save};
use super::stop::Stop;
use super::{files, live, output, request};
use crate::command::meshdoctor;
use crate::exit;
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::cluster::Cluster;
use crate::policy::{self, Policy};
use crate::render::coverage;
use crate::request::Request;

pub(super) fn run(args: &Collect) -> anyhow::Result<u8> {
    if args.output.is_none() && !args.node_pods.dry_run {
        return Err(no_output("collect", "bundle.tar.gz").into());
    }
    let policy = Policy {
        only: args.selection.only.clone(),
        skip: args.selection.skip.clone(),
        mode: request::mode(args.pre, args.crds),
        ..Policy::default()
    };
    let checks = request::select(&policy, Knowledge::embedded())?;
    let mut items = policy::run_items(&checks);
    // The bundle can rehearse an upgrade, too.
    let of_upgrades = policy.of_all_modes().unwrap_or_default();
    let of_upgrades = of_upgrades.into_iter().filter(|check| check.card().front.with_an_upgrade().is_some());
    let of_upgrades = policy::items(&of_upgrades.collect::<Vec<_>>());
    let only_of_upgrades: BTreeSet<Item> = of_upgrades.difference(&items).cloned().collect();
    items.extend(of_upgrades);
    let node_pods = Some(&args.node_pods).filter(|flags| flags.node_pods);
    if node_pods.is_some() {
        items.insert(Item::NodeFiles);
    }
    let way = EvidenceSource { node_pods, ..EvidenceSource::new(&args.evidence, &args.connection) };
    let Some(path) = args.output.as_deref().filter(|_| !args.node_pods.dry_run) else {
        return live::dry_run(&way).map(|()| exit::FINE);
    };
    files::reject_overwriting(&[], Some(("-o", path)), Some(&args.evidence))?;
    files::not_there("-o", path, args.force)?;
    let read = evidence::read(&way, &args.verbosity, &items, Save::To(path))?;
    if let Some(trouble) = read.save_trouble {
        return Err(trouble.context("the bundle was not saved"));
    }
    let cluster = &read.collected.cluster;
    let mut missing = missing(cluster);
    // The role for checks does not include them.
    missing.retain(|gap| !only_of_upgrades.contains(&gap.request.item));
    if !args.verbosity.quiet {
        let nodes = cluster.nodes.as_ref().map_or(0, Vec::len);
        output::print_line(&format!(
            "kept {} objects and {nodes} node snapshots; redacted or shortened {} of them",
            cluster.object_count(),
            read.collected.redaction.touched
        ));
        output::print_line(
            "dropped: private keys, tokens, environment values, arguments, and ConfigMaps of other software",
        );
        if let Some(kinds) = not_served(cluster) {
            output::print_line(&kinds);
        }
        let connection = super::rerun::connection(&args.connection);
        for (missing, ways) in coverage::of_command(&missing, &connection) {
            output::print_line(&format!("not collected: {missing}"));
            let ways = ways.iter().map(ToString::to_string);
            ways.for_each(|way| way.lines().for_each(|line| output::print_line(&format!("  {line}"))));
        }
    }
    output::print(&format!("{}\n", output::one_line(&path.display().to_string())))?;
    if read.pods_left {
        // The leftover pods and the command that deletes them were already printed.
        return Err(Stop::could_not_run(
            "the bundle is complete, but pods are left in the cluster",
            "delete them with the command above",
        )
        .into());
    }
    let asked_for = missing.iter().any(Missing::was_asked_for);
    Ok(if asked_for { exit::NOT_CHECKED } else { exit::FINE })
}

/// A command that writes an archive without `-o`.
pub(super) fn no_output(command: &'static str, file: &'static str) -> Stop {
    let example = meshdoctor().words(command).words("-o").arg(file);
    Stop::usage("-o must name the archive to write", format!("name it: {example}"))
}

/// Kinds that the API server does not serve, in one line. Nothing is missing from the bundle; the checks decide whether
/// a kind should exist.
fn not_served(cluster: &Cluster) -> Option<String> {
    let kinds: Vec<String> = cluster
        .answers()
        .filter(|(_, answer)| answer.fetched == Fetched::Missing { reason: Why::NotServed })
        .map(|(item, _)| item.to_string())
        .collect();
    (!kinds.is_empty()).then(|| format!("not served by the API server: {}", kinds.join(", ")))
}

/// Requested evidence that is missing. A kind that is not served is not missing evidence.
pub(super) fn missing(cluster: &Cluster) -> Vec<Missing> {
    let mut missing = Vec::new();
    for (_, answer) in cluster.answers() {
        let reasons = match &answer.fetched {
            Fetched::Complete => continue,
            Fetched::Partial { reasons } => reasons.clone(),
            // Evidence that was not provided is optional.
            Fetched::Missing { reason: Why::NotOffered | Why::NotServed } => continue,
            Fetched::Missing { reason } => vec![reason.clone()],
        };
        missing.extend(reasons.into_iter().map(|why| Missing::whole(answer.request.clone(), why)));
    }
    let nodes = cluster.nodes.as_ref().err().filter(|why| why.was_asked_for());
    let nodes = nodes.into_iter().chain(&cluster.node_trouble);
    missing.extend(nodes.map(|why| Missing::whole(Request::new(Item::NodeFiles), why.clone())));
    missing
}
