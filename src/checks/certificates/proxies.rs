//! The trust anchors that each proxy was created with. The injector writes them into the pod as
//! text, and proxies do not read them again. The control plane's own proxies read the ConfigMap
//! when they start, and are left out.

use std::collections::{BTreeMap, HashMap};

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS};
use crate::certificates::{BundlePrint, Certificate, from_bundle, from_restored_bundle};
use crate::checks::diagnosed::{name_of, proxies};
use crate::checks::prelude::*;
use crate::checks::trust_roots::{TRUST_ROOT_HASH, is_hash_of, is_hidden, written};
use crate::checks::words::some;
use crate::finding::Moment;
use crate::item::diagnostic::Diagnostic;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::moments;
use crate::objects::container::TRUST_ANCHORS;

/// Number of pods in a gap.
const NAMED: usize = 3;
/// The error of certificates that cannot be parsed.
const UNREADABLE: &str = "the certificates are not valid";

/// The certificates that proxies serve, each proxy's own first. Those that could not be read are noted as a gap.
///
/// # Errors
/// Pods are unavailable, or no output of `linkerd diagnostics` and no certificates were provided.
pub(super) fn served<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, Vec<Certificate>)>, Missing> {
    let pods = ctx.partial_list::<Pod>()?;
    Ok(served_by(ctx, pods, ctx.diagnostics()?))
}

/// The proxies' metrics, next to the certificates that they serve: without both, nothing is known; if only the metrics
/// are missing, that is noted.
///
/// # Errors
/// The metrics are unavailable, and no certificates were read.
pub(super) fn metrics_beside<'a>(
    ctx: &Context<'a>,
    served: &[(&Pod, Vec<Certificate>)],
) -> Result<Vec<(&'a Pod, &'a ProxyMetrics)>, Missing> {
    match proxies(ctx) {
        Err(missing) if !served.is_empty() => {
            ctx.gap(missing);
            Ok(Vec::new())
        }
        read => read,
    }
}

/// The certificates in some of the provided evidence, as [`served`].
pub(super) fn served_by<'a>(
    ctx: &Context<'_>,
    pods: &'a [Pod],
    given: &[Diagnostic],
) -> Vec<(&'a Pod, Vec<Certificate>)> {
    let pods: HashMap<(&str, &str), &Pod> = pods.iter().map(|pod| (pod.metadata.key(), pod)).collect();
    let (mut all, mut failed) = (Vec::new(), BTreeMap::<&str, Vec<String>>::new());
    for one in given.iter().filter_map(|one| one.said.of_certificates()) {
        let Some(pod) = pods.get(&(one.namespace.as_str(), one.pod.as_str())) else { continue };
        if !ctx.judges(&one.namespace) || pod.is_finished() {
            continue;
        }
        match from_bundle(&one.chain) {
            Ok(chain) if !chain.is_empty() => all.push((*pod, chain)),
            _ if one.chain.is_empty() && one.error.is_empty() => {}
            _ => {
                let error = if one.chain.is_empty() { one.error.as_str() } else { UNREADABLE };
                failed.entry(error).or_default().push(name_of(pod));
            }
        }
    }
    for (error, pods) in failed {
        let why = Why::Failed { message: error.to_owned() };
        ctx.gap(ctx.missing(Item::Diagnostics, why, format!("certificates served by {}", some(&pods, NAMED))));
    }
    all
}

/// Evidence from the certificate that a proxy serves.
pub(super) fn quoted_certificate(pod: &Pod, said: String) -> Evidence {
    Evidence::other(format!("TLS of the proxy, Pod {}", name_of(pod)), said)
}

/// Pods of one workload that have the same bundle.
pub(super) struct Holders<'a> {
    /// Their owner.
    pub(super) owner: Owner,
    /// Their bundle.
    pub(super) bundle: BundlePrint,
    pub(super) pods: Vec<&'a Pod>,
}

impl Holders<'_> {
    /// Their names.
    pub(super) fn names(&self) -> Vec<String> {
        self.pods.iter().map(|pod| pod.metadata.name.clone()).collect()
    }

    /// The bundle of the first pod as evidence; the others have the same.
    pub(super) fn evidence(&self) -> Option<Evidence> {
        let meta = &self.pods.first()?.metadata;
        let path = format!("containers[linkerd-proxy].env[{TRUST_ANCHORS}]");
        Some(Evidence::field(meta.described("Pod"), path, self.bundle.shown()))
    }

    /// Their anchors next to the expected ones; `expected` introduces those: `the current bundle is`.
    pub(super) fn compared(&self, expected: &str, current: &str) -> Evidence {
        Evidence::other("proxies", format!("trust {}; {expected} {current}", self.bundle.shown()))
    }
}

/// The creation of the anchors' ConfigMap, and the start of each anchor's validity.
pub(super) fn anchors_since(ctx: &Context<'_>, roots: Option<&ConfigMap>) -> Vec<Moment> {
    let Some(roots) = roots else { return Vec::new() };
    let made = moments::created("ConfigMap", &roots.metadata, "created");
    let anchors = roots.data.get(BUNDLE).and_then(|text| from_restored_bundle(text).ok()).unwrap_or_default();
    let object = format!("ConfigMap {}/{TRUST_ROOTS}", roots.metadata.namespace);
    let valid = anchors.iter().flat_map(|anchor| moments::of_certificate(&object, IN_FORCE, anchor, ctx.now()));
    made.into_iter().chain(valid).collect()
}

/// The creation of a workload's pods, and of the anchors that they lack.
pub(super) fn since<'a>(anchors: &[Moment], pods: impl IntoIterator<Item = &'a Pod>) -> Vec<Moment> {
    let mut moments = moments::pods_created(pods, "created with its anchors");
    moments.extend(anchors.iter().cloned());
    moments
}

/// The pods whose proxies have a bundle that `wanted` selects, by workload. Reads ReplicaSets and
/// Jobs if available.
///
/// # Errors
/// Pods are unavailable.
pub(super) fn holders<'a>(
    ctx: &Context<'a>,
    wanted: &dyn Fn(&BundlePrint) -> bool,
) -> Result<Vec<Holders<'a>>, Missing> {
    let pods = injected(ctx)?;
    let owners = ctx.owners();
    // Many pods share few bundles.
    let mut known: BTreeMap<&str, Option<BundlePrint>> = BTreeMap::new();
    let mut found: BTreeMap<(Owner, BundlePrint), Vec<&Pod>> = BTreeMap::new();
    for pod in pods {
        let Some(written) = written(pod) else { continue };
        let bundle = known.entry(written).or_insert_with(|| written.parse().ok().filter(|print| wanted(print)));
        if let Some(bundle) = bundle {
            found.entry((owners.owner(pod), bundle.clone())).or_default().push(pod);
        }
    }
    Ok(found.into_iter().map(|((owner, bundle), pods)| Holders { owner, bundle, pods }).collect())
}

/// Pods of one workload with a hidden bundle whose annotation is not the hash of the current one.
pub(super) struct Hashed<'a> {
    /// Their owner.
    pub(super) owner: Owner,
    /// The value of their annotation.
    pub(super) hash: String,
    pub(super) pods: Vec<&'a Pod>,
}

/// The pods whose proxies' environment hides their bundle, and whose annotation differs from the
/// hash of this text.
///
/// # Errors
/// Pods are unavailable.
pub(super) fn hashed<'a>(ctx: &Context<'a>, current: &str) -> Result<Vec<Hashed<'a>>, Missing> {
    let owners = ctx.owners();
    let mut found: BTreeMap<(Owner, &str), Vec<&Pod>> = BTreeMap::new();
    for pod in injected(ctx)?.filter(|pod| is_hidden(pod)) {
        if let Some(hash) = pod.metadata.annotation(TRUST_ROOT_HASH)
            && !is_hash_of(hash, current)
        {
            found.entry((owners.owner(pod), hash)).or_default().push(pod);
        }
    }
    let found = found.into_iter();
    Ok(found.map(|((owner, hash), pods)| Hashed { owner, hash: hash.to_owned(), pods }).collect())
}

/// The pods of this mesh outside its control plane that are checked.
fn injected<'a>(ctx: &Context<'a>) -> Result<impl Iterator<Item = &'a Pod> + use<'a>, Missing> {
    let pods = ctx.partial_list::<Pod>()?;
    let home = ctx.namespaces().control_plane.clone();
    let judged: Vec<&Pod> = pods
        .iter()
        .filter(|pod| {
            let meta = &pod.metadata;
            let another = meta.label(CONTROL_PLANE_NS).is_some_and(|namespace| *namespace != home);
            let over = pod.is_finished() || meta.deletion_timestamp.is_some();
            !another && meta.namespace != home && !over && ctx.judges(&meta.namespace)
        })
        .collect();
    Ok(judged.into_iter())
}
