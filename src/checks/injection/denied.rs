//! Pods that the webhook of a policy engine refuses because of the containers that the injector adds: which part of the answer says so,
//! and what to do about it.

use crate::checks::Context;
use crate::checks::upgrade::{self, Options};
use crate::command::{Arg, program};
use crate::finding::{Remedy, StepKind};
use crate::model::injection::INJECT;
use crate::model::refusal::{LINKERDS, about_linkerds, names_linkerds};
use crate::objects::PodSpec;

/// What only the init container asks for.
const CAPABILITY: &str = "NET_ADMIN";
/// What GKE calls the webhook that keeps the rules of Autopilot, and how its answers begin.
const WARDEN: [&str; 2] = ["GKE Warden", "GKE Policy Controller"];
/// Longer answers are cut where they are printed.
const LONG: usize = 240;

/// Whether the answer is about what the injector adds: by its name, by what it asks for, or by a place where the template has nothing.
pub(super) fn is_meant(said: &str, template: &PodSpec) -> bool {
    let added = said.contains("/initContainers/")
        && !template.containers.is_empty()
        && template.init_containers.iter().all(|one| LINKERDS.contains(&one.name.as_str()));
    added || names_linkerds(said) || said.contains(CAPABILITY)
}

/// The part of a long answer that names a container of Linkerd's.
pub(super) fn excerpt(said: &str) -> Option<&str> {
    about_linkerds(said).filter(|_| said.len() > LONG)
}

/// What lets such pods start.
pub(super) fn remedy(ctx: &Context<'_>, said: &str) -> Remedy {
    if WARDEN.iter().any(|begin| said.contains(begin)) {
        return autopilot();
    }
    let remedy = Remedy::new().step(
        StepKind::Note,
        "Have the policy engine exempt the containers that Linkerd adds, by name or image, from the rule that the answer names: linkerd-init \
         asks for NET_ADMIN and NET_RAW, and linkerd-proxy for nothing",
    );
    let remedy = if said.contains("rivilege") {
        remedy.step(
            StepKind::ChartValue,
            "Where the rule is about privileges: linkerd-init is privileged only with proxyInit.privileged or \
             proxyInit.closeWaitTimeoutSecs, and root only with proxyInit.runAsRoot; leave them at their defaults",
        )
    } else {
        remedy
    };
    let remedy = if ["limits", "requests"].iter().any(|word| said.contains(word)) {
        remedy.step(
            StepKind::ChartValue,
            "Where the rule is about resources: set proxy.resources (limits and requests, of CPU and memory); linkerd-init takes the same",
        )
    } else {
        remedy
    };
    let remedy = upgrade::step(
        ctx,
        remedy,
        StepKind::ChartValue,
        "Or do without linkerd-init: install linkerd-cni, which redirects traffic without a container that has these capabilities, see that \
         it is ready on every node, and then turn cniEnabled on",
        Options::none().set("cniEnabled", "true"),
    );
    remedy.step(
        StepKind::Annotation,
        format!("Or leave pods out of the mesh that need none: {INJECT}: disabled in their template"),
    )
}

/// linkerd-cni is no way there: it writes into folders of nodes, which Autopilot forbids.
fn autopilot() -> Remedy {
    Remedy::new().run(
        StepKind::Command,
        "Let workloads of the Autopilot cluster have NET_ADMIN; linkerd-cni is no way around it, since Autopilot gives no pod the folders \
         of its node",
        program("gcloud")
            .words("container clusters update")
            .arg(Arg::placeholder("CLUSTER"))
            .option("--location", Arg::placeholder("LOCATION"))
            .words("--workload-policies=allow-net-admin"),
    )
}
