//! Contents of a ticket: complete lists of the kinds that checks with findings read, and nothing else, so that a rerun
//! has the same findings. This is verified: the checks run again on the reduced evidence, until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::Outcome;
use crate::collect::Collected;
use crate::fetched::Why;
use crate::finding::Finding;
use crate::item::{Item, Kind, Probe, Scope, controller_config, link_credentials};
use crate::model::cluster::Answer;
use crate::report::{self, Question, Report};
use crate::request::Request;

/// A checked ticket.
pub struct Ticket {
    /// The report on all evidence.
    pub report: Report,
    /// Evidence that was read but is left out.
    pub left_out: BTreeSet<Request>,
}

/// Runs the checks, and selects the evidence that the findings need.
pub fn choose(question: &Question<'_>, collected: &mut Collected) -> Ticket {
    let report = report::judge(question, collected);
    let mut telling: BTreeSet<&str> = report.findings.iter().map(|finding| finding.check).collect();
    let crashed = report.checks.iter().filter(|check| matches!(check.outcome, Outcome::Crashed(_)));
    telling.extend(crashed.map(|check| check.id));
    loop {
        let needed = needed(question, &telling);
        let left_out = left_out(collected, &needed);
        let changed = changed(&report.findings, &judged_without(question, collected, &left_out));
        if changed.is_empty() {
            return Ticket { report, left_out };
        }
        let known = telling.len();
        telling.extend(changed);
        if telling.len() == known {
            // The findings depend on evidence that their checks do not declare: include everything.
            return Ticket { report, left_out: BTreeSet::new() };
        }
    }
}

/// Identity of the cluster, namespaces of control plane and extensions, and all versions in the mesh.
const ALWAYS: [Kind; 5] = [Kind::Namespace, Kind::Deployment, Kind::DaemonSet, Kind::Node, Kind::Pod];

/// Items that these checks can read.
fn needed(question: &Question<'_>, checks: &BTreeSet<&str>) -> BTreeSet<Item> {
    let fronts = question.checks.iter().filter(|check| checks.contains(check.id));
    let fronts = fronts.map(|check| &check.card().front);
    let items = fronts.flat_map(|front| front.needs.iter().chain(&front.uses)).cloned();
    items.chain(ALWAYS.map(Item::List)).chain(crate::model::skew::Skew::items()).collect()
}

/// Evidence that was read and is not needed. Missing evidence takes no space and stays listed.
fn left_out(collected: &Collected, needed: &BTreeSet<Item>) -> BTreeSet<Request> {
    let cluster = &collected.cluster;
    let held = cluster.answers().filter(|(_, answer)| answer.count() > 0);
    let answers = held.map(|(_, answer)| &answer.request).filter(|request| !is_needed(&request.item, needed));
    let mut left_out: BTreeSet<Request> = answers.cloned().collect();
    if cluster.nodes.is_ok() && !needed.contains(&Item::NodeFiles) {
        left_out.insert(Request::new(Item::NodeFiles));
    }
    left_out
}

/// Whether a check that declares one of these reads the result.
fn is_needed(item: &Item, needed: &BTreeSet<Item>) -> bool {
    let named = match item {
        Item::Probe(probe) => needed.contains(&Item::Probe(Probe::new(probe.program))),
        // A Secret of a Link.
        Item::Named { kind: Kind::Secret, scope: Scope::Fixed(_), .. } => needed.contains(&link_credentials()),
        // A ConfigMap of an ingress controller.
        Item::Named { kind: Kind::ConfigMap, scope: Scope::Fixed(_), .. } => needed.contains(&controller_config()),
        _ => false,
    };
    named || needed.contains(item)
}

fn judged_without(question: &Question<'_>, collected: &mut Collected, left_out: &BTreeSet<Request>) -> Vec<Finding> {
    let cluster = &mut collected.cluster;
    let taken: Vec<Answer> = left_out.iter().filter_map(|request| cluster.withhold(&request.item)).collect();
    let without_nodes = left_out.contains(&Request::new(Item::NodeFiles));
    let nodes = without_nodes.then(|| std::mem::replace(&mut cluster.nodes, Err(Why::NotOffered)));
    let trouble = if without_nodes { std::mem::take(&mut cluster.node_trouble) } else { Vec::new() };
    let findings = report::judge(question, collected).findings;
    let cluster = &mut collected.cluster;
    taken.into_iter().for_each(|answer| cluster.restore(answer));
    if let Some(nodes) = nodes {
        cluster.nodes = nodes;
        cluster.node_trouble = trouble;
    }
    findings
}

/// The checks with different findings.
fn changed(before: &[Finding], after: &[Finding]) -> BTreeSet<&'static str> {
    let by_check = |findings: &[Finding]| {
        let mut of: BTreeMap<&'static str, Vec<Finding>> = BTreeMap::new();
        for finding in findings {
            of.entry(finding.check).or_default().push(finding.clone());
        }
        of
    };
    let (before, after) = (by_check(before), by_check(after));
    let ids = before.keys().chain(after.keys());
    ids.filter(|id| before.get(*id) != after.get(*id)).copied().collect()
}
