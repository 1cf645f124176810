//! `cni-plugin-upgrade-hazard`: an upgrade of linkerd-cni would break nodes during or after it.

use super::crossing::{self, Upgrade, destination, image};
use super::installers::{installers, subject};
use super::remedy::{advised_version, onto_version};
use super::target::{asked_for, target};
use crate::checks::prelude::*;
use crate::command::{Line, program};
use crate::finding::When;
use crate::model::cni;
use crate::version::CniVersion;

/// The parameter of the finding about the installed version's clean-up.
const CLEAN_UP: &str = "clean-up";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let known = ctx.knowledge.cni_plugin();
    let newest = CniVersion::Plugin(known.last_release().clone());
    let to = asked_for(ctx).unwrap_or(&newest);
    let row = known.for_version(to);
    let mut unknown_versions = Vec::new();
    let mut findings = Vec::new();
    let (mut at_it, mut others) = (false, false);
    for set in installers(ctx)? {
        let Some(from) = cni::version_of(&set.spec.template) else { continue };
        let runs = known.for_version(&from);
        if runs.is_some_and(|row| row.clean_up_broken) {
            findings.push(leaves_tokens(ctx, set));
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
        match row {
            Some(row) => findings.extend(crossing::judge(ctx, &Upgrade { set, runs, to, row })),
            None => findings.push(not_known(ctx, set, to)),
        }
    }
    if let Some(from) = unknown_versions.first() {
        // The changes of a vendor's build are not known; that is a gap only if an upgrade was requested.
        if asked_for(ctx).is_some() {
            let why = Why::Malformed { message: format!("its tag is not a known version: {from}") };
            ctx.gap(ctx.missing(Item::List(Kind::DaemonSet), why, "the installed linkerd-cni"));
        } else if findings.is_empty() {
            return Err(Unjudged::not_applicable("the installed version of linkerd-cni is not known"));
        }
    }
    findings.extend(chart_and_cli(ctx));
    // With an upgrade of Linkerd, linkerd-cni is upgraded too. The clean-up of the installed version is a
    // problem already.
    let of_today = |finding: &Finding| finding.parameters.iter().any(|parameter| parameter == CLEAN_UP);
    for finding in findings.iter_mut().filter(|finding| ctx.upgrade().is_some() && !of_today(finding)) {
        finding.when = When::AfterUpgrade;
    }
    if at_it && !others && unknown_versions.is_empty() && findings.is_empty() {
        return Err(Unjudged::not_applicable(format!("linkerd-cni {to} is already installed")));
    }
    Ok(findings.into())
}

/// The chart of the target and its CLI install different versions, and the values do not select one.
fn chart_and_cli(ctx: &Context<'_>) -> Option<Finding> {
    let upgrade = ctx.upgrade().filter(|_| ctx.settings.to_cni.is_none())?;
    let plugin = upgrade.plugin.as_ref().filter(|plugin| plugin.by_cli != plugin.by_chart)?;
    let set = target(ctx).set?;
    let (by_chart, by_cli) = (&plugin.by_chart, &plugin.by_cli);
    let words = format!("Choose one, and set it in the values of the chart: image.version={by_cli} or {by_chart}");
    Some(
        ctx.finding(
            subject(set),
            format!(
                "the target's chart linkerd2-cni installs linkerd-cni {by_chart}, but its linkerd \
                 install-cni {by_cli}: the version after the upgrade depends on the method"
            ),
        )
        .severity(Severity::Info)
        .parameter("chart-and-cli")
        .evidence(image(set))
        .evidence(upgrade.evidence())
        .remedy(Remedy::new().step(StepKind::ChartValue, words)),
    )
}

/// An info that the changes of a version are not known.
fn not_known(ctx: &Context<'_>, set: &Workload, to: &CniVersion) -> Finding {
    let known = ctx.knowledge.cni_plugin();
    let words = format!(
        "Read the release notes of linkerd-cni {to} (iptables modes, files, permissions); a newer meshdoctor may \
         know it"
    );
    ctx.finding(
        subject(set),
        "the changes of this linkerd-cni version are not known: only the clean-up of the installed version \
         was checked",
    )
    .severity(Severity::Info)
    .parameter("not-known")
    .evidence(image(set))
    .evidence(destination(ctx, to))
    .evidence(Evidence::other("linkerd-cni plugin", format!("known up to v{}", known.last())))
    .remedy(Remedy::new().note(words))
}

/// Replaces the pod of one drained node, so that no other pod is locked out; the user names the node.
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

fn leaves_tokens(ctx: &Context<'_>, set: &Workload) -> Finding {
    let to = advised_version(ctx);
    let because = "the installed version leaves a dead token behind each time it stops";
    let remedy = onto_version(ctx, Remedy::new(), Some((&to, because)));
    let remedy = remedy.run(
        StepKind::Command,
        "Or, if the DaemonSet cannot use the host network, upgrade it node by node with the updateStrategy OnDelete",
        node_by_node(set),
    )
        .step(StepKind::Note, "If a new pod does not become Ready, remove linkerd-cni's entry from the file that \
            the node's runtime loads");
    ctx.finding(
        subject(set),
        "each restart or upgrade of this linkerd-cni can lock its nodes: it stops without removing its \
         entry, whose token becomes invalid with its pod. Then no pod starts there, including the new \
         linkerd-cni",
    )
    .parameter(CLEAN_UP)
    .evidence(image(set))
    .remedy(remedy)
}
