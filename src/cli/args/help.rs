//! The text below the flags in `check -h`: examples and exit statuses.

use std::fmt::Write;

use clap::Command;

use crate::exit;

/// The commands to start with.
const STARTS: [(&str, &str); 4] = [
    ("meshdoctor check", "what is broken in the cluster of this kubeconfig"),
    ("meshdoctor demo", "the same on an embedded cluster"),
    ("meshdoctor explain TEXT", "a check, a log line, a header or an exit code"),
    ("meshdoctor ticket -o FILE", "an archive for support"),
];

/// Example commands of `check`, each with its purpose.
const EXAMPLES: [(&str, &str); 9] = [
    ("meshdoctor check", "the cluster of the current kubeconfig context"),
    ("meshdoctor check -n shop --fail-on warning", "one team's workloads, for CI"),
    ("meshdoctor check --bundle bundle.tar.gz --nodes ./nodes", "add node evidence to a bundle"),
    ("meshdoctor check --to edge-26.8.3", "before an upgrade to that release"),
    ("meshdoctor check --save support.tar.gz", "keep the redacted evidence for a ticket"),
    ("meshdoctor check --bundle support.tar.gz", "the same result later, without the cluster"),
    ("meshdoctor check -o json=before.json -o table", "also keep the report"),
    ("meshdoctor check -o junit=check.xml -o sarif=check.sarif", "for a pipeline"),
    ("meshdoctor check --verify before.json", "after the repair: recheck the findings"),
];

/// The exit statuses, short enough for one terminal line each.
const STATUSES: [(u8, &str); 6] = [
    (exit::FINE, "nothing at or above --fail-on; all requested evidence was read"),
    (exit::FINDINGS, "a finding at or above --fail-on"),
    (exit::USAGE, "wrong usage: an unknown check, namespace, context or flag"),
    (exit::COULD_NOT_RUN, "could not run: no cluster, an unreadable bundle"),
    (exit::NOT_CHECKED, "nothing failed, but requested evidence was unavailable"),
    (exit::INTERRUPTED, "interrupted"),
];

/// The flags that `check -h` shows, each in a line; `check --help` shows all of them in full.
const COMMON: [(&str, &str); 26] = [
    ("files", "Bundles, dumps or folders to read instead of the cluster"),
    ("bundle", "Read a bundle or dump, not the cluster"),
    ("complete", "Treat these lists of a dump as complete"),
    ("at", "Time of the dump (RFC 3339)"),
    ("nodes", "Add snapshots or CNI folders of nodes"),
    ("logs", "Read logs of control plane and proxies"),
    ("probe", "Query Linkerd's programs through port-forwards"),
    ("proxies", "Read the metrics of proxies"),
    ("context", "Use this kubeconfig context; repeatable"),
    ("only", "Run only these checks or categories"),
    ("skip", "Skip these checks or categories"),
    ("namespace", "Check only these namespaces"),
    ("fail_on", "Exit 1 from this severity on"),
    ("waivers", "Accept the findings in this file"),
    ("baseline", "Ignore findings of an earlier report"),
    ("verify", "Recheck findings of an earlier report"),
    ("wait", "Retry for up to DURATION until it passes"),
    ("pre", "Check whether the cluster can run Linkerd"),
    ("manifests", "Check manifests without a cluster"),
    ("with", "Check the cluster as if with these manifests"),
    ("to", "Preview an upgrade to this release of Linkerd"),
    ("output", "Format: table, short, json, ..."),
    ("coverage", "Show what was not checked, and why"),
    ("save", "Save the redacted evidence as a bundle"),
    ("verbose", "Show all details"),
    ("quiet", "Print no warnings or progress"),
];

/// Example commands of `ticket`.
const TICKETS: [(&str, &str); 4] = [
    ("meshdoctor ticket --dry-run", "list what would be sent"),
    ("meshdoctor ticket -o ticket.tar.gz", "for the current kubeconfig context"),
    ("meshdoctor ticket --bundle support.tar.gz -o ticket.tar.gz", "from an existing bundle"),
    ("meshdoctor check --bundle ticket.tar.gz", "how support opens it: the same findings"),
];

/// The text below the commands in `meshdoctor -h`.
pub(super) fn start() -> String {
    let mut text = examples(&STARTS);
    text.push_str(
        "\nRead-only, except for the opt-in commands 'collect --node-pods', 'check --publish' and 'fix --apply'.\n\
         Exit status: 0 fine, 1 findings, 2 usage error, 3 could not run, 4 not checked, 130 interrupted.",
    );
    text
}

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

/// `check`, with a short help of the flags that most runs need.
pub(in crate::cli) fn shortened(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        match COMMON.iter().find(|(known, _)| *known == id) {
            Some((_, help)) => {
                let long = arg.get_long_help().or(arg.get_help()).cloned().unwrap_or_default();
                arg.help(*help).long_help(long)
            }
            None if matches!(id, "help" | "version") => arg,
            None => arg.hide_short_help(true),
        }
    });
    let mut short = examples(&EXAMPLES[..3]);
    short.push_str("\nExit status: 0 fine, 1 findings, 2 usage error, 3 could not run, 4 not checked\n");
    short.push_str("All flags: --help");
    command.after_help(short).after_long_help(of_check())
}

/// The flags of evidence and connection that `-h` shows for commands about workloads.
const WITH_WORKLOADS: [&str; 4] = ["bundle", "nodes", "context", "proxies"];

/// Headings with flags that few runs of these commands need; the last ones for `ticket`.
const RARE: [&str; 4] = ["Evidence", "Connection", "Checks", "Upgrade"];

/// A command other than `check`, whose short help leaves out the rarer flags of evidence and connection.
pub(in crate::cli) fn of_workloads(command: Command) -> Command {
    // A ticket takes all checks.
    let rare = if command.get_name() == "ticket" { &RARE[..] } else { &RARE[..2] };
    let command = command.mut_args(|arg| {
        let is_shared = arg.get_help_heading().is_some_and(|of| rare.contains(&of));
        let is_rare = is_shared && !WITH_WORKLOADS.contains(&arg.get_id().as_str());
        if is_rare { arg.hide_short_help(true) } else { arg }
    });
    let examples = command.get_after_help().map(ToString::to_string);
    let short = examples.as_ref().map_or_else(String::new, |examples| format!("{examples}\n"));
    command.after_help(format!("{short}All flags: --help")).after_long_help(examples.unwrap_or_else(|| " ".to_owned()))
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
