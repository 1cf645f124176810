//! The report as one page that needs nothing else: nothing is fetched, and nothing of it takes a script to be read; a small one
//! adds search and filters. Made of the [`Document`] alone, like every form that machines read.

mod nodes;
mod picture;
mod reach;

use std::fmt::Write as _;

use super::document::{Document, Evidence, Failure, Finding, Outcome, Remedy};
use super::text::{clean, count, some_of};
use crate::finding::{Confidence, Severity, When};
use crate::report::Report;

pub use reach::calls;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
/// How many subjects of a finding stand in its heading.
const NAMED: usize = 4;

/// A report.
pub fn report(report: &Report) -> String {
    page(&Document::from(report))
}

/// A run that never came to a report.
pub fn failure(failure: &Failure) -> String {
    page(&Document::from(failure))
}

fn page(document: &Document) -> String {
    let title = document
        .origin
        .as_ref()
        .map_or_else(String::new, |origin| format!(" of {} {}", origin.kind, origin.name));
    let title = format!("meshdoctor report{title}");
    let mut body = String::new();
    head(document, &title, &mut body);
    errors(document, &mut body);
    if let Some(picture) = picture::of(document) {
        _ = write!(
            body,
            "<section id=\"causes\"><h2>What explains what</h2><div class=\"picture\" tabindex=\"0\">{picture}</div></section>"
        );
    }
    findings(document, &mut body);
    plan(document, &mut body);
    nodes::section(document, &mut body);
    unchecked(document, &mut body);
    checks(document, &mut body);
    let skip = "<a class=\"skip\" href=\"#findings\">Skip to the findings</a>";
    whole(&title, &format!("{skip}\n{body}\n<script>\n{SCRIPT}</script>"))
}

/// A page that needs nothing else, around its body.
fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n",
        escaped(title),
    )
}

/// Text as HTML has it: nothing that a cluster says is markup, and no control character drives anything.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

fn head(document: &Document, title: &str, body: &mut String) {
    let verdict = &document.verdict;
    let roots = verdict.roots;
    _ = write!(body, "<header><h1>{}</h1>", escaped(title));
    let status = if verdict.status == crate::exit::FINE { "good" } else { "error" };
    _ = write!(
        body,
        "<p><strong class=\"{status}\">exit {}</strong> {}</p><div class=\"verdict\">",
        verdict.status,
        escaped(&verdict.meaning)
    );
    for (class, n, one, many) in [
        ("error", roots.error, "error", "errors"),
        ("warning", roots.warning, "warning", "warnings"),
        ("info", roots.info, "info", "infos"),
    ] {
        _ = write!(
            body,
            "<span class=\"{}\">{}</span>",
            if n > 0 { class } else { "faint" },
            count(n, one, many)
        );
    }
    for (n, words) in [
        (verdict.waived, "waived"),
        (verdict.in_baseline, "in the baseline"),
        (verdict.inferred, "inferred and left out"),
    ] {
        if n > 0 {
            _ = write!(body, "<span class=\"warning\">{n} {words}</span>");
        }
    }
    let tally = verdict.checks;
    _ = write!(body, "<span class=\"good\">{} passed</span>", count(tally.passed, "check", "checks"));
    _ = write!(body, "<span>{} not applicable</span>", tally.not_applicable);
    let unchecked = tally.not_checked.unwrap_or_default();
    _ = write!(
        body,
        "<span class=\"{}\">{unchecked} not checked in full</span></div>",
        if unchecked > 0 { "warning" } else { "faint" }
    );
    if let Some(change) = &document.change {
        _ = write!(
            body,
            "<p>With the change of <code>{}</code> ({}): {} and {} come in, {} cured, {} stay.</p>",
            escaped(&change.given),
            count(change.objects, "object", "objects"),
            count(change.brings_errors, "error", "errors"),
            count(change.brings_others, "lesser finding", "lesser findings"),
            count(change.cures, "finding is", "findings are"),
            change.stay,
        );
    }
    if let Some(rehearsal) = &document.rehearsal {
        _ = write!(
            body,
            "<p>With the upgrade to {}: {} will break, {} will change, {} with it.</p>",
            escaped(&rehearsal.target),
            count(rehearsal.will_break, "thing", "things"),
            count(rehearsal.will_change, "thing", "things"),
            count(rehearsal.ends, "finding ends", "findings end"),
        );
    }
    versions(document, body);
    let judged = document.run.judged_at.map(|at| format!("Judged as of {at}. ")).unwrap_or_default();
    _ = write!(
        body,
        "<p class=\"faint\">{}{} {}; release data of {}; {} objects read, something redacted in {}.</p>",
        escaped(&judged),
        escaped(&document.tool.name),
        escaped(&document.tool.version),
        escaped(document.tool.knowledge.as_deref().unwrap_or("unknown")),
        document.coverage.objects,
        document.redaction.touched,
    );
    let nodes = if document.nodes.is_empty() { "" } else { "<li><a href=\"#nodes\">Nodes</a></li>" };
    _ = write!(
        body,
        "<nav aria-label=\"Sections\"><ul><li><a href=\"#findings\">Findings</a></li>{nodes}\
         <li><a href=\"#not-checked\">Not checked</a></li><li><a href=\"#checks\">Checks</a></li></ul></nav></header>"
    );
}

/// The version matrix.
fn versions(document: &Document, body: &mut String) {
    let Some(subject) = &document.subject else { return };
    let versions = &subject.versions;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut put =
        |what: &str, version: Option<String>| rows.extend(version.map(|version| (what.to_owned(), version)));
    put("Distribution", subject.distribution.clone());
    put("Kubernetes", versions.kubernetes.clone());
    for (version, nodes) in &versions.kubelets {
        put("Kubelets", Some(format!("{version} on {}", count(*nodes, "node", "nodes"))));
    }
    for (component, version) in &versions.control_plane {
        put(component, Some(version.clone()));
    }
    for (version, pods) in &versions.proxies {
        put("Proxies", Some(format!("{version} in {}", count(*pods, "pod", "pods"))));
    }
    put("linkerd-cni", versions.cni.clone());
    for (extension, version) in &versions.extensions {
        put(extension, Some(version.clone()));
    }
    put("Gateway API", versions.gateway_api.clone());
    put("linkerd CLI", versions.cli.clone());
    if rows.is_empty() {
        return;
    }
    body.push_str("<details><summary>Versions</summary><table><thead><tr><th scope=\"col\">What</th><th scope=\"col\">Version</th></tr></thead><tbody>");
    for (what, version) in rows {
        _ = write!(body, "<tr><td>{}</td><td>{}</td></tr>", escaped(&what), escaped(&version));
    }
    body.push_str("</tbody></table></details>");
}

fn errors(document: &Document, body: &mut String) {
    for error in &document.errors {
        _ = write!(body, "<p class=\"error\" role=\"alert\">{}</p>", escaped(&error.message));
    }
}

fn findings(document: &Document, body: &mut String) {
    body.push_str("<main id=\"findings\"><h2>Findings</h2>");
    if document.findings.is_empty() {
        body.push_str("<p>Nothing was found in what could be looked at.</p></main>");
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
            When::UntilChange => Some("cured by the change"),
            When::AfterChange => Some("brought in by the change"),
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
    if let Some(by) = waived
        .filter(|waived| finding.waived && waived.check == finding.check)
        .map(|waived| &waived.by)
        .next()
    {
        body.push_str("<dt>Waived</dt>");
        for by in by {
            let words = format!("until {} by {}: {} ({})", by.expires, by.owner, by.reason, by.place());
            _ = write!(body, "<dd>{}</dd>", escaped(&words));
        }
    }
    explained(document, finding, body);
    if !finding.evidence.is_empty() {
        body.push_str("<dt>Evidence</dt>");
        finding.evidence.iter().for_each(|one| evidence(one, body));
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
    remedy(finding, body);
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

fn remedy(finding: &Finding, body: &mut String) {
    if !finding.remedy.steps.is_empty() {
        body.push_str("<dt>What to do</dt><dd>");
        steps(&finding.remedy, body);
        body.push_str("</dd>");
    }
    if !finding.remedy.verify.is_empty() {
        _ = write!(
            body,
            "<dt>Verify</dt><dd><pre tabindex=\"0\">{}</pre></dd>",
            lines(&finding.remedy.verify)
        );
    }
}

fn steps(remedy: &Remedy, body: &mut String) {
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
fn lines(command: &str) -> String {
    command.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

/// The plan of an upgrade that was rehearsed.
fn plan(document: &Document, body: &mut String) {
    let Some(rehearsal) = document.rehearsal.as_ref().filter(|rehearsal| !rehearsal.plan.is_empty()) else {
        return;
    };
    _ = write!(
        body,
        "<section id=\"plan\"><h2>The plan of the upgrade to {}</h2><ol>",
        escaped(&rehearsal.target)
    );
    for phase in &rehearsal.plan {
        _ = write!(body, "<li><strong>{}</strong>", escaped(&phase.title));
        steps(&phase.remedy, body);
        body.push_str("</li>");
    }
    body.push_str("</ol></section>");
}

fn unchecked(document: &Document, body: &mut String) {
    body.push_str("<section id=\"not-checked\"><h2>Not checked in full</h2>");
    let gaps = &document.coverage.gaps;
    if gaps.is_empty() {
        body.push_str("<p>All that was asked could be looked at.</p></section>");
        return;
    }
    body.push_str(
        "<table><thead><tr><th scope=\"col\">What is missing</th><th scope=\"col\">Why</th><th scope=\"col\">Needed by</th>\
         <th scope=\"col\">How to check it</th></tr></thead><tbody>",
    );
    for gap in gaps {
        let part = gap.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
        // What is to be pasted stands below the words.
        let pasted = gap.close_command.as_deref().unwrap_or_default();
        let close = gap.close.strip_suffix(pasted).unwrap_or(&gap.close).trim_end_matches([':', ' ']);
        let command =
            gap.close_command.as_ref().map(|command| format!("<pre tabindex=\"0\">{}</pre>", lines(command)));
        _ = write!(
            body,
            "<tr><td{}>{}{}</td><td>{}</td><td>{}</td><td>{}{}</td></tr>",
            if gap.asked_for { " class=\"warning\"" } else { "" },
            escaped(&gap.what),
            escaped(&part),
            escaped(&gap.message),
            escaped(&gap.checks.join(", ")),
            escaped(close),
            command.unwrap_or_default(),
        );
    }
    body.push_str("</tbody></table></section>");
}

fn checks(document: &Document, body: &mut String) {
    _ = write!(
        body,
        "<section id=\"checks\"><h2>Checks</h2><details><summary>{}</summary><table><thead><tr><th scope=\"col\">Check</th><th scope=\"col\">Outcome</th>\
         <th scope=\"col\">Title</th></tr></thead><tbody>",
        count(document.checks.len(), "check was selected", "checks were selected"),
    );
    for check in &document.checks {
        let (class, word) = match check.outcome {
            Outcome::Pass => ("good", "passed"),
            Outcome::Findings => ("error", "found something"),
            Outcome::NotApplicable => ("faint", "not applicable"),
            Outcome::NotChecked => ("warning", "not checked"),
            Outcome::Crashed => ("error", "crashed"),
        };
        let reason = check
            .reason
            .as_ref()
            .map(|reason| format!("<br><span class=\"faint\">{}</span>", escaped(reason)));
        _ = write!(
            body,
            "<tr><td><code>{}</code></td><td class=\"{class}\">{word}</td><td>{}{}</td></tr>",
            escaped(&check.id),
            escaped(&check.title),
            reason.unwrap_or_default(),
        );
    }
    body.push_str("</tbody></table></details></section>");
}
