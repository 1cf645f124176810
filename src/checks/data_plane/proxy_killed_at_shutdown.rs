//! `proxy-killed-at-shutdown`: the shutdown periods of a pod and its proxy conflict.

use crate::checks::admission::{Rules, Setting};
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::written::go_bool;
use crate::model::refusal::LINKERDS;

/// The default termination grace period of Kubernetes, in seconds.
pub(super) const GRACE: u64 = 30;
const WAIT: &str = "config.alpha.linkerd.io/proxy-wait-before-exit-seconds";
pub(super) const SHUTDOWN: &str = "config.linkerd.io/shutdown-grace-period";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let makers = makers(ctx)?;
    let rules = rules?;
    let mut findings: Vec<Finding> = Vec::new();
    for maker in makers.iter().filter(|maker| ctx.judges(maker.namespace()) && rules.is_meshed(maker)) {
        let native = maker.spec.has_native_proxy() || is_native(ctx, &rules, maker);
        let grace = maker.spec.termination_grace_period_seconds.unwrap_or(GRACE);
        let wait = rules.setting(maker, WAIT, "proxy.waitBeforeExitSeconds");
        let wait = wait.and_then(|setting| Some((setting.value.parse::<u64>().ok()?, setting)));
        match wait {
            Some((seconds, setting)) if seconds > 0 && !native => {
                if seconds >= grace {
                    findings.push(killed(ctx, maker, grace, setting));
                }
                continue;
            }
            _ => {}
        }
        let shutdown = rules.setting(maker, SHUTDOWN, "proxy.shutdownGracePeriod");
        // Only if it is set: the default is longer than that of Kubernetes.
        if let Some(setting) = shutdown.filter(|setting| maker.meta.annotation(SHUTDOWN) == Some(&setting.value))
            && let Some(seconds) = seconds(&setting.value).filter(|seconds| *seconds > grace)
        {
            let message = "the proxy's shutdown grace period is longer than the pod's termination grace \
                period: connections that are still open then are cut off";
            findings.push(
                ctx.finding(maker.subject(), message)
                    .severity(Severity::Info)
                    .parameter("shutdown-grace-period")
                    .evidence(setting.evidence)
                    .evidence(grace_of(maker, grace))
                    .remedy(shorter(ctx, maker, grace).note(format!(
                        "Or set terminationGracePeriodSeconds of the pod template to more than {seconds}"
                    ))),
            );
        }
        findings.extend(first_to_go(ctx, maker, native));
    }
    Ok(findings.into())
}

/// Whether new pods get the proxy as a native sidecar, by annotation or by the chart's values.
fn is_native(ctx: &Context<'_>, rules: &Rules<'_>, maker: &Maker<'_>) -> bool {
    let keys = ctx.knowledge.native_sidecar().all_keys();
    let set = keys.iter().find_map(|key| rules.setting(maker, key, ""));
    match set {
        Some(setting) => go_bool(&setting.value).unwrap_or(false),
        None => {
            // The running pods show it.
            maker.spec.proxy().is_none()
                && rules.values.as_ref().and_then(|values| values.bool("proxy.nativeSidecar")).unwrap_or(false)
        }
    }
}

fn grace_of(maker: &Maker<'_>, grace: u64) -> crate::finding::Evidence {
    let said = match maker.spec.termination_grace_period_seconds {
        Some(seconds) => seconds.to_string(),
        None => format!("not set: {grace}"),
    };
    maker.field("spec.terminationGracePeriodSeconds", said)
}

/// A proxy that waits as long as its pod's grace period, or longer.
fn killed(ctx: &Context<'_>, maker: &Maker<'_>, grace: u64, setting: Setting) -> Finding {
    let remedy = match below(grace) {
        Some(lower) => {
            let lower = lower.to_string();
            let act = format!("Set {WAIT}: {lower:?}, below terminationGracePeriodSeconds ({grace}s),");
            rewrite::of_owner(ctx, Remedy::new(), &act, &maker.owner, &[(WAIT, Some(&lower))])
        }
        None => Remedy::new().note(LONGER),
    };
    ctx.finding(
        maker.subject(),
        "the proxy waits before it exits as long as the pod's termination grace period, or longer. Every \
         shutdown takes the whole period, and then the proxy is killed with its open connections",
    )
    .evidence(setting.evidence)
    .evidence(grace_of(maker, grace))
    .remedy(remedy.note(
        "Or use native sidecars (Kubernetes 1.29 and newer), which stop after the application and need no \
             wait",
    ))
}

/// The step if no shorter period is possible.
pub(super) const LONGER: &str = "Raise terminationGracePeriodSeconds in the pod template to at least 10";

/// The period in seconds that leaves time to exit within a grace period; `None` if that is too short.
pub(super) fn below(grace: u64) -> Option<u64> {
    (grace > 1).then(|| grace.saturating_sub(5).max(1))
}

/// The step that ends the proxy's shutdown before the pod's grace period.
fn shorter(ctx: &Context<'_>, maker: &Maker<'_>, grace: u64) -> Remedy {
    let Some(period) = below(grace).map(|seconds| format!("{seconds}s")) else {
        return Remedy::new().note(LONGER);
    };
    let act = format!("Set {SHUTDOWN}: {period:?}, below terminationGracePeriodSeconds ({grace}s),");
    rewrite::of_owner(ctx, Remedy::new(), &act, &maker.owner, &[(SHUTDOWN, Some(&period))])
}

/// A proxy that stops while the application still shuts down.
fn first_to_go(ctx: &Context<'_>, maker: &Maker<'_>, native: bool) -> Option<Finding> {
    let waits = maker.spec.containers.iter().filter(|container| !LINKERDS.contains(&container.name.as_str()));
    let waits =
        waits.filter_map(|container| Some((container, container.lifecycle.as_ref()?.pre_stop.as_ref()?))).next();
    let (container, hook) = waits.filter(|_| !native)?;
    let said = hook.sleep.as_ref().map_or("set".to_owned(), |sleep| format!("sleeps {} s", sleep.seconds));
    Some(
        ctx.finding(
            maker.subject(),
            "the application runs a preStop hook, but the proxy, an ordinary container, stops at the same \
             moment. Requests that the application sends during shutdown may fail",
        )
        .severity(Severity::Info)
        .parameter("pre-stop")
        .evidence(maker.field(&format!("spec.containers[{}].lifecycle.preStop", container.name), said))
        .remedy(
            Remedy::new()
                .note("Use native sidecars (Kubernetes 1.29 and newer), which stop after the application")
                .step(
                    StepKind::Annotation,
                    format!(
                        "Or set {WAIT} in the pod template to the duration of the hook, below \
                        terminationGracePeriodSeconds"
                    ),
                ),
        ),
    )
}

/// Parses a duration as Linkerd writes it (`120s`, `2m`, `1h`, `1500ms`) to seconds.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let number: u64 = text[..end].parse().ok()?;
    match &text[end..] {
        "ms" => Some(number / 1000),
        "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    }
}
