//! The root causes of each finding, so that readers need no recursion.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Root};

/// Fills `rootCauses`: the ends of `causedBy`. Cards have no causal cycles; the findings of a document with
/// one are roots of each other.
pub(super) fn fill(findings: &mut [Finding]) {
    let at: BTreeMap<&str, usize> =
        findings.iter().enumerate().map(|(at, finding)| (finding.fingerprint.as_str(), at)).collect();
    let causes: Vec<Vec<usize>> = findings
        .iter()
        .map(|finding| finding.caused_by.iter().filter_map(|cause| at.get(cause.as_str()).copied()).collect())
        .collect();
    let roots: Vec<Vec<Root>> = (0..findings.len())
        .map(|start| {
            let mut seen = BTreeSet::from([start]);
            let mut open = vec![start];
            let mut ends = BTreeSet::new();
            while let Some(at) = open.pop() {
                if causes[at].is_empty() {
                    ends.insert(at);
                }
                open.extend(causes[at].iter().copied().filter(|cause| seen.insert(*cause)));
            }
            if ends.is_empty() {
                ends = seen;
            }
            let root =
                |at: usize| Root { check: findings[at].check.clone(), fingerprint: findings[at].fingerprint.clone() };
            ends.into_iter().map(root).collect()
        })
        .collect();
    for (finding, roots) in findings.iter_mut().zip(roots) {
        finding.root_causes = roots;
    }
}
