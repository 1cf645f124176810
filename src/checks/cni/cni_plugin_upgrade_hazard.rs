//! `cni-plugin-upgrade-hazard`: what an upgrade of linkerd-cni would break: on the way, or once it is there.

use super::crossing::{self, Upgrade, asked_for, image};
use super::installers::{installers, subject};
use super::remedy::onto_version;
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::{Arg, Line, kubectl, program};
use crate::fetched::Why;
use crate::finding::{Finding, Remedy, StepKind};
use crate::item::{Item, Kind};
use crate::model::cni;
use crate::objects::Workload;
use crate::version::CniVersion;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let known = ctx.knowledge.cni_plugin();
    let newest = CniVersion::Plugin(known.last_release().clone());
    let to = asked_for(ctx).unwrap_or(&newest);
    let Some(row) = known.for_version(to) else {
        return Err(Unjudged::not_applicable(format!("linkerd-cni {to} is not known")));
    };
    let mut unknown_versions = Vec::new();
    let mut findings = Vec::new();
    let (mut at_it, mut others) = (false, false);
    for set in installers(ctx)? {
        let Some(from) = cni::version_of(&set.spec.template) else { continue };
        let runs = known.for_version(&from);
        if runs.is_some_and(|row| row.clean_up_broken) {
            findings.push(leaves_tokens(ctx, set, &from, to));
        }
        if runs.is_none() && !matches!(from, CniVersion::InLinkerd(_)) {
            unknown_versions.push(from);
            continue;
        }
        if from == *to {
            at_it = true;
            continue;
        }
        others = true;
        findings.extend(crossing::judge(ctx, &Upgrade { set, runs, to, row }));
    }
    if let Some(from) = unknown_versions.first() {
        // Of a vendor's build nobody can say what an upgrade changes; only who asked for it is told so.
        if asked_for(ctx).is_some() {
            let why = Why::Malformed { message: format!("its tag does not say its version: {from}") };
            ctx.gap(ctx.lacking(Item::List(Kind::DaemonSet), why, "the linkerd-cni that is installed"));
        } else if findings.is_empty() {
            return Err(Unjudged::not_applicable(
                "the version of linkerd-cni that is installed is not known",
            ));
        }
    }
    if at_it && !others && unknown_versions.is_empty() && findings.is_empty() {
        return Err(Unjudged::not_applicable(format!("linkerd-cni {to} is what is installed")));
    }
    Ok(findings.into())
}

/// Replaces the pod of one node while no other pod is there that could be locked out; the reader names the node.
fn node_by_node(set: &Workload) -> Line {
    let node = || Arg::placeholder("NODE_NAME");
    let labels = &set.spec.template.metadata.labels;
    let labels: Vec<String> = match labels.get("k8s-app") {
        Some(app) => vec![format!("k8s-app={app}")],
        None => labels.iter().map(|(key, value)| format!("{key}={value}")).collect(),
    };
    let pods = |words: &'static str| {
        let call = kubectl().namespace(&set.metadata.namespace).words(words).option("-l", labels.join(","));
        call.option("--field-selector", Arg::known("spec.nodeName=").then(node()))
    };
    let drain = kubectl().words("drain").operand(node()).words("--ignore-daemonsets --delete-emptydir-data");
    drain
        .and(pods("delete pod"))
        .and(program("sleep").words("10"))
        .and(pods("wait pod --for=condition=Ready --timeout=5m"))
        .and(kubectl().words("uncordon").operand(node()))
}

fn leaves_tokens(ctx: &Context<'_>, set: &Workload, from: &CniVersion, to: &CniVersion) -> Finding {
    let to = if from == to { ctx.knowledge.cni_plugin().last_release().to_string() } else { to.to_string() };
    let to = format!("v{}", to.trim_start_matches('v'));
    let because = "the installed version leaves a dead token behind each time it stops";
    let remedy = onto_version(ctx, Remedy::new(), Some((&to, because)));
    let remedy = remedy.run(
        StepKind::Command,
        "Or, where the DaemonSet cannot go onto the host network: set its updateStrategy to OnDelete, upgrade it, and go node by node. Where the new pod does not become Ready, remove the entry of linkerd-cni from the file that the node's runtime loads",
        node_by_node(set),
    );
    ctx.finding(
        subject(set),
        "each restart or upgrade of this linkerd-cni can lock its nodes: it stops without removing its entry, whose token dies with its pod, and then no pod starts there, including the new linkerd-cni",
    )
    .parameter("clean-up")
    .evidence(image(set))
    .remedy(remedy)
}
