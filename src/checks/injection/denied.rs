//! Pods that a policy engine's webhook rejects because of injected containers: recognizes the relevant part
//! of the answer and builds the remedy.

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::command::program;
use crate::model::injection::INJECT;
use crate::model::refusal::{LINKERDS, about_linkerds, names_linkerds};
use crate::objects::PodSpec;
use crate::objects::container::INIT_CONTAINER;

/// A capability that only the init container requests.
const CAPABILITY: &str = "NET_ADMIN";
/// The name of GKE's webhook that enforces the rules of Autopilot, and the start of its answers.
const WARDEN: [&str; 2] = ["GKE Warden", "GKE Policy Controller"];
/// Longer answers are truncated when printed.
const LONG: usize = 240;

/// The images of Linkerd's containers, as the answers of rules about images name them.
const IMAGE: &str = "linkerd/proxy";

/// Whether the answer is about injected containers: by their names or images, by the capability, or by a field path
/// that the template does not have.
pub(super) fn is_meant(said: &str, template: &PodSpec) -> bool {
    let added = said.contains("/initContainers/")
        && !template.containers.is_empty()
        && template.init_containers.iter().all(|one| LINKERDS.contains(&one.name.as_str()));
    added
        || is_of_added_container(said, template)
        || names_linkerds(said)
        || said.contains(CAPABILITY)
        || said.contains(IMAGE)
}

/// Whether the answer names a container by a place that the template does not have, or for resources that the
/// template's container at this place has. The injector adds the proxy as the first or the last container.
fn is_of_added_container(said: &str, template: &PodSpec) -> bool {
    let place = said.split("/containers/").nth(1).and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
    let Some(place) = place.filter(|_| !template.containers.is_empty()) else { return false };
    let Some(container) = template.containers.iter().nth(place) else { return true };
    let has_all = container.resources.as_ref().is_some_and(|own| {
        ![&own.requests.cpu, &own.requests.memory, &own.limits.memory].into_iter().any(|own| own.is_empty())
    });
    said.contains("/resources") && has_all
}

/// Whether the answer is about images rather than rights. All of Linkerd's containers use the same registry.
fn is_of_images(said: &str) -> bool {
    let names_image = said.contains(IMAGE) || said.contains("/image") || said.to_lowercase().contains("registr");
    names_image && !said.contains(CAPABILITY) && !said.contains("rivilege")
}

/// The part of a long answer that names a container of Linkerd.
pub(in crate::checks) fn excerpt(said: &str) -> Option<&str> {
    about_linkerds(said).filter(|_| said.len() > LONG)
}

/// The steps that allow Linkerd's images.
fn allow_images() -> Remedy {
    Remedy::new()
        .note(
            "Allow Linkerd's images in the policy engine's rule that the answer names: by default they come from \
             cr.l5d.io/linkerd",
        )
        .step(
            StepKind::ChartValue,
            "Or copy them to an allowed registry, and set proxy.image.name and proxyInit.image.name",
        )
        .step(StepKind::Annotation, format!("Or exclude pods that need no mesh: {INJECT}: disabled in their template"))
}

/// The steps that allow such pods.
pub(in crate::checks) fn remedy(ctx: &Context<'_>, said: &str) -> Remedy {
    if WARDEN.iter().any(|begin| said.contains(begin)) {
        return autopilot();
    }
    if let Some((path, value)) = set_privileges(ctx).filter(|_| said.contains("rivilege")) {
        let act = format!("Reset {path}, with which linkerd-init requests more privileges than by default");
        let options = Options::none().set(path, value);
        return upgrade::with_values(ctx, Remedy::new(), &act, options)
            .note("If the value is needed, exempt linkerd-init from the policy engine's rule that the answer names");
    }
    if is_of_images(said) {
        return allow_images();
    }
    let is_of_resources = ["limits", "requests"].iter().any(|word| said.contains(word));
    let remedy = if is_of_resources {
        Remedy::new().step(
            StepKind::ChartValue,
            "Set proxy.resources (limits and requests of CPU and memory), which also apply to linkerd-init",
        )
    } else {
        Remedy::new()
    };
    // Only linkerd-init requests rights that other containers do not have.
    let is_of_rights = said.contains(CAPABILITY)
        || said.contains("rivilege")
        || (!is_of_resources && (said.contains(INIT_CONTAINER) || said.contains("/initContainers/")));
    let remedy = remedy.note(match (is_of_rights, is_of_resources) {
        (true, _) => {
            "Exempt Linkerd's containers, by name or image, from the policy engine's rule that the answer \
                 names. linkerd-init requests NET_ADMIN and NET_RAW, linkerd-proxy requests nothing"
        }
        (false, true) => {
            "Or exempt Linkerd's containers, by name or image, from the policy engine's rule that the answer names"
        }
        (false, false) => {
            "Exempt Linkerd's containers, by name or image, from the policy engine's rule that the answer names"
        }
    });
    let remedy = if said.contains("rivilege") {
        remedy.step(
            StepKind::ChartValue,
            "If the rule is about privileges, leave the defaults: linkerd-init is privileged only with \
             proxyInit.privileged or proxyInit.closeWaitTimeoutSecs, and root only with proxyInit.runAsRoot",
        )
    } else {
        remedy
    };
    let remedy = match is_of_rights {
        true => upgrade::with_values(
            ctx,
            remedy,
            "Or avoid linkerd-init: install linkerd-cni, which redirects traffic without these capabilities, \
             check that it is ready on every node, and then set cniEnabled",
            Options::none().set("cniEnabled", "true"),
        ),
        false => remedy,
    };
    remedy
        .step(StepKind::Annotation, format!("Or exclude pods that need no mesh: {INJECT}: disabled in their template"))
}

/// The step that allows pods with a PriorityClass in a namespace. Some platforms allow system-cluster-critical and
/// system-node-critical only in namespaces with a quota for PriorityClasses.
pub(in crate::checks) fn allow_priority(remedy: Remedy, namespace: &str) -> Remedy {
    remedy.command(
        "Create a quota for pods with a PriorityClass: the API server allows this class only in namespaces with one",
        kubectl().namespace(namespace).words("create quota critical-pods --hard=pods=1000 --scopes=PriorityClass"),
    )
}

/// The chart value that gives linkerd-init more privileges than by default, and its default. Each of them allows
/// privilege escalation.
fn set_privileges(ctx: &Context<'_>) -> Option<(&'static str, &'static str)> {
    let values = ctx.values_for_steps()?;
    let is_on = |path: &str| values.bool(path) == Some(true) || values.number(path).is_some_and(|set| set > 0);
    let all =
        [("proxyInit.runAsRoot", "false"), ("proxyInit.privileged", "false"), ("proxyInit.closeWaitTimeoutSecs", "0")];
    all.into_iter().find(|(path, _)| is_on(path))
}

/// linkerd-cni does not help on Autopilot: it writes to the node's file system, which Autopilot forbids.
fn autopilot() -> Remedy {
    Remedy::new().run(
        StepKind::Command,
        "Allow NET_ADMIN for workloads of the Autopilot cluster. linkerd-cni cannot replace it: Autopilot allows no \
         pod access to the node's directories",
        program("gcloud")
            .words("container clusters update")
            .arg(Arg::placeholder("CLUSTER"))
            .option("--location", Arg::placeholder("LOCATION"))
            .words("--workload-policies=allow-net-admin"),
    )
}
