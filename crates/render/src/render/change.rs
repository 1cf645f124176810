//! The effect of a change on a cluster, as text: first and in full the findings that it introduces, then one
//! line for each cured or remaining one.

use std::collections::BTreeSet;

use super::coverage;
use super::finding::Printer;
use super::look::Look;
use super::subject;
use super::text::{clean, count, wrap, wrap_from};
use crate::finding::{Finding, Severity};
use crate::report::{ChangeCounts, ManifestChange, Report};

/// Columns before the words of a line.
const INDENT: usize = 9;

/// The findings of a report, as blocks. `explained` returns the symptoms of a root.
pub(super) fn blocks(
    change: &ManifestChange,
    report: &Report,
    roots: &[(usize, &Finding)],
    explained: impl Fn(usize) -> Vec<String>,
    printer: &Printer,
    look: Look,
) -> Vec<Vec<String>> {
    let mut blocks = vec![headline(change, report, look)];
    for (at, finding) in roots.iter().filter(|(_, finding)| finding.when.begins()) {
        blocks.push(vec![printer.planned(finding, &explained(*at), None).trim_end().to_owned()]);
    }
    let cured = roots.iter().filter(|(_, finding)| finding.when.ends()).map(|(_, finding)| *finding);
    let stays = roots.iter().filter(|(_, finding)| !finding.when.begins() && !finding.when.ends());
    // Remaining infos are only shown in verbose output.
    let stays = stays.map(|(_, finding)| *finding).filter(|f| f.severity > Severity::Info || look.verbose);
    blocks.push(listed("fixed", "by the change, as far as the manifests show", cured, look));
    blocks.push(listed("remains", "with the change or without it", stays, look));
    blocks
}

/// `WITH THE CHANGE of web.yaml (3 objects): 1 error comes in, 2 findings are cured, 1 stays`.
/// Checks that lack evidence, such as an object of the change that cannot be read, may have found more.
fn headline(change: &ManifestChange, report: &Report, look: Look) -> Vec<String> {
    const WORD: &str = "WITH THE CHANGE";
    let findings = &report.findings;
    let gaps = coverage::deciding(report);
    let unable: BTreeSet<&str> = gaps.iter().flat_map(|gap| &gap.checks).copied().collect();
    let is_sure = unable.is_empty() && report.coverage.set_aside.is_empty();
    let roots = || findings.iter().filter(|finding| finding.caused_by.is_empty());
    let ChangeCounts { breaks, changes, infos, ends } = ChangeCounts::from_findings(roots());
    let stay = roots().filter(|finding| !finding.when.begins() && !finding.when.ends()).count();
    let comes = match (breaks, changes) {
        (0, 0) if is_sure => "no new problem appears".to_owned(),
        (0, 0) if unable.is_empty() => "no new problem found, but parts of it were not checked".to_owned(),
        (0, 0) => {
            format!("no new problem found, but {} could not run", count(unable.len(), "check", "checks"))
        }
        (errors, others) => {
            let each = [(errors, "error", "errors"), (others - infos, "warning", "warnings"), (infos, "info", "infos")];
            let each: Vec<String> =
                each.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(*n, one, many)).collect();
            format!("{} {}", each.join(", "), if errors + others == 1 { "appears" } else { "appear" })
        }
    };
    let objects = count(change.objects, "object", "objects");
    let fixed = match ends {
        0 => String::new(),
        ends => format!("{} fixed, ", count(ends, "finding is", "findings are")),
    };
    let said =
        format!("of {} ({objects}): {comes}, {fixed}{}", clean(&change.given), count(stay, "remains", "remain"),);
    let painted = match (breaks, changes) {
        (0, 0) if is_sure => look.good(WORD),
        (0, _) => look.doubtful(WORD),
        _ => look.bad(WORD),
    };
    let first = look.prose().saturating_sub(WORD.len() + 1);
    let mut lines = wrap_from(&said, first, look.prose() - 2).into_iter();
    let first = format!("{painted} {}", lines.next().unwrap_or_default());
    std::iter::once(first).chain(lines.map(|line| format!("  {line}"))).collect()
}

/// Findings under a label, in one or two lines each.
fn listed<'a>(word: &str, meaning: &str, findings: impl Iterator<Item = &'a Finding>, look: Look) -> Vec<String> {
    let mut lines = Vec::new();
    for finding in findings {
        let about = subject::brief(finding.subjects.iter());
        let said = format!("{}: {about}: {}", finding.check, clean(&finding.message));
        let severity = format!("{:<9}", finding.severity.label());
        for (at, line) in wrap(&said, look.prose() - INDENT - 2).into_iter().enumerate() {
            let before = if at == 0 { look.severity_like(finding.severity, &severity) } else { " ".repeat(INDENT) };
            lines.push(format!("  {before}{line}"));
        }
    }
    if lines.is_empty() {
        return lines;
    }
    lines.insert(0, format!("{} {meaning}", look.strong(word)));
    lines
}
