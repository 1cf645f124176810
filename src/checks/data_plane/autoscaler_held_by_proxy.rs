//! `autoscaler-held-by-proxy`: an autoscaler cannot compute the number of replicas, because the proxy does
//! not request the resource that it scales by.

use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::upgrade::{self, Options};
use crate::checks::words::some;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Condition, Container, HorizontalPodAutoscaler};

/// The text before the resource name in the autoscaler's message about a missing request.
const MISSING: &str = "missing request for ";
/// Maximum number of names in a list.
const NAMED: usize = 3;

/// A resource that an autoscaler scales by, and its names in the chart and the annotations.
struct Resource {
    name: &'static str,
    spoken: &'static str,
    annotation: &'static str,
    value: &'static str,
    /// The proxy's request in the chart's values for high availability.
    usual: &'static str,
    requested: fn(&Container) -> bool,
}

static RESOURCES: [Resource; 2] = [
    Resource {
        name: "cpu",
        spoken: "CPU",
        annotation: "config.linkerd.io/proxy-cpu-request",
        value: "proxy.resources.cpu.request",
        usual: "100m",
        requested: |container| {
            container.resources.as_deref().is_some_and(|resources| !resources.requests.cpu.is_empty())
        },
    },
    Resource {
        name: "memory",
        spoken: "memory",
        annotation: "config.linkerd.io/proxy-memory-request",
        value: "proxy.resources.memory.request",
        usual: "20Mi",
        requested: |container| {
            container.resources.as_deref().is_some_and(|resources| !resources.requests.memory.is_empty())
        },
    },
];

/// A parsed message of the controller: the resource without a request, and the container if the message
/// names it.
struct MetricMessage<'a> {
    resource: &'static Resource,
    container: Option<&'a str>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let autoscalers = ctx.partial_list::<HorizontalPodAutoscaler>();
    let pods = ctx.partial_list::<Pod>();
    let (autoscalers, pods) = (autoscalers?, pods?);
    let mut findings: Vec<Finding> = Vec::new();
    for autoscaler in autoscalers.iter().filter(|one| ctx.judges(&one.metadata.namespace)) {
        let failed = autoscaler
            .status
            .conditions
            .iter()
            .find(|condition| condition.kind == "ScalingActive" && condition.status == "False");
        let Some((condition, said)) = failed.and_then(|condition| Some((condition, read(&condition.message)?))) else {
            continue;
        };
        let target = owner(autoscaler);
        let own: Vec<&Pod> = pods
            .iter()
            .filter(|pod| {
                pod.metadata.namespace == target.namespace && !pod.is_finished() && ctx.owners().owner(pod) == target
            })
            .collect();
        findings.extend(finding(ctx, autoscaler, condition, &said, &target, &own));
    }
    Ok(findings.into())
}

/// Parses a message of the autoscaler's controller: `missing request for cpu in container linkerd-proxy of
/// Pod web-0`, or, from older ones, `missing request for cpu on container linkerd-proxy in pod shop/web-0`
/// and `missing request for cpu`.
fn read(message: &str) -> Option<MetricMessage<'_>> {
    let (_, rest) = message.split_once(MISSING)?;
    let mut words = rest.split_whitespace();
    let named = words.next()?;
    let resource = RESOURCES.iter().find(|resource| resource.name == named)?;
    let container = match (words.next(), words.next()) {
        (Some("in" | "on"), Some("container")) => words.next(),
        _ => None,
    };
    Some(MetricMessage { resource, container })
}

/// The scaled workload.
fn owner(autoscaler: &HorizontalPodAutoscaler) -> Owner {
    let target = &autoscaler.spec.scale_target_ref;
    Owner { kind: target.kind.clone(), namespace: autoscaler.metadata.namespace.to_string(), name: target.name.clone() }
}

/// The containers of a pod that run at the same time, including native sidecars.
fn containers(pod: &Pod) -> impl Iterator<Item = &Container> {
    let native = pod.spec.init_containers.iter().filter(|one| one.restart_policy.as_deref() == Some("Always"));
    pod.spec.containers.iter().chain(native)
}

fn finding(
    ctx: &Context<'_>,
    autoscaler: &HorizontalPodAutoscaler,
    condition: &Condition,
    said: &MetricMessage<'_>,
    target: &Owner,
    own: &[&Pod],
) -> Option<Finding> {
    let resource = said.resource;
    let held: Vec<&&Pod> =
        own.iter().filter(|pod| pod.spec.proxy().is_some_and(|proxy| !(resource.requested)(proxy))).collect();
    let first = held.first().copied();
    let others: Vec<&str> = first
        .into_iter()
        .flat_map(|pod| containers(pod))
        .filter(|one| one.name != PROXY_CONTAINER && !(resource.requested)(one))
        .map(|one| one.name.as_str())
        .collect();
    let named = match said.container {
        Some(PROXY_CONTAINER) => true,
        Some(_) => return None,
        // Without a container name, the proxy is the cause only if no other container lacks a request.
        None if first.is_some() && others.is_empty() => false,
        None => return None,
    };
    // The message is outdated if the proxies of the current pods have the request.
    if !own.is_empty() && first.is_none() {
        return None;
    }
    let (namespace, name) = (&autoscaler.metadata.namespace, &autoscaler.metadata.name);
    let since = condition.last_transition_time.get().map(|since| format!(", since {since}")).unwrap_or_default();
    let message = format!(
        "The autoscaler scales by {}, but the pods' proxies request none. It cannot compute the number of \
         replicas, which stays the same under any load",
        resource.spoken
    );
    let shown = kubectl().namespace(namespace).words("get horizontalpodautoscaler").operand(name);
    let finding = ctx
        .finding(Subject::object("HorizontalPodAutoscaler", namespace, name), message)
        .parameter(resource.name)
        .evidence(Evidence::field(
            format!("HorizontalPodAutoscaler {namespace}/{name}"),
            "status.conditions[ScalingActive]",
            format!("{}: {}{since}", condition.reason, condition.message),
        ))
        .evidences(first.map(|pod| {
            let list = if pod.spec.has_native_proxy() { "initContainers" } else { "containers" };
            Evidence::field(
                format!("Pod {namespace}/{}", pod.metadata.name),
                format!("spec.{list}[{PROXY_CONTAINER}].resources.requests.{}", resource.name),
                format!("not set{}", first_of(held.len())),
            )
        }))
        .remedy(remedy(ctx, resource, target, &others).shown_by(shown));
    Some(finding.observed_if(named))
}

fn first_of(pods: usize) -> String {
    if pods > 1 { format!(", first of {pods} pods") } else { String::new() }
}

fn remedy(ctx: &Context<'_>, resource: &Resource, target: &Owner, others: &[&str]) -> Remedy {
    let Resource { annotation, usual, spoken, .. } = resource;
    let act = format!(
        "Set a {spoken} request for the proxy ({usual} in the chart's values-ha.yaml), which rolls the pods \
         out: set {annotation}"
    );
    let change = [(*annotation, Some(*usual))];
    let mut remedy = rewrite::of_owner(ctx, Remedy::new(), &act, target, &change);
    if !others.is_empty() {
        remedy = remedy.note(format!("Set requests for the other containers without one: {}", some(others, NAMED)));
    }
    let all = "Or set a request for all proxies. Pods get it when they are recreated";
    let options = Options::none().set(resource.value, *usual);
    upgrade::with_values(ctx, remedy, all, options).note(
        "Or scale by the application's container alone, with a metric of type ContainerResource (Kubernetes \
         1.27 and later), which ignores the proxy",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_releases_are_parsed() {
        let of = |message| read(message).map(|said| (said.resource.name, said.container));
        let new = "the HPA was unable to compute the replica count: failed to get cpu utilization: missing \
                   request for cpu in container linkerd-proxy of Pod web-0";
        assert_eq!(of(new), Some(("cpu", Some("linkerd-proxy"))));
        assert_eq!(of("missing request for memory on container app in pod shop/web-0"), Some(("memory", Some("app"))));
        assert_eq!(of("failed to get cpu utilization: missing request for cpu"), Some(("cpu", None)));
        assert_eq!(of("missing request for nvidia.com/gpu in container app of Pod web-0"), None);
        assert_eq!(of("missing request for "), None);
        assert_eq!(of("did not receive metrics for any ready pods"), None);
    }
}
