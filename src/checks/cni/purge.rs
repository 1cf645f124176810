//! How an entry of linkerd-cni is taken out of a file of a node, fitted to what the node's host has: jq, only head and
//! tail, or no shell at all.

use super::nodes::may_cover;
use super::remedy::{Target, VERIFY, target, through_host_network};
use crate::checks::Context;
use crate::finding::{Remedy, StepKind};
use crate::knowledge::System;
use crate::model::node::{ConfFile, LinkerdEntry};

/// Takes an entry out of a file of a node: one node at a time, cordoned first. `known` is the entry, where somebody gave
/// the node's files. Reads `daemonsets.apps` and `nodes`.
pub(super) fn purge_entry(
    ctx: &Context<'_>,
    node: &str,
    system: Option<&System>,
    known: Option<(&ConfFile, &LinkerdEntry)>,
) -> Remedy {
    let target = target(ctx);
    let remedy = Remedy::verified_by(VERIFY);
    if target.clean_up_broken(ctx) {
        // Whatever is removed by hand, this version leaves behind again when its pod is replaced.
        return through_host_network(ctx, remedy);
    }
    let returns = may_cover(ctx, node);
    let why = if returns {
        "Take one node at a time, and cordon it first: between the removal of the entry and the installer's return new meshed pods on it would fail. Running pods are not touched"
    } else {
        "Take one node at a time, and cordon it while its files change. Running pods are not touched"
    };
    let remedy = remedy.run(StepKind::Command, why, format!("NODE={node}\nkubectl cordon \"$NODE\""));
    let remedy = edit(remedy, system, known);
    let remedy = if returns {
        let Target { namespace: ns, .. } = target;
        remedy.run(
            StepKind::Command,
            "Delete the linkerd-cni pod of the node, so that the next one installs a fresh token and entry, and wait until it is Ready",
            format!(
                "kubectl -n {ns} delete pod -l k8s-app=linkerd-cni --field-selector spec.nodeName=\"$NODE\"\n\
                 sleep 5; kubectl -n {ns} wait pod -l k8s-app=linkerd-cni --field-selector spec.nodeName=\"$NODE\" --for condition=Ready --timeout 120s"
            ),
        )
    } else {
        remedy
    };
    remedy.run(
        StepKind::Command,
        "Uncordon the node, delete those of its pods that never started (one without an owner is not recreated: keep its manifest), and go on with the next node",
        "kubectl uncordon \"$NODE\"\nkubectl get pods -A --field-selector spec.nodeName=\"$NODE\",status.phase=Pending",
    )
}

/// What an entry looks like to jq, wherever it stands: in the list, or in what multus delegates to.
const WITHOUT_ENTRY: &str = r#"walk(if type == "array" then map(select((type == "object" and .type == "linkerd-cni") | not)) else . end)"#;

fn edit(remedy: Remedy, system: Option<&System>, known: Option<(&ConfFile, &LinkerdEntry)>) -> Remedy {
    let file = match known {
        Some((file, _)) => format!("F={}", file.path()),
        None => {
            "F=$(ls -d /etc/cni/net.d/* | LC_ALL=C sort | grep -E '\\.(conf|conflist|json)$' | head -n 1)"
                .to_owned()
        }
    };
    let lines = known.and_then(|(file, entry)| Lines::of(file, entry));
    let what = match (known, &lines) {
        (Some((file, entry)), Some(Lines { from, to, ends_list })) => {
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
        (None, _) => {
            "the object of type linkerd-cni in the file that the runtime loads (the first by name)".to_owned()
        }
    };
    let jq = format!(
        "{file}; cp -p \"$F\" \"$F.tmp\" && jq '{WITHOUT_ENTRY}' \"$F\" > \"$F.tmp\" && mv \"$F.tmp\" \"$F\""
    );
    match system.map(|system| system.id.as_str()) {
        Some("talos") => remedy.step(
            StepKind::NodeFile,
            format!("Drain the node and replace it, for it has no shell to remove {what}"),
        ),
        Some("bottlerocket") => {
            let command = lines.as_ref().map_or_else(
                || {
                    format!(
                        "{file}; cat \"$F\"    # write the rest to \"$F.tmp\", then: mv \"$F.tmp\" \"$F\""
                    )
                },
                |lines| format!("{file}; {}", lines.without()),
            );
            remedy.run(
                StepKind::NodeFile,
                format!("Remove the entry: delete {what}. Bottlerocket's host has neither jq nor an editor: from the control container run enter-admin-container, in the admin container sudo sheltie, and there the command below"),
                command,
            )
        }
        Some(_) | None => remedy.run(
            StepKind::NodeFile,
            format!("Remove the entry, as root on the node's host. Without jq there, delete {what}"),
            format!(
                "kubectl debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- chroot /host sh\n{jq}"
            ),
        ),
    }
}

/// An entry that stands on lines of its own, so that it can be cut out by line numbers.
struct Lines {
    from: usize,
    to: usize,
    /// The entry ends its list, so the line before it loses its comma.
    ends_list: bool,
}

impl Lines {
    fn of(file: &ConfFile, entry: &LinkerdEntry) -> Option<Lines> {
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
        alone.then_some(Lines { from, to, ends_list })
    }

    /// With what every host has: head and tail.
    fn without(&self) -> String {
        let Lines { from, to, ends_list } = self;
        let rest = format!("tail -n +{} \"$F\"", to + 1);
        let kept = if *ends_list {
            let before = from - 1;
            format!(
                "head -n {} \"$F\"; L=$(head -n {before} \"$F\" | tail -n 1); echo \"${{L%,*}}\"; {rest}",
                before - 1
            )
        } else {
            format!("head -n {} \"$F\"; {rest}", from - 1)
        };
        format!("{{ {kept}; }} > \"$F.tmp\" && cat \"$F.tmp\" && mv \"$F.tmp\" \"$F\"")
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::model::node::{Defaults, NodeFiles, NodeSnapshot, normalise};

    /// Runs the command that cuts an entry out; the rest of the file.
    fn cut(name: &str, text: &str) -> Option<serde_json::Value> {
        let files = [("cni/net.d/10-x.conflist".to_owned(), text.as_bytes().to_vec())];
        let files = NodeFiles { node: "n1".to_owned(), files: files.into() };
        let snapshot = NodeSnapshot::parse(&normalise(&files, &Defaults::default()));
        let (file, entry) = snapshot.all_linkerd_entries().into_iter().next().expect("an entry");
        let lines = Lines::of(file, entry)?;
        let path = std::env::temp_dir().join(format!("meshdoctor-purge-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        let command = format!("F={}; {}", path.display(), lines.without());
        let ran = Command::new("sh").arg("-c").arg(command).output().expect("a shell");
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
    fn an_entry_on_lines_of_its_own_can_be_cut_out_without_jq() {
        let list = |plugins: &str| format!("{{\n  \"name\": \"x\",\n  \"plugins\": [\n{plugins}\n  ]\n}}\n");
        let base = "    {\n      \"type\": \"aws-cni\"\n    }";
        let entry = "    {\n      \"type\": \"linkerd-cni\",\n      \"linkerd\": {\n        \"ipv6\": false\n      }\n    }";
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
