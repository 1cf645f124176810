//! Links symptoms to causes, merges equal findings, and sorts them in repair order. A card lists the checks whose
//! findings it explains (`explains`); a finding explains those that share one of its ties. A card also lists checks
//! whose findings are repaired later (`before`). Nothing is dropped: symptoms stay findings with `caused_by`.

mod links;
mod order;

pub use links::FindingLinks;

use std::collections::{BTreeMap, BTreeSet};

use crate::command::Command;
use crate::finding::{Confidence, Evidence, FailedRows, Finding, Remedy, Severity, Subject, Tie, When, timeline_of};
use crate::item::Namespaces;

/// Relations of a check on its card: ids of other checks.
pub type Related<'a> = dyn Fn(&str) -> &'a [String] + 'a;

/// Relations between checks.
pub struct Relations<'a> {
    /// The checks whose findings a check explains.
    pub explains: &'a Related<'a>,
    /// The checks whose findings are repaired after its own.
    pub before: &'a Related<'a>,
    /// Whether a finding explains all others that begin with the same upgrade, whatever their checks.
    pub is_of_change: &'a dyn Fn(&Finding) -> bool,
    /// Whether findings of a check do harm only under a further condition.
    pub is_conditional: &'a dyn Fn(&str) -> bool,
    /// Whether the whole mesh depends on a namespace.
    pub is_central: &'a dyn Fn(&str) -> bool,
}

/// [`link`], by the cards of the findings' checks.
pub fn link_by_cards(findings: Vec<Finding>, namespaces: &Namespaces) -> Vec<Finding> {
    let front = |id: &str| crate::checks::find(id).map(|check| &check.card().front);
    let relations = Relations {
        explains: &|id| front(id).map_or(&[][..], |front| front.explains.as_slice()),
        before: &|id| front(id).map_or(&[][..], |front| front.before.as_slice()),
        is_of_change: &crate::checks::is_downgrade,
        is_conditional: &|id| front(id).is_some_and(|front| front.conditional),
        is_central: &|namespace| namespace == namespaces.control_plane || namespace == namespaces.cni,
    };
    link(findings, &relations)
}

/// Links, merges and sorts: causes before their symptoms, and root causes in repair order.
pub fn link(findings: Vec<Finding>, relations: &Relations<'_>) -> Vec<Finding> {
    let mut findings = findings;
    let causes = causes_of(&findings, relations);
    let order = causes_first(&causes);
    // An inferred cause takes the severity of its symptoms, so symptoms are processed first.
    for &symptom in order.iter().rev() {
        for &cause in &causes[symptom] {
            if findings[symptom].severity > findings[cause].severity {
                findings[cause].severity = findings[symptom].severity;
                findings[cause].raised = true;
            }
        }
    }
    let mut merged: Vec<Finding> = Vec::new();
    let mut groups: BTreeMap<Group, usize> = BTreeMap::new();
    let mut place = vec![0; findings.len()];
    let mut merged_causes: Vec<BTreeSet<usize>> = Vec::new();
    let mut remedies: Vec<Vec<Remedy>> = Vec::new();
    for at in order {
        let causes: BTreeSet<usize> = causes[at].iter().map(|&cause| place[cause]).collect();
        let group = Group::from_finding(&findings[at], &causes);
        place[at] = *groups.entry(group).or_insert_with(|| {
            merged_causes.push(causes);
            remedies.push(Vec::new());
            merged.push(Finding {
                subjects: vec![],
                evidence: vec![],
                timeline: vec![],
                ties: vec![],
                ..findings[at].clone()
            });
            merged.len() - 1
        });
        let into = &mut merged[place[at]];
        remedies[place[at]].push(std::mem::take(&mut findings[at].remedy));
        into.subjects.append(&mut findings[at].subjects);
        into.evidence.append(&mut findings[at].evidence);
        into.timeline.append(&mut findings[at].timeline);
        into.ties.append(&mut findings[at].ties);
    }
    for (finding, others) in merged.iter_mut().zip(&remedies) {
        join_commands(&mut finding.remedy, others);
        finding.subjects = joined(std::mem::take(&mut finding.subjects));
        finding.evidence = distinct(std::mem::take(&mut finding.evidence));
        finding.timeline = timeline_of(std::mem::take(&mut finding.timeline));
        finding.ties.sort();
        finding.ties.dedup();
        if let Some(several) = finding.several.take().filter(|_| finding.extent() > 1) {
            finding.message = several;
        }
    }
    let prints: Vec<_> = merged.iter().map(Finding::fingerprint).collect();
    for (finding, causes) in merged.iter_mut().zip(&merged_causes) {
        finding.caused_by = causes.iter().map(|&cause| prints[cause].clone()).collect();
        finding.caused_by.sort();
        finding.caused_by.dedup();
    }
    order::sorted(merged, relations)
}

/// Fields that make findings equal, except for subjects.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    check: &'static str,
    severity: Severity,
    when: When,
    begins_with: Option<String>,
    confidence: Confidence,
    message: String,
    fact: Option<String>,
    parameters: Vec<String>,
    rows: FailedRows,
    verify: Option<Command>,
    steps: Vec<(String, bool)>,
    causes: BTreeSet<usize>,
}

impl Group {
    fn from_finding(finding: &Finding, causes: &BTreeSet<usize>) -> Group {
        Group {
            check: finding.check,
            severity: finding.severity,
            when: finding.when,
            begins_with: finding.begins_with.as_ref().map(ToString::to_string),
            confidence: finding.confidence,
            message: finding.message.clone(),
            fact: finding.fact.clone(),
            parameters: finding.parameters.clone(),
            rows: finding.rows.clone(),
            verify: finding.remedy.verify.clone(),
            // Commands may name the subject; steps are equal if their texts are.
            steps: finding.remedy.steps.iter().map(|step| (step.text.clone(), step.command.is_some())).collect(),
            causes: causes.clone(),
        }
    }
}

/// The causes of each finding.
fn causes_of(findings: &[Finding], relations: &Relations<'_>) -> Vec<BTreeSet<usize>> {
    let change = findings.iter().position(relations.is_of_change);
    let mut by_check_and_tie: BTreeMap<(&str, Tie), Vec<usize>> = BTreeMap::new();
    let in_effect = findings.iter().enumerate().filter(|(_, finding)| !finding.explains_nothing);
    for (at, finding) in in_effect {
        for symptom in (relations.explains)(finding.check) {
            let ties = match finding.symptoms.as_ref().map(|symptoms| symptoms.get(symptom)) {
                None => finding.all_ties(),
                Some(Some(further)) => finding.all_ties().into_iter().chain(further.iter().cloned()).collect(),
                Some(None) => continue,
            };
            for tie in ties {
                by_check_and_tie.entry((symptom.as_str(), tie)).or_default().push(at);
            }
        }
    }
    findings
        .iter()
        .enumerate()
        .map(|(at, finding)| {
            let ties = finding.all_ties().into_iter().chain([Tie::Cluster]);
            let of_change = change.filter(|&of| findings[of].check != finding.check);
            ties.filter_map(|tie| by_check_and_tie.get(&(finding.check, tie)))
                .flatten()
                .copied()
                .chain(of_change.filter(|_| finding.when == When::AfterUpgrade))
                .filter(|&cause| cause != at && of_one_world(&findings[cause], finding))
                .collect()
        })
        .collect()
}

/// Whether two findings can exist at the same time: findings after an upgrade or change explain nothing of today, and
/// vice versa.
fn of_one_world(one: &Finding, other: &Finding) -> bool {
    one.when.begins() == other.when.begins()
}

/// An order with causes before their symptoms. Cards cannot explain each other in a circle (ensured by a test), so
/// every finding is included.
fn causes_first(causes: &[BTreeSet<usize>]) -> Vec<usize> {
    fn visit(at: usize, causes: &[BTreeSet<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut seen[at], true) {
            return;
        }
        for &cause in &causes[at] {
            visit(cause, causes, seen, order);
        }
        order.push(at);
    }
    let mut order = Vec::with_capacity(causes.len());
    let mut seen = vec![false; causes.len()];
    for at in 0..causes.len() {
        visit(at, causes, &mut seen, &mut order);
    }
    order
}

/// The common remedy of equal findings: the lines for each subject once. A command for one node is kept, and lists the
/// other nodes to run it on.
fn join_commands(into: &mut Remedy, others: &[Remedy]) {
    for (at, step) in into.steps.iter_mut().enumerate() {
        if others.len() > 1
            && others.iter().any(|other| other.steps.get(at).is_some_and(|one| one.command != step.command))
        {
            step.text = step.of_several();
        }
        if let Some(command) = &mut step.command {
            command.join(others.iter().filter_map(|other| other.steps.get(at)?.command.as_ref()));
        }
        if let Some(value) = &mut step.value {
            let values = others.iter().filter_map(|other| other.steps.get(at)?.value.as_deref());
            values.for_each(|other| value.extend(other));
        }
    }
}

/// Subjects sorted, with pods of one owner together.
fn joined(subjects: Vec<Subject>) -> Vec<Subject> {
    let mut objects: BTreeMap<(String, String, String), BTreeSet<String>> = BTreeMap::new();
    let mut rest = BTreeSet::new();
    for subject in subjects {
        match subject {
            Subject::Object { kind, namespace, name, pods } => {
                objects.entry((kind, namespace, name)).or_default().extend(pods);
            }
            other @ (Subject::Node { .. } | Subject::Thing { .. }) => {
                rest.insert(other);
            }
        }
    }
    let objects = objects.into_iter().map(|((kind, namespace, name), pods)| Subject::Object {
        kind,
        namespace,
        name,
        pods: pods.into_iter().collect(),
    });
    objects.chain(rest).collect()
}

/// Evidence without duplicates, in order.
fn distinct(evidence: Vec<Evidence>) -> Vec<Evidence> {
    let mut seen = BTreeSet::new();
    evidence.into_iter().filter(|e| seen.insert(e.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Arg, kubectl};
    use crate::finding::Moment;

    pub(super) fn finding(check: &'static str, severity: Severity, node: &str) -> Finding {
        Finding::new(check, severity, Subject::node(node), format!("{check} happened"))
            .evidence(Evidence::other(node, "x"))
    }

    fn linked<'a>(findings: Vec<Finding>, explains: &'a Related<'a>) -> Vec<Finding> {
        link(
            findings,
            &Relations {
                explains,
                before: &|_| &[],
                is_of_change: &|finding| finding.parameters == ["change"],
                is_conditional: &|_| false,
                is_central: &|_| false,
            },
        )
    }

    #[test]
    fn cause_takes_severity_of_symptoms() {
        let symptoms = ["b".to_owned()];
        let explains = |id: &str| if id == "a" { &symptoms[..] } else { &[] };
        let found = vec![
            finding("b", Severity::Error, "n1"),
            finding("a", Severity::Info, "n1"),
            finding("a", Severity::Info, "n2"),
            finding("b", Severity::Error, "n3"),
            finding("a", Severity::Error, "n4"),
        ];
        let linked = linked(found, &explains);
        let said: Vec<_> = linked.iter().map(|f| (f.check, f.severity, f.subjects.len(), f.caused_by.len())).collect();
        // n1 and n4 are one error; n2 stays a separate info; n3 has no cause, so it is also a root.
        assert_eq!(
            said,
            [
                ("a", Severity::Error, 2, 0),
                ("b", Severity::Error, 1, 0),
                ("a", Severity::Info, 1, 0),
                ("b", Severity::Error, 1, 1),
            ]
        );
        assert_eq!(linked[3].caused_by, [linked[0].fingerprint()]);
    }

    #[test]
    fn equal_findings_merge_timelines_in_order() {
        let moment = |at: &str, object: &str| Moment {
            at: at.parse().expect("a time"),
            object: object.to_owned(),
            field: "x".to_owned(),
            what: "happened".to_owned(),
        };
        let (late, early) = (moment("2026-01-15T07:00:00Z", "a"), moment("2026-01-15T06:00:00Z", "b"));
        let found = vec![
            finding("a", Severity::Error, "n1").timeline([late.clone()]),
            finding("a", Severity::Error, "n2").timeline([late.clone(), early.clone()]),
        ];
        let linked = linked(found, &|_| &[]);
        assert_eq!(linked[0].timeline, [early, late]);
    }

    #[test]
    fn inactive_finding_explains_nothing() {
        let symptoms = ["b".to_owned()];
        let explains = |id: &str| if id == "a" { &symptoms[..] } else { &[] };
        let idle = finding("a", Severity::Warning, "n1").explains_nothing();
        let linked = linked(vec![idle, finding("b", Severity::Error, "n1")], &explains);
        let said: Vec<_> = linked.iter().map(|f| (f.check, f.severity, f.caused_by.len())).collect();
        assert_eq!(said, [("b", Severity::Error, 0), ("a", Severity::Warning, 0)]);
    }

    #[test]
    fn downgrade_explains_all_that_begins_with_it() {
        let begins = |check, severity| {
            let mut finding = finding(check, severity, check);
            finding.when = When::AfterUpgrade;
            finding
        };
        let mut change = begins("path", Severity::Warning);
        change.parameters = vec!["change".to_owned()];
        let mut other = begins("path", Severity::Warning);
        other.subjects = vec![Subject::node("n9")];
        let found = vec![begins("a", Severity::Error), finding("b", Severity::Error, "n1"), change, other];
        let linked = linked(found, &|_| &[]);
        let said: Vec<_> = linked.iter().map(|f| (f.check, f.severity, f.caused_by.len())).collect();
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert_eq!(said, [("path", error, 0), ("b", error, 0), ("path", warning, 0), ("a", error, 1)]);
    }

    #[test]
    fn biggest_cause_first_outside_cluster_last() {
        let symptoms = ["s".to_owned()];
        let explains = |id: &str| if id == "z" { &symptoms[..] } else { &[] };
        let beside = Finding { subjects: vec![Subject::thing("CLI")], ..finding("a", Severity::Error, "n1") };
        let found = vec![
            beside,
            finding("b", Severity::Error, "n2"),
            finding("s", Severity::Error, "n1"),
            finding("z", Severity::Error, "n1"),
        ];
        let order: Vec<_> = linked(found, &explains).iter().map(|f| f.check).collect();
        assert_eq!(order, ["z", "b", "a", "s"]);
    }

    #[test]
    fn equal_findings_keep_all_commands() {
        let restart = |name: &str| kubectl().words("rollout restart").operand(name);
        let with = |node: &str, command: Command| {
            let remedy = Remedy::new().command("Restart it", command);
            finding("a", Severity::Error, node).remedy(remedy)
        };
        let command = |found: Vec<Finding>| {
            let linked = linked(found, &|_| &[]);
            assert_eq!(linked.len(), 1);
            linked[0].remedy.steps[0].command.clone().expect("a command")
        };
        let restarts =
            vec![with("n1", restart("a").into()), with("n2", restart("b").into()), with("n3", restart("a").into())];
        assert_eq!(command(restarts).to_string(), "kubectl rollout restart a b");
        let cordon = |node| Command::about_node(node, [kubectl().words("cordon").arg(Arg::node())]);
        let nodes = command(vec![with("n1", cordon("n1")), with("n2", cordon("n2"))]);
        assert_eq!(nodes.to_string(), "NODE=n1\nkubectl cordon \"$NODE\"");
        assert_eq!(nodes.other_nodes(), ["n2"]);
    }
}
