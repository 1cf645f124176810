//! `native-sidecar-wait-refused`: the injector rejects pods that request both a native sidecar and a wait before exit.

use super::family::Switch;
use super::wording;
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act};
use crate::checks::upgrade::{self, Options};
use crate::checks::written::{AnnotatedObjects, AnnotationReader, MAKE_PODS, nothing_reads, values};
use crate::model::annotated::Annotated;
use crate::model::injection::INJECT;
use crate::version::Contains;

/// The annotation that makes the proxy wait before it exits, and its chart value.
const WAIT: &str = "config.alpha.linkerd.io/proxy-wait-before-exit-seconds";
const VALUE: &str = "proxy.waitBeforeExitSeconds";
/// The defect in the releases table that gives the affected releases.
const DEFECT: &str = "native-sidecar-refuses-wait-before-exit";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let switch = Switch::from_context(ctx);
    let version = match &switch.reader {
        AnnotationReader::Absent => return Err(nothing_reads()),
        AnnotationReader::Unknown(missing) => return Err(missing.clone().into()),
        AnnotationReader::Version(version, _) => version.clone(),
    };
    let defect = ctx.knowledge.releases().defect(DEFECT);
    let affected = defect.map_or(Contains::No, |defect| defect.affects(&version, ctx.knowledge.minors()));
    let written = AnnotatedObjects::from_kinds(ctx, &MAKE_PODS);
    if affected == Contains::No {
        return Ok(Verdict::fine());
    }
    let by_chart = values(ctx).and_then(|values| values.text(VALUE).map(str::to_owned)).filter(|said| waits(said));
    let mut findings = Vec::new();
    for object in written.objects.iter().filter(|object| object.kind != Kind::Namespace) {
        let Some(template) = object.template() else { continue };
        if object.is_control_plane() || !ctx.judges(&object.meta.namespace) {
            continue;
        }
        let read = |key: &str| {
            let own = template.meta.annotation(key);
            own.map(|value| (value, false)).or_else(|| Some((written.of_namespace(object, key)?, true)))
        };
        let injected = read(INJECT).is_some_and(|(value, _)| matches!(value, "enabled" | "ingress"));
        let (key, native) = switch.native(object, &template, &written);
        let wait = read(WAIT);
        let asked = wait.map_or(by_chart.is_some(), |(value, _)| waits(value));
        if !injected || !asked || native != Some(true) {
            continue;
        }
        let quoted = |key: &str, value: &str, inherited: bool| {
            if inherited {
                let namespace = format!("Namespace {}", object.namespace_name());
                Evidence::field(namespace, format!("metadata.annotations[{key}]"), value)
            } else {
                object.evidence(&template, "annotations", key, value)
            }
        };
        let config = format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane);
        let waiting = match (wait, &by_chart) {
            (Some((value, inherited)), _) => Some(quoted(WAIT, value, inherited)),
            (None, Some(value)) => Some(Evidence::field(&config, format!("data.values: {VALUE}"), value.as_str())),
            (None, None) => None,
        };
        let native = match key {
            Some((key, value, inherited)) => quoted(key, value, inherited),
            None => {
                let value = ctx.knowledge.native_sidecar().chart_value();
                Evidence::field(&config, format!("data.values: {value}"), "true, or the default of this release")
            }
        };
        let finding = ctx
            .finding(
                object.subject(),
                "both a native sidecar and a wait before the proxy exits are requested. The injector of \
                 this release does not support the combination and rejects the pods",
            )
            .evidences(waiting)
            .evidence(native)
            .evidences(switch.reader.evidence())
            .remedy(remedy(ctx, object, wait.map(|(_, inherited)| inherited)));
        findings.push(finding.likely_if(affected != Contains::Yes));
    }
    Ok(findings.into())
}

/// The steps that remove the wait: from the object, from its namespace (`inherited`), or from the chart values.
fn remedy(ctx: &Context<'_>, object: &Annotated<'_>, inherited: Option<bool>) -> Remedy {
    match inherited {
        Some(false) => rewrite::restart(
            ctx,
            rewrite::template(
                ctx,
                wording::remedy(),
                Act::Put("Remove the annotation: a native sidecar always ends after the application"),
                object,
                &[(WAIT, None)],
            ),
            object,
        ),
        Some(true) => wording::remedy().step(
            StepKind::Annotation,
            format!("Remove {WAIT} from the namespace: a native sidecar always ends after the application"),
        ),
        None => upgrade::with_values(
            ctx,
            wording::remedy(),
            "Set the wait to 0: a native sidecar always ends after the application",
            Options::none().set(VALUE, "0"),
        ),
    }
}

/// Whether a value makes the proxy wait.
fn waits(value: &str) -> bool {
    // The injector rejects a value that is not a number for that reason alone.
    value.trim().parse::<u64>().is_ok_and(|seconds| seconds > 0)
}
