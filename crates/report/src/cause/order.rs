//! The order of repair of findings, from the declarations of cards (`before`). A finding that must be
//! repaired first comes first, whatever it explains. Without a declared order the worst comes first, then
//! what does harm now, then what affects the whole mesh. Infos need no repair, so they neither wait nor block.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Relations;
use crate::finding::{Finding, Fingerprint, Restarts, Severity, Subject};

/// The findings, sorted: roots in the order of repair, then symptoms. Each root names the ones that it
/// comes after.
pub(super) fn sorted(mut findings: Vec<Finding>, relations: &Relations<'_>) -> Vec<Finding> {
    let prints: Vec<Fingerprint> = findings.iter().map(Finding::fingerprint).collect();
    let earlier = earlier(&findings, relations);
    let weights = weights(&findings, &prints, &earlier, relations);
    for (at, earlier_ones) in earlier.iter().enumerate() {
        // Findings that others in this list wait for are implied.
        let direct =
            earlier_ones.iter().filter(|&&one| !earlier_ones.iter().any(|&other| earlier[other].contains(&one)));
        let mut after: Vec<Fingerprint> = direct.map(|&one| prints[one].clone()).collect();
        after.sort();
        findings[at].after = after;
    }
    let order = in_turn(&weights, &earlier);
    let mut findings: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| findings[at].take()).collect()
}

/// For each finding, all findings to repair before it, transitively; none for symptoms and infos.
fn earlier(findings: &[Finding], relations: &Relations<'_>) -> Vec<BTreeSet<usize>> {
    let repairs: Vec<usize> = (0..findings.len())
        .filter(|&at| findings[at].caused_by.is_empty() && findings[at].severity > Severity::Info)
        .collect();
    let mut by_check: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &at in &repairs {
        by_check.entry(findings[at].check).or_default().push(at);
    }
    let later: Vec<(BTreeSet<String>, &Vec<usize>)> =
        by_check.iter().map(|(check, of)| (later_than(check, relations), of)).collect();
    let mut earlier = vec![BTreeSet::new(); findings.len()];
    for &at in &repairs {
        // A finding that is not in effect does not precede a worse one, except where one restart repairs both.
        let idle = |other: usize| {
            findings[other].explains_nothing
                && findings[other].severity < findings[at].severity
                && !(restarts_workloads(&findings[other]) && restarts_workloads(&findings[at]))
        };
        let first = later.iter().filter(|(later, _)| later.contains(findings[at].check));
        earlier[at] = first.flat_map(|(_, of)| of.iter().copied()).filter(|&other| !idle(other)).collect();
    }
    earlier
}

/// Whether the repair of a finding restarts workloads.
fn restarts_workloads(finding: &Finding) -> bool {
    finding.remedy.steps.iter().any(|step| step.restarts == Restarts::Workloads)
}

/// The checks whose findings are repaired after those of a check: those named by its card and by the cards
/// of its symptoms, transitively. The symptoms themselves are not among them.
fn later_than(check: &str, relations: &Relations<'_>) -> BTreeSet<String> {
    let mut open = vec![(check.to_owned(), false)];
    let mut seen: BTreeSet<(String, bool)> = BTreeSet::new();
    while let Some((id, declared)) = open.pop() {
        open.extend((relations.explains)(&id).iter().map(|symptom| (symptom.clone(), declared)));
        open.extend((relations.before)(&id).iter().map(|later| (later.clone(), true)));
        open.retain(|reached| !seen.contains(reached));
        seen.insert((id, declared));
    }
    seen.into_iter().filter(|(id, declared)| *declared && id != check).map(|(id, _)| id).collect()
}

/// The sort key without a declared order: roots first, then severity (or that of the worst finding it
/// blocks), harm without a further condition, the whole mesh, the number of explained findings, the extent,
/// and cluster objects before others.
type Weight =
    ((bool, Reverse<Severity>, bool, bool, Reverse<usize>, Reach), bool, &'static str, Vec<Subject>, Vec<String>);

/// The extent of a finding in the mesh. Ordered: the largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// The whole mesh: the control plane, or a cluster-scoped object.
    Mesh,
    /// Workloads, with the number of their namespaces and nodes.
    Places(Reverse<usize>),
}

impl Reach {
    fn from_finding(finding: &Finding, is_central: &dyn Fn(&str) -> bool) -> Reach {
        let mut places: BTreeSet<&str> = BTreeSet::new();
        for subject in &finding.subjects {
            let namespace = match subject {
                Subject::Object { kind, name, .. } if kind == "Namespace" => name.as_str(),
                Subject::Object { namespace, .. } => namespace.as_str(),
                Subject::Node { node, .. } => {
                    places.insert(node);
                    continue;
                }
                Subject::Thing { .. } => continue,
            };
            if namespace.is_empty() || is_central(namespace) {
                return Reach::Mesh;
            }
            places.insert(namespace);
        }
        Reach::Places(Reverse(places.len()))
    }
}

fn weights(
    findings: &[Finding],
    prints: &[Fingerprint],
    earlier: &[BTreeSet<usize>],
    relations: &Relations<'_>,
) -> Vec<Weight> {
    let mut explained: BTreeMap<&Fingerprint, usize> = BTreeMap::new();
    for cause in findings.iter().flat_map(|finding| &finding.caused_by) {
        *explained.entry(cause).or_default() += 1;
    }
    let mut severities: Vec<Severity> = findings.iter().map(|finding| finding.severity).collect();
    for (at, earlier) in earlier.iter().enumerate() {
        for &one in earlier {
            severities[one] = severities[one].max(findings[at].severity);
        }
    }
    let weight = |(at, finding): (usize, &Finding)| {
        let beside = finding.subjects.iter().all(|subject| matches!(subject, Subject::Thing { .. }));
        let explained = explained.get(&prints[at]).copied().unwrap_or_default();
        let reach = Reach::from_finding(finding, relations.is_central);
        let is_conditional = (relations.is_conditional)(finding.check);
        let is_local = reach != Reach::Mesh;
        (
            (
                !finding.caused_by.is_empty(),
                Reverse(severities[at]),
                is_conditional,
                is_local,
                Reverse(explained),
                reach,
            ),
            beside,
            finding.check,
            finding.subjects.clone(),
            finding.parameters.clone(),
        )
    };
    findings.iter().enumerate().map(weight).collect()
}

/// Orders findings one by one, the most important unblocked one first. A test ensures that cards have no
/// cycles; members of a cycle would come last.
fn in_turn(weights: &[Weight], earlier: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut waits: Vec<usize> = earlier.iter().map(BTreeSet::len).collect();
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); earlier.len()];
    for (at, earlier) in earlier.iter().enumerate() {
        for &one in earlier {
            later[one].push(at);
        }
    }
    let mut ready: BTreeSet<(&Weight, usize)> =
        (0..weights.len()).filter(|&at| waits[at] == 0).map(|at| (&weights[at], at)).collect();
    let mut order = Vec::with_capacity(weights.len());
    while let Some((_, at)) = ready.pop_first() {
        order.push(at);
        for &next in &later[at] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.insert((&weights[next], next));
            }
        }
    }
    let mut left: Vec<usize> = (0..weights.len()).filter(|&at| waits[at] > 0).collect();
    left.sort_by_key(|&at| &weights[at]);
    order.extend(left);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(check: &'static str, severity: Severity) -> Finding {
        crate::cause::tests::finding(check, severity, check)
    }

    /// Sorted, as `check <- the ones it comes after`; `of` reads `check: later, later`.
    fn sorted_checks(findings: Vec<Finding>, explains: &[&str], before: &[&str]) -> Vec<String> {
        let table = |rows: &[&str]| -> BTreeMap<String, Vec<String>> {
            let row = |row: &&str| {
                let (check, others) = row.split_once(": ").expect("a row");
                (check.to_owned(), others.split(", ").map(str::to_owned).collect())
            };
            rows.iter().map(row).collect()
        };
        let (explains, before) = (table(explains), table(before));
        let sorted = sorted(
            findings,
            &Relations {
                explains: &|id| explains.get(id).map_or(&[], Vec::as_slice),
                before: &|id| before.get(id).map_or(&[], Vec::as_slice),
                is_of_change: &|_| false,
                is_conditional: &|id| id == "conditional",
                is_central: &|namespace| namespace == "linkerd",
            },
        );
        let name = |print: &Fingerprint| sorted.iter().find(|f| f.fingerprint() == *print).map_or("?", |f| f.check);
        let line = |finding: &Finding| {
            let after: Vec<&str> = finding.after.iter().map(name).collect();
            match after.is_empty() {
                true => finding.check.to_owned(),
                false => format!("{} <- {}", finding.check, after.join(", ")),
            }
        };
        sorted.iter().map(line).collect()
    }

    #[test]
    fn harm_now_comes_before_harm_under_a_condition() {
        let of = |check: &'static str, severity, namespace: &str| Finding {
            subjects: vec![Subject::object("Deployment", namespace, "a")],
            ..finding(check, severity)
        };
        let found = vec![
            of("conditional", Severity::Error, "linkerd"),
            of("now", Severity::Error, "shop"),
            of("warning", Severity::Warning, "shop"),
        ];
        assert_eq!(sorted_checks(found.clone(), &[], &[]), ["now", "conditional", "warning"]);
        assert_eq!(sorted_checks(found, &[], &["conditional: now"]), ["conditional", "now <- conditional", "warning"]);
    }

    #[test]
    fn the_whole_mesh_comes_before_one_namespace() {
        let of = |check: &'static str, kind: &str, namespace: &str, name: &str| Finding {
            subjects: vec![Subject::object(kind, namespace, name)],
            ..finding(check, Severity::Error)
        };
        let found = vec![
            of("a", "AuthorizationPolicy", "shop", "a"),
            of("b", "Namespace", "", "shop"),
            of("y", "Deployment", "linkerd", "linkerd-destination"),
            of("z", "MutatingWebhookConfiguration", "", "injector"),
        ];
        assert_eq!(sorted_checks(found, &[], &[]), ["y", "z", "a", "b"]);
        let wide = Finding {
            subjects: ["a", "b"].map(|namespace| Subject::object("Pod", namespace, "p")).into(),
            ..finding("wide", Severity::Error)
        };
        assert_eq!(sorted_checks(vec![of("a", "Pod", "shop", "p"), wide], &[], &[]), ["wide", "a"]);
    }

    #[test]
    fn what_is_repaired_first_comes_first_whatever_its_name_and_weight() {
        use Severity::{Error, Info, Warning};
        let found = || vec![finding("a", Error), finding("b", Error), finding("w", Warning), finding("z", Error)];
        assert_eq!(sorted_checks(found(), &[], &[]), ["a", "b", "z", "w"]);
        assert_eq!(sorted_checks(found(), &[], &["z: a"]), ["b", "z", "a <- z", "w"]);
        // Passes over checks without findings, and over explained ones.
        assert_eq!(sorted_checks(found(), &[], &["z: x", "x: a"]), ["b", "z", "a <- z", "w"]);
        assert_eq!(sorted_checks(found(), &["z: x"], &["x: a"]), ["b", "z", "a <- z", "w"]);
        assert_eq!(sorted_checks(found(), &["z: a"], &[]), ["a", "b", "z", "w"], "to explain is not to come before");
        // A finding that an error waits for comes among the errors, and only the last of several is named.
        assert_eq!(sorted_checks(found(), &[], &["w: z", "z: a"]), ["b", "w", "z <- w", "a <- z"]);
        let infos = vec![finding("a", Info), finding("z", Error), finding("i", Info)];
        assert_eq!(sorted_checks(infos, &[], &["i: z", "z: a"]), ["z", "a", "i"]);
        // A cycle, which a test of the cards excludes, loses no finding.
        assert_eq!(sorted_checks(found(), &[], &["a: z", "z: a"]).len(), 4);
    }
}
