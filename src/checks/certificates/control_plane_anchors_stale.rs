//! `control-plane-anchors-stale`: pods of the control plane were created for another bundle of trust anchors than the current one.

use std::collections::BTreeMap;

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS, config, need_control_plane, values};
use super::proxies::anchors_since;
use crate::certificates::BundlePrint;
use crate::checks::renew::renew;
use crate::checks::trust_roots::{TRUST_ROOT_HASH, is_hash_of};
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Remedy, Severity};
use crate::item::Scope;
use crate::model::moments;
use crate::model::owners::Owner;
use crate::objects::{ConfigMap, Pod};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>()?;
    let roots = ctx.named::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    if config(ctx)?.is_none() {
        need_control_plane(ctx)?;
        return Err(Unjudged::blocked("linkerd-config-missing", "there is no linkerd-config"));
    }
    let values = values(ctx);
    if values.as_ref().and_then(|values| values.bool("identity.externalCA")) == Some(true) {
        return Err(Unjudged::not_applicable(
            "the chart does not know the trust anchors, so its pods do not show them",
        ));
    }
    let in_force = roots.and_then(|roots| roots.data.get(BUNDLE)).map(String::as_str);
    let installed = values.as_ref().and_then(|values| values.text("identityTrustAnchorsPEM"));
    let Some(current) = in_force else {
        return Err(Unjudged::blocked("trust-roots-missing", "there are no trust anchors"));
    };
    let namespace = &ctx.namespaces().control_plane;
    let owners = ctx.owners();
    let mut found: BTreeMap<(Owner, &str), Vec<&Pod>> = BTreeMap::new();
    for pod in pods {
        let meta = &pod.metadata;
        if meta.namespace != *namespace || pod.is_finished() || meta.deletion_timestamp.is_some() {
            continue;
        }
        if let Some(hash) = meta.annotation(TRUST_ROOT_HASH)
            && !in_force.into_iter().chain(installed).any(|text| is_hash_of(hash, text))
        {
            found.entry((owners.of(pod), hash)).or_default().push(pod);
        }
    }
    let anchors = anchors_since(ctx, roots);
    let findings = found.into_iter().map(|((owner, hash), pods)| {
        let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        let of_pods = pods.iter().flat_map(|pod| moments::of_pod(pod, "created", |_| false));
        let mut remedy = Remedy::new();
        remedy.steps.push(renew(&owner, &names, "what starts reads the current bundle"));
        let pod = format!("Pod {namespace}/{}", names[0]);
        ctx.finding(
            owner.subject(names),
            "a pod of the control plane was created with another bundle of trust anchors than the current one: it reads the \
             anchors only at startup, and may still use the old ones",
        )
        .severity(Severity::Info)
        .likely()
        .timeline(of_pods.chain(anchors.iter().cloned()))
        .evidence(Evidence::field(pod, format!("metadata.annotations[{TRUST_ROOT_HASH}]"), hash))
        .evidence(Evidence::field(
            format!("ConfigMap {namespace}/{TRUST_ROOTS}"),
            IN_FORCE,
            BundlePrint::of(current).shown(),
        ))
        .remedy(remedy)
    });
    Ok(findings.collect::<Vec<_>>().into())
}
