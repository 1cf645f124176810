//! `proxy-certificate-of-old-issuer`: proxies got their certificates before the current issuer existed.

use std::collections::BTreeMap;
use std::{fmt, slice};

use jiff::Timestamp;

use super::identity::{IN_FORCE, bundles, issuer};
use super::proxies::{quoted_certificate, served};
use crate::certificates::{Certificate, Trust, trust};
use crate::checks::diagnosed::{by_workload, exporting, name_of, proxies, quoted};
use crate::checks::prelude::*;
use crate::checks::restart::{self, Needs};
use crate::checks::words::some;
use crate::knowledge::MetricMeaning::CertificateRefreshedAt;

/// The number of quoted proxies.
const QUOTED: usize = 5;

/// Why a proxy's certificate is of another issuer.
enum Proof {
    /// It was issued at this time, before the issuer existed.
    IssuedAt(Timestamp),
    /// The proxy serves this certificate, which the issuer did not sign.
    Served(Box<Certificate>),
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::IssuedAt(at) => write!(f, "certificate issued at {at}, before the issuer's start"),
            Proof::Served(leaf) => {
                write!(f, "serves a certificate of {}, valid until {}", leaf.issuer(), leaf.not_after())
            }
        }
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let made = issuer.certificate().not_before();
    let served = served(ctx)?;
    // The certificate itself is better evidence than the time of its renewal.
    let has_chain = |pod: &Pod| served.iter().any(|(other, _)| other.metadata.key() == pod.metadata.key());
    let metrics = match proxies(ctx) {
        Ok(all) => all.into_iter().filter(|(pod, _)| !has_chain(pod)).collect(),
        Err(missing) if !served.is_empty() => {
            ctx.gap(missing);
            Vec::new()
        }
        Err(missing) => return Err(missing.into()),
    };
    let all = exporting(ctx, metrics, CertificateRefreshedAt, "the renewal time of the certificate");
    let of_others = served.iter().filter_map(|(pod, chain)| {
        let (leaf, above) = chain.split_first()?;
        let is_own = above.iter().any(|one| one.print() == issuer.certificate().print())
            || !matches!(trust(slice::from_ref(leaf), slice::from_ref(issuer.certificate())), Trust::No);
        (!is_own).then(|| (*pod, Proof::Served(Box::new(leaf.clone()))))
    });
    let of_others: Vec<(&Pod, Proof)> = of_others.collect();
    // The bundles decide only what follows for these.
    let untrusted = if of_others.is_empty() { Vec::new() } else { untrusted(ctx, &served) };
    let is_untrusted = |pod: &Pod| untrusted.iter().any(|(other, _)| other.metadata.key() == pod.metadata.key());
    let mut old: Vec<(&Pod, Proof)> = of_others.into_iter().filter(|(pod, _)| !is_untrusted(pod)).collect();
    let mut findings: Vec<Finding> = by_workload(ctx, untrusted.iter().copied())
        .into_iter()
        .map(|(subject, all)| not_trusted(ctx, subject, &all))
        .collect();
    let by_time = all.into_iter().filter_map(|(pod, metrics)| {
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let refreshed = metrics.value(CertificateRefreshedAt)? as i64;
        let refreshed = Timestamp::from_second(refreshed).ok()?;
        let is_valid = metrics.expires_at > metrics.read_at;
        (is_valid && refreshed < made).then_some((pod, Proof::IssuedAt(refreshed)))
    });
    old.extend(by_time);
    if old.is_empty() {
        return Ok(findings.into());
    }
    let more = old.len().saturating_sub(QUOTED);
    let said = old.iter().take(QUOTED).map(|(pod, proof)| match proof {
        Proof::IssuedAt(_) => quoted(pod, proof.to_string()),
        Proof::Served(_) => quoted_certificate(pod, proof.to_string()),
    });
    let rest = (more > 0).then(|| issuer.quoted(format!("and {more} more proxies")));
    let names: Vec<String> = old.iter().map(|(pod, _)| name_of(pod)).collect();
    let remedy =
        Remedy::new().note("Keep the previous trust anchor until no proxy has a certificate of the old issuer");
    let mut owners: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for (pod, _) in &old {
        owners.entry(ctx.owners().owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    let act = format!("To end this sooner, restart the workload of {}", some(&names, QUOTED));
    let remedy = restart::of_workloads(ctx, remedy, Needs::NewPods, &act, &owners);
    let finding = ctx
        .finding(
            issuer.subject(),
            "proxies still use certificates of the previous issuer: they are rejected if its trust anchor is \
             removed before they renew",
        )
        .severity(Severity::Info)
        .evidence(issuer.quoted(format!("not before {made}")))
        .evidences(said.chain(rest))
        .remedy(remedy);
    findings.push(finding);
    Ok(findings.into())
}

/// The proxies whose certificates chain to no anchor of the current bundle. A proxy that serves its own certificate
/// alone may still chain to one.
fn untrusted<'s, 'a>(ctx: &Context<'_>, served: &'s [(&'a Pod, Vec<Certificate>)]) -> Vec<(&'a Pod, &'s Certificate)> {
    let bundles = ctx.or_note(bundles(ctx)).unwrap_or_default();
    let Some(current) = bundles.iter().find(|bundle| bundle.in_force) else { return Vec::new() };
    let chains = served.iter().filter(|(_, chain)| chain.len() > 1);
    let lost = chains.filter(|(_, chain)| trust(chain, &current.anchors) == Trust::No);
    lost.filter_map(|(pod, chain)| Some((*pod, chain.first()?))).collect()
}

fn not_trusted(ctx: &Context<'_>, subject: Subject, all: &[(&Pod, &Certificate)]) -> Finding {
    let said = all.iter().take(QUOTED).map(|(pod, leaf)| {
        quoted_certificate(
            pod,
            format!(
                "serves a certificate of {}, valid until {}, which chains to no anchor in {IN_FORCE}",
                leaf.issuer(),
                leaf.not_after()
            ),
        )
    });
    let mut owners: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for (pod, _) in all {
        owners.entry(ctx.owners().owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    let remedy = Remedy::new().note(
        "If other pods still trust the previous anchor, add it to the bundle again until all pods were restarted",
    );
    let act = "Restart the workload: a new proxy requests a certificate of the current issuer";
    ctx.finding(
        subject,
        "the proxy's certificate chains to no current trust anchor: every proxy with the current anchors rejects its \
         connections",
    )
    .severity(Severity::Error)
    .parameter("not-trusted")
    .evidences(said)
    .remedy(restart::of_workloads(ctx, remedy, Needs::NewPods, act, &owners))
}
