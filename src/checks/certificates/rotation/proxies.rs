//! What proxies trust, and when they got their certificates: meshed pods, and the pods of the control plane.

use std::collections::HashMap;

use jiff::Timestamp;

use super::ConditionStatus;
use crate::certificates::{BundlePrint, Certificate};
use crate::checks::diagnosed;
use crate::checks::pod_owners::makers;
use crate::checks::prelude::*;
use crate::checks::trust_roots::{TRUST_ROOT_HASH, is_hash_of, written, written_in};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning::CertificateRefreshedAt;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::objects::container::PROXY_CONTAINER;

/// The containers of the control plane that read the bundle when they start.
const READERS: [&str; 2] = ["identity", PROXY_CONTAINER];

/// When certificates of the current issuer are in use.
pub(super) struct Lifetime {
    /// From this time on, identity signs with it; `None` if unknown.
    pub(super) settled: Option<Timestamp>,
    /// From this time on, no certificate of an earlier issuer is valid; `None` if unknown.
    pub(super) over: Option<Timestamp>,
}

/// The trust anchors of a proxy.
#[derive(Debug, Clone, PartialEq)]
enum Trust {
    /// These.
    Bundle(BundlePrint),
    /// Those of the current bundle, according to the hash in an annotation.
    Current,
    /// Those of another bundle, according to that hash.
    Other,
    /// Those in force when its containers started.
    AtStart,
    Unknown,
}

/// A running pod with a proxy.
pub(super) struct Proxy<'a> {
    pub(super) pod: &'a Pod,
    /// Its workload.
    pub(super) owner: Owner,
    /// Whether it belongs to the control plane.
    pub(super) is_control_plane: bool,
    trust: Trust,
    /// Start of its oldest container that reads the bundle.
    started: Option<Timestamp>,
    /// Start of the proxy, which requests a certificate then.
    proxy_started: Option<Timestamp>,
    /// When its certificate was issued, and whether it has not expired, according to its metrics.
    refreshed: Option<(Timestamp, bool)>,
}

/// What is known about the bundle.
pub(super) struct Bundled<'a> {
    pub(super) text: &'a str,
    /// Its fingerprints.
    pub(super) print: BundlePrint,
    /// Whether the chart writes it, and a hash of it into its pod templates.
    pub(super) by_chart: bool,
    /// A time at which it was in place.
    pub(super) since: Option<Timestamp>,
}

/// The running pods of this mesh with a proxy, and those of its control plane.
///
/// # Errors
/// Pods are unavailable.
pub(super) fn proxies<'a>(
    ctx: &Context<'a>,
    metrics: &Context<'a>,
    bundled: Option<&Bundled<'_>>,
) -> Result<Vec<Proxy<'a>>, Missing> {
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    // Without metrics, other evidence decides.
    let read = metrics.diagnostics().and_then(|_| diagnosed::proxies(metrics)).unwrap_or_default();
    let read: HashMap<(&str, &str), &ProxyMetrics> =
        read.into_iter().map(|(pod, metrics)| (pod.metadata.key(), metrics)).collect();
    let mut found: Vec<Proxy<'a>> = Vec::new();
    for pod in ctx.complete_list::<Pod>()? {
        let meta = &pod.metadata;
        let is_control_plane = meta.namespace == home && meta.label(COMPONENT).is_some();
        let of_another = meta.label(CONTROL_PLANE_NS).is_some_and(|namespace| *namespace != *home);
        if of_another || pod.is_finished() || !(is_control_plane || pod.spec.proxy().is_some()) {
            continue;
        }
        let refreshed = read.get(&meta.key()).and_then(|metrics| refreshed(metrics));
        let trust = trust(pod, is_control_plane, bundled);
        let started = READERS.into_iter().filter_map(|name| container_started(pod, name)).min();
        let proxy_started = container_started(pod, PROXY_CONTAINER);
        let owner = owners.owner(pod);
        found.push(Proxy { pod, owner, is_control_plane, trust, started, proxy_started, refreshed });
    }
    found.sort_by(|a, b| a.owner.cmp(&b.owner).then_with(|| a.pod.metadata.name.cmp(&b.pod.metadata.name)));
    Ok(found)
}

/// The workloads whose templates hold trust anchors, with these. Reads what [`makers`] does.
///
/// # Errors
/// Pods are unavailable.
pub(super) fn templates(ctx: &Context<'_>) -> Result<Vec<(Owner, BundlePrint)>, Missing> {
    let with_template = makers(ctx)?.iter().filter(|maker| maker.has_template());
    let meshed = with_template.filter(|maker| maker.meta.label(COMPONENT).is_none());
    let held = meshed.filter_map(|maker| Some((maker.owner.clone(), written_in(maker.spec)?.parse().ok()?)));
    Ok(held.collect())
}

fn refreshed(metrics: &ProxyMetrics) -> Option<(Timestamp, bool)> {
    #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
    let at = metrics.value(CertificateRefreshedAt)? as i64;
    Some((Timestamp::from_second(at).ok()?, metrics.expires_at > metrics.read_at))
}

fn container_started(pod: &Pod, name: &str) -> Option<Timestamp> {
    pod.container_status(name)?.state.running()?.started_at.get()
}

fn trust(pod: &Pod, is_control_plane: bool, bundled: Option<&Bundled<'_>>) -> Trust {
    if let Some(held) = written(pod).and_then(|text| text.parse::<BundlePrint>().ok()) {
        return Trust::Bundle(held);
    }
    let hash = pod.metadata.annotation(TRUST_ROOT_HASH);
    let is_current = hash.zip(bundled).map(|(hash, bundled)| is_hash_of(hash, bundled.text));
    match (is_control_plane, is_current) {
        // The chart writes the hash and the bundle together.
        (true, Some(is_current)) if bundled.is_some_and(|bundled| bundled.by_chart) => {
            if is_current {
                Trust::Current
            } else {
                Trust::AtStart
            }
        }
        (true, _) => Trust::AtStart,
        (false, Some(true)) => Trust::Current,
        (false, Some(false)) => Trust::Other,
        (false, None) => Trust::Unknown,
    }
}

impl Proxy<'_> {
    /// Whether it trusts an anchor of the bundle.
    pub(super) fn trusts(&self, anchor: &Certificate, bundled: &Bundled<'_>) -> ConditionStatus {
        match &self.trust {
            Trust::Bundle(held) => ConditionStatus::from_bool(held.has(anchor)),
            Trust::Current => ConditionStatus::from_bool(bundled.print.has(anchor)),
            Trust::Other | Trust::Unknown => ConditionStatus::Unknown,
            Trust::AtStart => match (self.started, bundled.since) {
                (Some(started), _) if started < anchor.not_before() => ConditionStatus::No,
                (Some(started), Some(since)) if started >= since => {
                    ConditionStatus::from_bool(bundled.print.has(anchor))
                }
                _ => ConditionStatus::Unknown,
            },
        }
    }

    /// Whether it trusts no anchor beyond those of the bundle.
    pub(super) fn is_current(&self, bundled: &Bundled<'_>) -> ConditionStatus {
        match &self.trust {
            Trust::Bundle(held) => ConditionStatus::from_bool(!held.exceeds(&bundled.print)),
            Trust::Current => ConditionStatus::Yes,
            Trust::Other => ConditionStatus::No,
            Trust::AtStart if bundled.since.is_some_and(|since| self.started >= Some(since)) => ConditionStatus::Yes,
            Trust::AtStart | Trust::Unknown => ConditionStatus::Unknown,
        }
    }

    /// When its pod was created with the whole bundle in its environment.
    pub(super) fn created_with(&self, bundled: &BundlePrint) -> Option<Timestamp> {
        match &self.trust {
            Trust::Bundle(held) if held.same_anchors(bundled) => self.pod.metadata.creation_timestamp.get(),
            _ => None,
        }
    }

    /// Whether its certificate is of the current issuer.
    pub(super) fn is_renewed(&self, issuer: &Certificate, lifetime: &Lifetime, now: Timestamp) -> ConditionStatus {
        if let Some((at, is_valid)) = self.refreshed {
            match lifetime.settled {
                Some(settled) if at >= settled => return ConditionStatus::Yes,
                Some(_) if is_valid => return ConditionStatus::No,
                None if is_valid && at < issuer.not_before() => return ConditionStatus::No,
                _ => {}
            }
        }
        match (lifetime.settled, lifetime.over) {
            (_, Some(over)) if now >= over => ConditionStatus::Yes,
            (Some(settled), _) if self.proxy_started.is_some_and(|started| started >= settled) => ConditionStatus::Yes,
            (Some(_), Some(_)) => ConditionStatus::No,
            _ => ConditionStatus::Unknown,
        }
    }

    /// `NAMESPACE/NAME` of its pod.
    pub(super) fn name(&self) -> String {
        diagnosed::name_of(self.pod)
    }
}
