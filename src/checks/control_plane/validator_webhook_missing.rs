//! `validator-webhook-missing`: a webhook that validates Linkerd's own resources is missing.

use crate::checks::control_plane::installation::{renamed, unmarked};
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::objects::{ValidatingWebhookConfiguration, WebhookConfiguration};

/// A webhook that validates Linkerd's own resources.
#[derive(Clone, Copy)]
struct Validator {
    /// The Service that it calls.
    service: &'static str,
    configuration: &'static str,
    /// The message if no webhook calls it.
    missing: &'static str,
    /// The row of `linkerd check`.
    row: Option<&'static str>,
}

const VALIDATORS: [Validator; 2] = [
    Validator {
        service: "linkerd-sp-validator",
        configuration: "linkerd-sp-validator-webhook-config",
        missing: "no webhook configuration calls the validator of ServiceProfiles: an invalid ServiceProfile is \
                  accepted, and proxies ignore it",
        row: Some("control plane ValidatingWebhookConfigurations exist"),
    },
    Validator {
        service: "linkerd-policy-validator",
        configuration: "linkerd-policy-validator-webhook-config",
        missing: "no webhook configuration calls the validator of policies: an invalid policy is accepted, and not \
                  enforced",
        row: None,
    },
];

/// The message if both are missing.
const BOTH_MISSING: &str = "no webhook configuration calls the validators of ServiceProfiles and policies: \
                            invalid objects are accepted and have no effect";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let kind = Kind::ValidatingWebhookConfiguration;
    let seen = ctx.partial_list::<ValidatingWebhookConfiguration>();
    let namespace = &ctx.namespaces().control_plane;
    let calls = |configuration: &&WebhookConfiguration, service: &str| {
        let called = configuration.webhooks.iter().filter_map(|webhook| webhook.client_config.service.as_ref());
        called.into_iter().any(|called| called.name == service && called.namespace == *namespace)
    };
    let seen = seen?;
    let mut findings = Vec::new();
    let mut missing: Vec<Validator> = Vec::new();
    for validator in VALIDATORS {
        let Some(there) = seen.iter().find(|configuration| calls(configuration, validator.service)) else {
            missing.push(validator);
            continue;
        };
        let subject = Subject::object(kind, "", &there.metadata.name);
        if let Some(row) = validator.row {
            findings.extend(unmarked(ctx, subject.clone(), &there.metadata, row));
            findings.extend(renamed(ctx, subject, validator.configuration, row));
        }
    }
    if !missing.is_empty() {
        ctx.complete_list::<ValidatingWebhookConfiguration>()?;
        findings.extend(finding(ctx, &missing));
    }
    Ok(findings.into())
}

/// One finding for all missing validators: applying the manifests restores them together.
fn finding(ctx: &Context<'_>, missing: &[Validator]) -> Option<Finding> {
    let kind = Kind::ValidatingWebhookConfiguration;
    let namespace = &ctx.namespaces().control_plane;
    let (first, others) = missing.split_first()?;
    let message = if others.is_empty() { first.missing } else { BOTH_MISSING };
    let again = "Reapply the control plane";
    let remedy = upgrade::reapply(ctx, Remedy::new(), again);
    let seen = missing.iter().map(|validator| {
        Evidence::other(
            "ValidatingWebhookConfigurations",
            format!("no webhook calls Service {namespace}/{}", validator.service),
        )
    });
    let finding = ctx
        .finding(Subject::object(kind, "", first.configuration), message)
        .evidences(seen)
        .fails_rows(missing.iter().filter_map(|validator| validator.row))
        .rows_as(Severity::Error)
        .remedy(remedy);
    let subjects = others.iter().map(|validator| Subject::object(kind, "", validator.configuration));
    Some(subjects.fold(finding, Finding::subject))
}
