//! The summary of several clusters: findings by cluster, versions by cluster, and the links between them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::document::Document;
use super::look::Look;
use super::text::{clean, clean_lines, count, escape_ci_commands, pad, some_of, wrap, wrapped_to, write_hanging};
use crate::command::own;
use crate::exit;
use crate::finding::{Severity, When};
use crate::inspect::link_endpoints::{self, Mismatch, Seen, UNREAD, Unseen};

/// Maximum number of Links or clusters that a line names.
const LISTED: usize = 5;

/// Several clusters with their results.
pub struct Fleet {
    /// Each cluster.
    pub members: Vec<Member>,
    /// Names that belong to the same cluster.
    pub same: Vec<Vec<String>>,
    /// The result for the links between them.
    pub links: Seen,
}

/// One of several clusters.
pub struct Member {
    /// Its context, or the name of its bundle without the extension.
    pub name: String,
    /// Its result.
    pub outcome: ClusterOutcome,
}

/// The result for a cluster.
pub enum ClusterOutcome {
    /// A report.
    Judged(Box<Document>),
    /// No report.
    Failed {
        /// The reason.
        cause: String,
        /// The next step.
        next: Option<String>,
    },
}

impl ClusterOutcome {
    /// The exit status of the cluster alone.
    pub fn status(&self) -> u8 {
        match self {
            ClusterOutcome::Judged(document) => document.verdict.status,
            ClusterOutcome::Failed { .. } => exit::COULD_NOT_RUN,
        }
    }

    fn document(&self) -> Option<&Document> {
        match self {
            ClusterOutcome::Judged(document) => Some(document),
            ClusterOutcome::Failed { .. } => None,
        }
    }
}

/// The findings of one check in several clusters.
struct Spread<'a> {
    severity: Severity,
    check: &'a str,
    title: Option<&'a str>,
    /// The number of findings by cluster.
    clusters: BTreeMap<&'a str, usize>,
}

/// Merges several orders: an entry comes before another if it does so in all orders that contain both; the
/// most severe one comes first otherwise.
fn merged(orders: &[Vec<usize>], severities: &[Severity]) -> Vec<usize> {
    let mut left: BTreeSet<usize> = (0..severities.len()).collect();
    let mut found = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_next = |at: &usize| {
            let before = |order: &Vec<usize>| order.iter().find(|one| left.contains(one)) == Some(at);
            orders.iter().filter(|order| order.contains(at)).all(before)
        };
        let key = |at: &usize| (Reverse(severities[*at]), *at);
        // Orders may contradict each other; then the most severe one is next.
        let next = left.iter().copied().filter(|at| is_next(at)).min_by_key(key);
        let Some(next) = next.or_else(|| left.iter().copied().min_by_key(key)) else { break };
        left.remove(&next);
        found.push(next);
    }
    found
}

impl Fleet {
    /// Root findings with their clusters and numbers, in the repair order of the clusters' own reports.
    fn spread(&self) -> Vec<Spread<'_>> {
        let mut all: Vec<Spread<'_>> = Vec::new();
        let mut orders: Vec<Vec<usize>> = Vec::new();
        for member in &self.members {
            let Some(document) = member.outcome.document() else { continue };
            let counts = |finding: &&super::document::Finding| {
                finding.caused_by.is_empty() && matches!(finding.when, When::Now | When::AfterUpgrade)
            };
            let mut order = Vec::new();
            for finding in document.findings.iter().filter(counts) {
                let (severity, check) = (finding.severity, finding.check.as_str());
                let title = finding.title.as_deref();
                let known = all.iter().position(|one| one.severity == severity && one.check == check);
                let at = known.unwrap_or_else(|| {
                    all.push(Spread { severity, check, title, clusters: BTreeMap::new() });
                    all.len() - 1
                });
                *all[at].clusters.entry(&member.name).or_default() += 1;
                if !order.contains(&at) {
                    order.push(at);
                }
            }
            orders.push(order);
        }
        let severities: Vec<Severity> = all.iter().map(|one| one.severity).collect();
        let mut all: Vec<Option<Spread<'_>>> = all.into_iter().map(Some).collect();
        merged(&orders, &severities).into_iter().filter_map(|at| all[at].take()).collect()
    }

    /// As text.
    pub fn table(&self, look: Look, exit: u8) -> String {
        let mut text = format!(
            "meshdoctor {}   {}\n\n",
            env!("CARGO_PKG_VERSION"),
            count(self.members.len(), "cluster", "clusters")
        );
        for line in self.clusters(look).lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        for member in &self.members {
            if let ClusterOutcome::Failed { cause, next } = &member.outcome {
                let said = format!("{} could not be checked: {cause}", member.name);
                text.push('\n');
                lines(&mut text, &said, 0, look);
                next.iter().for_each(|next| lines(&mut text, next, 2, look));
            }
        }
        for names in &self.same {
            text.push('\n');
            lines(&mut text, &format!("{} are the same cluster", names.join(", ")), 0, look);
        }
        self.findings(&mut text, look);
        self.told_links(&mut text, look);
        self.next_steps(&mut text, look);
        self.result(&mut text, exit, look);
        escape_ci_commands(&text).into_owned()
    }

    /// A row for each cluster.
    fn clusters(&self, look: Look) -> Table {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(look.columns()).unwrap_or(u16::MAX));
        table.set_header(["CLUSTER", "LINKERD", "KUBERNETES", "ERRORS", "WARNINGS", "NOT CHECKED", "EXIT"]);
        for member in &self.members {
            let name = clean(&member.name).into_owned();
            let status = member.outcome.status().to_string();
            let Some(document) = member.outcome.document() else {
                table.add_row([&name, "-", "-", "-", "-", "all", &status]);
                continue;
            };
            let versions = document.subject.as_ref().map(|subject| &subject.versions);
            let kubernetes = versions.and_then(|versions| versions.kubernetes.clone());
            let checks = &document.verdict.checks;
            table.add_row([
                name,
                linkerd(document),
                kubernetes.unwrap_or_else(|| "?".to_owned()),
                document.verdict.roots.error.to_string(),
                document.verdict.roots.warning.to_string(),
                checks.not_checked.unwrap_or(checks.not_judged).to_string(),
                status,
            ]);
        }
        table
    }

    /// The findings in the order of their repair, each with its clusters.
    fn findings(&self, text: &mut String, look: Look) {
        let spread = self.spread();
        if spread.is_empty() {
            return;
        }
        _ = writeln!(text, "\n{}", look.strong("FINDINGS"));
        for Spread { severity, check, title, clusters } in spread {
            let place = |(name, many): (&&str, &usize)| match many {
                1 => (*name).to_owned(),
                many => format!("{name} ({many})"),
            };
            let places: Vec<String> = clusters.iter().map(place).collect();
            _ = writeln!(
                text,
                "{}  {}  {}",
                look.severity(severity),
                look.strong(check),
                clean(title.unwrap_or_default())
            );
            lines(text, &format!("in {}", places.join(", ")), 4, look);
        }
    }

    /// The first step of the repair plan of each cluster, with its command.
    fn next_steps(&self, text: &mut String, look: Look) {
        let mut is_first = true;
        for member in &self.members {
            let Some(document) = member.outcome.document() else { continue };
            let Some(step) = document.repair_plan.as_ref().and_then(|plan| plan.steps.first()) else {
                continue;
            };
            if std::mem::take(&mut is_first) {
                // The commands of a live cluster name its context.
                let is_live = document.origin.as_ref().is_some_and(|origin| origin.kind == "live");
                let condition = if is_live { "" } else { " (first select the context of the cluster)" };
                _ = writeln!(text, "\n{}{condition}", look.strong("NEXT STEPS"));
            }
            let words = format!("{}: {}: {}", member.name, step.checks.join(", "), step.step.text);
            for line in wrapped_to(&clean(&words), look.prose(), 3, "") {
                _ = writeln!(text, "{line}");
            }
            for line in step.step.command.iter().flat_map(|command| clean_lines(command)) {
                _ = writeln!(text, "    {}", look.command(&line));
            }
        }
    }

    /// The number of clusters with each status.
    fn result(&self, text: &mut String, exit: u8, look: Look) {
        let status = |wanted: u8| self.members.iter().filter(|member| member.outcome.status() == wanted).count();
        let (unread, unseen): (Vec<_>, Vec<_>) = self.links.unseen.iter().partition(|unseen| unseen.why == UNREAD);
        let links = [
            (self.links.mismatches.len(), "fault of Links", "faults of Links"),
            (unseen.len(), "Link not checked", "Links not checked"),
            (unread.len(), "cluster without its Links", "clusters without their Links"),
        ];
        let links = links.into_iter().filter(|(many, ..)| *many > 0);
        let links: String = links.map(|(many, one, all)| format!(", {}", count(many, one, all))).collect();
        let result = format!(
            "exit {exit}: {} of {} fine, {} with findings, {} not checked in full, {} not judged{links}",
            status(exit::FINE),
            self.members.len(),
            status(exit::FINDINGS),
            status(exit::NOT_CHECKED),
            status(exit::COULD_NOT_RUN) + status(exit::USAGE),
        );
        text.push('\n');
        labelled(text, "result", &result, look);
        let one = format!("{} (or --bundle FILE) prints the report of one", own("check --context CLUSTER"));
        labelled(text, "more", &one, look);
        labelled(text, "", "-o 'html=reports/{cluster}.html' writes the reports of all", look);
    }

    fn told_links(&self, text: &mut String, look: Look) {
        let Seen { mismatches, fit, unseen } = &self.links;
        if mismatches.is_empty() && fit.is_empty() && unseen.is_empty() {
            return;
        }
        _ = writeln!(text, "\n{}", look.strong("LINKS, FROM BOTH ENDS"));
        for Mismatch { check, severity, between, link, message, evidence, fix } in mismatches {
            _ = writeln!(
                text,
                "{}  {}  {} -> {} (Link {})",
                look.severity(*severity),
                look.strong(check),
                clean(&between.0),
                clean(&between.1),
                clean(link)
            );
            lines(text, message, 2, look);
            for (cluster, said) in evidence {
                lines(text, &format!("{cluster}: {said}"), 4, look);
            }
            lines(text, &format!("fix: {fix}"), 2, look);
        }
        for line in fit {
            lines(text, &format!("fits  {line}"), 0, look);
        }
        for (why, links) in self.not_checked() {
            let said = match links.as_slice() {
                [one] if why != UNREAD => format!("not checked  {}: {why}", one.line),
                links => {
                    let (what, names) = self.unchecked_links(why, links);
                    format!("not checked  {what}: {why} ({names})")
                }
            };
            lines(text, &said, 0, look);
        }
    }

    /// The Links that could not be checked, by reason.
    fn not_checked(&self) -> BTreeMap<&str, Vec<&Unseen>> {
        let mut found: BTreeMap<&str, Vec<&Unseen>> = BTreeMap::new();
        for one in &self.links.unseen {
            found.entry(&one.why).or_default().push(one);
        }
        found
    }

    /// Several Links with the same reason: their number, and the first of them.
    fn unchecked_links(&self, why: &str, links: &[&Unseen]) -> (String, String) {
        // If a cluster's Links could not be read, their number is not known.
        let is_unread = why == UNREAD;
        let names: Vec<String> = match is_unread {
            true => links.iter().map(|one| one.line.from.clone()).collect(),
            false => links.iter().map(|one| format!("{} -> {}", one.line.from, one.line.to)).collect(),
        };
        let what = match is_unread {
            true => format!("the Links of {}", count(links.len(), "cluster", "clusters")),
            false => count(links.len(), "Link", "Links"),
        };
        (what, some_of(&names, LISTED))
    }

    pub fn json(&self, status: u8) -> String {
        let members = self.members.iter().map(|member| match &member.outcome {
            ClusterOutcome::Judged(document) => json!({
                "name": member.name,
                "status": document.verdict.status,
                "report": document,
            }),
            ClusterOutcome::Failed { cause, next } => json!({
                "name": member.name,
                "status": exit::COULD_NOT_RUN,
                "error": cause,
                "next": next,
            }),
        });
        let findings = self.spread().into_iter().map(|Spread { severity, check, title, clusters }| {
            json!({"check": check, "title": title, "severity": severity, "clusters": clusters})
        });
        let mismatches = self.links.mismatches.iter().map(|one| {
            let evidence = one.evidence.iter();
            let evidence = evidence.map(|(cluster, said)| json!({"cluster": cluster, "said": said}));
            json!({
                "check": one.check,
                "severity": one.severity,
                "from": one.between.0,
                "to": one.between.1,
                "link": one.link,
                "message": one.message,
                "evidence": evidence.collect::<Vec<Value>>(),
                "fix": one.fix,
            })
        });
        let line = |line: &link_endpoints::Line| json!({"from": line.from, "to": line.to, "link": line.link});
        let unseen = self.links.unseen.iter().map(|one| json!({"link": line(&one.line), "why": one.why}));
        let document = json!({
            "schema": "meshdoctor.fleet/1",
            "tool": {"name": "meshdoctor", "version": env!("CARGO_PKG_VERSION")},
            "status": status,
            "clusters": members.collect::<Vec<Value>>(),
            "oneCluster": self.same,
            "findings": findings.collect::<Vec<Value>>(),
            "links": {
                "mismatches": mismatches.collect::<Vec<Value>>(),
                "fit": self.links.fit.iter().map(line).collect::<Vec<Value>>(),
                "notChecked": unseen.collect::<Vec<Value>>(),
            },
        });
        super::text::escape_json(format!("{document:#}\n"))
    }
}

/// The releases of a control plane, one or several.
fn linkerd(document: &Document) -> String {
    let versions = document.subject.iter().flat_map(|subject| subject.versions.control_plane.values());
    let mut versions: Vec<&str> = versions.map(String::as_str).collect();
    versions.sort_unstable();
    versions.dedup();
    if versions.is_empty() { "?".to_owned() } else { versions.join(", ") }
}

/// A text after a label, wrapped.
fn labelled(text: &mut String, label: &str, said: &str, look: Look) {
    write_hanging(text, (&pad(label, 10), 10), said, look.prose());
}

fn lines(text: &mut String, said: &str, indent: usize, look: Look) {
    let said = clean(said);
    for (at, line) in wrap(&said, look.prose().saturating_sub(indent + 2)).into_iter().enumerate() {
        let indent = if at == 0 { indent } else { indent + 2 };
        _ = writeln!(text, "{}{line}", " ".repeat(indent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_keep_their_order_of_repair() {
        use Severity::{Error, Warning};
        assert_eq!(merged(&[vec![2, 0, 1], vec![0, 3]], &[Error, Warning, Warning, Error]), [2, 0, 3, 1]);
        assert_eq!(merged(&[vec![0, 1], vec![1, 0]], &[Error, Error]).len(), 2, "a contradiction loses nothing");
    }
}
