//! `proxy-certificate-expired`: a proxy's own metrics, or the certificate that it serves, show that its certificate has
//! expired or is not valid yet, or that it never had one.

use jiff::{SignedDuration, Timestamp};

use super::proxies::{metrics_beside, quoted_certificate, served};
use crate::certificates::Certificate;
use crate::checks::diagnosed::note_unused;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::serving::component_missing;
use crate::checks::words::of_proxies;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::objects::container::PROXY_CONTAINER;

/// The time within which a proxy gets its first certificate, in seconds.
const FIRST: i64 = 60;
/// The message about an expired certificate.
const EXPIRED: &str = "the proxy's certificate has expired and was not renewed: other proxies reject it";
/// The difference between the clocks of the machine that reads a certificate and of identity's node that is not
/// reported.
const SKEW: SignedDuration = SignedDuration::from_mins(2);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    note_unused(ctx)?;
    let served = served(ctx)?;
    let metrics = metrics_beside(ctx, &served)?;
    // Its metrics state the certificate by the clock of its own node.
    let has_metrics = |pod: &Pod| {
        metrics.iter().any(|(one, metrics)| metrics.expires_at.is_some() && one.metadata.key() == pod.metadata.key())
    };
    for (pod, chain) in &served {
        let Some(leaf) = chain.first().filter(|_| !has_metrics(pod)) else { continue };
        findings.extend(of_certificate(ctx, pod, leaf));
    }
    for (pod, metrics) in metrics {
        let (Some(read), Some(expires)) = (metrics.read_at, metrics.expires_at) else {
            let part = format!("the clock or certificate of {}/{}", pod.metadata.namespace, pod.metadata.name);
            ctx.gap(ctx.missing(Item::Diagnostics, Why::NotOffered, part));
            continue;
        };
        if expires == 0 {
            if metrics.started_at.is_some_and(|started| read.saturating_sub(started) > FIRST) {
                let message = "the proxy never had a certificate: no other proxy accepts it";
                findings.push(finding(ctx, pod, in_metrics(pod, metrics), message));
            }
        } else if expires <= read {
            findings.push(finding(ctx, pod, in_metrics(pod, metrics), EXPIRED));
        }
    }
    Ok(findings.into())
}

/// The finding about a certificate that a proxy serves, if it is not valid.
fn of_certificate(ctx: &Context<'_>, pod: &Pod, leaf: &Certificate) -> Option<Finding> {
    let (from, until) = (leaf.not_before(), leaf.not_after());
    let said = |valid: String| quoted_certificate(pod, format!("{valid}; read at {}", ctx.now()));
    let finding = if until <= ctx.now() {
        finding(ctx, pod, said(format!("valid until {until}")), EXPIRED)
    } else if from.duration_since(ctx.now()) > SKEW {
        let message = "the proxy's certificate is not valid yet, so other proxies reject it: the clock of identity's \
                       node was ahead, or that of the reader is behind";
        finding(ctx, pod, said(format!("valid from {from}")), message).parameter("not-yet-valid")
    } else {
        return None;
    };
    // It may have been renewed since it was read.
    Some(finding.observed_if(ctx.knows_its_moment()))
}

/// The expiration as evidence from metrics.
fn in_metrics(pod: &Pod, metrics: &ProxyMetrics) -> Evidence {
    let at = |seconds: Option<i64>| match seconds {
        Some(0) | None => "never".to_owned(),
        Some(seconds) => Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |at| at.to_string()),
    };
    let of = format!("linkerd diagnostics proxy-metrics, Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    Evidence::other(
        format!("{of}, certificate expiration"),
        format!("{}; the metrics were read at {}", at(metrics.expires_at), at(metrics.read_at)),
    )
}

fn finding(ctx: &Context<'_>, pod: &Pod, said: Evidence, message: &str) -> Finding {
    let meta = &pod.metadata;
    let logs = kubectl().namespace(&meta.namespace).words("logs").operand(&meta.name);
    let owner = ctx.owners().owner(pod);
    let mut remedy = Remedy::new().command(
        "Read the proxy's log lines about identity, and repair identity or the connection to it first",
        logs.option("-c", PROXY_CONTAINER).words("--tail=50"),
    );
    let because = "a new proxy requests a new certificate";
    remedy.steps.push(renew(ctx, &owner, std::slice::from_ref(&meta.name), Needs::NewPods, because));
    ctx.finding(owner.subject(vec![meta.name.clone()]), message)
        .of_several(of_proxies(message))
        .evidence(said)
        .remedy(remedy)
        .tie(component_missing("identity"))
}
