//! The top of the page: the verdict in one line and in numbers, what was judged, and where to go from here.

use std::fmt::Write as _;

use super::super::document::Document;
use super::super::text::count;
use super::escaped;

/// The verdict, what a change or an upgrade brings, versions, and what kept the run from more.
pub(super) fn section(document: &Document, name: &str, body: &mut String) {
    let verdict = &document.verdict;
    let roots = verdict.roots;
    _ = write!(body, "<header><h1>{}</h1>", escaped(name));
    if let Some(origin) = &document.origin {
        let words = format!("meshdoctor report of {} {}", origin.kind, origin.name);
        _ = write!(body, "<p class=\"faint\">{}</p>", escaped(&words));
    }
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
            "<p>With the change of <code>{}</code> ({}): {} and {} appear, {} fixed, {} remain.</p>",
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
            "<p>With the upgrade to {}: {} will break, {} will change, {} resolved by it.</p>",
            escaped(&rehearsal.target),
            count(rehearsal.will_break, "thing", "things"),
            count(rehearsal.will_change, "thing", "things"),
            count(rehearsal.ends, "finding is", "findings are"),
        );
    }
    versions(document, body);
    let judged = document.run.judged_at.map(|at| format!("Checked as of {at}. ")).unwrap_or_default();
    _ = write!(
        body,
        "<p class=\"faint\">{}{} {}; release data of {}; {} objects read, values redacted in {}.</p>",
        escaped(&judged),
        escaped(&document.tool.name),
        escaped(&document.tool.version),
        escaped(document.tool.knowledge.as_deref().unwrap_or("unknown")),
        document.coverage.objects,
        document.redaction.touched,
    );
    let nodes = if document.nodes.is_empty() { "" } else { "<li><a href=\"#nodes\">Nodes</a></li>" };
    let plan = match document.repair_plan {
        Some(_) => "<li><a href=\"#repair-plan\">Repair plan</a></li>",
        None => "",
    };
    _ = write!(
        body,
        "<nav aria-label=\"Sections\"><ul>{plan}<li><a href=\"#findings\">Findings</a></li>{nodes}\
         <li><a href=\"#not-checked\">Not checked</a></li><li><a href=\"#checks\">Checks</a></li></ul></nav></header>"
    );
    errors(document, body);
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
