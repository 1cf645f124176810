//! `proxy-memory-near-limit`: a proxy uses most of its memory limit.

use crate::checks::diagnosed::{by_workload, exporting, proxies, quoted};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::knowledge::MetricMeaning::ResidentMemory;
use crate::model::{quantity, vertical_autoscaler};
use crate::objects::container::PROXY_CONTAINER;

/// Share of the limit in percent.
const MOST: f64 = 80.0;
/// The number of quoted proxies per workload.
const QUOTED: usize = 5;
/// The annotation that sets the limit.
const KEY: &str = "config.linkerd.io/proxy-memory-limit";
/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let limited = proxies(ctx)?.into_iter().filter_map(|(pod, metrics)| {
        let bytes = quantity::read(pod.spec.proxy()?.memory_limit()?).filter(|bytes| *bytes > 0.0)?;
        Some((pod, metrics, bytes))
    });
    let limited: Vec<_> = limited.collect();
    let all = limited.iter().map(|(pod, metrics, _)| (*pod, *metrics)).collect();
    let exporting = exporting(ctx, all, ResidentMemory, "the memory");
    let full = exporting.into_iter().filter_map(|(pod, metrics)| {
        let limit = limited.iter().find(|(of, ..)| std::ptr::eq(*of, pod)).map(|(.., limit)| *limit)?;
        let used = metrics.value(ResidentMemory)?;
        (used * 100.0 > limit * MOST).then_some((pod, (used, limit)))
    });
    let findings = by_workload(ctx, full).into_iter().map(|(subject, full)| {
        let said = full
            .iter()
            .take(QUOTED)
            .map(|(pod, (used, limit))| quoted(pod, format!("{:.0} of {:.0} MB are used", used / MB, limit / MB)));
        ctx.finding(
            subject,
            "the proxy has nearly used up its memory limit: beyond it the kernel kills the proxy, and all \
             connections of the pod break",
        )
        .evidences(said)
        .remedy(
            raised(ctx, &full)
                .note("If the memory grows without more traffic, upgrade: some releases leak memory or series"),
        )
    });
    Ok(findings.collect())
}

/// The step that doubles the largest limit of the workload's proxies.
fn raised(ctx: &Context<'_>, full: &[(&Pod, (f64, f64))]) -> Remedy {
    let Some((pod, _)) = full.first() else { return Remedy::new() };
    if let Some(name) = vertical_autoscaler::of_proxy_memory(pod) {
        return Remedy::new().command(
            format!(
                "Add {{containerName: {PROXY_CONTAINER}, mode: \"Off\"}} to the containerPolicies of \
                 VerticalPodAutoscaler {name}, which sets the proxy's memory and overrides {KEY}"
            ),
            kubectl().namespace(&pod.metadata.namespace).words("edit verticalpodautoscaler").operand(name),
        );
    }
    let limit = full.iter().map(|(_, (_, limit))| *limit).fold(0.0, f64::max);
    let twice = format!("{:.0}Mi", (2.0 * limit / MB).ceil());
    let act = format!("Raise the limit with {KEY}: {twice:?}");
    rewrite::of_owner(ctx, Remedy::new(), &act, &ctx.owners().owner(pod), &[(KEY, Some(&twice))])
}
