//! `linkerd-cni-not-exempt`: the injector's webhook has failurePolicy Fail and covers the pods of
//! linkerd-cni.

use super::unmeshed::injector_webhook;
use crate::checks::prelude::*;
use crate::model::cni::is_installer;
use crate::model::injection::{Admission, Decision, Skip, WEBHOOKS_LABEL};
use crate::objects::DaemonSet;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.partial_list::<Namespace>();
    let sets = ctx.partial_list::<DaemonSet>();
    let Some((configuration, webhook)) = injector_webhook(ctx)? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    // The API server's default is Fail.
    if !matches!(webhook.failure_policy.as_str(), "Fail" | "") {
        return Err(Unjudged::not_applicable("the injector's webhook has failurePolicy Ignore"));
    }
    let (namespaces, sets) = (namespaces?, sets?);
    let admission = Admission::new(namespaces, Some(webhook), None);
    let mut findings: Vec<Finding> = Vec::new();
    for set in sets.iter().filter(|set| is_installer(set)) {
        let (meta, template) = (&set.metadata, &set.spec.template);
        let decision = admission.decide(&meta.namespace, &template.metadata, &template.spec);
        match decision {
            Decision::Skip(Skip::NotCalled(_)) | Decision::Unknown => continue,
            Decision::Skip(_) | Decision::Inject { .. } => {}
        }
        let namespace = namespaces.iter().find(|namespace| namespace.metadata.name == meta.namespace);
        let label = namespace.and_then(|namespace| namespace.metadata.label(WEBHOOKS_LABEL)).unwrap_or("not set");
        let remedy = Remedy::new()
            .command(
                "Exempt the namespace of linkerd-cni from Linkerd's webhooks",
                kubectl()
                    .words("label namespace")
                    .operand(meta.namespace.as_str())
                    .arg(format!("{WEBHOOKS_LABEL}=disabled"))
                    .words("--overwrite"),
            )
            .step(
                StepKind::Upgrade,
                "Upgrade both charts: newer ones label the pods of linkerd-cni (linkerd.io/cni-resource), \
                 and the webhook of newer control planes excludes them",
            );
        findings.push(
            ctx.finding(
                Subject::object("DaemonSet", &meta.namespace, &meta.name),
                "the injector's webhook has failurePolicy Fail and covers the pods of linkerd-cni. While \
                 the injector is down, no node gets linkerd-cni, and no injector starts on a new node \
                 without it",
            )
            .evidence(Evidence::field(
                format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
                "webhooks[].failurePolicy",
                if webhook.failure_policy.is_empty() { "Fail (the default)" } else { "Fail" },
            ))
            .evidence(Evidence::field(
                format!("Namespace {}", meta.namespace),
                format!("metadata.labels[{WEBHOOKS_LABEL}]"),
                label,
            ))
            .evidence(Evidence::field(
                meta.described("DaemonSet"),
                "spec.template.metadata.labels[linkerd.io/cni-resource]",
                template.metadata.label("linkerd.io/cni-resource").unwrap_or("not set"),
            ))
            .remedy(remedy),
        );
    }
    if findings.is_empty() { Ok(Verdict::fine()) } else { Ok(findings.into()) }
}
