//! `data-plane-skew`: proxies have another version than their control plane.

use std::collections::{BTreeMap, BTreeSet};

use super::compared::{DATA_PLANE, failed, tag};
use crate::checks::control_plane::installation::{minors, of_control_plane};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::rewrite::{self, Setter};
use crate::checks::words::of_proxies;
use crate::model::control_plane::{proxy_version, tag_version};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::version::MinorTable;

/// The annotation that pins a proxy to a version.
const PIN: &str = "config.linkerd.io/proxy-version";
/// The annotation with the injected proxy version.
const WRITTEN: &str = "linkerd.io/proxy-version";

/// Whether an annotation pins the proxy.
type Pinned = bool;
/// Whether the proxy lacks the expected release.
type Unexpected = bool;

/// Difference between a proxy and the control plane. The order is that of one workload's findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Behind(u32),
    Ahead(u32),
    OtherBuild,
    NotComparable,
    Unreadable,
    /// No difference according to the injector's annotation, but the tag of the image is not a release.
    OddTag,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let (control_plane, seen) = of_control_plane(ctx)?;
    let owners = ctx.owners();
    let home = &ctx.namespaces().control_plane;
    let mut known: BTreeMap<&str, Option<Gap>> = BTreeMap::new();
    let mut found: BTreeMap<(Gap, Pinned, Unexpected, Owner), Vec<&Pod>> = BTreeMap::new();
    let expected = ctx.settings.expected_version.as_ref();
    for pod in pods {
        let Some(proxy) = pod.spec.proxy() else { continue };
        let meta = &pod.metadata;
        // `control-plane-mixed-versions` covers the control plane's own proxies.
        let passed_over = meta.namespace == *home || pod.is_finished() || meta.deletion_timestamp.is_some();
        if passed_over || !ctx.judges(&meta.namespace) {
            continue;
        }
        let gap = *known
            .entry(&proxy.image)
            .or_insert_with(|| gap(proxy_version(pod).as_ref(), &control_plane, ctx.knowledge.minors()));
        let odd = || tag(pod).is_some_and(|tag| tag.parse::<LinkerdVersion>().is_err());
        if let Some(gap) = gap.or_else(|| odd().then_some(Gap::OddTag)) {
            let unexpected =
                expected.is_some_and(|expected| proxy_version(pod).is_some_and(|proxy| !proxy.same_release(expected)));
            let pinned = meta.annotation(PIN).is_some();
            found.entry((gap, pinned, unexpected, owners.owner(pod))).or_default().push(pod);
        }
    }
    let findings = found.into_iter().map(|((gap, pinned, unexpected, owner), pods)| {
        let finding = finding(ctx, gap, pinned, &owner, &pods).evidence(seen.clone());
        let finding = with_rows(ctx, finding, &pods, &control_plane);
        match expected.filter(|_| unexpected) {
            Some(expected) => {
                let severity = finding.severity.max(Severity::Warning);
                finding.severity(severity).evidence(Evidence::other("--expected-version", expected.as_str()))
            }
            None => finding,
        }
    });
    Ok(findings.collect())
}

/// Adds the rows that compare the proxies' tags, whatever the version difference.
fn with_rows(ctx: &Context<'_>, finding: Finding, pods: &[&Pod], control_plane: &LinkerdVersion) -> Finding {
    let rows: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| pod.metadata.label(CONTROL_PLANE_NS) == Some(ctx.namespaces().control_plane.as_str()))
        .filter_map(|pod| tag(pod))
        .flat_map(|tag| failed(ctx, tag, &DATA_PLANE, control_plane))
        // Without an expected release, a proxy with a supported version is not outdated.
        .filter(|row| {
            *row != DATA_PLANE.latest
                || ctx.settings.expected_version.is_some()
                || finding.severity >= Severity::Warning
        })
        .collect();
    finding.rows_as(Severity::Warning).fails_rows(rows)
}

/// The difference of a proxy's version, if any.
fn gap(proxy: Option<&LinkerdVersion>, control_plane: &LinkerdVersion, table: &MinorTable) -> Option<Gap> {
    let Some(proxy) = proxy else { return Some(Gap::Unreadable) };
    if proxy.same_build(control_plane) {
        return None;
    }
    let ahead = match (proxy.minor(table), control_plane.minor(table)) {
        (Some(proxy), Some(control_plane)) => proxy.ahead_of(control_plane),
        _ => None,
    };
    Some(match ahead {
        None => Gap::NotComparable,
        Some(0) => Gap::OtherBuild,
        Some(ahead) if ahead < 0 => Gap::Behind(ahead.unsigned_abs()),
        Some(ahead) => Gap::Ahead(ahead.unsigned_abs()),
    })
}

fn finding(ctx: &Context<'_>, gap: Gap, pinned: bool, owner: &Owner, pods: &[&Pod]) -> Finding {
    let (severity, message) = match gap {
        Gap::Behind(1) => (
            Severity::Info,
            "the proxy is one minor version older than the control plane, which is supported: it is upgraded when \
             its pod is created again"
                .to_owned(),
        ),
        Gap::Behind(distance) => (
            Severity::Warning,
            format!(
                "the proxy is {} older than the control plane; Linkerd supports 1. Changes between \
                 these versions may break discovery, policy or identity",
                minors(distance)
            ),
        ),
        Gap::Ahead(distance) => (
            Severity::Warning,
            format!(
                "the proxy is {} newer than the control plane, which no release supports: it may request \
                 data that the control plane does not serve",
                minors(distance)
            ),
        ),
        Gap::OtherBuild => (Severity::Info, "the proxy is another build of the control plane's minor".to_owned()),
        Gap::NotComparable => (
            Severity::Info,
            "the proxy's version cannot be compared with the control plane's: the distance between them is \
             not known"
                .to_owned(),
        ),
        Gap::OddTag => (
            Severity::Info,
            "the proxy's image has a tag that is not a Linkerd release: its version is read from an \
             annotation, but linkerd check reads the tag"
                .to_owned(),
        ),
        Gap::Unreadable => (
            Severity::Info,
            "neither the proxy's image tag nor its annotation states a version: it may not fit the control \
             plane"
                .to_owned(),
        ),
    };
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let parameter = match gap {
        Gap::Behind(distance) => format!("behind {distance}"),
        Gap::Ahead(distance) => format!("ahead {distance}"),
        Gap::OtherBuild => "other-build".to_owned(),
        Gap::NotComparable => "not-comparable".to_owned(),
        Gap::Unreadable => "unreadable".to_owned(),
        Gap::OddTag => "odd-tag".to_owned(),
    };
    let several = of_proxies(&message);
    ctx.finding(owner.subject(names.clone()), message)
        .of_several(several)
        .severity(severity)
        .parameter(parameter)
        .evidences(pods.first().into_iter().flat_map(|pod| proxy_seen(pod, pods.len())))
        .remedy(remedy(ctx, gap, pinned, owner, &names))
}

/// The evidence for the version of a pod's proxy: its image, the injector's annotation if the tag is not
/// readable, and the pinning annotation.
fn proxy_seen(pod: &Pod, count: usize) -> Vec<Evidence> {
    let object = pod.described();
    let more = if count > 1 { format!(" ({count} pods)") } else { String::new() };
    let image = pod.spec.proxy().map(|proxy| proxy.image.as_str()).unwrap_or_default();
    let annotation = |key: &str| {
        let value = pod.metadata.annotation(key)?;
        Some(Evidence::field(&object, format!("metadata.annotations[{key}]"), value))
    };
    let untagged = pod.spec.proxy().and_then(tag_version).is_none();
    let written = untagged.then(|| annotation(WRITTEN)).flatten();
    let seen = Evidence::field(&object, "containers[linkerd-proxy].image", format!("{image}{more}"));
    std::iter::once(seen).chain(written).chain(annotation(PIN)).collect()
}

fn remedy(ctx: &Context<'_>, gap: Gap, pinned: bool, owner: &Owner, pods: &[String]) -> Remedy {
    let mut remedy = Remedy::new();
    if gap == Gap::OddTag {
        let words = "If linkerd check has to pass, mirror images under the tag of their release, or by \
         digest";
        return remedy.note(words);
    }
    if pinned {
        let act = format!("Remove {PIN}, which pins the proxy,");
        remedy = match rewrite::setter(ctx, owner, PIN) {
            Setter::Unknown => {
                remedy.step(StepKind::Annotation, format!("{act} from the pod template or its namespace"))
            }
            // The change of the template replaces the pods.
            Setter::Template => return rewrite::remove(ctx, remedy, &act, owner, PIN),
            Setter::Namespace => rewrite::remove(ctx, remedy, &act, owner, PIN),
        };
    } else if matches!(gap, Gap::Ahead(_)) && ctx.upgraded().is_none() {
        remedy = remedy.step(
            StepKind::Upgrade,
            "Finish the control plane's upgrade, or, if it was rolled back on purpose, continue with the \
             next step",
        );
    }
    remedy.with(renew(ctx, owner, pods, Needs::NewProxy, "new pods get the proxy of the installed control plane"))
}
