//! The report that people read: causes first, what they explain folded under them, evidence quoted, steps that can be
//! pasted.

use std::fmt::Write;

use crate::checks::{CheckResult, Outcome};
use crate::finding::Finding;

/// One check's result alone, as cards quote it.
pub fn result(result: &CheckResult, width: usize) -> String {
    let mut text = String::new();
    let findings: Vec<String> = result.findings.iter().map(|f| finding(f, width)).collect();
    text.push_str(&findings.join("\n"));
    match &result.outcome {
        Outcome::Pass => text.push_str("pass\n"),
        Outcome::NotApplicable(reason) => _ = writeln!(text, "not applicable: {reason}"),
        Outcome::Crashed(message) => _ = writeln!(text, "crashed: {message}"),
        Outcome::Findings | Outcome::Unknown => {}
    }
    for gap in &result.gaps {
        _ = writeln!(text, "not judged: {gap}\n            ({})", gap.close());
    }
    text
}

/// One finding.
pub fn finding(finding: &Finding, _width: usize) -> String {
    let mut text = String::new();
    let subjects: Vec<String> = finding.subjects.iter().map(ToString::to_string).collect();
    _ = writeln!(text, "{}  {}  {}", finding.severity, finding.check, subjects.join(", "));
    _ = writeln!(text, "  {}", finding.message);
    for evidence in &finding.evidence {
        _ = writeln!(text, "  seen  {:?}: {}", evidence.place, evidence.said);
    }
    for (n, step) in finding.remedy.steps.iter().enumerate() {
        _ = writeln!(text, "  fix   {}. {}", n + 1, step.text);
    }
    text
}
