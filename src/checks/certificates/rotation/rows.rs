//! The rows of the answer: anchors, issuer and workloads.

use std::collections::BTreeMap;

use super::evidence::{Evidence, is_current, renewed, trusts, trusts_next};
use super::proxies::Proxy;
use super::{AnchorRole, AnchorRow, ConditionStatus, IssuerRow, Workload};
use crate::certificates::Certificate;
use crate::model::owners::Owner;

/// The anchors of the bundle.
pub(super) fn anchors(evidence: &Evidence<'_>) -> Vec<AnchorRow> {
    let rows = evidence.anchors.iter().map(|(anchor, role)| {
        let of = |state: ConditionStatus| {
            let own = evidence.proxies.iter().filter(|proxy| !proxy.is_control_plane);
            own.filter(|proxy| trusts(evidence, proxy, anchor) == state).count()
        };
        AnchorRow {
            role: *role,
            subject: anchor.subject(),
            print: anchor.print(),
            not_before: anchor.not_before(),
            not_after: anchor.not_after(),
            trusted_by: of(ConditionStatus::Yes),
            unknown: of(ConditionStatus::Unknown),
        }
    });
    rows.collect()
}

pub(super) fn issuer_row(evidence: &Evidence<'_>, issuer: &Certificate) -> IssuerRow {
    IssuerRow {
        subject: issuer.subject(),
        print: issuer.print(),
        not_before: issuer.not_before(),
        not_after: issuer.not_after(),
        signed_by: evidence.with(AnchorRole::Current).map(Certificate::print).collect(),
        since: evidence.since.clone(),
    }
}

/// The proxies by workload; the worst state of a workload's pods counts.
pub(super) fn workloads(evidence: &Evidence<'_>) -> Vec<Workload> {
    let mut found: BTreeMap<&Owner, Vec<&Proxy<'_>>> = BTreeMap::new();
    for proxy in &evidence.proxies {
        found.entry(&proxy.owner).or_default().push(proxy);
    }
    let rows = found.into_iter().map(|(owner, proxies)| {
        let worst = |of: &dyn Fn(&Proxy<'_>) -> ConditionStatus| {
            proxies.iter().map(|proxy| of(proxy)).min().unwrap_or(ConditionStatus::Unknown)
        };
        Workload {
            subject: owner.to_string(),
            pods: proxies.iter().map(|proxy| proxy.pod.metadata.name.clone()).collect(),
            trusts: worst(&|proxy| trusts_next(evidence, proxy, evidence.of)),
            renewed: worst(&|proxy| renewed(evidence, proxy)),
            is_current: worst(&|proxy| is_current(evidence, proxy)),
        }
    });
    rows.collect()
}
