//! `injector-webhook-missing`: a control plane without the webhook through which the API server calls its
//! injector.

use super::unmeshed::{injector_webhook, restart_unmeshed};
use crate::checks::control_plane::installation::{renamed, unmarked};
use crate::checks::prelude::*;
use crate::checks::serving::silent_injector;
use crate::checks::upgrade;

/// The configuration's name in the charts.
const CONFIGURATION: &str = "linkerd-proxy-injector-webhook-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let webhook = injector_webhook(ctx);
    if let Some((there, _)) = webhook? {
        let subject = Subject::object(Kind::MutatingWebhookConfiguration, "", &there.metadata.name);
        let row = "control plane MutatingWebhookConfigurations exist";
        let unmarked = unmarked(ctx, subject.clone(), &there.metadata, row);
        let found = [unmarked, renamed(ctx, subject, CONFIGURATION, row)];
        return Ok(found.into_iter().flatten().collect());
    }
    let again = "Reapply the control plane";
    let remedy = upgrade::reapply(ctx, Remedy::new(), again);
    let remedy = restart_unmeshed(ctx, upgrade::injector_awaited(ctx, remedy), None);
    let finding = ctx
        .finding(
            Subject::object(Kind::MutatingWebhookConfiguration, "", CONFIGURATION),
            "the webhook of the proxy injector is missing, so every new pod starts unmeshed",
        )
        .evidence(Evidence::other(
            "MutatingWebhookConfigurations",
            format!("none of them calls Service {namespace}/linkerd-proxy-injector"),
        ))
        .remedy(remedy)
        .tie(silent_injector());
    Ok(finding.into())
}
