//! `control-plane-churning`: the pod templates of the control plane change repeatedly.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::checks::prelude::*;
use crate::model::control_plane::{CORE, CREATED_BY, Component, component_version, components};
use crate::model::managed_by::ManagedBy;
use crate::objects::ReplicaSet;

/// Maximum number of ReplicaSets quoted in evidence.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let namespace = &ctx.namespaces().control_plane;
    let made = recent(ctx.partial_list::<ReplicaSet>()?, namespace, ctx.now(), ctx.param_duration("hours"));
    let findings =
        components(deployments, namespace).into_iter().filter(|c| CORE.contains(&c.name)).filter_map(|component| {
            let sets = made.get(component.deployment.metadata.name.as_str())?;
            let sets = of_one_release(sets).filter(|sets| sets.len() >= ctx.count_of("rollouts"))?;
            Some(finding(ctx, &component, sets))
        });
    Ok(findings.collect())
}

/// The ReplicaSets of a namespace that are not older than a duration, by their Deployment.
pub(super) fn recent<'a>(
    sets: &'a [Workload],
    namespace: &str,
    now: Timestamp,
    age: SignedDuration,
) -> BTreeMap<&'a str, Vec<(Timestamp, &'a Workload)>> {
    let mut made: BTreeMap<&str, Vec<(Timestamp, &Workload)>> = BTreeMap::new();
    for set in sets.iter().filter(|set| set.metadata.namespace == *namespace) {
        let owner = set.metadata.controller().filter(|owner| owner.kind == "Deployment");
        if let (Some(owner), Some(at)) = (owner, set.metadata.creation_timestamp.get())
            && now.duration_since(at) <= age
        {
            made.entry(&owner.name).or_default().push((at, set));
        }
    }
    made
}

/// The ReplicaSets of the release with the most of them. Upgrades create ReplicaSets of other releases, and
/// several upgrades in a row are not churn.
pub(super) fn of_one_release<'a>(sets: &[(Timestamp, &'a Workload)]) -> Option<Vec<(Timestamp, &'a Workload)>> {
    let mut releases: BTreeMap<String, Vec<(Timestamp, &Workload)>> = BTreeMap::new();
    for (at, set) in sets {
        releases.entry(release(set).unwrap_or_default()).or_default().push((*at, set));
    }
    releases.into_values().max_by_key(Vec::len)
}

/// The release of a ReplicaSet: the annotation copied from its Deployment, or else the tag of the
/// component's image.
fn release(set: &Workload) -> Option<String> {
    let created_by = set.metadata.annotation(CREATED_BY);
    let tag = || set.spec.template.spec.containers.iter().find_map(component_version);
    created_by
        .and_then(|text| LinkerdVersion::from_created_by(text).ok())
        .or_else(tag)
        .map(|version| version.to_string())
}

fn finding(ctx: &Context<'_>, component: &Component<'_>, mut sets: Vec<(Timestamp, &Workload)>) -> Finding {
    sets.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let meta = &component.deployment.metadata;
    let (namespace, name) = (&meta.namespace, &meta.name);
    let managed = ManagedBy::from_metadata(meta);
    let gitops = managed.gitops.map(|gitops| gitops.to_string());
    let remedy = Remedy::new()
        .command(
            "Find out which field manager writes the Deployment, and which annotations differ between \
            ReplicaSets",
            kubectl().namespace(namespace).words("get deployment").operand(name).words("-o yaml --show-managed-fields"),
        )
        .step(
            StepKind::Note,
            "Give the chart fixed certificates: for proxyInjector, profileValidator and policyValidator, set \
             externalSecret and either caBundle or injectCaFrom",
        )
        .note(
            "If a GitOps controller applies the chart, make it ignore generated fields: the webhooks' \
            caBundle, the data of their Secrets, the annotations checksum/config and the heartbeat schedule",
        );
    ctx.finding(
        Subject::object("Deployment", namespace, name),
        "the control plane is rolled out repeatedly, most often because each rendering of the chart creates \
        new certificates. Webhooks fail while Secret and webhook configuration differ",
    )
    .likely()
    .evidence(Evidence::other(
        format!("ReplicaSets of {name}"),
        format!("{} created within {}", sets.len(), ctx.param_text("hours")),
    ))
    .evidences(sets.iter().take(QUOTED).map(|(at, set)| {
        let object = format!("ReplicaSet {namespace}/{}", set.metadata.name);
        Evidence::field(object, "metadata.creationTimestamp", at.to_string())
    }))
    .evidences(
        gitops.map(|gitops| Evidence::other(format!("Deployment {namespace}/{name}"), format!("applied by {gitops}"))),
    )
    .remedy(remedy)
}
