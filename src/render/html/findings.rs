//! Findings: what is wrong, where, why, the proof, and what to do.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::document::{Document, Evidence, Finding, Remedy};
use super::super::text::{count, some_of};
use super::escaped;
use crate::finding::{Confidence, Severity, When};

/// How many subjects the heading of a finding names.
const NAMED: usize = 4;

/// How many pieces of evidence are shown unfolded.
const EVIDENCE: usize = 6;

/// Every finding in the order of the report, causes unfolded.
pub(super) fn section(document: &Document, body: &mut String) {
    body.push_str("<main id=\"findings\"><h2>Findings</h2>");
    if document.findings.is_empty() {
        body.push_str("<p>No findings in the available evidence.</p></main>");
        return;
    }
    body.push_str(
        "<div class=\"tools\"><label>Search <input type=\"search\" id=\"search\" placeholder=\"words (press /)\"></label>\
         <label><input type=\"checkbox\" value=\"error\" checked> errors</label><label><input type=\"checkbox\" value=\"warning\" checked> warnings</label>\
         <label><input type=\"checkbox\" value=\"info\" checked> infos</label><button type=\"button\" id=\"unfold\">Unfold all</button>\
         <button type=\"button\" id=\"fold\">Fold all</button><output id=\"shown\" aria-live=\"polite\"></output></div>",
    );
    for finding in &document.findings {
        article(document, finding, body);
    }
    body.push_str("</main>");
}

fn article(document: &Document, finding: &Finding, body: &mut String) {
    let severity = finding.severity.word();
    let subjects: Vec<String> =
        finding.subjects.iter().map(|about| escaped(&about.subject().0.to_string())).collect();
    let named = some_of(&subjects, NAMED);
    let open = if finding.caused_by.is_empty() && finding.severity > Severity::Info { " open" } else { "" };
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
    let notes: String = notes.into_iter().flatten().map(|note| format!(" <em>({note})</em>")).collect();
    _ = write!(
        body,
        "<article class=\"{severity}\" data-severity=\"{severity}\" id=\"f-{}\"><details{open}><summary><span class=\"{severity}\">{severity}</span> \
         <h3>{}</h3>{notes} {named}</summary><p>{}</p><dl>",
        escaped(&finding.fingerprint),
        escaped(&finding.check),
        escaped(&finding.message),
    );
    if subjects.len() > NAMED + 1 {
        let all = count(subjects.len(), "subject", "subjects");
        _ = write!(
            body,
            "<dt>Where</dt><dd><details><summary>all {all}</summary>{}</details></dd>",
            subjects.join(", ")
        );
    }
    let waived = document.waivers.iter().filter(|waived| waived.fingerprint == finding.fingerprint);
    if let Some((subjects, by)) = waived
        .filter(|waived| waived.check == finding.check)
        .map(|waived| (&waived.subjects, &waived.by))
        .next()
    {
        body.push_str("<dt>Waived</dt>");
        if !subjects.is_empty() {
            _ = write!(body, "<dd>{} alone</dd>", escaped(&subjects.join(", ")));
        }
        for by in by {
            let words = format!("until {} by {}: {} ({})", by.expires, by.owner, by.reason, by.place());
            _ = write!(body, "<dd>{}</dd>", escaped(&words));
        }
    }
    explained(document, finding, body);
    if !finding.evidence.is_empty() {
        body.push_str("<dt>Evidence</dt>");
        let (shown, folded) = finding.evidence.split_at(finding.evidence.len().min(EVIDENCE));
        shown.iter().for_each(|one| evidence(one, body));
        if !folded.is_empty() {
            _ = write!(body, "<dd><details><summary>{} more</summary><dl>", folded.len());
            folded.iter().for_each(|one| evidence(one, body));
            body.push_str("</dl></details></dd>");
        }
    }
    if !finding.written.is_empty() {
        body.push_str("<dt>Manifest</dt>");
        for place in &finding.written {
            let source = place
                .source
                .as_ref()
                .map(|source| format!(" (from {})", escaped(source)))
                .unwrap_or_default();
            _ = write!(
                body,
                "<dd><code>{}:{}:{}</code>{source}</dd>",
                escaped(&place.file),
                place.line,
                place.column
            );
        }
    }
    if !finding.timeline.is_empty() {
        body.push_str("<dt>Timeline</dt><dd><table><tbody>");
        for moment in &finding.timeline {
            _ = write!(
                body,
                "<tr><td><time>{}</time></td><td>{}</td><td>{}</td></tr>",
                moment.at,
                escaped(&moment.what),
                escaped(&moment.object),
            );
        }
        body.push_str("</tbody></table></dd>");
    }
    let is_planned = document
        .repair_plan
        .as_ref()
        .is_some_and(|plan| plan.steps.iter().any(|step| step.repairs.contains(&finding.fingerprint)));
    remedy(finding, is_planned, body);
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

/// What explains a finding, and what it explains.
fn explained(document: &Document, finding: &Finding, body: &mut String) {
    let links = |of: Vec<&Finding>| -> String {
        let link = |other: &&Finding| {
            // Two of one check are told apart by what they are about.
            let twice = of.iter().filter(|one| one.check == other.check).count() > 1;
            let about = other.subjects.first().filter(|_| twice);
            let about = about.map(|about| format!(" {}", about.subject().0)).unwrap_or_default();
            let words = format!("{}{about}", other.check);
            format!("<a href=\"#f-{}\">{}</a>", escaped(&other.fingerprint), escaped(&words))
        };
        of.iter().map(link).collect::<Vec<_>>().join(", ")
    };
    let others = |keep: &dyn Fn(&Finding) -> bool| {
        document.findings.iter().filter(|other| keep(other)).collect::<Vec<_>>()
    };
    let causes = others(&|other| finding.caused_by.contains(&other.fingerprint));
    let symptoms = others(&|other| other.caused_by.contains(&finding.fingerprint));
    let before = others(&|other| finding.after.contains(&other.fingerprint));
    for (word, of) in [("Because of", causes), ("Explains", symptoms), ("Repair first", before)] {
        if !of.is_empty() {
            _ = write!(body, "<dt>{word}</dt><dd>{}</dd>", links(of));
        }
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

/// The steps; folded if the repair plan has them.
fn remedy(finding: &Finding, is_planned: bool, body: &mut String) {
    if !finding.remedy.steps.is_empty() {
        body.push_str("<dt>Fix</dt><dd>");
        if is_planned {
            body.push_str("<details class=\"planned\"><summary>steps, also in the repair plan</summary>");
        }
        steps(&finding.remedy, body);
        body.push_str(if is_planned { "</details></dd>" } else { "</dd>" });
    }
    if !finding.remedy.verify.is_empty() {
        _ = write!(
            body,
            "<dt>Verify</dt><dd><pre tabindex=\"0\">{}</pre></dd>",
            lines(&finding.remedy.verify)
        );
    }
}

/// The repair plan: every step once, with its command and links to the findings that it repairs.
pub(super) fn repair_plan(document: &Document, body: &mut String) {
    let Some(plan) = &document.repair_plan else { return };
    body.push_str("<section id=\"repair-plan\"><h2>Repair plan</h2><ol>");
    let find = |print: &String| document.findings.iter().find(|finding| finding.fingerprint == *print);
    let link = |finding: &Finding| {
        format!("<a href=\"#f-{}\">{}</a>", escaped(&finding.fingerprint), escaped(&finding.check))
    };
    let mut begun: BTreeSet<&str> = BTreeSet::new();
    for planned in &plan.steps {
        let repaired: Vec<&Finding> = planned.repairs.iter().filter_map(find).collect();
        let links: Vec<String> = repaired.iter().map(|finding| link(finding)).collect();
        // A finding's first step names the findings to repair before it.
        let first = repaired.iter().filter(|finding| begun.insert(&finding.fingerprint));
        let mut after: Vec<String> = first
            .flat_map(|finding| &finding.after)
            .filter(|print| !planned.repairs.contains(print))
            .filter_map(find)
            .map(link)
            .collect();
        after.sort();
        after.dedup();
        let after = match after.is_empty() {
            true => String::new(),
            false => format!(", after {}", some_of(&after, NAMED)),
        };
        _ = write!(
            body,
            "<li>{} <span class=\"faint\">({}{after})</span>",
            escaped(&planned.step.text),
            some_of(&links, NAMED)
        );
        if let Some(command) = &planned.step.command {
            _ = write!(body, "<pre tabindex=\"0\">{}</pre>", lines(command));
        }
        body.push_str("</li>");
    }
    body.push_str("</ol>");
    if !plan.verify.is_empty() {
        let commands: Vec<String> = plan.verify.iter().map(|command| lines(command)).collect();
        _ = write!(body, "<p>Verify:</p><pre tabindex=\"0\">{}</pre>", commands.join("\n"));
    }
    body.push_str("</section>");
}

/// What to do, step by step.
pub(super) fn steps(remedy: &Remedy, body: &mut String) {
    body.push_str("<ol>");
    for step in &remedy.steps {
        _ = write!(body, "<li>{}", escaped(&step.text));
        if let Some(command) = &step.command {
            _ = write!(body, "<pre tabindex=\"0\">{}</pre>", lines(command));
        }
        body.push_str("</li>");
    }
    body.push_str("</ol>");
}

/// A command of several lines, each of them clean.
pub(super) fn lines(command: &str) -> String {
    command.lines().map(escaped).collect::<Vec<_>>().join("\n")
}
