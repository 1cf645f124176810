//! The human-readable parts of a ticket: the report as Markdown, and the list of files to be sent. Text of a
//! cluster is in fences that it cannot close.

use super::finding::{Form, Printer};
use super::look::Look;
use super::table::{Folding, result_line};
use super::text::{clean, count, fenced, pad, thousands, width, wrap};
use super::{coverage, header, repair};
use crate::finding::Severity;
use crate::report::Report;
use crate::save::BundleEntry;

/// Width of fenced text.
const WIDTH: usize = 100;

/// The report as Markdown for a ticket.
pub fn markdown(report: &Report) -> String {
    let look = Look::plain(WIDTH);
    let printer = Printer::new(look, Form::of_report(report));
    let folding = Folding::from_findings(&report.findings);
    let mut text = format!("# meshdoctor report\n\n{}\n", fenced(&[result_line(report)], "text"));
    text.push_str(&fenced(&header::in_full(report, Look { verbose: true, ..look }), "text"));
    let plan = repair::plan(report, repair::Extent::Full, look);
    if !plan.is_empty() {
        text.push_str(&format!("\n## Repair plan\n\n{}", fenced(&plan, "text")));
    }
    let mut infos = Vec::new();
    for (at, finding) in report.findings.iter().enumerate().filter(|(at, _)| folding.is_root(*at)) {
        let explained = folding.explained_by(at, &report.findings);
        if finding.severity == Severity::Info && explained.is_empty() {
            infos.push(finding);
            continue;
        }
        let block = printer.planned(finding, &explained, report.repair.findings.get(&at));
        text.push_str(&format!("\n## {}: {}\n\n{}", finding.severity, finding.check, fenced(&lines(&block), "text")));
    }
    if !infos.is_empty() {
        let column = infos.iter().map(|info| info.check.len()).max().unwrap_or_default();
        let said: Vec<String> = infos.iter().flat_map(|info| lines(&printer.info(info, column))).collect();
        text.push_str(&format!("\n## Worth knowing\n\n{}", fenced(&said, "text")));
    }
    let unchecked = coverage::lines(report, look);
    if !unchecked.is_empty() {
        text.push_str(&format!("\n## Not checked in full\n\n{}", fenced(&unchecked, "text")));
    }
    text
}

fn lines(block: &str) -> Vec<String> {
    block.trim_end().lines().map(str::to_owned).collect()
}

/// Columns before the name of a file.
const NUMBERS: usize = 35;

/// A path in lines of at most `columns`, each but the last ending in a slash. A longer part is not broken.
fn folded(path: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in path.split_inclusive('/') {
        match lines.last_mut() {
            Some(last) if last.is_empty() || width(last) + width(part) <= columns => last.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

/// The files to be sent, the omitted ones, and the number of redactions.
pub fn listing(entries: &[&BundleEntry], left_out: &[String], touched: usize, look: Look) -> String {
    let row = |bytes: &str, objects: &str, redacted: &str, name: &str| {
        let numbers = format!("{bytes:>12}  {objects:>9}  {redacted:>8}  ");
        let name = folded(name, look.columns().saturating_sub(NUMBERS));
        format!("{numbers}{}\n", name.join(&format!("\n{}", " ".repeat(NUMBERS))))
    };
    let number = |n: usize| if n == 0 { "-".to_owned() } else { thousands(n) };
    let mut text = row("bytes", "objects", "redacted", "file");
    for entry in entries {
        let bytes = thousands(usize::try_from(entry.bytes).unwrap_or(usize::MAX));
        text.push_str(&row(&bytes, &number(entry.objects), &number(entry.redacted), &clean(&entry.name)));
    }
    text.push('\n');
    let mut say = |label: &str, words: &str| {
        for (at, line) in wrap(&clean(words), look.prose().saturating_sub(10)).iter().enumerate() {
            text.push_str(&format!("{}{line}\n", pad(if at == 0 { label } else { "" }, 10)));
        }
    };
    if left_out.is_empty() {
        say("left out", "no evidence was read");
    } else {
        say("left out", &format!("read, but not needed by any finding: {}", left_out.join(", ")));
    }
    say(
        "redacted",
        &format!(
            "in {}, replaced if the table counts it and otherwise dropped: private keys, tokens, Secrets \
             except their certificates, environment values, arguments and ConfigMaps that do not belong to \
             Linkerd or the CNI, managed fields",
            count(touched, "object or file", "objects and files")
        ),
    );
    say("kept", "names of namespaces, workloads, pods, nodes and images; messages of events and conditions");
    text
}

/// The end of that list.
pub fn nothing_written(size: u64) -> String {
    let size = thousands(usize::try_from(size).unwrap_or(usize::MAX));
    format!("{}{size} bytes as an archive; nothing was written\n", pad("size", 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_folded_behind_slashes() {
        let path = "cluster/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/0001.json";
        let lines = folded(path, 45);
        assert_eq!(lines, ["cluster/admissionregistration.k8s.io/v1/", "mutatingwebhookconfigurations/0001.json"]);
        assert_eq!(folded("report.txt", 45), ["report.txt"]);
        assert_eq!(folded("a/a-part-that-is-too-long/b", 8), ["a/", "a-part-that-is-too-long/", "b"]);
    }

    #[test]
    fn no_line_closes_its_fence() {
        let lines = ["a ```` b".to_owned(), "```".to_owned()];
        assert_eq!(fenced(&lines, "text"), "`````text\na ```` b\n```\n`````\n");
        assert_eq!(fenced(&["plain".to_owned()], "text"), "```text\nplain\n```\n");
    }
}
