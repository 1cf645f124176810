//! `kube-system-not-exempt`: the injector's webhook has failurePolicy Fail and covers kube-system.

use super::unmeshed::injector_webhook;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::model::injection::WEBHOOKS_LABEL as EXEMPT;
use crate::objects::Namespace;

const SYSTEM: &str = "kube-system";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.seen::<Namespace>();
    let Some((configuration, webhook)) = injector_webhook(ctx)? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    // The API server's default is Fail.
    if !matches!(webhook.failure_policy.as_str(), "Fail" | "") {
        return Err(Unjudged::not_applicable("the injector's webhook has failurePolicy Ignore"));
    }
    let Some(system) = namespaces?.iter().find(|namespace| namespace.metadata.name == SYSTEM) else {
        ctx.every::<Namespace>()?;
        return Err(Unjudged::not_applicable("there is no namespace kube-system"));
    };
    let asked =
        webhook.namespace_selector.as_ref().is_none_or(|selector| selector.matches(&system.metadata.labels));
    if !asked {
        return Ok(Verdict::fine());
    }
    let remedy = Remedy::new().run(
        StepKind::Annotation,
        "Exempt it from Linkerd's webhooks",
        kubectl().words("label namespace").arg(SYSTEM).arg(format!("{EXEMPT}=disabled")),
    );
    let act = "If the webhook's namespaceSelector was changed, restore that of the release";
    let remedy = upgrade::step(ctx, remedy, StepKind::ChartValue, act, Options::none());
    let finding = ctx
        .finding(
            Subject::object("Namespace", "", SYSTEM),
            "the injector's webhook has failurePolicy Fail and covers kube-system: while the injector is down, DNS, the network \
             plugin and whatever else the injector itself needs cannot start either",
        )
        .evidence(Evidence::field(
            format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
            "webhooks[].namespaceSelector",
            "does not exempt kube-system",
        ))
        .evidence(Evidence::field(
            format!("Namespace {SYSTEM}"),
            format!("metadata.labels[{EXEMPT}]"),
            system.metadata.label(EXEMPT).unwrap_or("not set"),
        ))
        .remedy(remedy);
    Ok(vec![finding].into())
}
