//! `proxy-refused-by-quota`: a quota asks every container for resources that Linkerd's do not state, so no pod with a proxy starts.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::{Context, Judgement};
use crate::command::{Arg, kubectl};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::objects::container::{DEBUG_CONTAINER, INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};
use crate::objects::{ReplicaSet, ResourceQuota, Workload};

/// What a quota asks for, the annotation that states it for the proxy, and the variable that the reader fills in.
const STATED_BY: [(&str, &str, &str); 6] = [
    ("cpu", "config.linkerd.io/proxy-cpu-request=", "CPU_REQUEST"),
    ("limits.cpu", "config.linkerd.io/proxy-cpu-limit=", "CPU_LIMIT"),
    ("limits.memory", "config.linkerd.io/proxy-memory-limit=", "MEMORY_LIMIT"),
    ("memory", "config.linkerd.io/proxy-memory-request=", "MEMORY_REQUEST"),
    ("requests.cpu", "config.linkerd.io/proxy-cpu-request=", "CPU_REQUEST"),
    ("requests.memory", "config.linkerd.io/proxy-memory-request=", "MEMORY_REQUEST"),
];
/// Containers that the injector adds.
const LINKERDS: [&str; 4] = [PROXY_CONTAINER, INIT_CONTAINER, VALIDATOR_CONTAINER, DEBUG_CONTAINER];

/// What a quota refuses: resources that Linkerd's containers do not state, by the name of the quota.
struct Refusal<'a> {
    quota: &'a str,
    resources: BTreeSet<&'a str>,
}

/// The resources that a quota refuses, and the ReplicaSets with what they say.
type Refused<'a> = (BTreeSet<&'a str>, Vec<(&'a Workload, &'a str)>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = ctx.seen::<ReplicaSet>()?;
    let quotas = ctx.seen::<ResourceQuota>()?;
    let mut refused: BTreeMap<(&str, &str), Refused<'_>> = BTreeMap::new();
    for set in sets.iter().filter(|set| ctx.judges(&set.metadata.namespace)) {
        let Some(failed) = set.replica_failure() else { continue };
        let Some(refusal) = refusal(&failed.message) else { continue };
        let namespace = set.metadata.namespace.as_str();
        let entry = refused.entry((namespace, refusal.quota)).or_default();
        entry.0.extend(refusal.resources);
        entry.1.push((set, &failed.message));
    }
    let findings = refused.into_iter().filter_map(|((namespace, name), (resources, sets))| {
        // Who took the quota back has only to wait for the next attempt.
        let quota = quotas.iter().find(|quota| {
            (quota.metadata.namespace.as_str(), quota.metadata.name.as_str()) == (namespace, name)
        })?;
        let asked: BTreeSet<&str> =
            resources.into_iter().filter(|resource| quota.spec.hard.contains_key(*resource)).collect();
        (!asked.is_empty()).then(|| finding(ctx, quota, &asked, &sets))
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// Reads `failed quota: NAME: must specify limits.cpu for: linkerd-init,linkerd-proxy; limits.memory for: web`.
fn refusal(message: &str) -> Option<Refusal<'_>> {
    let (_, rest) = message.split_once("failed quota: ")?;
    let (quota, rest) = rest.split_once(": must specify ")?;
    let lacking = rest.split(';').filter_map(|part| part.trim().split_once(" for: "));
    let resources: BTreeSet<&str> = lacking
        .filter(|(_, containers)| containers.split(',').any(|name| LINKERDS.contains(&name.trim())))
        .map(|(resource, _)| resource.trim())
        .collect();
    (!resources.is_empty()).then_some(Refusal { quota, resources })
}

fn finding(
    ctx: &Context<'_>,
    quota: &ResourceQuota,
    asked: &BTreeSet<&str>,
    sets: &[(&Workload, &str)],
) -> Finding {
    let (namespace, name) = (quota.metadata.namespace.as_str(), quota.metadata.name.as_str());
    let hard: Vec<String> =
        asked.iter().filter_map(|key| Some(format!("{key}: {}", quota.spec.hard.get(*key)?))).collect();
    let annotations: BTreeSet<(&str, &str)> = STATED_BY
        .iter()
        .filter(|(key, ..)| asked.contains(key))
        .map(|(_, annotation, quantity)| (*annotation, *quantity))
        .collect();
    let mut annotate = kubectl().words("annotate namespace").operand(namespace);
    for (annotation, quantity) in annotations {
        annotate = annotate.arg(Arg::known(annotation).then(Arg::placeholder(quantity)));
    }
    let remedy = Remedy::new()
        .run(StepKind::Command, "State what the proxies of the namespace take; the injector writes it into their containers", annotate)
        .step(
            StepKind::Note,
            "Or give the namespace a LimitRange with defaults for containers; the ReplicaSets try again by themselves",
        )
        .shown_by(kubectl().namespace(namespace).words("get replicasets"));
    let set = |set: &Workload| format!("ReplicaSet {}/{}", set.metadata.namespace, set.metadata.name);
    let mut finding = ctx
        .finding(
            Subject::object("ResourceQuota", namespace, name),
            "it asks every container to state its resources, and Linkerd's containers do not: no pod with a proxy starts in \
             this namespace",
        )
        .evidence(Evidence::field(format!("ResourceQuota {namespace}/{name}"), "spec.hard", hard.join(", ")))
        .evidences(
            sets.iter()
                .take(3)
                .map(|(owner, said)| Evidence::field(set(owner), "status.conditions[ReplicaFailure]", *said)),
        )
        .remedy(remedy);
    for (owner, _) in sets {
        let owned = owner.metadata.controller();
        let (kind, name) =
            owned.map_or(("ReplicaSet", owner.metadata.name.as_str()), |by| (&by.kind, &by.name));
        finding = finding.subject(Subject::object(kind, namespace, name));
    }
    finding
}
