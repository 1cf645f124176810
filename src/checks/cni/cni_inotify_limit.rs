//! `cni-inotify-limit`: the installer cannot watch the node's CNI directory, because the node has no inotify
//! instances left.

use super::installers::installers;
use super::logs::{pod_lines, unmatched_logs};
use super::nodes::Nodes;
use super::purge::installer_restarted;
use super::target::target;
use crate::checks::prelude::*;
use crate::knowledge::SignatureScope;

/// Signature of the installer's error.
pub(super) const SIGNATURE: &str = "inotify-exhausted";
/// The limit per user.
const SYSCTL: &str = "fs.inotify.max_user_instances";

const EXHAUSTED: &str = "linkerd-cni does not see changes of the node's CNI files, because the node's \
                         inotify instance limit is reached. Older installers keep running without the watch; \
                         newer ones exit and restart";
const TIGHT: &str = "the node's inotify instance limit is low: once it is reached, linkerd-cni no longer \
                     sees changes of the node's CNI files";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    if installers(ctx)?.is_empty() {
        return Ok(Verdict::fine());
    }
    unmatched_logs(ctx);
    let pods = ctx.optional_list::<Pod>();
    let mut findings: Vec<Finding> = Vec::new();
    for line in pod_lines(ctx, SignatureScope::InstallerLog) {
        if line.signature.id != SIGNATURE {
            continue;
        }
        let pod = pods.iter().find(|p| p.metadata.name == line.pod && p.metadata.namespace == line.namespace);
        let object = format!("Pod {}/{}", line.namespace, line.pod);
        let said = Evidence::other(format!("{object}, log"), line.line.trim());
        let node = pod.map(|pod| pod.node_name.as_str()).filter(|node| !node.is_empty());
        let subject = match node {
            Some(node) => Subject::node(node),
            None => Subject::object(Kind::Pod, line.namespace, line.pod),
        };
        if findings.iter().any(|finding| finding.subjects.contains(&subject)) {
            continue;
        }
        findings.push(
            ctx.finding(subject, EXHAUSTED)
                .evidence(said)
                .remedy(raise(ctx, node.unwrap_or_default()))
                .tie(ends(node.unwrap_or_default())),
        );
    }
    let mut looked = !ctx.log_hints().is_empty();
    for snapshot in ctx.snapshot_hints() {
        let Some(limit) = snapshot.sysctl.as_ref().and_then(|sysctl| sysctl.get(SYSCTL)) else { continue };
        looked = true;
        let Ok(number) = limit.trim().parse::<u64>() else { continue };
        let known = findings.iter().any(|finding| finding.subjects.contains(&Subject::node(&snapshot.node)));
        if i64::try_from(number).is_ok_and(|number| number <= ctx.param("instances")) && !known {
            let finding = ctx
                .finding(Subject::node(&snapshot.node), TIGHT)
                .severity(Severity::Info)
                .evidence(Evidence::other(format!("node {}", snapshot.node), format!("{SYSCTL} = {number}")))
                .remedy(raise(ctx, &snapshot.node));
            findings.push(finding);
        }
    }
    if !looked {
        let part = format!("the logs of the installers, or {SYSCTL} of the nodes");
        ctx.gap(ctx.missing(Item::Logs, Why::NotOffered, part));
    }
    Ok(findings.into())
}

/// Ties a node without instances to the installer that exits there because of it.
pub(super) fn ends(node: &str) -> Tie {
    Tie::Fact(format!("cni-installer {SIGNATURE} on {node}"))
}

fn raise(ctx: &Context<'_>, node: &str) -> Remedy {
    let words = "Raise the limit on the running node";
    let remedy = match node {
        "" => Remedy::new().step(StepKind::Command, format!("{words}: {SYSCTL} = 512")),
        node => {
            // The limit is that of the node in any privileged pod, and not every host has a shell.
            let set = [Arg::known("sysctl"), Arg::known("-w"), Arg::from(format!("{SYSCTL}=512"))];
            Remedy::new().command(words, Command::in_debug_pod(node, set))
        }
    };
    let place = match Nodes::for_steps(ctx).system(ctx, node).map(|system| system.id.as_str()) {
        Some("bottlerocket") => "settings.kernel.sysctl of the user data",
        Some("talos") => "machine.sysctls of the machine configuration",
        Some(_) | None => "/etc/sysctl.d, or in the node's image",
    };
    let remedy = remedy.step(StepKind::NodeFile, format!("Make it permanent: {SYSCTL} = 512 in {place}"));
    match node {
        "" => remedy.note("Restart the node's linkerd-cni pod, so that it starts its watch"),
        node => installer_restarted(remedy, &target(ctx), node),
    }
}
