//! Shared parts of the output formats for pipelines: the location of findings, missing evidence and whether
//! it fails the run, and runs without a report. Each format has a file here.

pub mod github;
pub mod gitlab;
pub mod junit;
mod limited;
pub mod markdown;
pub mod ndjson;
pub mod prometheus;
pub mod published;
pub mod sarif;
mod unchecked;

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::finding::explained_as;
use super::steps::in_remedy;
use super::table::Folding;
use super::text::clean;
use crate::exit;
use crate::finding::{Evidence, Finding, Fingerprint, ManifestLocation, Place, Standing, Subject, WaivedBy};
use crate::report::{Gap, Report};

/// The locations of a finding: one for the whole finding if it is in no file, else one per subject.
pub(super) struct Spot<'a> {
    pub fingerprint: Fingerprint,
    pub subjects: Vec<&'a Subject>,
    /// The location in the manifests.
    pub written: Vec<&'a ManifestLocation>,
}

/// The locations of a finding, each of which can be fixed separately.
pub(super) fn spots(finding: &Finding) -> Vec<Spot<'_>> {
    let of = |subject: &Subject| -> Vec<&ManifestLocation> {
        let object = match subject {
            Subject::Object { kind, namespace, name, .. } => Subject::object(kind, namespace, name).to_string(),
            Subject::Node { .. } | Subject::Thing { .. } => return Vec::new(),
        };
        finding.written.iter().filter(|written| written.object == object && is_file(written)).collect()
    };
    let (told, rest): (Vec<_>, Vec<_>) =
        finding.subjects.iter().map(|subject| (subject, of(subject))).partition(|(_, at)| !at.is_empty());
    let mut spots: Vec<Spot<'_>> = told
        .into_iter()
        .map(|(subject, written)| Spot {
            fingerprint: finding.subject_fingerprint(subject),
            subjects: vec![subject],
            written,
        })
        .collect();
    if !rest.is_empty() {
        spots.push(Spot {
            fingerprint: finding.fingerprint(),
            subjects: rest.into_iter().map(|(subject, _)| subject).collect(),
            written: Vec::new(),
        });
    }
    spots
}

/// The path of a file as a pipeline looks it up: relative to the working directory, which is the repository's
/// root, if the file is below it. Other paths stay unchanged, except for redundant `.` and `/`.
pub(super) fn path(report: &Report, file: &str) -> String {
    let plain = |path: &str| -> String {
        let parts: Vec<&str> = path.split('/').filter(|part| !["", "."].contains(part)).collect();
        format!("{}{}", if path.starts_with('/') { "/" } else { "" }, parts.join("/"))
    };
    let file = plain(file);
    let below = |folder: &String| Some(file.strip_prefix(&plain(folder))?.strip_prefix('/')?.to_owned());
    let from_here = file.starts_with('/').then(|| report.run.folders.iter().find_map(below)).flatten();
    from_here.unwrap_or(file)
}

/// Whether a pipeline can show the location: standard input is not a file.
fn is_file(written: &ManifestLocation) -> bool {
    written.file != "-" && written.file != "stdin" && written.line > 0
}

/// The checks of the root causes of a symptom, each once; empty for a root.
pub(super) fn causes(report: &Report, folding: &Folding, at: usize) -> Vec<String> {
    checks_of(report, folding.roots(at))
}

/// The checks of the findings to repair before a finding, each once.
pub(super) fn earlier(report: &Report, folding: &Folding, at: usize) -> Vec<String> {
    checks_of(report, folding.earlier(at))
}

fn checks_of(report: &Report, findings: &[usize]) -> Vec<String> {
    let checks: BTreeSet<String> = findings.iter().map(|&at| explained_as(&report.findings[at])).collect();
    checks.into_iter().collect()
}

/// A finding in one line; `causes` are the checks that explain it.
pub(super) fn finding_line(finding: &Finding, subjects: &[&Subject], causes: &[String]) -> String {
    let subjects: Vec<String> = subjects.iter().map(|subject| subject.to_string()).collect();
    let mut text = format!("{}: {}", super::text::some_of(&subjects, 8), finding.message);
    for note in super::short::notes(finding) {
        text.push_str(&format!(" [{note}]"));
    }
    if !causes.is_empty() {
        text.push_str(&format!(" [because of {}]", causes.join(", ")));
    }
    clean(&text).into_owned()
}

/// A piece of evidence on one line: location and value.
pub(super) fn evidence(evidence: &Evidence) -> String {
    let place = match &evidence.place {
        Place::Field { object, path } => format!("{object}  {path}"),
        Place::File { node, file, path, line, column } => {
            let numbers = [line, column].into_iter().map_while(|n| n.as_ref()).map(|n| format!(":{n}"));
            let path = path.as_ref().map(|path| format!("  {path}")).unwrap_or_default();
            format!("{node}  {file}{}{path}", numbers.collect::<String>())
        }
        Place::Event { object, reason, count, .. } if *count > 1 => {
            format!("{object}  event {reason}, {count} times")
        }
        Place::Event { object, reason, .. } => format!("{object}  event {reason}"),
        Place::Other { name } => name.clone(),
    };
    clean(&format!("{place}: {}", evidence.said)).into_owned()
}

/// The remedy as lines: steps with their commands, and the verification. A symptom is fixed through its
/// causes, so its own steps would contradict the plan.
pub(super) fn remedy(finding: &Finding, causes: &[String], earlier: &[String]) -> Vec<String> {
    if !causes.is_empty() {
        return vec![format!("repaired by the steps of {}", causes.join(", "))];
    }
    let mut lines = Vec::new();
    if !earlier.is_empty() {
        lines.push(format!("first repair {}", earlier.join(" and ")));
    }
    for (number, step) in (1..).zip(&finding.remedy.steps) {
        let text = in_remedy(&finding.remedy.steps, number, &step.text);
        lines.push(clean(&format!("{number}. {text}")).into_owned());
        let pasted = step.command.iter().flat_map(|command| command.rendered());
        lines.extend(pasted.map(|line| format!("   {}", clean(&line))));
    }
    let verify = finding.remedy.verify.iter().flat_map(|command| command.rendered());
    lines.extend(verify.map(|line| format!("verify: {}", clean(&line))));
    lines
}

/// The missing evidence, the reason, and how to provide it, on one line.
pub(super) fn not_checked(gap: &Gap) -> String {
    let part = gap.missing.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
    let what = super::coverage::what(gap);
    clean(&format!("{what}{part}: {}; to check this: {}", gap.missing.why, gap.close)).into_owned()
}

/// Whether a gap makes the exit status 4 if no finding fails.
pub(super) fn gap_fails(report: &Report, gap: &Gap) -> bool {
    gap.asked_for && !(report.verdict.not_checked_passes && report.verdict.status == exit::FINE)
}

/// Whether a gap makes the exit status of this run 4.
pub(super) fn gap_decides(report: &Report, gap: &Gap) -> bool {
    gap.asked_for && report.verdict.status == exit::NOT_CHECKED
}

/// A fingerprint that is the same in every run with the same gap.
pub(super) fn gap_fingerprint(text: &str) -> Fingerprint {
    print_of("meshdoctor.gap/1", text)
}

/// A fingerprint for a problem of the run.
pub(super) fn run_fingerprint(text: &str) -> Fingerprint {
    print_of("meshdoctor.run/1", text)
}

fn print_of(tag: &str, text: &str) -> Fingerprint {
    let mut hash = Sha256::new();
    hash.update(format!("{tag}\n{text}"));
    Fingerprint(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// The meaning of an exit status, as in the documentation.
pub(super) fn meaning(status: u8) -> &'static str {
    exit::ALL.iter().find(|(known, _)| *known == status).map_or("ended by a signal", |(_, meaning)| *meaning)
}

/// Whether a finding is accepted or known for some of its subjects, so that it has no effect there.
pub(super) fn does_not_count(finding: &Finding, subjects: &[&Subject]) -> bool {
    match finding.standing {
        Standing::Waived(_) | Standing::InBaseline => true,
        Standing::Passes | Standing::Fails => !waivers(finding, subjects).is_empty(),
    }
}

/// The waivers that accept a finding for all of these subjects.
pub(super) fn waivers<'f>(finding: &'f Finding, subjects: &[&Subject]) -> Vec<&'f WaivedBy> {
    let in_part = &finding.waived_in_part;
    let is_accepted = |subject: &&&Subject| in_part.iter().any(|(accepted, _)| accepted == **subject);
    let whole = finding.waived_by().iter();
    match subjects.iter().filter(is_accepted).count() == subjects.len() {
        true => {
            let of = in_part.iter().filter(|(accepted, _)| subjects.contains(&accepted));
            whole.chain(of.map(|(_, by)| by)).collect()
        }
        false => whole.collect(),
    }
}
