//! `token-not-mounted`: pods request a proxy but mount no token, and the control plane does not project
//! tokens.

use std::collections::{BTreeMap, BTreeSet};

use super::injector_not_called::restart;
use super::passed_over::passed_over;
use super::unmeshed::{CREATED_ONLY, counts};
use crate::checks::admission::Rules;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::upgrade::{self, Options};
use crate::model::injection::{Decision, INJECT, Level, Skip, stored_without_token};

const MESSAGE: &str = "injection is requested, but the pods mount no service account token, which their \
    proxy needs for identity. The injector skips them, so they run outside the mesh";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let values = config.and_then(ConfigMap::chart_values);
    let projects =
        values.as_ref().and_then(|values| values.bool("identity.serviceAccountTokenProjection")).unwrap_or(true);
    if projects {
        let why = "the control plane projects a token of its own into every meshed pod";
        return Err(Unjudged::not_applicable(why));
    }
    let rules = rules?;
    let passed = passed_over(ctx, &rules)?;
    let said_so: Vec<_> = passed.into_iter().filter(|passed| passed.skip == Skip::NoToken).collect();
    let told: BTreeSet<&Owner> = said_so.iter().map(|passed| &passed.maker.owner).collect();
    let mut findings: Vec<Finding> = by_account(ctx, &rules)?
        .into_iter()
        .filter(|(owner, _)| !told.contains(owner))
        .map(|(owner, pods)| of_pods(ctx, &owner, &pods))
        .collect();
    findings.extend(said_so.iter().map(|passed| {
        let mut remedy = remedy(ctx);
        restart(ctx, &mut remedy, std::slice::from_ref(passed));
        ctx.finding(passed.maker.subject(), MESSAGE)
            .evidence(passed.request_evidence())
            .evidence(passed.maker.field("spec.automountServiceAccountToken", "false"))
            .evidence(projection(ctx))
            .remedy(remedy)
    }));
    Ok(findings.into())
}

/// A pod without a token, with the level and value of its request.
type Left<'a> = (&'a Pod, Level, &'a str);

/// The pods whose ServiceAccount turns off the token, by owner.
fn by_account<'a>(ctx: &Context<'a>, rules: &Rules<'a>) -> Result<BTreeMap<Owner, Vec<Left<'a>>>, Unjudged> {
    let owners = ctx.owners();
    let mut left: BTreeMap<Owner, Vec<Left<'a>>> = BTreeMap::new();
    for pod in ctx.partial_list::<Pod>()? {
        let meta = &pod.metadata;
        if !ctx.judges(&meta.namespace) || !counts(pod) || pod.spec.proxy().is_some() {
            continue;
        }
        if !stored_without_token(&pod.spec) {
            continue;
        }
        if let Decision::Inject { level, value } = rules.admission.decide(&meta.namespace, meta, &pod.spec) {
            left.entry(owners.owner(pod)).or_default().push((pod, level, value));
        }
    }
    Ok(left)
}

fn of_pods(ctx: &Context<'_>, owner: &Owner, pods: &[Left<'_>]) -> Finding {
    let (first, level, value) = pods[0];
    let names: Vec<String> = pods.iter().map(|(pod, ..)| pod.metadata.name.clone()).collect();
    let object = format!("Pod {}/{}", owner.namespace, first.metadata.name);
    let asks = match level {
        Level::Pod => object.clone(),
        Level::Namespace => format!("Namespace {}", owner.namespace),
    };
    let account = &first.spec.service_account_name;
    let mut remedy = remedy(ctx);
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, CREATED_ONLY));
    ctx.finding(owner.subject(names), MESSAGE)
        .evidence(Evidence::field(asks, format!("metadata.annotations[{INJECT}]"), value))
        .evidence(Evidence::field(
            object,
            "spec.volumes",
            format!("no token: ServiceAccount {account} turns it off by default"),
        ))
        .evidence(projection(ctx))
        .remedy(remedy)
}

fn projection(ctx: &Context<'_>) -> Evidence {
    Evidence::field(
        format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
        "data.values: identity.serviceAccountTokenProjection",
        "false",
    )
}

fn remedy(ctx: &Context<'_>) -> Remedy {
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Turn on token projection, which is the default",
        Options::none().set("identity.serviceAccountTokenProjection", "true"),
    );
    remedy.note(
        "Or set automountServiceAccountToken: true in the pod template, which takes precedence over its \
         ServiceAccount",
    )
}
