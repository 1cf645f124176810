//! `running-anchors-outdated`: proxies of the control plane run without a trust anchor of the current bundle, by their
//! own environment.

use std::collections::BTreeMap;

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS};
use super::stranded;
use crate::certificates::BundlePrint;
use crate::checks::diagnosed::{metrics_missing, name_of};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::objects::container::TRUST_ANCHORS;

/// Maximum number of quoted proxies of a workload, and of pods in a gap.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let given = ctx.diagnostics()?;
    let pods = ctx.partial_list::<Pod>()?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let Some(bundle) = roots.and_then(|roots| roots.data.get(BUNDLE)) else {
        return Err(Unjudged::blocked("trust-roots-missing", "the trust anchors are missing"));
    };
    let current = BundlePrint::from_pem(bundle);
    let (mut read, mut failed) = (0, BTreeMap::<&str, Vec<String>>::new());
    let mut found: BTreeMap<Owner, Vec<(&Pod, BundlePrint)>> = BTreeMap::new();
    let certificates = given.iter().filter_map(|one| one.said.of_certificates());
    for one in certificates.filter(|one| one.namespace == namespace) {
        let is_it = |pod: &&Pod| pod.metadata.key() == (namespace, one.pod.as_str()) && !pod.is_finished();
        let Some(pod) = pods.iter().find(is_it) else { continue };
        let running = BundlePrint::from_pem(&one.anchors);
        if running.is_empty() {
            if !one.error.is_empty() {
                failed.entry(&one.error).or_default().push(name_of(pod));
            }
            continue;
        }
        read += 1;
        if current.exceeds(&running) {
            found.entry(ctx.owners().owner(pod)).or_default().push((pod, running));
        }
    }
    if read == 0 && failed.is_empty() {
        return Err(metrics_missing(ctx, "the trust anchors of the control plane's running proxies").into());
    }
    for (error, pods) in failed {
        let why = Why::Failed { message: error.to_owned() };
        let part = format!("the trust anchors of the running proxies of {}", some(&pods, QUOTED));
        ctx.gap(ctx.missing(Item::Diagnostics, why, part));
    }
    let findings = found.into_iter().map(|(owner, proxies)| {
        let names: Vec<String> = proxies.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
        let remedy = stranded::restarted(ctx, &owner, &names);
        ctx.finding(
            owner.subject(names),
            "the proxy of a control-plane pod runs without a current trust anchor: it rejects proxies whose \
             certificates chain only to this anchor",
        )
        .of_several(
            "proxies of control-plane pods run without a current trust anchor: they reject proxies whose \
             certificates chain only to this anchor",
        )
        .evidences(proxies.iter().take(QUOTED).map(|(pod, running)| {
            let object = format!("environment of the proxy, Pod {}", name_of(pod));
            Evidence::field(object, TRUST_ANCHORS, running.shown())
        }))
        .evidence(Evidence::field(format!("ConfigMap {namespace}/{TRUST_ROOTS}"), IN_FORCE, current.shown()))
        .remedy(remedy)
    });
    Ok(findings.collect())
}
