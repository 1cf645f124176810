//! `default-policy-not-applied`: a namespace sets another default inbound policy than its older pods have.

use std::collections::BTreeMap;

use super::survey::survey;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, Rollouts, renew};
use crate::model::policy::DefaultPolicy;

const KEY: &str = "config.linkerd.io/default-inbound-policy";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.partial_list::<Namespace>()?;
    let survey = survey(ctx)?;
    let general = survey.index.controller.default_policy;
    let said = |meta: &Meta| meta.annotation(KEY)?.parse::<DefaultPolicy>().ok();
    let owners = ctx.owners();
    let mut stale: BTreeMap<(Owner, &str), (DefaultPolicy, Vec<&Pod>)> = BTreeMap::new();
    for namespace in namespaces.iter().filter(|namespace| ctx.judges(&namespace.metadata.name)) {
        let meta = &namespace.metadata;
        let Some(wanted) = said(meta).filter(|wanted| *wanted != general) else { continue };
        let here = survey.pods_of(&meta.name).iter().map(|(pod, _)| *pod);
        // The pod's or its template's own annotation takes precedence over the namespace's.
        for pod in here.filter(|pod| pod.metadata.annotation(KEY).is_none()) {
            stale.entry((owners.owner(pod), &meta.name)).or_insert((wanted, Vec::new())).1.push(pod);
        }
    }
    let findings = stale
        .iter()
        .map(|((owner, namespace), (wanted, pods))| finding(ctx, (owner, namespace), (*wanted, general), pods));
    Ok(findings.collect())
}

fn finding(
    ctx: &Context<'_>,
    (owner, namespace): (&Owner, &str),
    (wanted, general): (DefaultPolicy, DefaultPolicy),
    pods: &[&Pod],
) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods.first().map_or_else(String::new, |pod| format!("Pod {namespace}/{}", pod.metadata.name));
    let mut remedy = Remedy::new();
    if Rollouts::from_context(ctx).is_in_template(owner) {
        remedy = remedy.step(
            StepKind::Annotation,
            format!("Set {KEY} in the pod template: linkerd inject does not read the annotations of a namespace"),
        );
    }
    let because = "the namespace's annotation is copied when a pod is created";
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, because));
    ctx.finding(
        owner.subject(names),
        format!(
            "The pods still have the default policy {general}, although namespace {namespace} sets {wanted}. \
             The namespace's policy applies to ports without a Server only after the pods are recreated"
        ),
    )
    .evidence(Evidence::field(
        Subject::object(Kind::Namespace, "", namespace),
        format!("metadata.annotations[{KEY}]"),
        wanted.as_str(),
    ))
    .evidence(Evidence::field(first, format!("metadata.annotations[{KEY}]"), "not set"))
    .evidence(Evidence::other("default policy of the control plane", general.as_str()))
    .remedy(remedy.note(
        "If linkerd inject added the proxy, annotate the pod template: such pods do not inherit the \
         namespace's annotation",
    ))
}
