//! Waivers indexed by check and scope, so that a finding is compared only with candidates: a cluster's
//! objects can hold thousands of waivers.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::{Waiver, What, matches, object_texts, problem_of};
use crate::checks;
use crate::finding::{Evidence, Finding, Subject, WaivedBy};

/// Maximum number of problems with a suggestion.
const HINTED: usize = 100;

/// Maximum number of findings for one problem of the waivers in one annotation.
const ALIKE: usize = 3;

/// The waivers of a run.
pub struct Waivers<'a> {
    all: &'a [Waiver],
    /// The problem with each waiver on its own.
    problems: Vec<Option<&'static str>>,
    by_check: HashMap<&'static str, ByScope<'a>>,
    by_fingerprint: HashMap<&'a str, Vec<usize>>,
}

/// The waivers of one check, by the names without a wildcard in their scope.
#[derive(Default)]
struct ByScope<'a> {
    objects: HashMap<&'a str, Vec<usize>>,
    namespaces: HashMap<&'a str, Vec<usize>>,
    others: Vec<usize>,
}

impl<'a> Waivers<'a> {
    /// Indexes waivers at a moment.
    pub fn new(all: &'a [Waiver], at: Timestamp) -> Waivers<'a> {
        let mut ids: BTreeMap<&str, &'static str> = BTreeMap::new();
        if !all.is_empty() {
            for check in checks::all() {
                for alias in &check.card().front.aliases {
                    ids.entry(alias).or_insert(check.id);
                }
            }
            checks::all().for_each(|check| _ = ids.insert(check.id, check.id));
        }
        let mut waivers =
            Waivers { all, problems: Vec::new(), by_check: HashMap::new(), by_fingerprint: HashMap::new() };
        for (at_index, waiver) in all.iter().enumerate() {
            let check = match &waiver.what {
                What::Check(word) => ids.get(word.as_str()).copied(),
                What::Fingerprint(print) => {
                    waivers.by_fingerprint.entry(print).or_default().push(at_index);
                    None
                }
                What::Unreadable(_) | What::Misplaced(_) => None,
            };
            waivers.problems.push(waiver.problem(check.is_some(), at));
            let Some(check) = check else { continue };
            let of_check = waivers.by_check.entry(check).or_default();
            let is_exact = |pattern: &&'a String| !pattern.contains('*');
            let list = match (waiver.scope.object.as_ref(), waiver.scope.namespace.as_ref()) {
                (Some(object), _) if is_exact(&object) => of_check.objects.entry(object).or_default(),
                (None, Some(namespace)) if is_exact(&namespace) => of_check.namespaces.entry(namespace).or_default(),
                _ => &mut of_check.others,
            };
            list.push(at_index);
        }
        waivers
    }

    /// The waivers that match each subject of a finding, in order.
    fn about<'f>(&self, finding: &'f Finding) -> impl Iterator<Item = (&'f Subject, Vec<usize>)> {
        let print = (!self.by_fingerprint.is_empty()).then(|| finding.fingerprint().0);
        let whole = print.and_then(|print| self.by_fingerprint.get(print.as_str())).map_or(&[][..], Vec::as_slice);
        finding.subjects.iter().map(move |subject| (subject, self.about_subject(finding, subject, whole)))
    }

    /// The same for one subject; `whole` are candidates for all subjects.
    fn about_subject(&self, finding: &Finding, subject: &Subject, whole: &[usize]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        if let Some(of_check) = self.by_check.get(finding.check) {
            let texts = object_texts(subject);
            let exact = texts.iter().filter_map(|text| of_check.objects.get(text.as_str())).flatten();
            let namespace = subject.namespace().unwrap_or_default();
            let here = of_check.namespaces.get(namespace).into_iter().flatten();
            found.extend(exact.chain(here).chain(&of_check.others));
        }
        if !self.by_fingerprint.is_empty() {
            let print = finding.subject_fingerprint(subject);
            found.extend(whole);
            found.extend(self.by_fingerprint.get(print.0.as_str()).into_iter().flatten());
        }
        found.retain(|at| self.all[*at].scope.holds(subject));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The subjects of a finding that waivers accept, each with its waiver.
    pub fn accepted(&self, finding: &Finding) -> Vec<(Subject, WaivedBy)> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut accepted = Vec::new();
        for (subject, mut found) in self.about(finding) {
            found.retain(|at| self.problems[*at].is_none());
            accepted.extend(found.into_iter().map(|at| (subject.clone(), self.all[at].by().clone())));
        }
        accepted
    }

    /// The problems with waivers, after all findings are known.
    pub fn problems(&self, findings: &[Finding]) -> Vec<Finding> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut is_used = vec![false; self.all.len()];
        for finding in findings {
            self.about(finding).flat_map(|(_, found)| found).for_each(|at| is_used[at] = true);
        }
        let mut problems: Vec<Finding> = Vec::new();
        // For a problem of one annotation: the findings, and the last of them.
        let mut of_annotation: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
        for ((waiver, problem), used) in self.all.iter().zip(&self.problems).zip(is_used) {
            let Some(problem) = problem.or((!used).then_some("waiver-unused")) else { continue };
            let by = &waiver.by;
            if by.line == 0 {
                let (count, last) = of_annotation.entry((problem, &by.file)).or_default();
                *count += 1;
                if *count > ALIKE {
                    continue;
                }
                *last = problems.len();
            }
            let hint = if problems.len() < HINTED { hint(waiver, problem, findings) } else { String::new() };
            problems.push(problem_of(waiver, problem, &hint));
        }
        for ((_, place), (count, last)) in of_annotation.into_iter().filter(|(_, (count, _))| *count > ALIKE) {
            let more = format!("{} more waivers of this annotation have the same problem", count - ALIKE);
            problems[last].evidence.push(Evidence::other(place, more));
        }
        problems
    }
}

/// Suggests the name that a waiver may have meant.
fn hint(waiver: &Waiver, problem: &str, findings: &[Finding]) -> String {
    match (problem, &waiver.what) {
        ("waiver-unknown-check", What::Check(word)) => {
            let nearest = crate::nearest::closest(word, checks::all().map(|check| check.id));
            nearest.map(|id| format!("; did you mean {id}?")).unwrap_or_default()
        }
        // A waiver on an object applies there, whatever else is found.
        ("waiver-unused", _) if waiver.by.line > 0 => nearest(waiver, findings).unwrap_or_default(),
        _ => String::new(),
    }
}

/// The finding of a waiver's check nearest to its scope, if the scope matches none.
fn nearest(waiver: &Waiver, findings: &[Finding]) -> Option<String> {
    let everywhere = Waiver { scope: super::Scope::default(), ..waiver.clone() };
    let everywhere = [everywhere];
    let index = Waivers::new(&everywhere, Timestamp::UNIX_EPOCH);
    let found: Vec<&Subject> = findings
        .iter()
        .flat_map(|finding| index.about(finding).filter(|(_, found)| !found.is_empty()))
        .map(|(subject, _)| subject)
        .collect();
    let texts = |of: fn(&Subject) -> Vec<String>| found.iter().flat_map(|subject| of(subject)).collect::<Vec<_>>();
    let super::Scope { namespace, object, node } = &waiver.scope;
    let parts = [
        (object, texts(object_texts), "the object"),
        (namespace, texts(|subject| subject.namespace().map(str::to_owned).into_iter().collect()), "the namespace"),
        (node, texts(|subject| subject.node_name().map(str::to_owned).into_iter().collect()), "the node"),
    ];
    parts.into_iter().find_map(|(pattern, texts, what)| {
        let pattern = pattern.as_ref()?;
        if texts.iter().any(|text| matches(pattern, text)) {
            return None;
        }
        let near = crate::nearest::closest(&pattern.replace('*', ""), texts.iter().map(String::as_str))?;
        Some(format!("; did you mean {what} {near}, which has such a finding?"))
    })
}
