//! Findings: message, locations, evidence and remedy. Symptoms are inside the finding that explains them.

use std::fmt::Write as _;

use super::super::document::{Document, Evidence, Finding, Moment};
use super::super::table::Folding;
use super::super::text::some_of;
use super::super::{steps, subject};
use super::{escaped, plan, script};
use crate::finding::{Confidence, Severity, Subject, When};
use crate::report::Report;

/// Maximum number of subjects of a group shown expanded.
const SUBJECTS: usize = 10;

/// Maximum number of pieces of evidence shown expanded.
const EVIDENCE: usize = 6;

/// Maximum number of events of a timeline shown expanded.
const MOMENTS: usize = 12;

/// The sources of the cards: the report, its document, and the causes of each finding.
pub(super) struct Cards<'a> {
    pub report: &'a Report,
    pub document: &'a Document,
    pub folding: &'a Folding,
}

impl Cards<'_> {
    /// Every root in the order of the report, with its symptoms; errors and warnings unfolded.
    pub(super) fn section(&self, body: &mut String) {
        body.push_str("<main id=\"findings\"><h2>Findings</h2>");
        if self.document.findings.is_empty() {
            body.push_str("<p>No findings in the available evidence.</p></main>");
            return;
        }
        body.push_str(
            "<div class=\"tools\"><label>Search <input type=\"search\" id=\"search\" placeholder=\"words \
             (press /)\"></label><label><input type=\"checkbox\" value=\"error\" checked> \
             errors</label><label><input type=\"checkbox\" value=\"warning\" checked> \
             warnings</label><label><input type=\"checkbox\" value=\"info\" checked> infos</label><button \
             type=\"button\" id=\"unfold\">Unfold all</button><button type=\"button\" id=\"fold\">Fold \
             all</button><output id=\"shown\" aria-live=\"polite\"></output></div>",
        );
        let roots = (0..self.document.findings.len()).filter(|at| self.folding.is_root(*at));
        roots.for_each(|at| self.root(at, body));
        body.push_str("</main>");
    }

    fn root(&self, at: usize, body: &mut String) {
        let finding = &self.document.findings[at];
        let severity = finding.severity.label();
        let is_info = finding.severity == Severity::Info;
        let open = if is_info { "" } else { " open" };
        _ = write!(
            body,
            "<article class=\"{severity}\" data-severity=\"{severity}\" id=\"f-{}\"><details{open}><summary>\
             <span class=\"{severity}\">{}</span> <h3>{}</h3>{} {}",
            escaped(&finding.fingerprint),
            plan::numbered(self.report, at),
            escaped(&finding.check),
            notes(finding),
            brief(finding),
        );
        // A collapsed info is one line.
        match is_info {
            true => _ = write!(body, ": {}</summary><dl>", escaped(&finding.message)),
            false => _ = write!(body, "</summary><p>{}</p><dl>", escaped(&finding.message)),
        }
        subjects(finding, body);
        self.waivers(finding, body);
        self.links("Repair first", &finding.after, body);
        all_evidence(finding, body);
        written(finding, body);
        self.symptoms(at, body);
        timeline(finding, body);
        self.remedy(at, body);
        if let Some(docs) = &finding.docs {
            _ = write!(
                body,
                "<dt>More</dt><dd><a href=\"{}\" rel=\"noreferrer\">{}</a></dd>",
                escaped(docs),
                escaped(&finding.check)
            );
        }
        body.push_str("</dl></details></article>");
    }

    /// The findings that a root explains; a symptom of several roots is inside the first.
    fn symptoms(&self, root: usize, body: &mut String) {
        let all = (0..self.document.findings.len()).filter(|at| self.folding.roots(*at).contains(&root));
        let (own, elsewhere): (Vec<usize>, Vec<usize>) =
            all.partition(|at| self.folding.roots(*at).first() == Some(&root));
        if own.is_empty() && elsewhere.is_empty() {
            return;
        }
        body.push_str("<dt>Explains</dt><dd>");
        own.into_iter().for_each(|at| self.symptom(at, root, body));
        let links: Vec<String> = elsewhere.into_iter().map(|at| self.link(at)).collect();
        if !links.is_empty() {
            _ = write!(body, "<p>In part: {}</p>", links.join(", "));
        }
        body.push_str("</dd>");
    }

    fn symptom(&self, at: usize, root: usize, body: &mut String) {
        let finding = &self.document.findings[at];
        let severity = finding.severity.label();
        _ = write!(
            body,
            "<details class=\"symptom\" id=\"f-{}\"><summary><span class=\"{severity}\">{severity}</span> \
             <h4>{}</h4>{} {}</summary><p>{}</p><dl>",
            escaped(&finding.fingerprint),
            escaped(&finding.check),
            notes(finding),
            brief(finding),
            escaped(&finding.message),
        );
        subjects(finding, body);
        self.waivers(finding, body);
        if finding.caused_by != [self.document.findings[root].fingerprint.clone()] {
            self.links("Because of", &finding.caused_by, body);
        }
        all_evidence(finding, body);
        written(finding, body);
        timeline(finding, body);
        self.remedy(at, body);
        body.push_str("</dl></details>");
    }

    /// A link to a finding, with the subject if several findings have the same check.
    fn link(&self, at: usize) -> String {
        let finding = &self.document.findings[at];
        let alike = self.document.findings.iter().filter(|one| one.check == finding.check).count();
        let about = if alike > 1 { format!(" {}", brief(finding)) } else { String::new() };
        format!("<a href=\"#f-{}\">{}{about}</a>", escaped(&finding.fingerprint), escaped(&finding.check))
    }

    fn links(&self, label: &str, prints: &[String], body: &mut String) {
        let findings = self.document.findings.iter().enumerate();
        let links: Vec<String> =
            findings.filter(|(_, other)| prints.contains(&other.fingerprint)).map(|(at, _)| self.link(at)).collect();
        if !links.is_empty() {
            _ = write!(body, "<dt>{label}</dt><dd>{}</dd>", some_of(&links, SUBJECTS));
        }
    }

    fn waivers(&self, finding: &Finding, body: &mut String) {
        let mut waived = self.document.waivers.iter();
        let Some(waived) = waived.find(|one| one.fingerprint == finding.fingerprint && one.check == finding.check)
        else {
            return;
        };
        body.push_str("<dt>Waived</dt>");
        if !waived.subjects.is_empty() {
            _ = write!(body, "<dd>{} alone</dd>", escaped(&waived.subjects.join(", ")));
        }
        for by in &waived.by {
            let words = format!("until {} by {}: {} ({})", by.expires, by.owner, by.reason, by.place());
            _ = write!(body, "<dd>{}</dd>", escaped(&words));
        }
    }

    /// The remedy of a finding: steps of the repair plan by number, or else its own steps.
    fn remedy(&self, at: usize, body: &mut String) {
        let causes = steps::causes(self.report, self.folding, at);
        if !causes.is_empty() {
            let causes: Vec<String> =
                causes.into_iter().map(|(root, steps)| format!("{}{steps}", self.link(root))).collect();
            _ = write!(body, "<dt>Fix</dt><dd>Repaired by {}</dd>", causes.join("; "));
            return;
        }
        let planned = steps::of_finding(self.report, at);
        if let Some(first) = planned.first() {
            let words = steps::describe(&planned);
            let words = format!("{}{} of the repair plan", words[..1].to_uppercase(), &words[1..]);
            _ = write!(body, "<dt>Fix</dt><dd><a href=\"#step-{first}\">{words}</a></dd>");
            return;
        }
        let remedy = &self.document.findings[at].remedy;
        if !remedy.steps.is_empty() {
            body.push_str("<dt>Fix</dt><dd>");
            plan::remedy_steps(remedy, body);
            body.push_str("</dd>");
        }
        let verify: Vec<&str> = remedy.verify.lines().collect();
        if !verify.is_empty() {
            body.push_str("<dt>Verify</dt><dd>");
            script(&verify, None, body);
            body.push_str("</dd>");
        }
    }
}

/// Remarks after the name of the check.
fn notes(finding: &Finding) -> String {
    let notes = [
        (finding.confidence == Confidence::Likely).then_some("likely"),
        match finding.when {
            When::Now => None,
            When::UntilUpgrade => Some("ends with the upgrade"),
            When::AfterUpgrade => Some("with the upgrade"),
            When::UntilChange => Some("fixed by the change"),
            When::AfterChange => Some("introduced by the change"),
        },
        finding.waived.then_some("waived"),
        finding.in_baseline.then_some("in the baseline"),
    ];
    notes.into_iter().flatten().map(|note| format!(" <em>({note})</em>")).collect()
}

fn subjects_of(finding: &Finding) -> Vec<Subject> {
    finding.subjects.iter().map(|about| about.subject().0).collect()
}

/// `4 pods of 2 workloads`.
fn brief(finding: &Finding) -> String {
    escaped(&subject::brief(subjects_of(finding).iter()))
}

/// The names of all subjects, by kind and namespace; the first ten of each expanded.
fn subjects(finding: &Finding, body: &mut String) {
    if finding.subjects.len() < 2 {
        return;
    }
    body.push_str("<dt>Where</dt>");
    for group in subject::groups(&subjects_of(finding)) {
        let heading = if group.heading.is_empty() { String::new() } else { format!("{}: ", group.heading) };
        let shown = if group.names.len() > SUBJECTS + 1 { SUBJECTS } else { group.names.len() };
        let (shown, folded) = group.names.split_at(shown);
        _ = write!(body, "<dd>{}{}", escaped(&heading), escaped(&shown.join(", ")));
        if !folded.is_empty() {
            _ = write!(
                body,
                " <details class=\"rest\"><summary>{} more</summary>{}</details>",
                folded.len(),
                escaped(&folded.join(", "))
            );
        }
        body.push_str("</dd>");
    }
}

fn all_evidence(finding: &Finding, body: &mut String) {
    if finding.evidence.is_empty() {
        return;
    }
    body.push_str("<dt>Evidence</dt>");
    let (shown, folded) = finding.evidence.split_at(finding.evidence.len().min(EVIDENCE));
    shown.iter().for_each(|one| evidence(one, body));
    if !folded.is_empty() {
        _ = write!(body, "<dd><details class=\"rest\"><summary>{} more</summary><dl>", folded.len());
        folded.iter().for_each(|one| evidence(one, body));
        body.push_str("</dl></details></dd>");
    }
}

fn evidence(evidence: &Evidence, body: &mut String) {
    let (place, said) = match evidence {
        Evidence::Field { object, path, said, .. } => (format!("{object}  {path}"), said),
        Evidence::File { node, file, line, said, .. } => {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            (format!("{node}  {file}{line}"), said)
        }
        Evidence::Event { object, said, .. } => (format!("event of {object}"), said),
        Evidence::Other { name, said } => (name.clone(), said),
    };
    _ = write!(body, "<dd><code>{}</code>: {}</dd>", escaped(&place), escaped(said));
}

fn written(finding: &Finding, body: &mut String) {
    if finding.written.is_empty() {
        return;
    }
    body.push_str("<dt>Manifest</dt>");
    for place in &finding.written {
        let source = place.source.as_ref().map(|source| format!(" (from {})", escaped(source))).unwrap_or_default();
        _ = write!(body, "<dd><code>{}:{}:{}</code>{source}</dd>", escaped(&place.file), place.line, place.column);
    }
}

fn timeline(finding: &Finding, body: &mut String) {
    if finding.timeline.is_empty() {
        return;
    }
    body.push_str("<dt>Timeline</dt><dd>");
    let (shown, folded) = finding.timeline.split_at(finding.timeline.len().min(MOMENTS));
    moments(shown, body);
    if !folded.is_empty() {
        _ = write!(body, "<details class=\"rest\"><summary>{} more</summary>", folded.len());
        moments(folded, body);
        body.push_str("</details>");
    }
    body.push_str("</dd>");
}

fn moments(moments: &[Moment], body: &mut String) {
    body.push_str("<table><tbody>");
    for moment in moments {
        _ = write!(
            body,
            "<tr><td><time>{}</time></td><td>{}</td><td>{}</td></tr>",
            moment.at,
            escaped(&moment.what),
            escaped(&moment.object),
        );
    }
    body.push_str("</tbody></table>");
}
