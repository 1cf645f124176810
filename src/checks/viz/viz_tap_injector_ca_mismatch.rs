//! `viz-tap-injector-ca-mismatch`: the API server does not trust the certificate that the injector of tap serves.

use super::tap::{INJECTOR as SERVICE, INJECTOR_SECRET as SECRET, injector_webhook, item};
use crate::certificates::from_base64_pool;
use crate::checks::extensions::{installed_in, reinstall};
use crate::checks::prelude::*;
use crate::checks::serving::{self, Refusal, both_sides};
use crate::objects::{MutatingWebhookConfiguration, Secret};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let configurations = ctx.complete_list::<MutatingWebhookConfiguration>();
    let secret = ctx.object::<Secret>(Scope::Extension(Extension::Viz), SECRET)?;
    let namespace = installed_in(ctx, Extension::Viz)?.metadata.name.as_str();
    let Some((configuration, webhook)) = injector_webhook(configurations?, namespace) else {
        return Err(Unjudged::not_applicable("no webhook of the injector of tap is registered"));
    };
    let Some(secret) = secret else {
        return Err(Unjudged::not_applicable(format!(
            "Secret {SECRET} does not exist, so there is nothing \
         to compare"
        )));
    };
    let wrong = |item: Item, part: &str, message: String| ctx.missing(item, Why::Malformed { message }, part);
    let served = serving::served(secret).map_err(|message| wrong(item(SECRET), "its certificate", message))?;
    let trusted = from_base64_pool(&webhook.client_config.ca_bundle).map_err(|message| {
        wrong(Item::List(Kind::MutatingWebhookConfiguration), "the caBundle of the injector of tap", message)
    })?;
    let bundle = webhook.client_config.ca_bundle.as_str();
    let refused = serving::refusal(&served, (bundle, &trusted), &format!("{SERVICE}.{namespace}.svc"))
        .map_err(|algorithm| wrong(item(SECRET), "its certificate", algorithm))?;
    let Some(refused) = refused else { return Ok(Verdict::fine()) };
    let why = match refused {
        Refusal::WrongName => "is not valid for the name of its Service",
        Refusal::WrongPurpose => "has an extended key usage without server authentication",
        Refusal::NoBundle => "cannot be verified, as its webhook has no caBundle",
        Refusal::NoCertificate => "cannot be verified, as the caBundle of its webhook holds no certificate",
        Refusal::NotTrusted => "does not chain to the caBundle of its webhook",
    };
    // The default is Fail.
    let policy = if webhook.failure_policy.is_empty() { "Fail" } else { webhook.failure_policy.as_str() };
    let ignores = policy == "Ignore";
    let then = match ignores {
        true => "the API server does not call it, and linkerd viz tap does not work for pods created since",
        false => "the API server does not call it, and rejects new pods, since failurePolicy is Fail",
    };
    let name = &configuration.metadata.name;
    let object = format!("MutatingWebhookConfiguration {name}");
    let seen = both_sides(
        &format!("Secret {namespace}/{SECRET}"),
        &served,
        &object,
        "webhooks[].clientConfig.caBundle",
        &trusted,
    );
    let remedy = reinstall(ctx, Remedy::new(), Extension::Viz, ", which writes certificate and caBundle together").run(
        StepKind::Command,
        "Restart the injector of tap, before the workloads that should be tappable",
        kubectl().namespace(namespace).words("rollout restart").operand(format!("deployment/{SERVICE}")),
    );
    let finding = ctx
        .finding(
            Subject::object(Kind::MutatingWebhookConfiguration, "", name),
            format!("the certificate of the injector of tap {why}: {then}"),
        )
        .severity(if ignores { Severity::Warning } else { Severity::Error })
        .evidences(seen)
        .evidence(Evidence::field(object, "webhooks[].failurePolicy", policy))
        .remedy(remedy);
    Ok(finding.into())
}
