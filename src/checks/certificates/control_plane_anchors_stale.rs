//! `control-plane-anchors-stale`: control-plane pods were created with another bundle of trust
//! anchors than the current one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS, config, need_control_plane, values};
use super::proxies::anchors_since;
use super::stranded;
use crate::certificates::{BundlePrint, Certificate, from_restored_bundle};
use crate::checks::prelude::*;
use crate::checks::trust_roots::{TRUST_ROOT_HASH, is_hash_of};
use crate::model::moments;

/// The containers that read the bundle when they start.
const READERS: [&str; 2] = ["identity", "linkerd-proxy"];
/// Maximum number of quoted containers of a workload.
const QUOTED: usize = 2;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    if config(ctx)?.is_none() {
        need_control_plane(ctx)?;
        return Err(Unjudged::blocked("linkerd-config-missing", "linkerd-config is missing"));
    }
    let values = values(ctx);
    let in_force = roots.and_then(|roots| roots.data.get(BUNDLE)).map(String::as_str);
    let installed = values.as_ref().and_then(|values| values.text("identityTrustAnchorsPEM"));
    let Some(current) = in_force else {
        return Err(Unjudged::blocked("trust-roots-missing", "the trust anchors are missing"));
    };
    let sure = older(ctx, pods, current);
    let external = values.as_ref().and_then(|values| values.bool("identity.externalCA")) == Some(true);
    if external {
        return Ok(sure.into());
    }
    let told: BTreeSet<&str> = sure.iter().flat_map(|finding| &finding.subjects).flat_map(pods_of).collect();
    let namespace = &ctx.namespaces().control_plane;
    let owners = ctx.owners();
    let mut found: BTreeMap<(Owner, &str), Vec<&Pod>> = BTreeMap::new();
    for pod in pods {
        let meta = &pod.metadata;
        if meta.namespace != *namespace || pod.is_finished() || meta.deletion_timestamp.is_some() {
            continue;
        }
        if let Some(hash) = meta.annotation(TRUST_ROOT_HASH)
            && !told.contains(meta.name.as_str())
            && !in_force.into_iter().chain(installed).any(|text| is_hash_of(hash, text))
        {
            found.entry((owners.owner(pod), hash)).or_default().push(pod);
        }
    }
    let anchors = anchors_since(ctx, roots);
    let findings = found.into_iter().map(|((owner, hash), pods)| {
        let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        let of_pods = pods.iter().flat_map(|pod| moments::of_pod(pod, "created", |_| false));
        let remedy = stranded::restarted(ctx, &owner, &names);
        let pod = format!("Pod {namespace}/{}", names[0]);
        ctx.finding(
            owner.subject(names),
            "a control-plane pod was created with a bundle of trust anchors other than the current one: \
                it reads the anchors only at startup and may still use the old ones",
        )
        .of_several(
            "control-plane pods were created with a bundle of trust anchors other than the current one: they read \
             the anchors only at startup and may still use the old ones",
        )
        .severity(Severity::Info)
        .likely()
        .timeline(of_pods.chain(anchors.iter().cloned()))
        .evidence(Evidence::field(pod, format!("metadata.annotations[{TRUST_ROOT_HASH}]"), hash))
        .evidence(Evidence::field(
            format!("ConfigMap {namespace}/{TRUST_ROOTS}"),
            IN_FORCE,
            BundlePrint::from_pem(current).shown(),
        ))
        .remedy(remedy)
    });
    let mut findings: Vec<Finding> = findings.collect();
    findings.extend(sure);
    Ok(findings.into())
}

/// The names of the pods of a finding.
fn pods_of(subject: &Subject) -> impl Iterator<Item = &str> {
    let (name, pods) = match subject {
        Subject::Object { name, pods, .. } => (Some(name.as_str()), pods.as_slice()),
        Subject::Node { .. } | Subject::Thing { .. } => (None, &[][..]),
    };
    name.into_iter().chain(pods.iter().map(String::as_str))
}

/// Containers that started before an anchor of the bundle was made, and so cannot have read it.
fn older(ctx: &Context<'_>, pods: &[Pod], bundle: &str) -> Vec<Finding> {
    let namespace = &ctx.namespaces().control_plane;
    let Some(newest) = from_restored_bundle(bundle).unwrap_or_default().into_iter().max_by_key(Certificate::not_before)
    else {
        return Vec::new();
    };
    let made = newest.not_before();
    let owners = ctx.owners();
    let mut found: BTreeMap<Owner, Vec<(&Pod, &str, Timestamp)>> = BTreeMap::new();
    for pod in pods {
        let meta = &pod.metadata;
        if meta.namespace != *namespace || pod.is_finished() || meta.deletion_timestamp.is_some() {
            continue;
        }
        let started = READERS.into_iter().filter_map(|name| {
            let at = pod.container_status(name)?.state.running()?.started_at.get()?;
            (at < made).then_some((pod, name, at))
        });
        if let Some(first) = started.min_by_key(|(_, _, at)| *at) {
            found.entry(owners.owner(pod)).or_default().push(first);
        }
    }
    let findings = found.into_iter().map(|(owner, containers)| {
        let names: Vec<String> = containers.iter().map(|(pod, ..)| pod.metadata.name.clone()).collect();
        let remedy = stranded::restarted(ctx, &owner, &names);
        ctx.finding(
            owner.subject(names),
            "a control-plane container started before a current trust anchor was made, so it does not \
                have it: it rejects issuers and proxy certificates that chain only to this anchor",
        )
        .of_several(
            "control-plane containers started before a current trust anchor was made, so they do not have it: they \
             reject issuers and proxy certificates that chain only to this anchor",
        )
        .parameter("older")
        .evidences(containers.iter().take(QUOTED).map(|(pod, name, at)| {
            let object = format!("Pod {namespace}/{}", pod.metadata.name);
            Evidence::field(object, format!("{name}: state.running.startedAt"), at.to_string())
        }))
        .evidence(Evidence::field(
            format!("ConfigMap {namespace}/{TRUST_ROOTS}"),
            IN_FORCE,
            format!("{}: not before {made}", newest.summary()),
        ))
        .remedy(remedy)
    });
    findings.collect()
}
