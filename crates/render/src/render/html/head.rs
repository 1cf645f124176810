//! The top of the page: the verdict in a sentence and in numbers, the checked cluster, and links to the
//! sections.

use std::fmt::Write as _;

use super::super::document::Document;
use super::super::header::cluster_name;
use super::super::text::count;
use super::outcome::Headline;
use super::{escaped, outcome};
use crate::model::cluster::TimeSource;

/// The verdict, the effects of a change or an upgrade, versions, and missing evidence.
pub(super) fn section(document: &Document, headline: &Headline, body: &mut String) {
    _ = write!(body, "<header><h1>{}</h1>", escaped(&name(document)));
    if let Some(origin) = &document.origin {
        let words = format!("meshdoctor report of {} {}", origin.kind, origin.name);
        _ = write!(body, "<p class=\"faint\">{}</p>", escaped(&words));
    }
    verdict(document, headline, body);
    if let Some(change) = &document.change {
        _ = write!(
            body,
            "<p>With the change of <code>{}</code> ({}): {} and {} appear, {} fixed, {} remain.</p>",
            escaped(&change.given),
            count(change.objects, "object", "objects"),
            count(change.brings_errors, "error", "errors"),
            count(change.brings_others, "warning or info", "warnings and infos"),
            count(change.cures, "finding is", "findings are"),
            change.stay,
        );
    }
    if let Some(rehearsal) = &document.rehearsal {
        let counts = [
            (rehearsal.will_break, "brings", "error", "errors"),
            (rehearsal.will_change, "brings", "change", "changes"),
            (rehearsal.ends, "resolves", "current finding", "current findings"),
        ];
        let words = counts.iter().filter(|(n, ..)| *n > 0);
        let words: Vec<String> = words.map(|(n, verb, one, many)| format!("{verb} {}", count(*n, one, many))).collect();
        let words = if words.is_empty() { "changes nothing known".to_owned() } else { words.join(", ") };
        let verdict = rehearsal.verdict.map(|verdict| format!(": <b>{}</b>", verdict.label()));
        _ = write!(
            body,
            "<p>Upgrade to {}{}; it {words}.</p>",
            escaped(&rehearsal.target),
            verdict.unwrap_or_default()
        );
    }
    if document.run.judged_at.is_some() {
        clock(document, body);
        about(document, body);
        sections(document, body);
    }
    body.push_str("</header>");
    errors(document, body);
}

/// The result in a sentence. The exit status is for scripts, so it is small.
fn verdict(document: &Document, Headline { class, short, why }: &Headline, body: &mut String) {
    let why = why.as_ref().map(|why| format!(": {}", escaped(why))).unwrap_or_default();
    _ = write!(body, "<p class=\"headline\"><strong class=\"{class}\">{}</strong>{why}</p>", escaped(short));
    let verdict = &document.verdict;
    let roots = verdict.roots;
    let has_findings = roots.error + roots.warning > 0;
    if let Some(why) = outcome::not_in_full(document).filter(|_| has_findings) {
        _ = write!(body, "<p><strong class=\"warning\">Also not fully checked</strong>: {}</p>", escaped(&why));
    }
    let gate = verdict.gate.as_ref().map(|gate| format!(" (--fail-on {})", escaped(gate))).unwrap_or_default();
    let config = document.run.invocation.config.as_ref().and_then(|config| config.used().gate_settings());
    let config = config.map(|settings| format!("; {}", escaped(&settings))).unwrap_or_default();
    _ = write!(body, "<p class=\"faint\">exit {}{gate}{config}</p>", verdict.status);
}

/// The numbers of findings and checks.
fn counts(document: &Document, body: &mut String) {
    let verdict = &document.verdict;
    let roots = verdict.roots;
    body.push_str("<div class=\"verdict\">");
    let tally = verdict.checks;
    let unchecked = tally.not_checked.unwrap_or_default();
    for (class, n, words) in [
        ("error", roots.error, count(roots.error, "error", "errors")),
        ("warning", roots.warning, count(roots.warning, "warning", "warnings")),
        ("info", roots.info, count(roots.info, "info", "infos")),
        ("warning", verdict.waived, format!("{} waived", verdict.waived)),
        ("warning", verdict.in_baseline, format!("{} in the baseline", verdict.in_baseline)),
        ("warning", verdict.inferred, format!("{} inferred and left out", verdict.inferred)),
        ("good", tally.passed, format!("{} passed", count(tally.passed, "check", "checks"))),
        ("", tally.not_applicable, format!("{} not applicable", tally.not_applicable)),
        ("warning", unchecked, format!("{unchecked} not checked in full")),
        ("error", tally.crashed, format!("{} crashed", tally.crashed)),
    ] {
        if n > 0 {
            _ = write!(body, "<span class=\"{class}\">{words}</span>");
        }
    }
    body.push_str("</div>");
}

/// Whether the time of the checks is only this machine's clock, although the evidence is older.
fn is_guessed(document: &Document) -> bool {
    let is_live = document.origin.as_ref().is_some_and(|origin| origin.kind == "live");
    document.run.judged_at_source == Some(TimeSource::Clock) && !is_live
}

/// A warning if the time of the evidence is not known.
fn clock(document: &Document, body: &mut String) {
    if let Some(at) = document.run.judged_at.filter(|_| is_guessed(document)) {
        _ = write!(
            body,
            "<p class=\"warning\">Checked as of {at}, this machine's clock: the evidence does not state when it \
             was collected (--at).</p>"
        );
    }
}

/// The counts, the versions and the evidence, folded: the evaluation time with its source, and the extent.
fn about(document: &Document, body: &mut String) {
    body.push_str("<details class=\"versions\"><summary>Counts, versions and evidence</summary>");
    counts(document, body);
    versions(document, body);
    let source = match document.run.judged_at_source {
        Some(TimeSource::Captured) => ", when the evidence was collected",
        Some(TimeSource::Flag) => " (--at)",
        Some(TimeSource::Clock) | None => "",
    };
    if let Some(at) = document.run.judged_at.filter(|_| !is_guessed(document)) {
        _ = write!(body, "<p class=\"faint\">Checked as of {at}{source}.</p>");
    }
    let nodes = match (document.coverage.nodes, document.coverage.snapshots) {
        (None, 0) => String::new(),
        (None, snapshots) => format!("{}, ", count(snapshots, "node snapshot", "node snapshots")),
        (Some(nodes), snapshots) => {
            format!("{}, {snapshots} with node evidence, ", count(nodes, "node", "nodes"))
        }
    };
    _ = write!(
        body,
        "<p class=\"faint\">{} {}; release data of {}; {nodes}{} read, values redacted in {}.</p></details>",
        escaped(&document.tool.name),
        escaped(&document.tool.version),
        escaped(document.tool.knowledge.as_deref().unwrap_or("unknown")),
        count(document.coverage.objects, "object", "objects"),
        document.redaction.touched,
    );
}

/// Links to the sections of the page.
fn sections(document: &Document, body: &mut String) {
    body.push_str("<nav aria-label=\"Sections\"><ul>");
    for (is_shown, id, words) in [
        (document.repair_plan.is_some(), "repair-plan", "Repair plan"),
        (document.rehearsal.is_some(), "upgrade-plan", "Upgrade plan"),
        (true, "findings", "Findings"),
        (!document.nodes.is_empty(), "nodes", "Nodes"),
        (true, "not-checked", "Not checked"),
        (true, "checks", "Checks"),
    ] {
        if is_shown {
            _ = write!(body, "<li><a href=\"#{id}\">{words}</a></li>");
        }
    }
    body.push_str("</ul></nav>");
}

/// The name of the cluster.
pub(super) fn name(document: &Document) -> String {
    let Some(origin) = &document.origin else { return "meshdoctor".to_owned() };
    let cluster = document.subject.as_ref().and_then(|subject| subject.cluster.as_ref());
    cluster_name(&origin.kind, &origin.name, cluster.map(|cluster| cluster.uid.as_str()))
}

/// The version matrix.
fn versions(document: &Document, body: &mut String) {
    let Some(subject) = &document.subject else { return };
    let versions = &subject.versions;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut put = |what: &str, version: Option<String>| rows.extend(version.map(|version| (what.to_owned(), version)));
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
    body.push_str("<table><thead><tr><th scope=\"col\">What</th><th scope=\"col\">Version</th></tr></thead><tbody>");
    for (what, version) in rows {
        _ = write!(body, "<tr><td>{}</td><td>{}</td></tr>", escaped(&what), escaped(&version));
    }
    body.push_str("</tbody></table>");
}

fn errors(document: &Document, body: &mut String) {
    for error in &document.errors {
        _ = write!(body, "<p class=\"error\" role=\"alert\">{}</p>", escaped(&error.message));
    }
}
