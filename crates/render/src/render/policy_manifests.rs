//! The manifests of `meshdoctor policy --generate`, as YAML for kubectl apply.

use std::fmt::Write;

use super::text::{clean, count, wrap};
use super::yaml;
use crate::inspect::policy_manifests::{Comparison, Manifests, Mode};

/// Columns of comments.
const COLUMNS: usize = 100;
/// Maximum number of connections that are listed.
const SHOWN: usize = 10;

/// The YAML text.
pub fn text(manifests: &[(String, Manifests)], compared: &Comparison, mode: Mode) -> String {
    let mut text = String::new();
    let said = match mode {
        Mode::Audit => {
            "Policies that allow what the objects show. Other clients are still allowed and logged \
             (accessPolicy audit). Read the logs of the proxies, add the missing clients, then remove \
             accessPolicy"
        }
        Mode::Enforce => "Policies that allow what the objects show, and deny every other client",
    };
    let has_any = manifests.iter().any(|(_, manifests)| !manifests.ports.is_empty());
    comment(&mut text, if has_any { said } else { "No policies: the reasons follow" });
    for line in proof(compared).iter().filter(|_| has_any) {
        comment(&mut text, line);
    }
    for (namespace, manifests) in manifests {
        for left in &manifests.left_out {
            comment(&mut text, &format!("left out: {left}"));
        }
        if manifests.ports.is_empty() {
            comment(&mut text, &format!("namespace {namespace}: no port to protect"));
        }
        for port in &manifests.ports {
            for (at, (_, object)) in port.objects.iter().enumerate() {
                text.push_str("---\n");
                if at == 0 {
                    port.comments.iter().for_each(|line| comment(&mut text, line));
                }
                text.push_str(&yaml::document(object));
            }
        }
    }
    text
}

fn comment(text: &mut String, said: &str) {
    for line in wrap(&clean(said), COLUMNS - 2) {
        _ = writeln!(text, "# {line}");
    }
}

/// The result of the comparison.
pub fn proof(compared: &Comparison) -> Vec<String> {
    let allowed = compared.kept + compared.denied.len();
    let is_unproven = allowed == 0 && compared.opened.is_empty() && !compared.unknown.is_empty();
    if is_unproven {
        let unknown = compared.unknown.len() + compared.left;
        let of = match unknown {
            1 => "of the only connection".to_owned(),
            _ => format!("of all {}", count(unknown, "connection", "connections")),
        };
        let mut lines = vec![format!("not proven: the outcome {of} today is unknown")];
        lines.extend(shown(&compared.unknown).map(|pair| format!("unknown: {pair}")));
        return lines;
    }
    let mut lines = vec![format!(
        "proof: {} of {} that are allowed today stay allowed ({}, {})",
        compared.kept,
        count(allowed, "connection", "connections"),
        count(compared.clients, "client", "clients"),
        count(compared.destinations, "Service port", "Service ports"),
    )];
    if !compared.unknown.is_empty() {
        let unknown = count(compared.unknown.len(), "connection", "connections");
        lines.push(format!("not compared: {unknown} whose outcome is unknown"));
        lines.extend(shown(&compared.unknown).map(|pair| format!("unknown: {pair}")));
    }
    if compared.left > 0 {
        lines.push(format!("not compared: {} beyond the limit", count(compared.left, "connection", "connections")));
    }
    if !compared.opened.is_empty() {
        let opened = count(compared.opened.len(), "connection", "connections");
        lines.push(format!("opened: {opened} that are denied today"));
        lines.extend(shown(&compared.opened).map(|pair| format!("allowed with these manifests: {pair}")));
    }
    lines.extend(compared.denied.iter().map(|pair| format!("denied with these manifests: {pair}")));
    lines.extend(compared.problems.iter().map(|problem| format!("new problem with these manifests: {problem}")));
    lines.extend(shown(&compared.absent).map(|one| format!("not compared: {one} has no pod now, and may be a client")));
    lines.extend(compared.unread.iter().map(|what| format!("not compared: other clients than pods, without {what}")));
    lines
}

/// The first connections, and the number of the others.
fn shown(pairs: &[String]) -> impl Iterator<Item = String> {
    let more = pairs.len().saturating_sub(SHOWN);
    let rest = (more > 0).then(|| format!("{more} more"));
    pairs.iter().take(SHOWN).cloned().chain(rest)
}
