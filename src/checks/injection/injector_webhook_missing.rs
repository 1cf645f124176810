//! `injector-webhook-missing`: a control plane without the webhook through which the API server asks its injector.

use super::unmeshed::injector_webhook;
use crate::checks::control_plane::installation::{none_installed, present, renamed, unmarked};
use crate::checks::serving::silent_injector;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;

/// What the charts call the configuration.
const CONFIGURATION: &str = "linkerd-proxy-injector-webhook-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let webhook = injector_webhook(ctx);
    if !present(ctx)? {
        return Ok(none_installed());
    }
    if let Some((there, _)) = webhook? {
        let subject = Subject::object(Kind::MutatingWebhookConfiguration, "", &there.metadata.name);
        let row = "control plane MutatingWebhookConfigurations exist";
        let unmarked = unmarked(ctx, subject.clone(), &there.metadata, row);
        let found = [unmarked, renamed(ctx, subject, CONFIGURATION, row)];
        return Ok(found.into_iter().flatten().collect::<Vec<_>>().into());
    }
    let remedy = Remedy::verified_by(
        "kubectl get mutatingwebhookconfigurations -l linkerd.io/control-plane-component=proxy-injector",
    );
    let again = "Apply the manifests of the control plane again";
    let remedy = upgrade::step(ctx, remedy, StepKind::Command, again, Options::none()).step(
        StepKind::Note,
        "Restart the workloads that were created meanwhile: a proxy is only ever added while a pod is created",
    );
    let finding = ctx
        .finding(
            Subject::object("Namespace", "", namespace),
            "the API server has no webhook for the proxy injector: every pod that is created from now on starts outside \
             the mesh",
        )
        .evidence(Evidence::other(
            "MutatingWebhookConfigurations",
            format!("none of them calls Service {namespace}/linkerd-proxy-injector"),
        ))
        .remedy(remedy)
        .tie(silent_injector());
    Ok(vec![finding].into())
}
