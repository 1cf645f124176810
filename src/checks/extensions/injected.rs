//! Checks whether the pods of an extension have a proxy.

use super::{by_owner, installed_in, names, own};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::rewrite;
use crate::model::injection::{Admission, Decision, INJECT, Level, Skip, WEBHOOKS_LABEL};
use crate::model::owners;
use crate::model::pod_status;

/// The consequences for an extension without proxies, and the rows that fail in addition to the card's first.
pub(in crate::checks) struct Unmeshed {
    /// The functions that fail without the proxy, as a clause.
    pub because: &'static str,
    /// The row that requires the proxy.
    pub row: &'static str,
    /// The row that requires running pods, which counts a pod without a proxy as not ready.
    pub running: &'static str,
    /// The row that requires healthy proxies, which fails if no pod has a proxy.
    pub healthy: &'static str,
}

/// Reports pods of an extension that run without a proxy. Reads `namespaces`, `pods`, and, if available,
/// `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, unmeshed: &Unmeshed) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let home = installed_in(ctx, extension)?;
    let admission = Admission::new(ctx.partial_list::<Namespace>()?, None, None);
    let namespace = &home.metadata.name;
    let bare = own(pods, namespace, extension).filter(|pod| pod.spec.proxy().is_none() && counts(pod));
    let meshed = pods.iter().any(|pod| pod.metadata.namespace == *namespace && pod.spec.proxy().is_some());
    let mut rows = vec![unmeshed.row, unmeshed.running];
    if !meshed {
        rows.push(unmeshed.healthy);
    }
    let message = format!("pods of the extension {extension} have no linkerd-proxy: {}", unmeshed.because);
    let findings = by_owner(ctx, bare.map(|pod| ((), pod))).into_iter().map(|((owner, ()), pods)| {
        let pod = pods[0];
        let names = names(&pods);
        let containers: Vec<&str> = pod.spec.all_containers().map(|c| c.name.as_str()).collect();
        let object = format!("Pod {namespace}/{}", pod.metadata.name);
        let asked = pod.metadata.annotation(INJECT);
        let remedy = remedy(ctx, &admission, (home, &owner), &pods);
        let on_namespace = home.metadata.annotation(INJECT).filter(|_| asked.is_none());
        ctx.finding(owner.subject(names), message.clone())
            .evidence(Evidence::field(&object, "spec.containers", containers.join(", ")))
            .evidences(asked.map(|v| Evidence::field(&object, format!("metadata.annotations[{INJECT}]"), v)))
            .evidences(on_namespace.map(|value| {
                Evidence::field(format!("Namespace {namespace}"), format!("metadata.annotations[{INJECT}]"), value)
            }))
            .fails_rows(rows.clone())
            .tie(Tie::Fact("injector-does-not-answer".to_owned()))
            .tie(Tie::Workload("Namespace".to_owned(), String::new(), namespace.clone()))
            .remedy(remedy)
    });
    Ok(findings.collect())
}

/// The steps that add proxies to pods: without the reason that the injector passes over them, a restart adds none.
fn remedy(ctx: &Context<'_>, admission: &Admission<'_>, (home, owner): (&Namespace, &Owner), pods: &[&Pod]) -> Remedy {
    let namespace = home.metadata.name.as_str();
    let names = names(pods);
    let renewed = |remedy: Remedy| {
        let because = "a proxy is only added when a pod is created";
        remedy.with(renew(ctx, owner, &names, Needs::NewPods, because))
    };
    let pod = pods[0];
    let skip = match admission.decide(namespace, &pod.metadata, &pod.spec) {
        Decision::Skip(skip) => Some(skip),
        Decision::Inject { .. } | Decision::Unknown => None,
    };
    match skip {
        Some(Skip::Disabled | Skip::NotAsked | Skip::InvalidValue(Level::Pod, _)) => {
            let act = format!("The injector passes over these pods: set {INJECT}: \"enabled\"");
            rewrite::meshed(ctx, Remedy::new(), &act, owner, pods)
        }
        Some(Skip::InvalidValue(Level::Namespace, _)) => {
            let annotate = kubectl().words("annotate --overwrite namespace").operand(namespace);
            let act = format!("Correct {INJECT}: with an invalid value, the injector adds no proxy");
            renewed(Remedy::new().run(StepKind::Annotation, act, annotate.arg(format!("{INJECT}=enabled"))))
        }
        Some(Skip::HostNetwork) => rewrite::off_host_network(ctx, Remedy::new(), owner),
        Some(Skip::NotCalled(_)) if home.metadata.label(WEBHOOKS_LABEL) == Some("disabled") => {
            let label = kubectl().words("label namespace").operand(namespace);
            let act = format!("Remove the label {WEBHOOKS_LABEL}: disabled, with which the injector is not called");
            renewed(Remedy::new().command(act, label.arg(format!("{WEBHOOKS_LABEL}-"))))
        }
        _ => renewed(
            Remedy::new().command(
                "See that the injector is ready; while it does not answer, new pods start without a proxy too",
                kubectl()
                    .namespace(&ctx.namespaces().control_plane)
                    .words("get pods -l linkerd.io/control-plane-component=proxy-injector"),
            ),
        ),
    }
}

/// Whether a proxy could run in a pod: it is not finished or terminating, and not a static pod.
fn counts(pod: &Pod) -> bool {
    let over = matches!(pod_status::label(pod).as_str(), "Completed" | "Evicted");
    !over && !pod.is_finished() && pod.metadata.deletion_timestamp.is_none() && !owners::is_static(pod)
}
