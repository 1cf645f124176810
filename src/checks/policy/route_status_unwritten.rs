//! `route-status-unwritten`: the Lease under which the policy controller writes route statuses is not
//! renewed.

use jiff::SignedDuration;

use super::survey::unread;
use crate::checks::prelude::*;
use crate::checks::reported::logged;
use crate::model::control_plane::installed;
use crate::model::policy::ROUTES;
use crate::objects::Lease;
use crate::version::{Contains, Introduced};

/// The Lease of the replica that writes statuses.
const LEASE: &str = "policy-controller-write";
/// The Lease is renewed twice a minute, and another replica takes over as quickly. The rest allows for
/// clocks and restarts.
const ALLOWED: SignedDuration = SignedDuration::from_mins(10);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let leases = ctx.partial_list::<Lease>()?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let held = leases.iter().find(|lease| lease.metadata.key() == (namespace, LEASE));
    let Some(renewed) = held.and_then(|lease| lease.spec.renew_time) else {
        return Err(Unjudged::not_applicable("the policy controller has no Lease yet"));
    };
    if !ctx.knows_its_moment() {
        return Err(Unjudged::not_applicable(
            "the time of the dump is unknown, and so is the age of the Lease's renewal: give it with --at",
        ));
    }
    let ago = ctx.now().duration_since(renewed);
    if ago <= ALLOWED {
        return Ok(Verdict::fine());
    }
    let finding = ctx
        .finding(
            Subject::object(Kind::Lease, namespace, LEASE),
            "no policy controller holds the Lease for writing statuses. New routes are never accepted and have no \
             effect, although the controller is ready",
        )
        .evidence(Evidence::field(
            format!("Lease {namespace}/{LEASE}"),
            "spec.renewTime",
            format!("{renewed}, {}; normally renewed twice a minute", crate::checks::dates::ago(ago)),
        ))
        .remedy(remedy(ctx, namespace));
    let finding = finding.tie(logged("status-task-panicked"));
    Ok(ROUTES.into_iter().fold(finding, |finding, kind| finding.tie(unread(kind))).into())
}

/// The restart, and the upgrade if a later loss of the Lease would be noticed by nothing.
fn remedy(ctx: &Context<'_>, namespace: &str) -> Remedy {
    let remedy = Remedy::new()
        .command(
            "Save the log of the policy controller for a bug report: it may contain why no replica takes the Lease",
            kubectl()
                .namespace(namespace)
                .words("logs -l linkerd.io/control-plane-component=destination -c policy --prefix --tail=200"),
        )
        .command(
            "Restart the policy controller, which takes the Lease within a minute",
            kubectl().namespace(namespace).words("rollout restart deployment/linkerd-destination"),
        )
        .command(
            "Check that the Lease is renewed again",
            kubectl().namespace(namespace).words("get lease").operand(LEASE).words("-o jsonpath={.spec.renewTime}"),
        );
    let fixed = ctx.knowledge.policy_controller().ends_with_lease_watch;
    let version = installed(ctx.for_steps::<Deployment>(), None, namespace).map(|(version, _)| version);
    let is_fixed = version
        .is_some_and(|version| version.contains(&Introduced::at_edge(fixed), ctx.knowledge.minors()) == Contains::Yes);
    match is_fixed {
        true => remedy,
        false => remedy.step(
            StepKind::Upgrade,
            format!("Upgrade the control plane to {fixed} or newer: older releases can lose the Lease again"),
        ),
    }
}
