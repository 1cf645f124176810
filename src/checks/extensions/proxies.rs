//! Checks whether the proxies in an extension's namespaces are ready and have the current trust anchors.

use super::running::{evicted, status};
use super::{by_owner, is_installing, names};
use crate::certificates::BundlePrint;
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::trust_roots::{BUNDLE, TRUST_ROOTS, in_force, written};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::pod_status::{counts_as_unwell, unhealthy};
use crate::objects::container::TRUST_ANCHORS;

/// Reports meshed pods in the namespaces that do not run, whose proxy is not ready, or whose trust anchors
/// are not current; and namespaces without any. Reads `pods`, the ConfigMap of the trust anchors, and, if
/// available, `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, namespaces: &[&str]) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let meshed = |namespace: &str| {
        let namespace = namespace.to_owned();
        let of =
            move |pod: &&Pod| pod.metadata.namespace == namespace && pod.metadata.label(CONTROL_PLANE_NS).is_some();
        pods.iter().filter(of)
    };
    let mut findings: Vec<Finding> = Vec::new();
    for namespace in namespaces {
        if meshed(namespace).next().is_none() {
            ctx.complete_list::<Pod>()?;
            let is_empty = !pods.iter().any(|pod| pod.metadata.namespace == *namespace);
            let awaited = is_empty && is_installing(ctx, namespace);
            findings.push(spared(none(ctx, extension, namespace), awaited));
        }
        let over = meshed(namespace).filter(|pod| unhealthy(pod).is_none() && counts_as_unwell(pod));
        let over = by_owner(ctx, over.map(|pod| ((), pod)));
        findings.extend(over.iter().map(|((owner, ()), pods)| evicted(ctx, extension, owner, pods)));
        let ill = meshed(namespace).filter(|pod| unhealthy(pod).is_some()).map(|pod| ((), pod));
        findings.extend(by_owner(ctx, ill).iter().map(|((owner, ()), pods)| {
            let finding = ctx.finding(
                owner.subject(names(pods)),
                "meshed pods of the extension are not running, or their proxy is not ready: requests to them fail or \
                 wait",
            );
            spared(finding, ctx.are_starting(pods)).evidences(pods.iter().map(|pod| status(pod))).remedy(
                Remedy::new().command(
                    "Read the proxy's log",
                    kubectl()
                        .namespace(&owner.namespace)
                        .words("logs")
                        .operand(&pods[0].metadata.name)
                        .words("-c linkerd-proxy --tail 20"),
                ),
            )
        }));
    }
    match in_force(ctx) {
        Ok(current) => {
            let all = namespaces.iter().flat_map(|namespace| meshed(namespace));
            findings.extend(stale(ctx, all, current.as_ref()));
        }
        Err(missing) => ctx.gap(missing),
    }
    Ok(Verdict::from(findings))
}

/// The workloads whose proxies have another trust bundle. The certificate checks report the consequence and
/// the remedy, but a row of `linkerd check` for the extension's proxies fails too, as a warning.
fn stale<'a>(ctx: &Context<'a>, pods: impl Iterator<Item = &'a Pod>, current: Option<&BundlePrint>) -> Vec<Finding> {
    let held = pods.filter_map(|pod| Some((written(pod)?.parse::<BundlePrint>().ok()?, pod)));
    let other =
        held.filter(|(held, _)| !current.is_some_and(|current| held.same_text(current) || held.same_anchors(current)));
    let message = match current {
        Some(_) => {
            "proxies of the extension have outdated trust anchors; `data-plane-anchors-stale` describes \
             the effect"
        }
        None => {
            "the current trust anchors are missing, so those of the extension's proxies cannot be \
             compared; `trust-roots-missing` describes the effect"
        }
    };
    let roots = format!("ConfigMap {}/{TRUST_ROOTS}", ctx.namespaces().control_plane);
    let by_owner = by_owner(ctx, other);
    let findings = by_owner.iter().map(|((owner, held), pods)| {
        let meta = &pods[0].metadata;
        let path = format!("containers[linkerd-proxy].env[{TRUST_ANCHORS}]");
        let mut remedy = Remedy::new();
        match current {
            Some(_) => {
                remedy.steps.push(renew(
                    ctx,
                    owner,
                    &names(pods),
                    Needs::NewProxy,
                    "new pods get the current trust anchors",
                ));
            }
            None => remedy = remedy.note("Restore the ConfigMap first"),
        }
        ctx.finding(owner.subject(names(pods)), message)
            .severity(Severity::Info)
            .rows_as(Severity::Warning)
            .parameter("anchors")
            .evidence(Evidence::field(meta.described("Pod"), path, held.shown()))
            .evidence(Evidence::field(
                &roots,
                format!("data[{BUNDLE}]"),
                current.map_or_else(|| "missing".to_owned(), BundlePrint::shown),
            ))
            .remedy(remedy)
    });
    findings.collect()
}

fn none(ctx: &Context<'_>, extension: Extension, namespace: &str) -> Finding {
    ctx.finding(Subject::object("Namespace", "", namespace), format!("no pod of the extension {extension} is meshed"))
        .parameter("none")
        .evidence(Evidence::other(format!("Pods in {namespace}"), format!("none has the label {CONTROL_PLANE_NS}")))
        .remedy(Remedy::new().command(
            "List its pods, and check whether they have a proxy",
            kubectl().namespace(namespace).words("get pods").option("-L", CONTROL_PLANE_NS),
        ))
}
