//! `control-plane-restarting`: a container of the control plane was OOM-killed recently, or restarts
//! repeatedly, and is ready in between.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::command::meshdoctor;
use crate::model::control_plane::components;
use crate::model::installed::COMPONENT;
use crate::model::moments;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::Terminated;
use crate::objects::{Container, ContainerStatus};

/// Maximum number of containers quoted in evidence.
const QUOTED: usize = 3;

/// Why a container is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// It ran out of memory.
    Memory,
    /// It restarts repeatedly.
    Often,
}

/// Pods with the reported container.
type Restarted<'a> = Vec<(&'a Pod, &'a ContainerStatus)>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let own =
        |pod: &&Pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT).is_some() && !pod.is_finished();
    let mut groups: BTreeMap<(&str, &str, Why), Restarted<'_>> = BTreeMap::new();
    for pod in pods.iter().filter(own) {
        let component = pod.metadata.label(COMPONENT).unwrap_or_default();
        let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
        // `control-plane-not-ready` reports containers that are not ready now.
        for status in statuses.filter(|status| status.ready) {
            if let Some(why) = why(ctx, pod, status) {
                groups.entry((component, status.name.as_str(), why)).or_default().push((pod, status));
            }
        }
    }
    let names: BTreeMap<&str, &str> = components(deployments, home)
        .into_iter()
        .map(|component| (component.name, component.deployment.metadata.name.as_str()))
        .collect();
    let findings = groups.iter().map(|((component, container, why), group)| {
        let subject = match names.get(component) {
            Some(name) => Subject::object("Deployment", home, name),
            None => Subject::object("Pod", home, &group[0].0.metadata.name),
        };
        finding(ctx, subject, component, container, *why, group)
    });
    Ok(findings.collect())
}

/// Why a container is reported, by the parameters `days` and `restarts` of the check.
pub(super) fn why(ctx: &Context<'_>, pod: &Pod, status: &ContainerStatus) -> Option<Why> {
    let since = ctx.param_duration("days");
    let lately = |ended: &Terminated| ended.finished_at.get().is_none_or(|at| ctx.now().duration_since(at) <= since);
    let before = status.last_state().terminated().filter(|ended| lately(ended))?;
    if before.reason == "OOMKilled" {
        return Some(Why::Memory);
    }
    let young = pod.metadata.creation_timestamp.get().is_some_and(|at| ctx.now().duration_since(at) <= since);
    (young && i64::from(status.restart_count) >= ctx.param("restarts")).then_some(Why::Often)
}

/// The end of the last run of a container, with its restarts.
pub(in crate::checks) fn last_end(pod: &Pod, status: &ContainerStatus) -> Evidence {
    let ended = status.last_state().terminated();
    let at = ended.and_then(|ended| ended.finished_at.get()).map(|at| format!(" at {at}")).unwrap_or_default();
    let said = ended.map_or(String::new(), |ended| {
        format!("{}, exit code {}{at}; restarted {} times", ended.reason, ended.exit_code, status.restart_count)
    });
    Evidence::field(pod.described(), format!("status.containerStatuses[{}].lastState", status.name), said)
}

fn finding(
    ctx: &Context<'_>,
    subject: Subject,
    component: &str,
    container: &str,
    why: Why,
    group: &[(&Pod, &ContainerStatus)],
) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let message = match why {
        Why::Memory => {
            "a container of the control plane was killed because it ran out of memory. It is ready again, \
            but proxies fail fast during each gap"
        }
        Why::Often => {
            "a container of the control plane restarts repeatedly. It is ready in between, but proxies fail \
            fast during each gap"
        }
    };
    let evidence = group.iter().take(QUOTED).flat_map(|(pod, status)| {
        let object = format!("Pod {home}/{}", pod.metadata.name);
        let limit = pod.spec.container(container).and_then(Container::memory_limit);
        let limit = limit.filter(|_| why == Why::Memory).map(|limit| {
            Evidence::field(&object, format!("spec.containers[{container}].resources.limits.memory"), limit)
        });
        std::iter::once(last_end(pod, status)).chain(limit)
    });
    let times =
        group.iter().take(QUOTED).flat_map(|(pod, _)| moments::of_pod(pod, "created", |name| name == container));
    let name = group[0].0.metadata.name.as_str();
    let log = kubectl().namespace(home).words("logs --previous").operand(name).option("-c", container);
    let remedy = match why {
        Why::Memory => {
            let act = "Raise its memory limit (several replicas restart one after the other)";
            more_memory(ctx, Remedy::new(), act, component, container)
        }
        Why::Often => Remedy::new()
            .command(
                "Compare the log with the known defects of the release",
                meshdoctor().words("check --logs --only known-defect,control-plane-reports-errors"),
            )
            .command("If it finds none, read the log of the last run", log),
    };
    ctx.finding(subject, message)
        .parameter(container)
        .parameter(if why == Why::Memory { "memory" } else { "often" })
        .evidences(evidence)
        .timeline(times)
        .remedy(remedy)
}

/// Adds the step that raises the memory limit of a container.
pub(super) fn more_memory(ctx: &Context<'_>, remedy: Remedy, act: &str, component: &str, container: &str) -> Remedy {
    let options = Options::none().set_with(memory_of(component, container), String::new(), "MEMORY_LIMIT");
    upgrade::with_values(ctx, remedy, act, options)
}

/// The chart value that limits the memory of a container.
fn memory_of(component: &str, container: &str) -> &'static str {
    match (component, container) {
        ("destination", PROXY_CONTAINER) => "destinationProxyResources.memory.limit",
        ("identity", PROXY_CONTAINER) => "identityProxyResources.memory.limit",
        ("proxy-injector", PROXY_CONTAINER) => "proxyInjectorProxyResources.memory.limit",
        (_, "policy") => "policyController.resources.memory.limit",
        (_, "sp-validator") => "spValidatorResources.memory.limit",
        ("identity", _) => "identityResources.memory.limit",
        ("proxy-injector", _) => "proxyInjectorResources.memory.limit",
        _ => "destinationResources.memory.limit",
    }
}
