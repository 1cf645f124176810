//! `validator-ca-mismatch`: the API server does not trust the certificate of a validating webhook.
//! `injector-ca-mismatch` covers the injector.

use super::webhooks::{SERVERS, Serving, serving};
use crate::certificates::Certificate;
use crate::checks::prelude::*;
use crate::checks::serving::{Refusal, both_sides, bundle_step, is_misdirected, refusal};
use crate::objects::{Webhook, WebhookConfiguration};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let serving = serving(ctx, &SERVERS[1..])?;
    let mut findings = Vec::new();
    for pair in &serving {
        match one(ctx, pair) {
            Ok(found) => findings.extend(found),
            Err(missing) => ctx.gap(missing),
        }
    }
    Ok(findings.into())
}

fn one(ctx: &Context<'_>, pair: &Serving<'_>) -> Result<Option<Finding>, Missing> {
    let Some((configuration, webhook)) = pair.server.webhook(ctx)? else { return Ok(None) };
    // A webhook with a URL is served outside this cluster.
    let Some(service) = &webhook.client_config.service else { return Ok(None) };
    // `webhook-configuration-altered` reports a Service that does not exist.
    if is_misdirected(ctx, service, &format!("linkerd-{}", pair.server.name)) {
        return Ok(None);
    }
    let trusted = pair.server.trusted(ctx, webhook)?;
    let name = format!("{}.{}.svc", service.name, service.namespace);
    let bundle = webhook.client_config.ca_bundle.as_str();
    let refusal = refusal(&pair.served, (bundle, &trusted), &name)
        .map_err(|message| ctx.missing(pair.server.secret_item(), Why::Malformed { message }, "its certificate"))?;
    Ok(refusal.map(|refusal| finding(ctx, pair, configuration, webhook, refusal, &trusted)))
}

fn finding(
    ctx: &Context<'_>,
    pair: &Serving<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    refusal: Refusal,
    trusted: &[Certificate],
) -> Finding {
    let why = match refusal {
        Refusal::WrongName => "the certificate of a validating webhook is not valid for the name of its Service",
        Refusal::WrongPurpose => "the certificate of a validating webhook has extended key usages without TLS server",
        Refusal::NoBundle => "a validating webhook has no caBundle, so its certificate is not trusted",
        Refusal::NoCertificate => "the caBundle of a validating webhook holds no certificate",
        Refusal::NotTrusted => "the caBundle of a validating webhook does not verify the certificate that it serves",
    };
    let message = format!("{why}: the API server does not connect to it, and {}", pair.server.effect(Some(webhook)));
    let namespace = &ctx.namespaces().control_plane;
    let name = &configuration.metadata.name;
    let sides = (&configuration.metadata, trusted);
    let remedy = bundle_step(ctx, sides, pair.server.values, pair.server.name);
    let finding = ctx
        .finding(Subject::object(pair.server.kind(), "", name), message)
        .evidences(both_sides(
            &format!("Secret {namespace}/{}", pair.server.secret_name()),
            &pair.served,
            &format!("{} {name}", pair.server.kind()),
            "webhooks[].clientConfig.caBundle",
            trusted,
        ))
        .fails_rows([pair.server.valid])
        .remedy(remedy);
    pair.server.tied(ctx, finding)
}
