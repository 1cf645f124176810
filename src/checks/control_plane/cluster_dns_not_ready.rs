//! `cluster-dns-not-ready`: no pod of the cluster's DNS is ready, so proxies cannot find the control plane.

use crate::checks::prelude::*;
use crate::checks::serving::component_missing;
use crate::model::pod_status::label;

/// The namespace of the cluster's DNS pods.
const NAMESPACE: &str = "kube-system";
/// The label of the cluster's DNS pods, whether CoreDNS or kube-dns.
const LABEL: (&str, &str) = ("k8s-app", "kube-dns");
/// Maximum number of pods quoted in evidence.
const QUOTED: usize = 3;
/// The components whose names a proxy looks up when it starts.
const LOOKED_UP: [&str; 2] = ["identity", "destination"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>();
    let pods = ctx.complete_list::<Pod>()?;
    let own = |namespace: &str, label: Option<&str>| namespace == NAMESPACE && label == Some(LABEL.1);
    let dns: Vec<&Pod> = pods
        .iter()
        .filter(|pod| own(&pod.metadata.namespace, pod.metadata.label(LABEL.0)) && !pod.is_finished())
        .collect();
    let deployments = deployments?;
    if dns.iter().any(|pod| pod.is_ready()) {
        return Ok(Vec::new().into());
    }
    let deployment =
        deployments.iter().find(|deployment| own(&deployment.metadata.namespace, deployment.metadata.label(LABEL.0)));
    let wanted = deployment.map(|deployment| deployment.spec.replicas.unwrap_or(1));
    if dns.is_empty() && wanted.is_none_or(|wanted| wanted == 0) {
        return Err(Unjudged::not_applicable(format!(
            "{NAMESPACE} has no pods with the label {}={}: another DNS server resolves names",
            LABEL.0, LABEL.1
        )));
    }
    let subject = match (deployment, dns.first()) {
        (Some(deployment), _) => Subject::object("Deployment", NAMESPACE, &deployment.metadata.name),
        (None, Some(pod)) => ctx.owners().owner(pod).subject(Vec::new()),
        (None, None) => Subject::thing("the cluster's DNS"),
    };
    let seen = dns.iter().take(QUOTED).map(|pod| {
        Evidence::field(
            format!("Pod {NAMESPACE}/{}", pod.metadata.name),
            "status",
            format!("{}, not ready", label(pod)),
        )
    });
    let none = dns.is_empty().then(|| {
        let name = deployment.map(|deployment| deployment.metadata.name.as_str()).unwrap_or_default();
        let wanted = wanted.unwrap_or_default();
        Evidence::field(
            format!("Deployment {NAMESPACE}/{name}"),
            "spec.replicas",
            format!("{wanted}, but no pod exists"),
        )
    });
    let list = kubectl().namespace(NAMESPACE).words("describe pods -l").arg(format!("{}={}", LABEL.0, LABEL.1));
    let logs = kubectl().namespace(NAMESPACE).words("logs --tail 30 -l").arg(format!("{}={}", LABEL.0, LABEL.1));
    let finding = ctx
        .finding(
            subject,
            "no DNS pod of the cluster is ready: new proxies cannot find identity, destination and the \
            policy controller, so their pods do not become ready. Applications cannot resolve names",
        )
        .evidences(seen)
        .evidences(none)
        .remedy(
            Remedy::new()
                .command("Find out why its pods are not ready", list)
                .command("Read their logs", logs)
                .note("Repair DNS before anything in the mesh: waiting proxies recover once names resolve"),
        );
    let finding = if ctx.are_starting(&dns) { finding.severity(Severity::Info) } else { finding };
    let finding = LOOKED_UP.into_iter().fold(finding, |finding, component| finding.tie(component_missing(component)));
    Ok(finding.into())
}
