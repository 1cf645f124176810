//! `extension-restarting`: a container of an extension was OOM-killed recently, or restarts repeatedly, and is ready in
//! between.

use std::collections::BTreeMap;

use super::control_plane_restarting::{Why, last_end, why};
use crate::checks::extensions::{labelled_namespaces, reinstall_with};
use crate::checks::prelude::*;
use crate::command::Line;
use crate::item::EXTENSION_LABEL;
use crate::model::moments;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Container, ContainerStatus};

/// Maximum number of containers quoted in evidence.
const QUOTED: usize = 3;

/// Pods with the reported container.
type Restarted<'a> = Vec<(&'a Pod, &'a ContainerStatus)>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let homes = labelled_namespaces(ctx)?;
    let pods = ctx.partial_list::<Pod>()?;
    if homes.is_empty() {
        return Err(Unjudged::not_applicable("no extension is installed"));
    }
    let extension_of = |pod: &Pod| {
        let name = pod.metadata.label(EXTENSION_LABEL)?;
        let extension = Extension::from_name(name)?;
        homes.get(name)?.contains(&pod.metadata.namespace.as_str()).then_some(extension)
    };
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, Extension, &str, Why), Restarted<'_>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.is_finished()) {
        let Some(extension) = extension_of(pod) else { continue };
        let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
        // Other checks report proxies, and containers that are not ready now.
        for status in statuses.filter(|status| status.ready && status.name != PROXY_CONTAINER) {
            if let Some(why) = why(ctx, pod, status) {
                let key = (owners.owner(pod), extension, status.name.as_str(), why);
                groups.entry(key).or_default().push((pod, status));
            }
        }
    }
    let findings = groups
        .iter()
        .map(|((owner, extension, container, why), group)| finding(ctx, owner, *extension, container, *why, group));
    Ok(findings.collect())
}

/// The label with the component of a pod.
fn component(pod: &Pod) -> &str {
    pod.metadata.label("component").unwrap_or_default()
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    extension: Extension,
    container: &str,
    why: Why,
    group: &[(&Pod, &ContainerStatus)],
) -> Finding {
    let (first, _) = group[0];
    let gap = match (extension, component(first)) {
        (Extension::Viz, "prometheus") => "metrics are lost in each gap",
        (Extension::Viz, _) => "its part of viz does not answer in each gap",
        (Extension::Multicluster, "local-service-mirror" | "controller" | "service-mirror") => {
            "mirrored Services are not updated in each gap"
        }
        (Extension::Multicluster, _) => "its part of multicluster does not work in each gap",
        (Extension::Jaeger, _) => "traces are lost in each gap",
    };
    let message = match why {
        Why::Memory => format!(
            "a container of the extension {extension} was killed because it ran out of memory. It is ready again, \
             but {gap}"
        ),
        Why::Often => {
            format!("a container of the extension {extension} restarts repeatedly. It is ready in between, but {gap}")
        }
    };
    let limit = first.spec.container(container).and_then(Container::memory_limit);
    let path = format!("spec.containers[{container}].resources.limits.memory");
    let shown = Evidence::field(first.described(), path, limit.unwrap_or("not set"));
    let names = group.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let remedy = match why {
        Why::Memory => more_memory(ctx, owner, extension, (component(first), container), limit.is_some()),
        Why::Often => {
            let log = kubectl().namespace(&owner.namespace).words("logs --previous");
            let log = log.operand(&first.metadata.name).option("-c", container);
            Remedy::new().command("Read the log of the last run", log)
        }
    };
    let times = group.iter().take(QUOTED);
    let times = times.flat_map(|(pod, _)| moments::of_pod(pod, "created", |name| name == container));
    ctx.finding(owner.subject(names), message)
        .parameter(container)
        .parameter(if why == Why::Memory { "memory" } else { "often" })
        .evidences(group.iter().take(QUOTED).map(|(pod, status)| last_end(pod, status)))
        .evidences((why == Why::Memory).then_some(shown))
        .timeline(times)
        .remedy(remedy)
}

/// The chart value with the resources of a component, and whether its fields are those of Kubernetes.
fn resources_of(extension: Extension, component: &str) -> Option<(&'static str, bool)> {
    Some(match (extension, component) {
        (Extension::Viz, "prometheus") => ("prometheus.resources", false),
        (Extension::Viz, "metrics-api") => ("metricsAPI.resources", false),
        (Extension::Viz, "tap") => ("tap.resources", false),
        (Extension::Viz, "tap-injector") => ("tapInjector.resources", false),
        (Extension::Viz, "web") => ("dashboard.resources", false),
        (Extension::Multicluster, "local-service-mirror") => ("localServiceMirror.resources", true),
        (Extension::Multicluster, "controller") => ("controllerDefaults.resources", true),
        (Extension::Jaeger, "collector") => ("collector.resources", false),
        (Extension::Jaeger, "jaeger") => ("jaeger.resources", false),
        (Extension::Jaeger, "jaeger-injector") => ("webhook.resources", false),
        _ => return None,
    })
}

fn more_memory(
    ctx: &Context<'_>,
    owner: &Owner,
    extension: Extension,
    (component, container): (&str, &str),
    has_limit: bool,
) -> Remedy {
    let remedy = match has_limit {
        true => Remedy::new(),
        false => Remedy::new()
            .step(StepKind::Note, "Find out why its node ran out of memory: the container has no limit of its own"),
    };
    let (why, variable) = match has_limit {
        true => (" with a higher memory limit", "MEMORY_LIMIT"),
        false => (" with a memory request", "MEMORY_REQUEST"),
    };
    let field = |of_kubernetes: bool| match (of_kubernetes, has_limit) {
        (true, true) => "limits.memory",
        (true, false) => "requests.memory",
        (false, true) => "memory.limit",
        (false, false) => "memory.request",
    };
    if let Some((value, of_kubernetes)) = resources_of(extension, component) {
        let value = format!("{value}.{}", field(of_kubernetes));
        let why = format!("{why} ({value})");
        let set = Arg::from(format!("{value}=")).then(Arg::placeholder(variable));
        return reinstall_with(ctx, remedy, extension, &why, &[set]);
    }
    let Some(target) = owner.restartable() else { return remedy };
    let option = if has_limit { "--limits" } else { "--requests" };
    let set = kubectl().namespace(&owner.namespace).words("set resources").operand(target);
    let set = set.option("-c", container).option(option, Arg::from("memory=").then(Arg::placeholder(variable)));
    let act = match has_limit {
        true => "Raise its memory limit. A new installation resets it: the chart has no value for it",
        false => {
            "Set a memory request, so that the scheduler reserves memory for it. A new installation resets it: \
            the chart has no value for it"
        }
    };
    remedy.command(act, Line::from(set))
}
