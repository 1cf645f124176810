//! The nodes with node evidence: the files in the CNI directory in the runtime's order, and the plugins in
//! the chain.

use std::fmt::Write as _;

use super::escaped;
use crate::render::document::{Document, Node, NodeFile};
use crate::render::text::count;

/// The type of Linkerd's plugin.
const LINKERD_CNI: &str = "linkerd-cni";

pub(super) fn section(document: &Document, body: &mut String) {
    if document.nodes.is_empty() {
        return;
    }
    _ = write!(
        body,
        "<section id=\"nodes\"><h2>Nodes and their CNI chain</h2><p>For {} with collected files. Problems \
         are listed among the findings.</p>",
        count(document.nodes.len(), "node", "nodes")
    );
    document.nodes.iter().for_each(|node| self::node(node, body));
    body.push_str("</section>");
}

fn node(node: &Node, body: &mut String) {
    let (class, calls) = match node.calls_linkerd_cni {
        Some(true) => ("info", "linkerd-cni is called"),
        Some(false) => ("faint", "linkerd-cni is not called"),
        None => ("warning", "whether linkerd-cni is called is not known"),
    };
    _ = write!(
        body,
        "<details><summary><h3>{}</h3> <span class=\"{class}\">{calls}</span></summary><p class=\"faint\">{}{}{}</p>",
        escaped(&node.name),
        node.runtime.as_ref().map(|runtime| format!("{}, ", escaped(runtime))).unwrap_or_default(),
        format_args!(
            "<code>{}</code>{}",
            escaped(&node.directory),
            if node.directory_assumed { " (taken for the directory that it reads)" } else { "" }
        ),
        node.collected_at.map(|at| format!(", collected {at}")).unwrap_or_default(),
    );
    if let Some(reason) = &node.reason {
        let what = if node.loads == "nothing" { "It loads nothing" } else { "The loaded file is not known" };
        _ = write!(body, "<p class=\"warning\">{what}: {}</p>", escaped(reason));
    }
    if node.files.is_empty() {
        body.push_str("<p>No configuration file was found.</p>");
    } else {
        body.push_str(
            "<table><thead><tr><th scope=\"col\">File, in order</th><th scope=\"col\">Loaded</th><th \
             scope=\"col\">Chain</th></tr></thead><tbody>",
        );
        node.files.iter().for_each(|one| file(one, &node.loads, body));
        body.push_str("</tbody></table>");
    }
    if !node.open.is_empty() {
        body.push_str("<p>Not known:</p><ul>");
        node.open.iter().for_each(|open| _ = write!(body, "<li>{}</li>", escaped(open)));
        body.push_str("</ul>");
    }
    body.push_str("</details>");
}

fn file(file: &NodeFile, loads: &str, body: &mut String) {
    let loaded = match (file.loaded, loads) {
        (true, _) => "<strong>yes</strong>",
        (false, "unknown") => "not known",
        (false, _) => "no",
    };
    _ = write!(body, "<tr><td><code>{}</code></td><td>{loaded}</td><td>", escaped(&file.name));
    if !file.plugins.is_empty() {
        body.push_str("<ol class=\"chain\">");
        for plugin in &file.plugins {
            let class = if plugin.kind == LINKERD_CNI { " class=\"linkerd\"" } else { "" };
            let within = if plugin.depth > 0 { "<span class=\"faint\">called by another plugin: </span>" } else { "" };
            _ = write!(body, "<li{class}>{within}<code>{}</code></li>", escaped(&plugin.kind));
        }
        body.push_str("</ol>");
    }
    if let Some(defect) = &file.defect {
        _ = write!(body, "<span class=\"warning\">{}</span>", escaped(defect));
    }
    body.push_str("</td></tr>");
}
