//! `validator-webhook-missing`: a webhook that validates Linkerd's own resources is missing.

use crate::checks::control_plane::installation::{renamed, unmarked};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, Severity, StepKind, Subject};
use crate::item::Kind;
use crate::objects::{ValidatingWebhookConfiguration, WebhookConfiguration};

/// The Service that a webhook calls, its configuration, the resources it validates, and the row of `linkerd
/// check`.
const VALIDATORS: [(&str, &str, &str, Option<&str>); 2] = [
    (
        "linkerd-sp-validator",
        "linkerd-sp-validator-webhook-config",
        "an invalid ServiceProfile is accepted, and proxies ignore it",
        Some("control plane ValidatingWebhookConfigurations exist"),
    ),
    (
        "linkerd-policy-validator",
        "linkerd-policy-validator-webhook-config",
        "an invalid policy is accepted, and not enforced",
        None,
    ),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let kind = Kind::ValidatingWebhookConfiguration;
    let seen = ctx.seen::<ValidatingWebhookConfiguration>();
    let namespace = &ctx.namespaces().control_plane;
    let calls = |configuration: &&WebhookConfiguration, service: &str| {
        let called =
            configuration.webhooks.iter().filter_map(|webhook| webhook.client_config.service.as_ref());
        called.into_iter().any(|called| called.name == service && called.namespace == *namespace)
    };
    let seen = seen?;
    let mut findings = Vec::new();
    for (service, name, harm, row) in VALIDATORS {
        if let Some(there) = seen.iter().find(|configuration| calls(configuration, service)) {
            let subject = Subject::object(kind, "", &there.metadata.name);
            if let Some(row) = row {
                findings.extend(unmarked(ctx, subject.clone(), &there.metadata, row));
                findings.extend(renamed(ctx, subject, name, row));
            }
            continue;
        }
        ctx.every::<ValidatingWebhookConfiguration>()?;
        let remedy = Remedy::new();
        let again = "Apply the manifests of the control plane again";
        let remedy = upgrade::step(ctx, remedy, StepKind::Command, again, Options::none());
        let finding = ctx
            .finding(
                Subject::object(kind, "", name),
                format!("no webhook configuration calls one of Linkerd's validators: {harm}"),
            )
            .evidence(Evidence::other(
                "ValidatingWebhookConfigurations",
                format!("no webhook calls Service {namespace}/{service}"),
            ))
            .fails_rows(row)
            .rows_as(Severity::Error)
            .remedy(remedy);
        findings.push(finding);
    }
    Ok(findings.into())
}
