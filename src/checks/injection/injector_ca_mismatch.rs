//! `injector-ca-mismatch`: the API server does not trust the certificate that the injector serves.

use super::unmeshed::{injector_webhook, silent_injector};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{Item, Kind, Scope};
use crate::model::certificates::{Certificate, Trust, from_base64_pem, trust};
use crate::model::objects::{Secret, Webhook, WebhookConfiguration};
use crate::source::Why;

const SECRET: &str = "linkerd-proxy-injector-k8s-tls";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let webhook = injector_webhook(ctx);
    let secret = ctx.named::<Secret>(Kind::Secret, Scope::ControlPlane, SECRET)?;
    let Some((configuration, webhook)) = webhook? else {
        return Ok(Verdict::not_applicable("no webhook of the proxy injector is registered"));
    };
    let Some(secret) = secret else {
        return Ok(Verdict::not_applicable(format!("there is no Secret {SECRET} to compare with")));
    };
    let Some(service) = &webhook.client_config.service else {
        return Ok(Verdict::not_applicable(
            "the injector's webhook calls a URL, not a Service of this cluster",
        ));
    };
    let wrong = |item: Item, part: &str, message: String| ctx.lacking(item, Why::Malformed { message }, part);
    let served = served(secret).map_err(|message| wrong(item(), "its certificate", message))?;
    let bundles = || Item::List(Kind::MutatingWebhookConfiguration);
    let trusted = from_base64_pem(&webhook.client_config.ca_bundle)
        .map_err(|message| wrong(bundles(), "the injector's caBundle", message))?;
    let name = format!("{}.{}.svc", service.name, service.namespace);
    let message = match trust(&served, &trusted) {
        Trust::Unknown(algorithm) => return Err(wrong(item(), "its certificate", algorithm)),
        Trust::Yes if served[0].covers(&name) => return Ok(Verdict::fine()),
        Trust::Yes => {
            "the injector's certificate is not good for the name of its Service: the API server refuses to talk to it"
        }
        Trust::No if trusted.is_empty() => {
            "the injector's webhook has no caBundle: the API server does not trust its certificate and refuses to talk \
             to it"
        }
        Trust::No => {
            "the caBundle of the injector's webhook does not verify the certificate that the injector serves: the API \
             server refuses to talk to it"
        }
    };
    Ok(vec![finding(ctx, configuration, webhook, message, &served, &trusted)].into())
}

fn item() -> Item {
    Item::Named { kind: Kind::Secret, scope: Scope::ControlPlane, name: SECRET.to_owned() }
}

/// The certificates in the Secret, the injector's own first: in the layout of today, or in that of releases before 2.9.
fn served(secret: &Secret) -> Result<Vec<Certificate>, String> {
    let text = ["tls.crt", "crt.pem"].into_iter().find_map(|key| secret.data.get(key));
    let served = from_base64_pem(text.ok_or("it holds neither tls.crt nor crt.pem")?)?;
    if served.is_empty() { Err("it holds no certificate".to_owned()) } else { Ok(served) }
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
    let bundle = match trusted {
        [] => "empty".to_owned(),
        some => some.iter().map(Certificate::summary).collect::<Vec<_>>().join(", "),
    };
    let effect = if webhook.failure_policy == "Ignore" {
        "Restart the workloads that were created meanwhile: the webhook fails open, so they run outside the mesh"
    } else {
        "Look for workloads that could not create their pods meanwhile: the webhook fails closed; they catch up by themselves"
    };
    let remedy = upgrade::step(
        ctx,
        Remedy::verified_by("meshdoctor check --only injection"),
        StepKind::Command,
        "Bring both sides from one place again (with cert-manager, let its cainjector fill in the caBundle instead: \
         proxyInjector.injectCaFrom): upgrade, which writes a new pair",
        Options::both(""),
    );
    let remedy = remedy
        .step(
            StepKind::Note,
            "With GitOps, keep it from writing one half: render the pair once (proxyInjector.externalSecret and caBundle), \
             or let it ignore differences in the Secret's data and in the webhook's caBundle",
        )
        .run(
            StepKind::Command,
            "Restart the injector, so that it serves what is in the Secret now",
            format!("kubectl -n {namespace} rollout restart deployment/linkerd-proxy-injector"),
        )
        .step(StepKind::Note, effect);
    ctx.finding(Subject::object("MutatingWebhookConfiguration", "", name), message)
        .evidence(Evidence::field(
            format!("Secret {namespace}/{SECRET}"),
            "data: certificate",
            served[0].summary(),
        ))
        .evidence(Evidence::field(
            format!("MutatingWebhookConfiguration {name}"),
            "webhooks[].clientConfig.caBundle",
            bundle,
        ))
        .remedy(remedy)
        .tie(silent_injector())
}
