//! `mirror-service-orphaned`: a mirror service of a cluster that no Link names.

use super::links::{CLUSTER, links, mirrors};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::objects::{Link, Service};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.seen::<Service>()?;
    let known = links(ctx)?;
    let mirrors: Vec<(&Service, &str)> =
        mirrors(services).filter_map(|service| Some((service, service.metadata.label(CLUSTER)?))).collect();
    if mirrors.is_empty() {
        return Err(Unjudged::not_applicable("there are no mirror services"));
    }
    let orphans: Vec<&(&Service, &str)> = mirrors
        .iter()
        .filter(|(_, cluster)| !known.iter().any(|link| link.spec.target_cluster_name == *cluster))
        .collect();
    if !orphans.is_empty() {
        ctx.every::<Link>()?;
    }
    let findings = orphans.into_iter().map(|(service, cluster)| {
        let meta = &service.metadata;
        let subject = Subject::object(Kind::Service, &meta.namespace, &meta.name);
        let object = subject.to_string();
        ctx.finding(
            subject,
            "the service mirrors one of a cluster that no Link names: no controller updates it, and its clients reach the endpoints \
             of the time when the link was removed, or nothing",
        )
        .evidence(Evidence::field(object, format!("metadata.labels[{CLUSTER}]"), *cluster))
        .remedy(
            Remedy::new()
                .step(StepKind::Note, "If the cluster is still to be linked, make the link again")
                .run(
                    StepKind::Command,
                    "Otherwise delete the mirror service, once nothing calls it any more",
                    kubectl().namespace(&meta.namespace).words("delete service").operand(&meta.name),
                ),
        )
    });
    Ok(findings.collect::<Vec<_>>().into())
}
