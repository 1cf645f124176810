//! `link-anchors-differ`: a linked cluster trusts other anchors than this one does.

use std::collections::BTreeSet;

use super::links::{CLUSTER, links, other_cluster, subject};
use crate::certificates::{Certificate, from_pem, from_restored_bundle};
use crate::checks::certificates::remedy::{
    add_to_bundle, put_bundle, read_bundle, restart_control_plane, restart_meshed,
};
use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::checks::trust_roots::{BUNDLE, TRUST_ROOTS};
use crate::checks::upgrade::CURRENT_BUNDLE;
use crate::item::Program;
use crate::objects::Link;

/// The bundle of the other cluster.
const THEIRS: &str = "bundle-other.crt";
/// The bundle of both.
const OF_BOTH: &str = "bundle-of-both.crt";

/// The value of the chart.
const INSTALLED: &str = "identityTrustAnchorsPEM";

/// The row of `linkerd check` that this check answers, and the one that also fails if access is refused.
const SHARED: &str = "clusters share trust anchors";
const ACCESS: &str = "remote cluster access credentials are valid";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let pem = config.and_then(|config| config.data.get(BUNDLE));
    let own = pem.and_then(|pem| from_pem(pem.as_bytes()).ok()).unwrap_or_default();
    if own.is_empty() {
        return Err(Unjudged::blocked("trust-roots-missing", "the trust anchors of this cluster are not known"));
    }
    let own: BTreeSet<String> = own.iter().map(Certificate::print).collect();
    let installed = installed(ctx);
    let mut findings = Vec::new();
    for link in links {
        match ctx.probe(Program::LinkedCluster, &link.metadata.namespace, &link.metadata.name) {
            Err(missing) => ctx.gap(missing),
            // It may be reachable for the controller, which connects from inside this cluster.
            Ok(answer) if !answer.is_an_answer() => {
                let finding = finding(ctx, link, AnchorDifference::Unreached, &answer.describe());
                findings.push(finding.likely().fails_rows([SHARED, ACCESS]));
            }
            Ok(answer) if !answer.is_well() => {
                let finding = finding(ctx, link, AnchorDifference::NotToBeHad, &answer.describe());
                // The controller of the link is refused too.
                let refused = matches!(answer.status, 401 | 403);
                findings.push(if refused { finding.fails_rows([SHARED, ACCESS]) } else { finding });
            }
            Ok(answer) => {
                let theirs: BTreeSet<String> = answer.anchors.iter().cloned().collect();
                let found = match (&installed, own == theirs, own.is_disjoint(&theirs)) {
                    // Other checks report anchors in force that differ from the installed ones.
                    (Some(installed), _, _) if *installed == theirs => continue,
                    (None, true, _) => continue,
                    (Some(_), true, _) => AnchorDifference::OnPaper,
                    (_, false, true) => AnchorDifference::NoneShared,
                    (_, false, false) => AnchorDifference::SomeShared,
                };
                let namespace = &ctx.namespaces().control_plane;
                let seen = match (found, &installed) {
                    (AnchorDifference::OnPaper, Some(installed)) => Evidence::field(
                        format!("ConfigMap {namespace}/linkerd-config"),
                        format!("data.values: {INSTALLED}"),
                        shown(installed),
                    ),
                    _ => Evidence::field(
                        format!("ConfigMap {namespace}/{TRUST_ROOTS}"),
                        format!("data[{BUNDLE}]"),
                        shown(&own),
                    ),
                };
                findings.push(finding(ctx, link, found, &shown(&theirs)).evidence(seen));
            }
        }
    }
    Ok(findings.into())
}

/// The anchors from this cluster's installation; the other cluster provides the same information.
fn installed(ctx: &Context<'_>) -> Option<BTreeSet<String>> {
    let config = ctx.or_note(config(ctx)).flatten();
    let values = config.and_then(ConfigMap::chart_values)?;
    let anchors = from_restored_bundle(values.text(INSTALLED)?.trim()).ok()?;
    Some(anchors.iter().map(Certificate::print).collect())
}

/// The steps that give this cluster the anchors of both. The other cluster needs the same steps.
fn one_bundle(ctx: &Context<'_>, remedy: Remedy, theirs: &str) -> Remedy {
    let of_theirs = kubectl()
        .in_context(other_cluster())
        .namespace(theirs)
        .words("get configmap linkerd-identity-trust-roots -o")
        .arg(r"jsonpath={.data.ca-bundle\.crt}");
    let remedy = remedy.command("Write the bundle of the other cluster to a file", of_theirs.to_file(THEIRS));
    let act = "Write the current bundle of this cluster, followed by that of the other, to a file";
    let remedy = add_to_bundle(ctx, remedy, act, OF_BOTH, THEIRS);
    let remedy = put_bundle(ctx, remedy, "Apply the bundle of both in this cluster", OF_BOTH);
    let remedy = restart_meshed(ctx, restart_control_plane(ctx, remedy));
    remedy.note(format!(
        "Do the same in the other cluster with {OF_BOTH}: apply it, restart the control plane, then \
             the meshed workloads. Replace issuers only after both clusters have it"
    ))
}

/// The difference between the anchors of two clusters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnchorDifference {
    Unreached,
    NotToBeHad,
    OnPaper,
    NoneShared,
    SomeShared,
}

fn shown(prints: &BTreeSet<String>) -> String {
    format!("fingerprints {}", prints.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
}

fn finding(ctx: &Context<'_>, link: &Link, found: AnchorDifference, said: &str) -> Finding {
    let (severity, parameter, message) = match found {
        AnchorDifference::Unreached => (
            Severity::Error,
            "unreached",
            "the API server of the linked cluster is unreachable from here with the link's credentials. If \
             the link's controller cannot reach it either, mirror services are not updated",
        ),
        AnchorDifference::NotToBeHad => (
            Severity::Error,
            "refused",
            "the trust anchors of the linked cluster cannot be read: it rejects the link's credentials, or \
             its control plane is incomplete",
        ),
        AnchorDifference::OnPaper => (
            Severity::Info,
            "on-paper",
            "the linked cluster was installed with the trust anchors that are used here, but \
             linkerd-config here has others. The mesh works, but `linkerd check` compares linkerd-config \
             and fails",
        ),
        AnchorDifference::NoneShared => (
            Severity::Error,
            "disjoint",
            "the linked cluster and this one share no trust anchor: every mTLS connection between them \
             fails",
        ),
        AnchorDifference::SomeShared => (
            Severity::Warning,
            "partly",
            "the linked cluster and this one share some trust anchors, but not all: connections fail as \
             soon as an issuer uses one of the others",
        ),
    };
    let cluster = &link.spec.target_cluster_name;
    let theirs = match link.spec.target_cluster_linkerd_namespace.as_str() {
        "" => "linkerd",
        namespace => namespace,
    };
    let remedy = Remedy::new();
    let remedy = match found {
        AnchorDifference::Unreached => remedy
            .command(
                "Check in the log of the link's controller whether it reaches that API server",
                kubectl()
                    .namespace(&link.metadata.namespace)
                    .words("logs")
                    .option("-l", format!("{CLUSTER}={cluster}"))
                    .words("-c service-mirror --tail=50"),
            )
            .note(
                "If it does not, correct the address in the link's credentials, or link the clusters again. \
                 The API server there needs a certificate of the authority that the credentials name",
            ),
        AnchorDifference::NotToBeHad => remedy.command(
            "Check that the other cluster has the ConfigMap linkerd-config, and link the clusters again",
            kubectl().in_context(other_cluster()).namespace(theirs).words("get configmap linkerd-config"),
        ),
        AnchorDifference::OnPaper => {
            let steps = read_bundle(ctx, remedy, "Write the current bundle to a file", CURRENT_BUNDLE);
            put_bundle(ctx, steps, "Set it as the bundle of the installation", CURRENT_BUNDLE)
        }
        AnchorDifference::NoneShared | AnchorDifference::SomeShared => one_bundle(ctx, remedy, theirs),
    };
    // The command requires identical anchors.
    ctx.finding(subject(link), message)
        .severity(severity)
        .rows_as(Severity::Error)
        .fails_rows([SHARED])
        .parameter(parameter)
        .evidence(Evidence::other(format!("linkerd-config of cluster {cluster}"), said))
        .remedy(remedy)
}
