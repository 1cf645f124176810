//! `route-status-unwritten`: nobody renews the Lease under which the policy controller writes what it makes of routes.

use jiff::SignedDuration;

use super::survey::unread;
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::command::{Command, kubectl};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::policy::ROUTES;
use crate::objects::Lease;

/// The Lease of whoever may write.
const LEASE: &str = "policy-controller-write";
/// It is renewed twice a minute, and another replica takes it over as soon; the rest is for clocks and restarts.
const ALLOWED: SignedDuration = SignedDuration::from_mins(10);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let leases = ctx.seen::<Lease>()?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let held = leases.iter().find(|lease| lease.metadata.key() == (namespace, LEASE));
    let Some(renewed) = held.and_then(|lease| lease.spec.renew_time) else {
        return Err(Unjudged::not_applicable("the policy controller has no Lease yet"));
    };
    if !ctx.knows_its_moment() {
        return Err(Unjudged::not_applicable(
            "nobody knows when the dump was taken, and so how long ago the Lease was renewed: say it with --at",
        ));
    }
    let ago = ctx.now().duration_since(renewed);
    if ago <= ALLOWED {
        return Ok(Verdict::fine());
    }
    let finding = ctx
        .finding(
            Subject::object(Kind::Lease, namespace, LEASE),
            "no policy controller holds the Lease under which statuses are written: routes and policies that are new or changed are never \
             accepted, and count for nothing, while the controller is ready",
        )
        .evidence(Evidence::field(
            format!("Lease {namespace}/{LEASE}"),
            "spec.renewTime",
            format!("{renewed}, {} minutes ago; it is renewed twice a minute", ago.as_mins()),
        ))
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    format!(
                        "See why none takes it: an answer of the API server, or \"Claims watch must not be dropped\", after which releases \
                         before {} go on without it",
                        ctx.knowledge.policy_controller().ends_with_lease_watch()
                    ),
                    Command::lines([
                        kubectl().namespace(namespace).words("logs deployment/linkerd-destination -c policy --tail=200"),
                    ]),
                )
                .run(
                    StepKind::Command,
                    "Restart the policy controller; a new one takes the Lease within a minute",
                    kubectl().namespace(namespace).words("rollout restart deployment/linkerd-destination"),
                )
                .run(
                    StepKind::Command,
                    "See that it is renewed again",
                    kubectl().namespace(namespace).words("get lease").operand(LEASE).words("-o jsonpath={.spec.renewTime}"),
                ),
        );
    Ok(vec![ROUTES.into_iter().fold(finding, |finding, kind| finding.tie(unread(kind)))].into())
}
