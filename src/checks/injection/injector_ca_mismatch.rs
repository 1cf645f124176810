//! `injector-ca-mismatch`: the API server does not trust the certificate that the injector serves.

use super::unmeshed::{injector_webhook, once_it_answers};
use crate::certificates::{Certificate, from_base64_pool};
use crate::checks::prelude::*;
use crate::checks::reported::logged_by;
use crate::checks::serving::{self, Refusal, both_sides, bundle_step, silent_injector};
use crate::model::injection::SERVICE;
use crate::objects::{Secret, Webhook, WebhookConfiguration};

const SECRET: &str = "linkerd-proxy-injector-k8s-tls";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let webhook = injector_webhook(ctx);
    let secret = ctx.object::<Secret>(Scope::ControlPlane, SECRET)?;
    let Some((configuration, webhook)) = webhook? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    let Some(secret) = secret else {
        return Err(Unjudged::not_applicable(format!("no Secret {SECRET} exists to compare with")));
    };
    let Some(service) = &webhook.client_config.service else {
        return Err(Unjudged::not_applicable("the injector's webhook calls a URL, not a Service of this cluster"));
    };
    if serving::is_misdirected(ctx, service, SERVICE) {
        return Err(Unjudged::not_applicable("the Service that the injector's webhook calls does not exist"));
    }
    let wrong = |item: Item, part: &str, message: String| ctx.missing(item, Why::Malformed { message }, part);
    let served = serving::served(secret).map_err(|message| wrong(item(), "its certificate", message))?;
    let bundles = || Item::List(Kind::MutatingWebhookConfiguration);
    let trusted = from_base64_pool(&webhook.client_config.ca_bundle)
        .map_err(|message| wrong(bundles(), "the injector's caBundle", message))?;
    let name = format!("{}.{}.svc", service.name, service.namespace);
    let bundle = webhook.client_config.ca_bundle.as_str();
    let refusal = serving::refusal(&served, (bundle, &trusted), &name)
        .map_err(|algorithm| wrong(item(), "its certificate", algorithm))?;
    let message = match refusal {
        None => return Ok(Verdict::fine()),
        Some(Refusal::WrongName) => "the injector's certificate is not valid for the name of its Service",
        Some(Refusal::WrongPurpose) => {
            "the extended key usage of the injector's certificate does not include server authentication"
        }
        Some(Refusal::NoBundle) => {
            "the injector's webhook has no caBundle, so the API server does not trust its certificate"
        }
        Some(Refusal::NoCertificate) => "the caBundle of the injector's webhook holds no certificate",
        Some(Refusal::NotTrusted) => "the injector's certificate does not chain to the caBundle of its webhook",
    };
    let effect = match webhook.failure_policy.as_str() {
        "Ignore" => "new pods start without a proxy",
        _ => "new pods are rejected in the namespaces that the webhook covers",
    };
    let message = format!("{message}: the API server cannot call the injector, so {effect}");
    Ok(finding(ctx, configuration, webhook, &message, &served, &trusted).into())
}

fn item() -> Item {
    Item::named(Kind::Secret, Scope::ControlPlane, SECRET)
}

fn finding(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    message: &str,
    served: &[Certificate],
    trusted: &[Certificate],
) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let name = &configuration.metadata.name;
    let remedy = bundle_step(ctx, (&configuration.metadata, trusted), "proxyInjector", "injector");
    let remedy = once_it_answers(ctx, remedy, Some(webhook));
    let seen = both_sides(
        &format!("Secret {namespace}/{SECRET}"),
        served,
        &format!("MutatingWebhookConfiguration {name}"),
        "webhooks[].clientConfig.caBundle",
        trusted,
    );
    ctx.finding(Subject::object("MutatingWebhookConfiguration", "", name), message)
        .evidences(seen)
        .remedy(remedy)
        .tie(silent_injector())
        .tie(logged_by("proxy-injector", "webhook-certificate-refused"))
}
