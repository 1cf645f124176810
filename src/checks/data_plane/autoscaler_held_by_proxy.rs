//! `autoscaler-held-by-proxy`: an autoscaler cannot compute how many replicas there should be, since the proxy requests nothing of
//! what it scales by.

use crate::checks::upgrade::{self, Options};
use crate::checks::words::some;
use crate::checks::{Context, Judgement, rewrite};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::model::owners::Owner;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Condition, Container, HorizontalPodAutoscaler, Pod};

/// What the autoscaler's controller writes before the resource that a container does not request.
const MISSING: &str = "missing request for ";
/// How many names are listed.
const NAMED: usize = 3;

/// What an autoscaler scales by, and how the chart and the annotations call it.
struct Resource {
    name: &'static str,
    spoken: &'static str,
    annotation: &'static str,
    value: &'static str,
    /// What the chart's values for high availability have the proxy request.
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

/// What the controller said: of which resource a request is missing, and of which container where it names one.
struct Said<'a> {
    resource: &'static Resource,
    container: Option<&'a str>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let autoscalers = ctx.seen::<HorizontalPodAutoscaler>();
    let pods = ctx.seen::<Pod>();
    let (autoscalers, pods) = (autoscalers?, pods?);
    let mut findings: Vec<Finding> = Vec::new();
    for autoscaler in autoscalers.iter().filter(|one| ctx.judges(&one.metadata.namespace)) {
        let failed = autoscaler
            .status
            .conditions
            .iter()
            .find(|condition| condition.kind == "ScalingActive" && condition.status == "False");
        let Some((condition, said)) =
            failed.and_then(|condition| Some((condition, read(&condition.message)?)))
        else {
            continue;
        };
        let target = owner(autoscaler);
        let own: Vec<&Pod> = pods
            .iter()
            .filter(|pod| {
                pod.metadata.namespace == target.namespace
                    && !pod.is_finished()
                    && ctx.owners().of(pod) == target
            })
            .collect();
        findings.extend(finding(ctx, autoscaler, condition, &said, &target, &own));
    }
    Ok(findings.into())
}

/// Reads a message of the autoscaler's controller: `missing request for cpu in container linkerd-proxy of Pod web-0`, or, of
/// older ones, `missing request for cpu on container linkerd-proxy in pod shop/web-0` and `missing request for cpu`.
fn read(message: &str) -> Option<Said<'_>> {
    let (_, rest) = message.split_once(MISSING)?;
    let mut words = rest.split_whitespace();
    let named = words.next()?;
    let resource = RESOURCES.iter().find(|resource| resource.name == named)?;
    let container = match (words.next(), words.next()) {
        (Some("in" | "on"), Some("container")) => words.next(),
        _ => None,
    };
    Some(Said { resource, container })
}

/// The workload that is scaled.
fn owner(autoscaler: &HorizontalPodAutoscaler) -> Owner {
    let target = &autoscaler.spec.scale_target_ref;
    Owner {
        kind: target.kind.clone(),
        namespace: autoscaler.metadata.namespace.to_string(),
        name: target.name.clone(),
    }
}

/// The containers of a pod that run beside each other: native sidecars are among them.
fn containers(pod: &Pod) -> impl Iterator<Item = &Container> {
    let native =
        pod.spec.init_containers.iter().filter(|one| one.restart_policy.as_deref() == Some("Always"));
    pod.spec.containers.iter().chain(native)
}

fn finding(
    ctx: &Context<'_>,
    autoscaler: &HorizontalPodAutoscaler,
    condition: &Condition,
    said: &Said<'_>,
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
        // It is the proxy's only where nothing else lacks one.
        None if first.is_some() && others.is_empty() => false,
        None => return None,
    };
    // What it says is past, where the pods that there are have proxies that request it.
    if !own.is_empty() && first.is_none() {
        return None;
    }
    let (namespace, name) = (&autoscaler.metadata.namespace, &autoscaler.metadata.name);
    let since =
        condition.last_transition_time.get().map(|since| format!(", since {since}")).unwrap_or_default();
    let message = format!(
        "it cannot tell how many replicas there should be, so their number stays as it is under any load: it scales by {}, and \
         the proxies of the pods request none",
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
    Some(if named { finding } else { finding.likely() })
}

fn first_of(pods: usize) -> String {
    if pods > 1 { format!(", first of {pods} pods") } else { String::new() }
}

fn remedy(ctx: &Context<'_>, resource: &Resource, target: &Owner, others: &[&str]) -> Remedy {
    let Resource { annotation, usual, spoken, .. } = resource;
    let act = format!(
        "Have the proxy request {spoken} ({usual} is what the chart's values-ha.yaml has), which rolls the pods out: set {annotation}"
    );
    let change = [(*annotation, Some(*usual))];
    let mut remedy = rewrite::of_owner(ctx, Remedy::new(), &act, target, &change);
    if !others.is_empty() {
        remedy = remedy.step(
            StepKind::Note,
            format!("Have the other containers that request none do so as well: {}", some(others, NAMED)),
        );
    }
    let all = "Or have all proxies request it; pods have it when they are created again";
    let options = Options::none().set(resource.value, *usual);
    upgrade::step(ctx, remedy, StepKind::ChartValue, all, options).step(
        StepKind::Note,
        "Or scale by the application's container alone, with a metric of type ContainerResource (Kubernetes 1.27 and later): the \
         proxy counts for nothing then",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_controllers_of_all_releases_say() {
        let of = |message| read(message).map(|said| (said.resource.name, said.container));
        let new = "the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container linkerd-proxy of Pod web-0";
        assert_eq!(of(new), Some(("cpu", Some("linkerd-proxy"))));
        assert_eq!(
            of("missing request for memory on container app in pod shop/web-0"),
            Some(("memory", Some("app")))
        );
        assert_eq!(of("failed to get cpu utilization: missing request for cpu"), Some(("cpu", None)));
        assert_eq!(of("missing request for nvidia.com/gpu in container app of Pod web-0"), None);
        assert_eq!(of("missing request for "), None);
        assert_eq!(of("did not receive metrics for any ready pods"), None);
    }
}
