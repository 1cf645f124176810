//! Whether the proxies in namespaces of an extension are well: ready, and with the current trust anchors.

use super::running::{evicted, status};
use super::{by_owner, names, remedy};
use crate::checks::renew::renew;
use crate::checks::trust_roots::{BUNDLE, TRUST_ROOTS, in_force, written};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Severity, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::model::certificates::BundlePrint;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::objects::Pod;
use crate::model::objects::container::TRUST_ANCHORS;
use crate::model::pod_status::{counts_as_unwell, unwell};

/// Meshed pods in the namespaces that do not run or whose proxy is not ready, or holds other trust anchors than the current
/// ones; and namespaces that have none. Reads `pods`, the ConfigMap of the trust anchors, and, where they are there,
/// `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, homes: &[&str]) -> Judgement {
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let meshed = |home: &str| {
        let home = home.to_owned();
        let of = move |pod: &&Pod| {
            pod.metadata.namespace == home && pod.metadata.label(CONTROL_PLANE_NS).is_some()
        };
        pods.iter().filter(of)
    };
    let mut findings: Vec<Finding> = Vec::new();
    for home in homes {
        if meshed(home).next().is_none() {
            ctx.every::<Pod>(Kind::Pod)?;
            findings.push(none(ctx, extension, home));
        }
        let over = meshed(home).filter(|pod| unwell(pod).is_none() && counts_as_unwell(pod));
        let over = by_owner(ctx, over.map(|pod| ((), pod)));
        findings.extend(over.iter().map(|((owner, ()), pods)| evicted(ctx, extension, owner, pods)));
        let ill = meshed(home).filter(|pod| unwell(pod).is_some()).map(|pod| ((), pod));
        findings.extend(by_owner(ctx, ill).iter().map(|((owner, ()), pods)| {
            ctx.finding(
                owner.subject(names(pods)),
                "meshed pods of the extension do not run, or their proxy is not ready: what they serve is refused or \
                 waits",
            )
            .evidences(pods.iter().map(|pod| status(pod)))
            .remedy(remedy(extension).run(
                StepKind::Command,
                "Read what the proxy says",
                format!("kubectl -n {home} logs {} -c linkerd-proxy --tail 20", pods[0].metadata.name),
            ))
        }));
    }
    match in_force(ctx) {
        Ok(current) => {
            let all = homes.iter().flat_map(|home| meshed(home));
            findings.extend(stale(ctx, extension, all, current.as_ref()));
        }
        Err(missing) => ctx.gap(missing),
    }
    Ok(Verdict::from(findings))
}

/// The workloads whose proxies hold another bundle. What it means, and what to do, is for the checks of certificates to
/// say; but the row of `linkerd check` on the extension's proxies asks for it as well, as a warning.
fn stale<'a>(
    ctx: &Context<'a>,
    extension: Extension,
    pods: impl Iterator<Item = &'a Pod>,
    current: Option<&BundlePrint>,
) -> Vec<Finding> {
    let held = pods.filter_map(|pod| Some((written(pod)?.parse::<BundlePrint>().ok()?, pod)));
    let other = held.filter(|(held, _)| {
        !current.is_some_and(|current| held.same_text(current) || held.same_anchors(current))
    });
    let message = match current {
        Some(_) => {
            "proxies of the extension hold another bundle of trust anchors than the current one; `data-plane-anchors-stale` says \
             what follows"
        }
        None => {
            "there is no current bundle of trust anchors that those of the extension's proxies could be compared with; \
             `trust-roots-missing` says what follows"
        }
    };
    let roots = format!("ConfigMap {}/{TRUST_ROOTS}", ctx.namespaces().control_plane);
    let by_owner = by_owner(ctx, other);
    let findings = by_owner.iter().map(|((owner, held), pods)| {
        let meta = &pods[0].metadata;
        let path = format!("containers[linkerd-proxy].env[{TRUST_ANCHORS}]");
        let mut remedy = remedy(extension);
        match current {
            Some(_) => {
                remedy.steps.push(renew(owner, &names(pods), "new pods get the current bundle"));
            }
            None => remedy = remedy.step(StepKind::Note, "Bring the ConfigMap back first"),
        }
        ctx.finding(owner.subject(names(pods)), message)
            .severity(Severity::Info)
            .rows_as(Severity::Warning)
            .parameter("anchors")
            .evidence(Evidence::field(format!("Pod {}/{}", meta.namespace, meta.name), path, held.shown()))
            .evidence(Evidence::field(
                &roots,
                format!("data[{BUNDLE}]"),
                current.map_or_else(|| "there is no such ConfigMap".to_owned(), BundlePrint::shown),
            ))
            .remedy(remedy)
    });
    findings.collect()
}

fn none(ctx: &Context<'_>, extension: Extension, home: &str) -> Finding {
    ctx.finding(
        Subject::object("Namespace", "", home),
        format!("no pod of the extension {extension} takes part in the mesh"),
    )
    .parameter("none")
    .evidence(Evidence::other(format!("Pods in {home}"), format!("none has the label {CONTROL_PLANE_NS}")))
    .remedy(remedy(extension).run(
        StepKind::Command,
        "See what pods there are, and whether they have a proxy",
        format!("kubectl -n {home} get pods -L {CONTROL_PLANE_NS}"),
    ))
}
