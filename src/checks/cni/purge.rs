//! Steps that remove a linkerd-cni entry from a file of a node, depending on the tools of its host: jq, or those of a
//! debug pod if the host has no shell.

use super::host::on_files;
use super::nodes::may_cover;
use super::pods::failed_deleted;
use super::remedy::through_host_network;
use super::target::{CniDaemonSet, target};
use crate::checks::prelude::*;
use crate::command::Line;
use crate::knowledge::System;
use crate::model::node::{ConfFile, LinkerdEntry};
use crate::model::sandbox::AddFailure;

/// Steps that remove an entry from a file of a node: one node at a time, cordoned first. `known` is the
/// entry, if the node's files were provided; `failing` are pods for which linkerd-cni failed there. Reads
/// `daemonsets.apps` and `nodes`.
pub(super) fn purge_entry(
    ctx: &Context<'_>,
    node: &str,
    system: Option<&System>,
    known: Option<(&ConfFile, &LinkerdEntry)>,
    failing: &[&AddFailure<'_>],
) -> Remedy {
    let target = target(ctx);
    let remedy = Remedy::new();
    if target.clean_up_broken(ctx) {
        // This version would leave the entry behind again when its pod is replaced.
        return failed_deleted(ctx, through_host_network(ctx, remedy), failing);
    }
    let returns = may_cover(ctx, node);
    let why = if returns {
        "Cordon one node at a time: new meshed pods on it would fail until the installer has written a new \
         entry. Running pods are not affected"
    } else {
        "Cordon one node at a time while its files change. Running pods are not affected"
    };
    let cordon = kubectl().words("cordon").operand(Arg::node());
    let remedy = remedy.command(why, Command::about_node(node, [cordon]));
    let remedy = edit(remedy, system, node, known);
    let remedy = if returns { installer_restarted(remedy, &target, node) } else { remedy };
    let uncordon = kubectl().words("uncordon").operand(Arg::node());
    let remedy = remedy.run(
        StepKind::Command,
        "Uncordon the node before the next one. Pods that failed there start when the kubelet retries",
        Command::about_node(node, [uncordon]),
    );
    // The earlier steps replaced the installer's pods.
    let left: Vec<&AddFailure<'_>> = failing
        .iter()
        .copied()
        .filter(|add| {
            !returns
                || add.namespace != target.namespace
                || add.owner.kind != "DaemonSet"
                || add.owner.name != target.name
        })
        .collect();
    failed_deleted(ctx, remedy, &left)
}

/// Adds the step after which the next installer of a node writes a new token and entry.
pub(super) fn installer_restarted(remedy: Remedy, target: &CniDaemonSet<'_>, node: &str) -> Remedy {
    remedy.command(
        "Delete the linkerd-cni pod of the node, so that the next one installs a new token and entry, and \
         wait until it is Ready",
        Command::about_node(node, [Line::from(deleted(target)), Line::shell("sleep 5"), Line::from(awaited(target))]),
    )
}

fn deleted(target: &CniDaemonSet<'_>) -> crate::command::Call {
    on_its_node(kubectl().namespace(target.namespace).words("delete pod"))
}

fn awaited(target: &CniDaemonSet<'_>) -> crate::command::Call {
    on_its_node(kubectl().namespace(target.namespace).words("wait pod --for condition=Ready --timeout 120s"))
}

fn on_its_node(call: crate::command::Call) -> crate::command::Call {
    call.words("-l k8s-app=linkerd-cni --field-selector").arg(Arg::known("spec.nodeName=").then(Arg::node()))
}

/// Removes the entry with jq from a list or a multus delegate.
const BY_JQ: &str = "cp -p \"$F\" \"$F.tmp\" && jq \"walk(if type == \\\"array\\\" then map(select((type == \
                     \\\"object\\\" and .type == \\\"linkerd-cni\\\") | not)) else . end)\" < \"$F\" > \
                     \"$F.tmp\" && mv \"$F.tmp\" \"$F\"";

/// Removes the entry by hand. The copy keeps its name until it is complete: no runtime loads a file with that suffix.
const BY_EDITOR: &str = "cp -p \"$F\" \"$F.tmp\" && vi \"$F.tmp\" && mv \"$F.tmp\" \"$F\"";

/// The first file by name, if the loaded file is not known.
const FIRST: &str = "F=$(ls -d /etc/cni/net.d/* | LC_ALL=C sort | grep -E \"\\.(conf|conflist|json)$\" | head -n 1)";

fn edit(remedy: Remedy, system: Option<&System>, node: &str, known: Option<(&ConfFile, &LinkerdEntry)>) -> Remedy {
    let file = match known {
        Some((file, _)) => Line::set("F", Arg::path(file.path())),
        None => Line::shell(FIRST),
    };
    let lines = known.and_then(|(file, entry)| EntryLines::find(file, entry));
    let what = match (known, &lines) {
        (Some((file, entry)), Some(EntryLines { from, to, ends_list, .. })) => {
            let comma = if *ends_list { ", and the comma before them" } else { "" };
            format!("{} of {}, lines {from} to {to}{comma}", entry.json_path, file.path())
        }
        (Some((file, entry)), None) => {
            let (from, to) = (entry.span.start, entry.span.end);
            format!(
                "the object {} of {}, from line {}, column {}, to line {}, column {}",
                entry.json_path,
                file.path(),
                from.line,
                from.column,
                to.line,
                to.column
            )
        }
        (None, _) => "the object of type linkerd-cni in the file that the runtime loads (the first by name)".to_owned(),
    };
    let lacks_shell = system.is_some_and(System::lacks_shell);
    let script = match (&lines, lacks_shell) {
        (Some(lines), true) => lines.script(file),
        (Some(lines), false) => {
            let mut script = vec![file, Line::shell("if command -v jq > /dev/null"), then(BY_JQ), Line::shell("else")];
            script.extend(lines.cut());
            script.push(Line::shell("fi"));
            script
        }
        (None, true) => vec![file, Line::shell(BY_EDITOR)],
        (None, false) => vec![file, Line::shell(BY_JQ)],
    };
    let by_hand = if lines.is_none() && lacks_shell { "; the editor works on a copy" } else { "" };
    on_files(remedy, system, node, &format!("Remove the entry: delete {what}{by_hand}"), script)
}

fn then(line: &'static str) -> Line {
    Line::shell("then").and_shell(line)
}

/// An entry on separate lines, which can be removed by line numbers.
struct EntryLines {
    from: usize,
    to: usize,
    /// The line of its type.
    type_line: usize,
    /// The entry is the last of its list, so the comma on the line before it is removed too.
    ends_list: bool,
}

impl EntryLines {
    fn find(file: &ConfFile, entry: &LinkerdEntry) -> Option<EntryLines> {
        let (from, to) = (entry.span.start.line, entry.span.end.line);
        let ends_list = entry.index + 1 == entry.siblings;
        let first = file.line(from)?;
        let last = file.line(to)?;
        let before = file.line(from.checked_sub(1)?)?;
        let alone = from < to
            && first.trim() == "{"
            && last.trim().trim_end_matches(',') == "}"
            && entry.index > 0
            && (!ends_list || before.trim_end().ends_with(','));
        alone.then_some(EntryLines { from, to, type_line: entry.place().line, ends_list })
    }

    /// A script with head and tail, which every host has. It runs only if the lines are unchanged.
    fn script(&self, file: Line) -> Vec<Line> {
        let mut script = vec![file];
        script.extend(self.cut());
        script
    }

    fn cut(&self) -> Vec<Line> {
        let number = |name: &'static str, line: usize| Line::set(name, line.to_string());
        let rest = if self.ends_list {
            "{ head -n $((FROM - 2)) \"$F\"; L=$(line $((FROM - 1))); echo \"${L%,*}\"; tail -n +$((TO + 1)) \"$F\"; } \
             > \"$F.tmp\""
        } else {
            "{ head -n $((FROM - 1)) \"$F\"; tail -n +$((TO + 1)) \"$F\"; } > \"$F.tmp\""
        };
        vec![
            number("FROM", self.from),
            number("TYPE", self.type_line),
            number("TO", self.to),
            Line::shell("line() { head -n \"$1\" \"$F\" | tail -n 1; }"),
            Line::shell("case \"$(line \"$FROM\")$(line \"$TYPE\")$(line \"$TO\")\" in"),
            Line::shell("*{*linkerd-cni*}*) cp -p \"$F\" \"$F.tmp\" &&")
                .and_shell(rest)
                .and_shell("&& mv \"$F.tmp\" \"$F\" ;;"),
            Line::shell("*) echo \"$F has changed since it was read: remove the object by hand\" >&2 ;;"),
            Line::shell("esac"),
        ]
    }
}
#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::model::node::{Defaults, NodeSnapshot, normalise};
    use crate::node_files::NodeFiles;

    /// Runs the command that removes an entry, and returns the rest of the file.
    fn cut(name: &str, text: &str) -> Option<serde_json::Value> {
        let files = [("cni/net.d/10-x.conflist".to_owned(), text.as_bytes().to_vec())];
        let files = NodeFiles { node: "n1".to_owned(), files: files.into() };
        let snapshot = NodeSnapshot::parse(&normalise(&files, &Defaults::default()));
        let (file, entry) = snapshot.all_linkerd_entries().into_iter().next().expect("an entry");
        let lines = EntryLines::find(file, entry)?;
        let path = std::env::temp_dir().join(format!("meshdoctor-purge-{}-{name}-$(id) 'x'", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        let script = lines.script(Line::set("F", Arg::path(path.to_string_lossy())));
        let script = super::Command::in_node_shell(script).to_string();
        let ran = Command::new("sh").arg("-c").arg(script).output().expect("a shell");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let rest = std::fs::read(&path).expect("the file");
        std::fs::remove_file(&path).expect("the file");
        Some(serde_json::from_slice(&rest).expect("what is left is JSON"))
    }

    fn types(config: Option<serde_json::Value>) -> Option<Vec<String>> {
        let config = config?;
        let plugins = config["plugins"].as_array().expect("a list").iter();
        Some(plugins.map(|plugin| plugin["type"].as_str().unwrap_or_default().to_owned()).collect())
    }

    #[test]
    fn entry_on_separate_lines_is_removed_without_jq() {
        let list = |plugins: &str| format!("{{\n  \"name\": \"x\",\n  \"plugins\": [\n{plugins}\n  ]\n}}\n");
        let base = "    {\n      \"type\": \"aws-cni\"\n    }";
        let entry =
            "    {\n      \"type\": \"linkerd-cni\",\n      \"linkerd\": {\n        \"ipv6\": false\n      }\n    }";
        let last = list(&format!("{base},\n{entry}"));
        assert_eq!(types(cut("last", &last)).as_deref(), Some(&["aws-cni".to_owned()][..]));
        let between = list(&format!("{base},\n{entry},\n    {{\"type\": \"cilium-cni\"}}"));
        let both = ["aws-cni".to_owned(), "cilium-cni".to_owned()];
        assert_eq!(types(cut("between", &between)).as_deref(), Some(&both[..]));
        let one_line = list(&format!("{base}, {{\"type\": \"linkerd-cni\"}}"));
        assert_eq!(types(cut("one-line", &one_line)), None);
        let glued = list(&format!("{base}, {{\n\"type\": \"linkerd-cni\"\n}}"));
        assert_eq!(types(cut("glued", &glued)), None);
    }
}
