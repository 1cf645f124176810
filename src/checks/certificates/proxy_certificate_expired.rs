//! `proxy-certificate-expired`: a proxy's own metrics show that its certificate has expired, or
//! that it never had one.

use jiff::Timestamp;

use crate::checks::diagnosed::proxies;
use crate::checks::restart::{Needs, renew};
use crate::checks::serving::component_missing;
use crate::checks::words::of_proxies;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::item::Item;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;

/// The time within which a proxy gets its first certificate, in seconds.
const FIRST: i64 = 60;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    for (pod, metrics) in proxies(ctx)? {
        let (Some(read), Some(expires)) = (metrics.read_at, metrics.expires_at) else {
            let part =
                format!("the clock or certificate of {}/{}", pod.metadata.namespace, pod.metadata.name);
            ctx.gap(ctx.missing(Item::Diagnostics, Why::NotOffered, part));
            continue;
        };
        if expires == 0 {
            if metrics.started_at.is_some_and(|started| read.saturating_sub(started) > FIRST) {
                findings.push(finding(
                    ctx,
                    pod,
                    metrics,
                    "the proxy never had a certificate: no other proxy accepts it",
                ));
            }
        } else if expires <= read {
            let message = "the proxy's certificate has expired and was not renewed: other proxies reject \
                it";
            findings.push(finding(ctx, pod, metrics, message));
        }
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, pod: &Pod, metrics: &ProxyMetrics, message: &str) -> Finding {
    let meta = &pod.metadata;
    let at = |seconds: Option<i64>| match seconds {
        Some(0) | None => "never".to_owned(),
        Some(seconds) => {
            Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |at| at.to_string())
        }
    };
    let of = format!("linkerd diagnostics proxy-metrics, Pod {}/{}", meta.namespace, meta.name);
    let logs = kubectl().namespace(&meta.namespace).words("logs").operand(&meta.name);
    let owner = ctx.owners().owner(pod);
    let mut remedy = Remedy::new().run(
        StepKind::Command,
        "Read the proxy's log lines about identity, and repair identity or the connection to it first",
        logs.option("-c", PROXY_CONTAINER).words("--tail=50"),
    );
    let because = "a new proxy requests a new certificate";
    remedy.steps.push(renew(ctx, &owner, std::slice::from_ref(&meta.name), Needs::NewPods, because));
    ctx.finding(owner.subject(vec![meta.name.clone()]), message)
        .of_several(of_proxies(message))
        .evidence(Evidence::other(
            format!("{of}, certificate expiration"),
            format!("{}; the metrics were read at {}", at(metrics.expires_at), at(metrics.read_at)),
        ))
        .remedy(remedy)
        .tie(component_missing("identity"))
}
