//! Steps that restart what must read new certificates.

use super::KEYS;
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::trust_roots::{TRUST_ROOT_HASH, current_for_steps, foreign_pods, is_hash_of, strands_proxies};
use crate::checks::upgrade::{self};
use crate::command::Line;
use crate::finding::{Restarts, Step};
use crate::model::installed::COMPONENT;

/// Adds the restart of the proxies whose certificates ended with the issuer's. Those with other trust anchors
/// need more, which `data-plane-anchors-disjoint` describes.
pub(in crate::checks::certificates) fn renew_certificates(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let owners = ctx.owners();
    let foreign: std::collections::HashSet<Owner> = foreign_pods(ctx).map(|pod| owners.owner(pod)).collect();
    let act = "Restart the meshed workloads: the certificates of their proxies ended with the issuer's, and \
     a proxy without a valid certificate cannot request the next one";
    restart::meshed_but(ctx, remedy, restart::Needs::NewPods, act, &|owner| foreign.contains(owner))
}

/// Adds the restart of the control plane, which reads the trust anchors only when it starts; if the step
/// before restarts it, the command that waits until it runs.
pub(in crate::checks) fn restart_control_plane(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    restarted(ctx, remedy, strands_proxies(ctx))
}

/// As [`restart_control_plane`], once every proxy trusts it.
pub(in crate::checks::certificates) fn restart_trusted_control_plane(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    restarted(ctx, remedy, false)
}

fn restarted(ctx: &Context<'_>, remedy: Remedy, cuts_off: bool) -> Remedy {
    if is_rolled(&remedy) {
        let act = "Wait until the control plane has restarted";
        let remedy = remedy.command(act, control_plane_rolled(ctx));
        return upgrade::without_key(remedy, &KEYS);
    }
    upgrade::without_key(restart(ctx, remedy, None, cuts_off), &KEYS)
}

/// Whether the last step restarts the control plane.
fn is_rolled(remedy: &Remedy) -> bool {
    upgrade::last_change(remedy).is_some_and(|last| last.restarts == Restarts::ControlPlaneByUpgrade)
}

/// Adds the restart of the control plane before a step that must follow at once, since the old proxies cannot reach the
/// restarted control plane.
pub(in crate::checks::certificates) fn restart_before(ctx: &Context<'_>, remedy: Remedy, next: &Step) -> Remedy {
    restart(ctx, remedy, Some(next), true)
}

/// Adds the restart of the control plane. If the step after it, or else the last one, needs a release of the linkerd
/// CLI, so does the restart. `cuts_off`: whether old proxies cannot reach the control plane afterwards.
fn restart(ctx: &Context<'_>, remedy: Remedy, next: Option<&Step>, cuts_off: bool) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let act = match cuts_off {
        true => {
            "Restart the control plane, which reads the trust anchors only at startup. Old pods cannot reach it from \
             then on, so do the next step at once"
        }
        false => "Restart the control plane, which reads the trust anchors only at startup, and wait until it runs",
    };
    let restart: Line = kubectl().namespace(namespace).words("rollout restart deployment").into();
    // With another CLI, the step before or after does nothing, and neither may this one.
    let guarded = next.or(upgrade::last_change(&remedy));
    let lines = [restart, control_plane_rolled(ctx)];
    let commands = match guarded.and_then(|step| step.command.as_ref()?.required_cli()) {
        // Without the restart, the wait would report that it is done.
        Some(release) => {
            let [restart, rolled] = lines;
            Line::only_with_cli(release.to_owned(), restart).and(rolled).into()
        }
        None => Command::lines(lines),
    };
    remedy.command(act, commands).restarting(Restarts::ControlPlane)
}

/// The line that waits until the control plane runs. kubectl waits for all Deployments of a namespace since 1.25.
fn control_plane_rolled(ctx: &Context<'_>) -> Line {
    let namespace = &ctx.namespaces().control_plane;
    kubectl().namespace(namespace).words("rollout status deployment --timeout=5m").into()
}

/// Adds the restart of the meshed workloads: proxies keep the bundle they were created with.
pub(in crate::checks) fn restart_meshed(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let act = "Restart every meshed workload: a proxy keeps the trust anchors it was created with";
    restart::all_meshed(ctx, remedy, restart::Needs::NewProxy, act)
}

/// As [`restart_meshed`], if old and new proxies share no trust anchor.
pub(in crate::checks::certificates) fn restart_meshed_apart(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let mut remedy = restart_meshed(ctx, remedy);
    if let Some(last) = remedy.steps.last_mut() {
        last.insert(". Connections between old and new pods fail meanwhile");
    }
    remedy
}

/// The remedy that restarts identity, which reads the issuer and the trust anchors when it starts.
pub(in crate::checks::certificates) fn identity_restarted(ctx: &Context<'_>, act: &str) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let lines = [
        kubectl().namespace(namespace).words("rollout restart deployment/linkerd-identity"),
        kubectl().namespace(namespace).words("rollout status deployment/linkerd-identity --timeout=120s"),
    ];
    Remedy::new().command(act, Command::lines(lines))
}

/// Whether a pod of the control plane was created with other trust anchors than the current ones, according
/// to its annotation.
fn is_control_plane_stale(ctx: &Context<'_>) -> bool {
    let namespace = ctx.namespaces().control_plane.as_str();
    let Some(current) = current_for_steps(ctx) else { return false };
    ctx.for_steps::<Pod>().iter().any(|pod| {
        let meta = &pod.metadata;
        meta.namespace == namespace
            && meta.label(COMPONENT).is_some()
            && !pod.is_finished()
            && meta.annotation(TRUST_ROOT_HASH).is_some_and(|hash| !is_hash_of(hash, current))
    })
}

/// Adds the steps that verify whether identity has loaded a new issuer, which it does without a restart. If
/// the control plane must be restarted in any case, its restart.
pub(in crate::checks::certificates) fn see_it_taken(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    if is_control_plane_stale(ctx) {
        return restart_control_plane(ctx, remedy);
    }
    see_it_loaded(ctx, remedy)
}

/// Adds the steps that verify whether identity has loaded a new issuer under the current anchors.
pub(in crate::checks::certificates) fn see_it_loaded(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    if is_rolled(&remedy) {
        return restart_control_plane(ctx, remedy);
    }
    let namespace = &ctx.namespaces().control_plane;
    let remedy = remedy
        .command(
            "Check that identity has loaded it: an event IssuerUpdated appears within two minutes",
            kubectl().namespace(namespace).words("get events --field-selector reason=IssuerUpdated"),
        )
        .command(
            "If there is no such event, restart identity",
            kubectl().namespace(namespace).words("rollout restart deployment/linkerd-identity"),
        );
    upgrade::without_key(remedy, &KEYS)
}
