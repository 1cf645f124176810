//! `viz-tap-injector-missing`: the webhook or the Secret of the injector of tap is missing.

use super::tap::{INJECTOR, INJECTOR_SECRET, injector_webhook};
use crate::checks::extensions::{installed_in, is_installing, reinstall};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::objects::{MutatingWebhookConfiguration, Secret};

/// The name of the webhook configuration in the chart.
const CONFIGURATION: &str = "linkerd-tap-injector-webhook-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>();
    let configurations = ctx.complete_list::<MutatingWebhookConfiguration>();
    let secret = ctx.object::<Secret>(Scope::Extension(Extension::Viz), INJECTOR_SECRET);
    let namespace = installed_in(ctx, Extension::Viz)?.metadata.name.as_str();
    let is_injector = |meta: &crate::objects::Meta| meta.namespace == namespace && meta.name == INJECTOR;
    if !deployments?.iter().any(|one| is_injector(&one.metadata)) {
        ctx.complete_list::<Deployment>()?;
        return Err(Unjudged::not_applicable("viz has no injector of tap"));
    }
    let mut findings = Vec::new();
    let configurations = ctx.or_note(configurations);
    if configurations.is_some_and(|all| injector_webhook(all, namespace).is_none()) {
        findings.push(without_webhook(ctx, namespace));
    }
    if let Some(None) = ctx.or_note(secret) {
        findings.push(without_secret(ctx, namespace));
    }
    let installing = is_installing(ctx, namespace);
    Ok(findings.into_iter().map(|finding| spared(finding, installing)).collect())
}

fn without_webhook(ctx: &Context<'_>, namespace: &str) -> Finding {
    let message = "no webhook calls the injector of tap: pods that are created now cannot be tapped";
    let remedy = reinstall(ctx, Remedy::new(), Extension::Viz, ", which creates the webhook configuration")
        .note("Restart the workloads that should be tappable and whose pods were created meanwhile");
    ctx.finding(Subject::object(Kind::MutatingWebhookConfiguration, "", CONFIGURATION), message)
        .parameter("webhook")
        .evidence(Evidence::other(
            "every MutatingWebhookConfiguration",
            format!("none calls Service {namespace}/{INJECTOR}"),
        ))
        .remedy(remedy)
}

fn without_secret(ctx: &Context<'_>, namespace: &str) -> Finding {
    let message = "the Secret with the certificate of the injector of tap is missing: new pods of the injector cannot \
        start";
    let remedy = reinstall(ctx, Remedy::new(), Extension::Viz, ", which writes certificate and caBundle together")
        .command(
            "Restart the injector of tap, so that it serves the new certificate",
            kubectl().namespace(namespace).words("rollout restart").operand(format!("deployment/{INJECTOR}")),
        );
    ctx.finding(Subject::object(Kind::Secret, namespace, INJECTOR_SECRET), message)
        .parameter("secret")
        .evidence(Evidence::other(format!("Secret {namespace}/{INJECTOR_SECRET}"), "does not exist"))
        .tie(Tie::Workload(Kind::Deployment.to_string(), namespace.to_owned(), INJECTOR.to_owned()))
        .remedy(remedy)
}
