//! Selects the evidence for a ticket: every kind that a finding's check read, in full, and nothing else, so
//! that a second evaluation gives the same findings. This is verified: the evidence is evaluated without
//! the excluded parts until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::Outcome;
use crate::collect::Collected;
use crate::fetched::Why;
use crate::finding::Finding;
use crate::item::{Item, Kind, Probe, Scope, link_credentials};
use crate::model::cluster::Answer;
use crate::report::{self, Question, Report};
use crate::request::Request;

/// An evaluated ticket.
pub struct Ticket {
    /// The report on the complete evidence.
    pub report: Report,
    /// Evidence that was read and is excluded.
    pub left_out: BTreeSet<Request>,
}

/// Evaluates the evidence, and selects the parts that the findings need.
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
            // The findings use evidence that their checks do not declare: include everything.
            return Ticket { report, left_out: BTreeSet::new() };
        }
    }
}

/// Evidence that identifies the cluster, the control plane, its extensions, and every version in the mesh.
const ALWAYS: [Kind; 5] = [Kind::Namespace, Kind::Deployment, Kind::DaemonSet, Kind::Node, Kind::Pod];

/// Evidence that these checks can read.
fn needed(question: &Question<'_>, checks: &BTreeSet<&str>) -> BTreeSet<Item> {
    let fronts = question.checks.iter().filter(|check| checks.contains(check.id));
    let fronts = fronts.map(|check| &check.card().front);
    let items = fronts.flat_map(|front| front.needs.iter().chain(&front.uses)).cloned();
    items.chain(ALWAYS.map(Item::List)).chain(crate::model::skew::Skew::items()).collect()
}

/// Evidence that was read and is not needed. Missing evidence is kept: it costs nothing, and records the
/// gap.
fn left_out(collected: &Collected, needed: &BTreeSet<Item>) -> BTreeSet<Request> {
    let cluster = &collected.cluster;
    let held = cluster.answers().filter(|(_, answer)| answer.count() > 0);
    let answers = held.map(|(_, answer)| &answer.request).filter(|request| !is_needed(&request.item, needed));
    let mut left_out: BTreeSet<Request> = answers.cloned().collect();
    if cluster.nodes.is_ok() && !needed.contains(&Item::NodeFiles) {
        left_out.insert(Request::of(Item::NodeFiles));
    }
    left_out
}

/// Whether a check that declares one of these reads the answer to this query.
fn is_needed(item: &Item, needed: &BTreeSet<Item>) -> bool {
    let named = match item {
        Item::Probe(probe) => needed.contains(&Item::Probe(Probe::of(probe.program))),
        // A Secret that a Link names.
        Item::Named { kind: Kind::Secret, scope: Scope::Fixed(_), .. } => {
            needed.contains(&link_credentials())
        }
        _ => false,
    };
    named || needed.contains(item)
}

fn judged_without(
    question: &Question<'_>,
    collected: &mut Collected,
    left_out: &BTreeSet<Request>,
) -> Vec<Finding> {
    let cluster = &mut collected.cluster;
    let taken: Vec<Answer> = left_out.iter().filter_map(|request| cluster.withhold(&request.item)).collect();
    let without_nodes = left_out.contains(&Request::of(Item::NodeFiles));
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

/// The checks whose findings changed.
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
