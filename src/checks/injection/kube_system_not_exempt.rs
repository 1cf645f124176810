//! `kube-system-not-exempt`: the injector's webhook has failurePolicy Fail and covers a namespace that the
//! cluster itself needs.

use std::collections::BTreeMap;

use super::unmeshed::injector_webhook;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::injection::{Admission, Decision, Skip, WEBHOOKS_LABEL as EXEMPT};
use crate::objects::{DaemonSet, WebhookConfiguration};

const SYSTEM: &str = "kube-system";
/// Network plugins, by the names of their DaemonSets.
const NETWORK: [&str; 10] = [
    "antrea-agent",
    "aws-node",
    "calico-node",
    "canal",
    "cilium",
    "kube-flannel-ds",
    "kube-ovn-cni",
    "kube-router",
    "ovnkube-node",
    "weave-net",
];
/// The label of the cluster's DNS.
const DNS: (&str, &str) = ("k8s-app", "kube-dns");
/// Admission webhooks that the cluster's objects depend on, by the names of their Deployments.
const ADMISSION: [&str; 4] =
    ["cert-manager", "cert-manager-webhook", "gatekeeper-controller-manager", "kyverno-admission-controller"];

/// Programs that add nodes, by the label `app.kubernetes.io/name` of their pods.
const NODES: [&str; 3] = ["aws-cluster-autoscaler", "cluster-autoscaler", "karpenter"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.partial_list::<Namespace>();
    let sets = ctx.partial_list::<DaemonSet>();
    let deployments = ctx.partial_list::<Deployment>();
    let Some((configuration, webhook)) = injector_webhook(ctx)? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    // The API server's default is Fail.
    if !matches!(webhook.failure_policy.as_str(), "Fail" | "") {
        return Err(Unjudged::not_applicable("the injector's webhook has failurePolicy Ignore"));
    }
    let namespaces = namespaces?;
    let admission = Admission::new(namespaces, Some(webhook), None);
    let mut findings: Vec<Finding> = Vec::new();
    let system = namespaces.iter().find(|namespace| namespace.metadata.name == SYSTEM);
    if let Some(system) = system.filter(|_| admission.calls(SYSTEM)) {
        findings.push(finding(
            ctx,
            configuration,
            system,
            "the injector's webhook has failurePolicy Fail and covers kube-system. While the injector is \
             down, DNS, the network plugin and other components that the injector needs cannot start either",
        ));
    }
    let mut others: BTreeMap<&str, (&'static str, Evidence)> = BTreeMap::new();
    let lists = [("DaemonSet", sets?), ("Deployment", deployments?)];
    for (kind, list) in lists {
        for workload in list.iter().filter(|workload| workload.metadata.namespace != SYSTEM) {
            let home = ctx.namespaces().control_plane.as_str();
            let Some(message) = needed(kind, workload, home) else { continue };
            let (meta, template) = (&workload.metadata, &workload.spec.template);
            let decision = admission.decide(&meta.namespace, &template.metadata, &template.spec);
            if !matches!(decision, Decision::Skip(Skip::NotCalled(_)) | Decision::Unknown) {
                let object = format!("{kind} {}/{}", meta.namespace, meta.name);
                let seen = Evidence::field(object, "metadata.name", &meta.name);
                others.entry(&meta.namespace).or_insert((message, seen));
            }
        }
    }
    for (name, (message, seen)) in others {
        if let Some(namespace) = namespaces.iter().find(|namespace| namespace.metadata.name == name) {
            findings.push(finding(ctx, configuration, namespace, message).evidence(seen));
        }
    }
    Ok(findings.into())
}

/// The consequence if a workload cannot start while the injector is down; `None` if it is not essential.
fn needed(kind: &str, workload: &Workload, home: &str) -> Option<&'static str> {
    let name = workload.metadata.name.as_str();
    match kind {
        "DaemonSet" if NETWORK.contains(&name) => Some(
            "the injector's webhook has failurePolicy Fail and covers the network plugin's namespace. While \
             the injector is down, new nodes get no network, and no injector starts there without one",
        ),
        "Deployment" if workload.spec.template.metadata.label(DNS.0) == Some(DNS.1) => Some(
            "the injector's webhook has failurePolicy Fail and covers the namespace of the cluster's DNS. \
             While the injector is down, DNS cannot start either, and the control plane needs it",
        ),
        "Deployment" if name == "linkerd-proxy-injector" && workload.metadata.namespace == home => Some(
            "the injector's webhook has failurePolicy Fail and covers the injector itself. Once all its pods are \
             gone, none can be created again, because each new pod needs the webhook",
        ),
        "Deployment" if adds_nodes(workload) => Some(
            "the injector's webhook has failurePolicy Fail and covers the namespace of the node autoscaler. While \
             the injector is down, the autoscaler cannot start and adds no node on which an injector could run",
        ),
        "Deployment" if ADMISSION.contains(&name) => Some(
            "the injector's webhook has failurePolicy Fail and covers the namespace of another admission \
             webhook. While the injector is down, that webhook cannot start, and each may wait for the other",
        ),
        _ => None,
    }
}

fn adds_nodes(workload: &Workload) -> bool {
    if workload.spec.replicas == Some(0) {
        return false;
    }
    let label = workload.spec.template.metadata.label("app.kubernetes.io/name");
    label.is_some_and(|name| NODES.contains(&name)) || NODES.contains(&workload.metadata.name.as_str())
}

fn finding(ctx: &Context<'_>, configuration: &WebhookConfiguration, namespace: &Namespace, message: &str) -> Finding {
    let name = namespace.metadata.name.as_str();
    let remedy = Remedy::new().run(
        StepKind::Annotation,
        "Exempt the namespace from Linkerd's webhooks",
        kubectl().words("label namespace").arg(name).arg(format!("{EXEMPT}=disabled")),
    );
    let act = "If the webhook's namespaceSelector was changed, restore the release's selector";
    let remedy = match name {
        SYSTEM => upgrade::with_values(ctx, remedy, act, Options::none()),
        _ => remedy,
    };
    ctx.finding(Subject::object("Namespace", "", name), message)
        .evidence(Evidence::field(
            format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
            "webhooks[].namespaceSelector",
            format!("does not exempt {name}"),
        ))
        .evidence(Evidence::field(
            format!("Namespace {name}"),
            format!("metadata.labels[{EXEMPT}]"),
            namespace.metadata.label(EXEMPT).unwrap_or("not set"),
        ))
        .remedy(remedy)
}
