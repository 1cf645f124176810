//! The steps for pods whose proxy is not ready.

use super::evidence::allocator;
use super::stage::{INIT, RestartCause, Stage, killed, obstacle, of_proxy};
use crate::checks::prelude::*;
use crate::checks::probe_events::give_time;
use crate::checks::restart::{Needs, renew};
use crate::checks::upgrade;
use crate::command::{Call, meshdoctor};
use crate::model::vertical_autoscaler;
use crate::objects::container::PROXY_CONTAINER;

/// The steps for the pods of an owner that are in the same state; `names`: those of the pods.
pub(super) fn remedy(ctx: &Context<'_>, owner: &Owner, stage: Stage, pods: &[&Pod], names: &[String]) -> Remedy {
    let first = pods[0];
    let described = |text| {
        let describe = kubectl().namespace(&owner.namespace).words("describe pod");
        Remedy::new().command(text, describe.operand(&first.metadata.name))
    };
    let listed = || described("Check why it is not ready: containers and events");
    match stage {
        Stage::NotStarted => match obstacle(first) {
            Some((list, status)) if list == INIT && status.restart_count > 0 => {
                listed().command("Read the log of the failing container", last_log(first, status.name.as_str()))
            }
            Some(_) | None => listed(),
        },
        Stage::Unscheduled | Stage::Starting | Stage::OtherContainer | Stage::ApplicationFailed | Stage::Over(_) => {
            listed()
        }
        Stage::Stopped => stopped(ctx, owner, pods, names),
        Stage::Absent => absent(ctx, owner, pods, names),
        Stage::Unprobed => unprobed(ctx, owner, first, names),
        Stage::Unanswered | Stage::Restarting(RestartCause::Unanswered) => unanswered(ctx, owner, first, names),
        Stage::Restarting(RestartCause::Exit(64)) => Remedy::new()
            .command(
                "Read the setting that the proxy rejects in the log of its last run",
                last_log(first, PROXY_CONTAINER),
            )
            .step(StepKind::Annotation, "Correct the setting in the pod template"),
        Stage::Restarting(_) => {
            described("Check the events of the pod: the kubelet reports there whether a probe failed")
                .command("Read the log of the proxy's last run", last_log(first, PROXY_CONTAINER))
                .command(
                    "If it names no reason, compare it with the known defects of the release",
                    meshdoctor().words("check --logs --only known-defect,proxy-reports-errors"),
                )
        }
        Stage::Lost => {
            let because = "a proxy that hangs does not recover";
            failed(ctx, listed(), owner, pods, names).with(renew(ctx, owner, names, Needs::NewProxy, because))
        }
        Stage::Unready | Stage::Ended | Stage::Killed => failed(ctx, listed(), owner, pods, names),
    }
}

/// Adds the steps for a proxy that fails: more memory if one was OOM-killed, otherwise its log.
fn failed(ctx: &Context<'_>, remedy: Remedy, owner: &Owner, pods: &[&Pod], names: &[String]) -> Remedy {
    if !pods.iter().any(|pod| of_proxy(pod).and_then(killed).is_some()) {
        let log = kubectl().namespace(&owner.namespace).words("logs").operand(&pods[0].metadata.name);
        return remedy.command("Read the proxy's log", log.option("-c", PROXY_CONTAINER));
    }
    let mut remedy = more_memory(remedy, pods);
    if pods.iter().any(|pod| allocator(ctx, pod).is_some()) {
        remedy = remedy.note(
            "On arm64 the proxy keeps memory after a peak, since it uses glibc's allocator there. Let the limit cover \
             the peak and this rest",
        );
    }
    remedy.with(renew(ctx, owner, names, Needs::NewProxy, "only new pods get the new limit"))
}

/// The steps for proxies that were shut down too early.
fn stopped(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], names: &[String]) -> Remedy {
    let remedy = Remedy::new().note(
        "Find the program that stops the proxy too early: a container that posts to /shutdown, such as \
         `linkerd-await --shutdown`, or a hook that sends SIGTERM",
    );
    let is_vm = pods.iter().any(|pod| pod.metadata.label("kubevirt.io") == Some("virt-launcher"));
    let remedy = match is_vm {
        true => remedy.step(
            StepKind::Annotation,
            "If the pods of this virtual machine need no mesh, set linkerd.io/inject: disabled in \
             spec.template.metadata.annotations of its VirtualMachine",
        ),
        false => remedy,
    };
    remedy.with(renew(ctx, owner, names, Needs::NewPods, "a proxy of this pod does not start again"))
}

/// The steps for pods that are labelled as meshed, but have no proxy.
fn absent(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], names: &[String]) -> Remedy {
    let place = if owner.kind == "Pod" { "pod's manifest" } else { "pod template" };
    // The injector passes over pods on the network of their node.
    let mesh = match pods.iter().any(|pod| pod.spec.host_network) {
        true => "",
        false => ". If the pods need a proxy, set linkerd.io/inject: enabled",
    };
    let remedy = Remedy::new().note(format!(
        "Remove the label linkerd.io/control-plane-ns from the {place}, or from the object whose labels an \
             operator copies. Only the injector sets it{mesh}"
    ));
    remedy.with(renew(ctx, owner, names, Needs::NewPods, "running pods keep the label"))
}

/// The steps for a proxy that does not answer the kubelet's probes in time.
fn unanswered(ctx: &Context<'_>, owner: &Owner, pod: &Pod, names: &[String]) -> Remedy {
    let resources = pod.spec.proxy().and_then(|proxy| proxy.resources.as_ref());
    let limit = resources.map_or("", |resources| resources.limits.cpu.as_str());
    let remedy = match limit.is_empty() {
        true => Remedy::new(),
        false => Remedy::new().step(
            StepKind::Annotation,
            format!(
                "If the proxy uses all of its CPU limit ({limit}), raise it: config.linkerd.io/proxy-cpu-limit on the \
                 pod template"
            ),
        ),
    };
    let remedy = give_time(ctx, remedy, pod, &["proxy.livenessProbe", "proxy.readinessProbe"]);
    upgrade::injector_awaited(ctx, remedy).with(renew(
        ctx,
        owner,
        names,
        Needs::NewProxy,
        "only new pods get the new settings",
    ))
}

/// The command that prints the log of the last run of a container that has restarted.
fn last_log(pod: &Pod, container: &str) -> Call {
    let log = kubectl().namespace(&pod.metadata.namespace).words("logs --previous");
    log.operand(&pod.metadata.name).option("-c", container)
}

/// The steps for a native sidecar whose startup probe no longer runs.
fn unprobed(ctx: &Context<'_>, owner: &Owner, pod: &Pod, names: &[String]) -> Remedy {
    Remedy::new()
        .command("Read why the first run of the proxy ended", last_log(pod, PROXY_CONTAINER))
        .with(renew(ctx, owner, names, Needs::NewPods, "the probe of this pod does not run again"))
        .note("Upgrade the kubelets. Kubernetes 1.35 and later patch releases of 1.33 and 1.34 run the probe again")
}

/// Adds the step for an OOM-killed proxy.
fn more_memory(remedy: Remedy, pods: &[&Pod]) -> Remedy {
    if let Some((namespace, name)) = resized(pods) {
        return remedy.command(
            format!(
                "Add {{containerName: {PROXY_CONTAINER}, mode: \"Off\"}} to the containerPolicies of \
                 VerticalPodAutoscaler {name}, which sets the proxy's memory and overrides its annotations"
            ),
            kubectl().namespace(namespace).words("edit verticalpodautoscaler").operand(name),
        );
    }
    remedy.step(
        StepKind::Annotation,
        "Raise the proxy's memory limit: config.linkerd.io/proxy-memory-limit on the pod template, or \
         proxy.resources.memory.limit in the values of the control plane",
    )
}

/// The VerticalPodAutoscaler that set the memory of the proxies: namespace, name.
fn resized<'a>(pods: &[&'a Pod]) -> Option<(&'a str, &'a str)> {
    let name = |pod: &&'a Pod| Some((pod.metadata.namespace.as_str(), vertical_autoscaler::of_proxy_memory(pod)?));
    pods.iter().find_map(name)
}
