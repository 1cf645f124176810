//! `init-container-before-proxy`: an init container runs while traffic is already redirected but the proxy
//! has not started.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::control_plane::installed;
use crate::model::refusal::LINKERDS;
use crate::model::skipped::OUT;
use crate::objects::container::{INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};
use crate::objects::{Container, ContainerStatus, PodSpec};

/// The annotation that excludes outbound ports from the proxy.
const SKIP: &str = OUT.annotation();
/// Parts of the names of init containers that are known to use the network.
const NETWORKERS: [&str; 8] =
    ["vault-agent-init", "wait-for", "migrat", "cloud-sql", "cloudsql", "consul", "fetch", "download"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
    let values = config.and_then(ConfigMap::chart_values);
    let by_cni = values.and_then(|values| values.bool("cniEnabled")).unwrap_or(false);
    let owners = ctx.owners();
    let mut failing: BTreeMap<(Owner, String), Vec<(&Pod, &ContainerStatus)>> = BTreeMap::new();
    let mut named: BTreeMap<Owner, (&Pod, &Container)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        if pod.metadata.deletion_timestamp.is_some() || !is_ordinary(&pod.spec) {
            continue;
        }
        for container in redirected(&pod.spec, by_cni) {
            let status = pod.container_status(&container.name);
            match status.filter(|status| fails(status)) {
                Some(status) => {
                    let key = (owners.owner(pod), container.name.to_string());
                    failing.entry(key).or_default().push((pod, status));
                }
                None if is_known(container) && status.is_none_or(|status| status.state.terminated().is_none()) => {
                    named.entry(owners.owner(pod)).or_insert((pod, container));
                }
                None => {}
            }
        }
    }
    let mut findings: Vec<Finding> =
        failing.iter().map(|((owner, name), group)| failed(ctx, owner, name, group)).collect();
    named.retain(|owner, _| !failing.keys().any(|(failing, _)| failing == owner));
    findings.extend(named.iter().map(|(owner, (pod, container))| known(ctx, owner, pod, container)));
    Ok(findings.into())
}

/// Whether the proxy starts after all init containers.
fn is_ordinary(spec: &PodSpec) -> bool {
    spec.containers.iter().any(|container| container.name == PROXY_CONTAINER)
}

/// The application's init containers that run while traffic is redirected: those after linkerd-init, or all
/// of them if a CNI plugin redirects. Containers that run as the proxy's user are not redirected.
fn redirected(spec: &PodSpec, by_cni: bool) -> impl Iterator<Item = &Container> {
    let init = spec.init_containers.iter().position(|container| container.name == INIT_CONTAINER);
    let from_start = spec.container(VALIDATOR_CONTAINER).is_some() || (by_cni && init.is_none());
    let uid = spec.proxy().and_then(|proxy| proxy.security_context.as_ref()?.run_as_user).unwrap_or(2102);
    let pod_user = spec.security_context.run_as_user;
    spec.init_containers.iter().enumerate().filter_map(move |(at, container)| {
        let behind = from_start || init.is_some_and(|init| at > init);
        let user = container.security_context.as_ref().and_then(|context| context.run_as_user).or(pod_user);
        let own = LINKERDS.contains(&container.name.as_str());
        (behind && !own && user != Some(uid)).then_some(container)
    })
}

fn fails(status: &ContainerStatus) -> bool {
    let waits = status
        .state
        .waiting()
        .is_some_and(|waiting| matches!(waiting.reason.as_str(), "CrashLoopBackOff" | "RunContainerError"));
    let ended = status.state.terminated().is_some_and(|ended| ended.exit_code != 0);
    let again = status.restart_count > 0 && status.state.terminated().is_none();
    waits || ended || again
}

fn is_known(container: &Container) -> bool {
    NETWORKERS.iter().any(|part| container.name.contains(part))
}

fn failed(ctx: &Context<'_>, owner: &Owner, name: &str, group: &[(&Pod, &ContainerStatus)]) -> Finding {
    let names: Vec<String> = group.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    let (pod, status) = group[0];
    let object = pod.described();
    let order: Vec<&str> = pod.spec.init_containers.iter().map(|container| container.name.as_str()).collect();
    let ended = status.state.terminated().or(status.last_state().terminated());
    let said = match (ended, status.state.waiting()) {
        (Some(ended), _) => format!(
            "exit code {}{}; restarted {} times",
            ended.exit_code,
            if ended.reason.is_empty() { String::new() } else { format!(" ({})", ended.reason) },
            status.restart_count
        ),
        (None, Some(waiting)) => format!("{}; restarted {} times", waiting.reason, status.restart_count),
        (None, None) => format!("restarted {} times", status.restart_count),
    };
    let remedy = Remedy::new().command(
        "Check in the log what it could not reach: this problem refuses connections at once",
        kubectl()
            .namespace(&owner.namespace)
            .words("logs")
            .operand(&pod.metadata.name)
            .option("-c", name)
            .words("--previous"),
    );
    ctx.finding(
        owner.subject(names),
        "an init container fails that runs after traffic is redirected to the proxy but before the proxy, \
         an ordinary container, starts. None of its connections succeed",
    )
    .parameter(name)
    .likely()
    .evidence(Evidence::field(&object, format!("status.initContainerStatuses[{name}]"), said))
    .evidence(Evidence::field(&object, "spec.initContainers", order.join(", ")))
    .evidence(Evidence::field(&object, "spec.containers", format!("{PROXY_CONTAINER} among them")))
    .remedy(alternatives(ctx, owner, remedy, pod.spec.container(INIT_CONTAINER).is_none()))
}

fn known(ctx: &Context<'_>, owner: &Owner, pod: &Pod, container: &Container) -> Finding {
    let order: Vec<&str> = pod.spec.init_containers.iter().map(|container| container.name.as_str()).collect();
    ctx.finding(
        owner.subject(vec![pod.metadata.name.clone()]),
        "an init container that, by its name, uses the network runs while traffic is redirected but before \
         the proxy starts",
    )
    .severity(Severity::Info)
    .parameter(&container.name)
    .likely()
    .evidence(Evidence::field(pod.described(), "spec.initContainers", order.join(", ")))
    .remedy(alternatives(ctx, owner, Remedy::new(), false))
}

/// The annotation of the installed release that makes the proxy a native sidecar.
fn native_key<'a>(ctx: &Context<'a>) -> Option<&'a str> {
    let home = &ctx.namespaces().control_plane;
    let (version, _) = installed(ctx.optional_list::<Deployment>(), None, home)?;
    let keys = ctx.knowledge.native_sidecar().keys_read_by(&version, ctx.knowledge);
    keys.known().first().map(String::as_str)
}

fn alternatives(ctx: &Context<'_>, owner: &Owner, remedy: Remedy, by_cni: bool) -> Remedy {
    let act = "Make the proxy a native sidecar, which runs before other init containers (Kubernetes 1.29 and newer)";
    let remedy = match native_key(ctx) {
        Some(key) => {
            let act = format!("{act}, with {key}: \"true\"");
            rewrite::of_owner(ctx, remedy, &act, owner, &[(key, Some("true"))])
        }
        None => remedy.step(
            StepKind::Annotation,
            format!(
                "{act}: config.beta.linkerd.io/proxy-enable-native-sidecar: \"true\" in the pod template, or \
                 config.alpha on older releases"
            ),
        ),
    };
    let remedy = remedy.step(
        StepKind::Annotation,
        format!(
            "Or exclude the ports that it uses from the proxy: {SKIP} in the pod template. This applies for the \
             whole life of the pod"
        ),
    );
    if by_cni {
        remedy.note(
            "Or run the init container as the proxy's user (runAsUser: 2102), which is not redirected. For \
             Vault's agent set the annotation vault.hashicorp.com/agent-init-first",
        )
    } else {
        remedy.note(
            "Or run it before linkerd-init. For Vault's agent set the annotation \
             vault.hashicorp.com/agent-init-first",
        )
    }
}
