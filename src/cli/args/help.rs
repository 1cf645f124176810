//! What `check -h` says beneath its flags: examples, and what the exit statuses mean.

use std::fmt::Write;

use crate::exit;

/// Command lines of `check`, each with what it is for.
const EXAMPLES: [(&str, &str); 9] = [
    ("meshdoctor check", "the cluster of the current kubeconfig context"),
    ("meshdoctor check -n shop --fail-on warning", "one team's workloads, for CI"),
    ("meshdoctor check --only cni --nodes ./nodes --live", "with node evidence beside the cluster"),
    ("meshdoctor check --expected-version edge-26.8.3", "before an upgrade to that release"),
    ("meshdoctor check --save support.tar.gz", "keep the redacted evidence for a ticket"),
    ("meshdoctor check --bundle support.tar.gz", "the same verdict later, without the cluster"),
    ("meshdoctor check -o json=before.json -o table", "keep the report as well"),
    ("meshdoctor check -o junit=check.xml -o sarif=check.sarif", "for a pipeline; docs/formats.md"),
    ("meshdoctor check --verify before.json", "after the repair: what is fixed, what is still there"),
];

/// The exit statuses in as few words as a terminal has room for.
const STATUSES: [(u8, &str); 5] = [
    (exit::FINE, "nothing at or above --fail-on; what was asked for was checked"),
    (exit::FINDINGS, "a finding at or above --fail-on"),
    (exit::USAGE, "wrong usage: an unknown check, namespace, context or flag"),
    (exit::COULD_NOT_RUN, "could not run: no cluster, an unreadable bundle"),
    (exit::NOT_CHECKED, "nothing failed, but something asked for was not checked"),
];

/// Command lines of `ticket`, likewise.
const TICKETS: [(&str, &str); 4] = [
    ("meshdoctor ticket --dry-run", "what would leave this machine"),
    ("meshdoctor ticket -o ticket.tar.gz", "of the cluster of the current kubeconfig context"),
    ("meshdoctor ticket --bundle support.tar.gz -o ticket.tar.gz", "of what was collected before"),
    ("meshdoctor check --bundle ticket.tar.gz", "what support does with it: the same findings"),
];

/// The text for `check`.
pub(super) fn of_check() -> String {
    let mut text = examples(&EXAMPLES);
    text.push_str("\nExit status:\n");
    for (status, meaning) in STATUSES {
        _ = writeln!(text, "  {status}  {meaning}");
    }
    text.truncate(text.trim_end().len());
    text
}

/// The text for `ticket`.
pub(super) fn of_ticket() -> String {
    examples(&TICKETS).trim_end().to_owned()
}

fn examples(examples: &[(&str, &str)]) -> String {
    let mut text = String::from("Examples:\n");
    for (command, purpose) in examples {
        _ = writeln!(text, "  {command}\n      {purpose}");
    }
    text
}
