//! `gateway-unavailable`: the gateway of this cluster has no Service, no running pod, or no address.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use serde_json::json;

use super::exports::{evidence, through_gateway};
use super::gateway_service::{self, Fault, GATEWAY, IDENTITY, is_gateway};
use crate::checks::extensions::{installed_in, is_installing, reinstall};
use crate::checks::grace::spared;
use crate::checks::network_policies;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::events;
use crate::model::pod_status::{UnhealthyReason, label, unhealthy};
use crate::network_policy::Policies;
use crate::objects::{Event, Texts};

/// Time that a load balancer may need to get an address.
const PROVISIONING: SignedDuration = SignedDuration::from_mins(15);
/// Reasons of events with which controllers of load balancers report a failure: those of Kubernetes' cloud providers,
/// of older ones, and of the AWS Load Balancer Controller.
const FAILURES: [&str; 4] =
    ["SyncLoadBalancerFailed", "CreatingLoadBalancerFailed", "FailedBuildModel", "FailedDeployModel"];

/// The evidence of one run.
struct Gateways<'a> {
    pods: &'a [Pod],
    deployments: &'a [Workload],
    exported: Vec<&'a Service>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.complete_list::<Pod>();
    let deployments = ctx.complete_list::<Deployment>();
    let services = ctx.complete_list::<Service>()?;
    let (pods, deployments) = (pods?, deployments?);
    let home = installed_in(ctx, Extension::Multicluster)?.metadata.name.as_str();
    let known = Gateways { pods, deployments, exported: through_gateway(services) };
    let mut gateways: Vec<&Service> = services.iter().filter(|service| is_gateway(service)).collect();
    // A Link is created from one of several Services of the same pods.
    let named = |service: &Service| service.metadata.annotation(IDENTITY).is_some();
    let all = gateways.clone();
    gateways.retain(|service| {
        let is_twin = |other: &&Service| {
            other.metadata.namespace == service.metadata.namespace && other.spec.selector == service.spec.selector
        };
        named(service) || !all.iter().any(|other| named(other) && is_twin(other))
    });
    let policies = (!gateways.is_empty()).then(|| network_policies::policies(ctx));
    let policies = policies.and_then(|policies| ctx.or_note(policies));
    let mut findings = Vec::new();
    let mut missed: Vec<&Workload> = Vec::new();
    for service in &gateways {
        match (known.missed_by(service), known.without_pod(ctx, service)) {
            (Some(deployment), Some(_)) => {
                missed.push(deployment);
                findings.push(known.selects_none(ctx, service, deployment));
            }
            (None, Some(finding)) => findings.push(finding),
            (_, None) => findings.extend(known.faults(ctx, service, policies.as_ref())),
        }
        findings.extend(known.without_address(ctx, service));
    }
    if let Some(policies) = &policies {
        findings.extend(known.blocked_exports(ctx, &gateways, policies));
        findings.extend(gateways.iter().filter_map(|service| known.without_egress(ctx, service, policies)));
    }
    let unserved: Vec<&Workload> = deployments
        .iter()
        .filter(|one| is_gateway_deployment(one) && one.metadata.namespace == home)
        .filter(|one| !missed.iter().any(|missed| std::ptr::eq(*missed, *one)))
        .filter(|one| {
            let labels = &one.spec.template.metadata.labels;
            !gateways.iter().any(|service| service.metadata.namespace == home && selects(service, labels))
        })
        .collect();
    findings.extend(unserved.iter().map(|one| known.without_service(ctx, one)));
    if gateways.is_empty() && unserved.is_empty() {
        return Err(Unjudged::not_applicable("the cluster has no gateway"));
    }
    let installing = is_installing(ctx, home);
    Ok(findings.into_iter().map(|finding| spared(finding, installing)).collect())
}

/// Whether a Deployment is a gateway, by the labels of the chart.
fn is_gateway_deployment(deployment: &Workload) -> bool {
    let meta = &deployment.metadata;
    meta.label("component") == Some("gateway") && meta.label(EXTENSION_LABEL) == Some(Extension::Multicluster.name())
}

fn selects(service: &Service, labels: &Texts) -> bool {
    let selector = &service.spec.selector;
    !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// The latest failure of a controller to create the load balancer of a Service.
fn failure<'a>(ctx: &Context<'a>, service: &Service) -> Option<&'a Event> {
    let is_it = |event: &&Event| {
        let about = &event.about;
        about.kind == "Service"
            && (about.namespace.as_str(), about.name.as_str()) == service.metadata.key()
            && FAILURES.contains(&event.reason.as_str())
    };
    let events = ctx.or_note(ctx.partial_list::<Event>()).unwrap_or_default();
    events.iter().filter(is_it).max_by_key(|event| event.last)
}

impl<'a> Gateways<'a> {
    /// A finding, an error if Services are exported, since then clients of other clusters depend on the gateway.
    fn finding(&self, ctx: &Context<'_>, subject: Subject, message: &str, severity: Severity) -> Finding {
        let severity = if self.exported.is_empty() { Severity::Info } else { severity };
        ctx.finding(subject, message).severity(severity)
    }

    /// The Deployment with the pods of a Service.
    fn deployment(&self, service: &Service) -> Option<&'a Workload> {
        self.deployments.iter().find(|one| {
            one.metadata.namespace == service.metadata.namespace && selects(service, &one.spec.template.metadata.labels)
        })
    }

    /// The findings for exported Services whose pods network policies close to the gateway's pods.
    fn blocked_exports(&self, ctx: &Context<'_>, gateways: &[&Service], policies: &Policies<'_>) -> Vec<Finding> {
        let callers: Vec<&Pod> = gateways.iter().flat_map(|service| self.own(service)).collect();
        let Some(caller) = callers.first() else { return Vec::new() };
        let judged = self.exported.iter().filter(|service| ctx.judges(&service.metadata.namespace));
        judged
            .filter_map(|service| gateway_service::blocked(ctx, service, &self.own(service), caller, policies))
            .collect()
    }

    /// The finding for a gateway that network policies of its namespace keep from exported Services.
    fn without_egress(&self, ctx: &Context<'_>, service: &Service, policies: &Policies<'_>) -> Option<Finding> {
        let own = self.own(service);
        let gateway = own.first()?;
        let mut ports = BTreeSet::new();
        let mut decided = None;
        let mut closed = Vec::new();
        for exported in &self.exported {
            let Some(pod) = self.own(exported).first().copied() else { continue };
            if let Some((numbers, by)) = gateway_service::kept_from(exported, pod, gateway, policies) {
                ports.extend(numbers);
                decided.get_or_insert(by);
                closed.push(*exported);
            }
        }
        let by = decided?;
        let message = format!(
            "{} deny the multicluster gateway egress to exported Services: calls of other clusters fail",
            network_policies::kind_names(&by)
        );
        let (namespace, name) = service.metadata.key();
        let subject = Subject::object(Kind::Service, namespace, name);
        let finding = ctx.finding(subject, message);
        Some(gateway_service::cannot_forward(finding, gateway, (&closed, &ports), &by))
    }

    /// The Deployment of the gateway whose pods the selector of its Service misses: the Service selects no pod.
    fn missed_by(&self, service: &Service) -> Option<&'a Workload> {
        if !self.own(service).is_empty() || self.deployment(service).is_some() {
            return None;
        }
        let of_gateway =
            |one: &&Workload| is_gateway_deployment(one) && one.metadata.namespace == service.metadata.namespace;
        let mut all = self.deployments.iter().filter(of_gateway);
        all.next().filter(|_| all.next().is_none())
    }

    /// The finding for a Service that selects none of the gateway's pods.
    fn selects_none(&self, ctx: &Context<'_>, service: &Service, deployment: &Workload) -> Finding {
        let (namespace, name) = service.metadata.key();
        let subject = Subject::object(Kind::Service, namespace, name);
        let pairs = |labels: &Texts| {
            let pairs = labels.iter().map(|(key, value)| format!("{key}={value}"));
            pairs.collect::<Vec<_>>().join(", ")
        };
        let labels = &deployment.spec.template.metadata.labels;
        let object = Subject::object(Kind::Deployment, namespace, &deployment.metadata.name);
        let finding = self
            .finding(
                ctx,
                subject.clone(),
                "the gateway's Service selects none of the gateway's pods: clients in other clusters cannot reach the \
                 exported Services of this cluster",
                Severity::Error,
            )
            .parameter("selector")
            .evidence(Evidence::field(&subject, "spec.selector", pairs(&service.spec.selector)))
            .evidence(Evidence::field(&object, "spec.template.metadata.labels", pairs(labels)))
            .evidence(evidence(&self.exported));
        let act = "Let the Service select the gateway's pods, as the chart does (also in its source manifest)";
        finding.remedy(match labels.get("app") {
            Some(app) => {
                let selector = json!([{"op": "add", "path": "/spec/selector", "value": {"app": app}}]);
                let call = kubectl().namespace(namespace).words("patch service").operand(name);
                Remedy::new().command(act, call.words("--type=json -p").arg(selector.to_string()))
            }
            None => Remedy::new().step(StepKind::Command, act),
        })
    }

    /// The current pods of a Service.
    fn own(&self, service: &Service) -> Vec<&'a Pod> {
        self.pods
            .iter()
            .filter(|pod| pod.metadata.namespace == service.metadata.namespace && !pod.is_finished())
            .filter(|pod| pod.metadata.deletion_timestamp.is_none() && selects(service, &pod.metadata.labels))
            .collect()
    }

    /// The faults of a Service whose pods run.
    fn faults(&self, ctx: &Context<'_>, service: &Service, policies: Option<&Policies<'_>>) -> Vec<Finding> {
        let own = self.own(service);
        let Some(pod) = own.iter().find(|pod| pod.spec.proxy().is_some()) else { return Vec::new() };
        let (namespace, name) = service.metadata.key();
        let finding = |fault: Fault| {
            let subject = Subject::object(Kind::Service, namespace, name);
            self.finding(ctx, subject, &fault.message, fault.severity)
                .parameter(fault.parameter)
                .evidences(fault.evidence)
                .evidence(evidence(&self.exported))
                .remedy(fault.remedy)
        };
        let deployment = self.deployment(service);
        gateway_service::faults(service, pod, deployment, policies).into_iter().map(finding).collect()
    }

    fn without_pod(&self, ctx: &Context<'_>, service: &Service) -> Option<Finding> {
        let meta = &service.metadata;
        if service.spec.selector.is_empty() {
            return None;
        }
        let own = self.own(service);
        // Pods without a proxy are a matter of their own.
        let serves = |pod: &&Pod| match unhealthy(pod) {
            None => true,
            Some(UnhealthyReason::Proxy) => pod.spec.proxy().is_none(),
            Some(UnhealthyReason::Pod(_)) => false,
        };
        if own.iter().any(serves) {
            return None;
        }
        let message = "the gateway has no running pod: clients in other clusters cannot reach the exported \
            Services of this cluster";
        let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
        let finding = self
            .finding(ctx, subject, message, Severity::Error)
            .parameter("no-pod")
            .evidences(self.state(service, &own))
            .evidence(evidence(&self.exported))
            .remedy(self.revive(ctx, service, &own));
        Some(spared(finding, ctx.are_starting(&own)))
    }

    /// The state of the Deployment and its pods.
    fn state(&self, service: &Service, own: &[&Pod]) -> Vec<Evidence> {
        let namespace = &service.metadata.namespace;
        let quoted = own.iter().take(3).map(|pod| {
            let object = format!("Pod {namespace}/{}", pod.metadata.name);
            match unhealthy(pod) {
                Some(UnhealthyReason::Proxy) => {
                    Evidence::field(object, "status.containerStatuses[linkerd-proxy].ready", "false")
                }
                _ => Evidence::field(object, "status", label(pod)),
            }
        });
        let selector: Vec<String> = service.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let selector = selector.join(",");
        match self.deployment(service) {
            None if own.is_empty() => {
                vec![Evidence::other(format!("Deployments and pods in {namespace} with {selector}"), "none".to_owned())]
            }
            Some(deployment) if own.is_empty() => {
                let object = Subject::object(Kind::Deployment, namespace, &deployment.metadata.name);
                vec![Evidence::field(
                    object,
                    "spec.replicas",
                    deployment.spec.replicas.map_or("1".to_owned(), |replicas| replicas.to_string()),
                )]
            }
            _ => quoted.collect(),
        }
    }

    fn revive(&self, ctx: &Context<'_>, service: &Service, own: &[&Pod]) -> Remedy {
        let namespace = &service.metadata.namespace;
        if let Some(pod) = own.first() {
            return Remedy::new().command(
                "Find out why the pod is not ready",
                kubectl().namespace(namespace).words("describe pod").operand(&pod.metadata.name),
            );
        }
        match self.deployment(service) {
            None => reinstall(ctx, Remedy::new(), Extension::Multicluster, ", which creates the gateway"),
            Some(deployment) if deployment.spec.replicas == Some(0) => Remedy::new().run(
                StepKind::Command,
                "Scale the gateway up (also in its source manifest)",
                kubectl()
                    .namespace(namespace)
                    .words("scale --replicas 1")
                    .operand(format!("deployment/{}", deployment.metadata.name)),
            ),
            Some(deployment) => Remedy::new().command(
                "Find out why the Deployment has no pod",
                kubectl()
                    .namespace(namespace)
                    .words("describe")
                    .operand(format!("deployment/{}", deployment.metadata.name)),
            ),
        }
    }

    fn without_address(&self, ctx: &Context<'_>, service: &Service) -> Option<Finding> {
        let meta = &service.metadata;
        let since = meta.creation_timestamp.get()?;
        if service.spec.kind.as_str() != "LoadBalancer" || !service.status.load_balancer.ingress.is_empty() {
            return None;
        }
        let failure = failure(ctx, service);
        if failure.is_none() && ctx.now().duration_since(since) <= PROVISIONING {
            return None;
        }
        let message = match failure {
            Some(_) => {
                "the load balancer of the gateway cannot be created: other clusters cannot be linked without \
                --gateway-addresses, and reach exported Services only at such addresses"
            }
            None => {
                "the load balancer of the gateway has no address: other clusters cannot be linked \
                without --gateway-addresses, and reach exported Services only at such addresses"
            }
        };
        let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
        let finding = self.finding(ctx, subject.clone(), message, Severity::Warning);
        // A controller that fails was meant to create one.
        let finding = if failure.is_some() { finding.severity(Severity::Warning) } else { finding };
        let finding = finding
            .parameter("no-address")
            .evidences(failure.map(|event| events::quoted(&subject, event)))
            .evidence(Evidence::field(&subject, "spec.type", "LoadBalancer"))
            .evidence(Evidence::field(&subject, "status.loadBalancer.ingress", "empty"))
            .evidence(evidence(&self.exported))
            .remedy(
                Remedy::new()
                    .command(
                        "Read the events of the Service: the controller of load balancers reports its errors there",
                        kubectl().namespace(&meta.namespace).words("describe service").operand(&meta.name),
                    )
                    .note(
                        "If nothing assigns load balancers in this cluster, use type NodePort, and link with \
                         --gateway-addresses and --gateway-port",
                    ),
            );
        Some(finding)
    }

    fn without_service(&self, ctx: &Context<'_>, deployment: &Workload) -> Finding {
        let meta = &deployment.metadata;
        let message = "no Service leads to the gateway: clients in other clusters cannot reach the exported \
            Services of this cluster";
        let subject = Subject::object(Kind::Deployment, &meta.namespace, &meta.name);
        self.finding(ctx, subject, message, Severity::Error)
            .parameter("no-service")
            .evidence(Evidence::other(
                format!("Services in {} with {GATEWAY}=true or port mc-gateway", meta.namespace),
                "none selects its pods",
            ))
            .evidence(evidence(&self.exported))
            .remedy(
                reinstall(ctx, Remedy::new(), Extension::Multicluster, ", which creates the Service of the gateway")
                    .note("If the load balancer gets another address, create the links of the other clusters again"),
            )
    }
}
