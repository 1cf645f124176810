//! The links between findings, by their positions in a report.

use std::collections::BTreeMap;

use crate::finding::{Finding, Fingerprint};

/// For each finding, the findings that explain it and those to repair before it.
pub struct FindingLinks {
    /// The root causes; empty for roots.
    pub roots: Vec<Vec<usize>>,
    /// The findings to repair first.
    pub earlier: Vec<Vec<usize>>,
}

impl FindingLinks {
    pub fn from_findings(findings: &[Finding]) -> FindingLinks {
        let mut places: BTreeMap<Fingerprint, usize> = BTreeMap::new();
        for (at, finding) in findings.iter().enumerate() {
            places.entry(finding.fingerprint()).or_insert(at);
        }
        let all = |others: fn(&Finding) -> &[Fingerprint]| -> Vec<Vec<usize>> {
            let of_one = |(at, finding): (usize, &Finding)| {
                let known = others(finding).iter().filter_map(|other| places.get(other).copied());
                known.filter(|&other| other != at).collect()
            };
            findings.iter().enumerate().map(of_one).collect()
        };
        let direct = all(|finding| &finding.caused_by);
        let roots = (0..findings.len()).map(|at| roots_of(at, &direct)).collect();
        FindingLinks { roots, earlier: all(|finding| &finding.after) }
    }

    /// The root causes of a finding, or the finding if it is a root.
    pub fn roots_or_itself(&self, at: usize) -> Vec<usize> {
        if self.roots[at].is_empty() { vec![at] } else { self.roots[at].clone() }
    }
}

/// The roots of all causal chains above a finding, in order; empty for a root. A cycle, which should not
/// occur, has no root, so its findings are treated as roots instead of being lost.
fn roots_of(at: usize, direct: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![at];
    let mut open = direct[at].clone();
    let mut roots = Vec::new();
    while let Some(cause) = open.pop() {
        if seen.contains(&cause) {
            continue;
        }
        seen.push(cause);
        if direct[cause].is_empty() {
            roots.push(cause);
        }
        open.extend(&direct[cause]);
    }
    roots.sort_unstable();
    roots
}
