//! `control-plane-mixed-versions`: the components of the control plane have different versions.

use std::collections::{BTreeMap, BTreeSet};

use super::compared::{CONFIG, CONTROL_PLANE, DATA_PLANE, configured, differs, failed, tag};
use crate::checks::control_plane::installation::{config, of_control_plane};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::{components, pod_versions, proxy_version};
use crate::model::installed::COMPONENT;

/// Maximum number of quoted pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let (reference, seen) = of_control_plane(ctx)?;
    let namespace = &ctx.namespaces().control_plane;
    // A separately set proxy version is intended.
    let config = ctx.or_note(config(ctx)).flatten();
    let values = config.and_then(ConfigMap::chart_values);
    let apart = values.is_some_and(|values| values.text("proxy.image.version").is_some());
    let mut running: BTreeMap<&str, Vec<(&Pod, LinkerdVersion)>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.metadata.namespace == *namespace && !pod.is_finished()) {
        let Some(component) = pod.metadata.label(COMPONENT) else { continue };
        let other = pod_versions(pod).into_values().find(|version| !version.same_build(&reference));
        let other = other.or_else(|| proxy_version(pod).filter(|_| !apart).filter(|v| !v.same_build(&reference)));
        if let Some(other) = other.filter(|_| pod.metadata.deletion_timestamp.is_none()) {
            running.entry(component).or_default().push((pod, other));
        }
    }
    let mut findings = Vec::new();
    for component in components(ctx.optional_list::<Deployment>(), namespace) {
        let name = &component.deployment.metadata.name;
        let object = format!("Deployment {namespace}/{name}");
        let mut evidence = Vec::new();
        let mut quoted = Vec::new();
        match component.version() {
            Some(version) if !version.same_build(&reference) => {
                evidence.push(Evidence::field(&object, "spec.template.spec.containers", version.as_str()));
            }
            Some(_) => {}
            None => ctx.gap(ctx.missing(
                Item::List(Kind::Deployment),
                Why::Malformed { message: "no image, label or annotation states a Linkerd version".to_owned() },
                object,
            )),
        }
        let pods = running.remove(component.name).unwrap_or_default();
        let runs = match (component.version(), pods.first()) {
            (Some(version), _) if !version.same_build(&reference) => {
                format!("{} runs {version}", component.name)
            }
            (_, Some((_, version))) => format!("a pod of {} runs {version}", component.name),
            (_, None) => continue,
        };
        quoted.extend(pods.first().map(|(pod, version)| {
            let object = format!("Pod {namespace}/{}", pod.metadata.name);
            Evidence::field(object, "spec.containers", version.as_str())
        }));
        let names = pods.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
        let tags = pods.iter().filter_map(|(pod, _)| tag(pod));
        let rows: BTreeSet<_> = tags.flat_map(|tag| proxy_rows(ctx, tag, &reference)).collect();
        let subject = Subject::Object {
            kind: "Deployment".to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
            pods: names,
        };
        let finding = ctx
            .finding(
                subject,
                format!(
                    "{runs}, and the injector {reference}, usually because an upgrade was interrupted. Releases are \
                     built and tested as a unit"
                ),
            )
            .evidences(evidence)
            .evidence(seen.clone())
            .evidences(quoted)
            .fails_rows(rows)
            .remedy(remedy(ctx, namespace, name));
        findings.push(finding);
    }
    findings.extend(configured_otherwise(ctx, &reference, &seen));
    findings.extend(odd_tags(ctx, pods, &reference));
    Ok(findings.into())
}

/// The rows that a tag of one of the control plane's own proxies fails, including those of the data plane.
fn proxy_rows(ctx: &Context<'_>, tag: &str, reference: &LinkerdVersion) -> Vec<&'static str> {
    let meshed = ctx.judges(&ctx.namespaces().control_plane).then_some(&DATA_PLANE);
    let kinds = std::iter::once(&CONTROL_PLANE).chain(meshed);
    kinds.flat_map(|rows| failed(ctx, tag, rows, reference)).collect()
}

/// The finding for a `linkerd-config` with another release than the running one.
fn configured_otherwise(ctx: &Context<'_>, reference: &LinkerdVersion, seen: &Evidence) -> Option<Finding> {
    let said = configured(ctx).filter(|said| differs(said, reference, LinkerdVersion::same_build))?;
    let namespace = &ctx.namespaces().control_plane;
    let message = match said.is_empty() {
        true => "linkerd-config names no release, which linkerd check and linkerd upgrade read there",
        false => {
            "linkerd-config names another release than the injector's: new proxies are of that release \
             unless overridden, and linkerd check and linkerd upgrade read it"
        }
    };
    let object = format!("ConfigMap {namespace}/linkerd-config");
    let finding = ctx
        .finding(Subject::object("ConfigMap", namespace, "linkerd-config"), message)
        .severity(if said.is_empty() { Severity::Info } else { Severity::Warning })
        .rows_as(Severity::Warning)
        .parameter("config")
        .evidence(Evidence::field(object, "data.values: linkerdVersion", said.as_str()))
        .evidence(seen.clone())
        .fails_rows(failed(ctx, &said, &CONFIG, reference));
    let act = "Apply one release to all of the control plane";
    let remedy = upgrade::step(ctx, Remedy::new(), StepKind::Upgrade, act, Options::none());
    Some(finding.remedy(remedy))
}

/// The finding for pods of the control plane whose proxy image has a tag that is not a release, which
/// `linkerd check` compares as one.
fn odd_tags(ctx: &Context<'_>, pods: &[Pod], reference: &LinkerdVersion) -> Option<Finding> {
    let namespace = &ctx.namespaces().control_plane;
    let own = pods.iter().filter(|pod| pod.metadata.namespace == *namespace);
    let odd: Vec<(&Pod, &str)> = own
        .filter_map(|pod| Some((pod, tag(pod)?)))
        .filter(|(_, tag)| tag.parse::<LinkerdVersion>().is_err())
        .collect();
    let (_, first) = odd.first()?;
    let subject = Subject::object("Namespace", "", namespace);
    let message = "proxies of the control plane have an image whose tag is not a Linkerd release: their \
                   version is read from an annotation, but linkerd check reads the tag";
    let finding = ctx.finding(subject, message).severity(Severity::Info).rows_as(Severity::Warning);
    let finding = finding.parameter("tag").fails_rows(proxy_rows(ctx, first, reference));
    let seen = odd.iter().take(QUOTED).map(|(pod, _)| {
        let object = format!("Pod {namespace}/{}", pod.metadata.name);
        let image = pod.spec.proxy().map(|proxy| proxy.image.as_str());
        Evidence::field(object, "containers[linkerd-proxy].image", image.unwrap_or_default())
    });
    Some(finding.evidences(seen).remedy(
        Remedy::new().note("Mirror images under the tag of their release, or by digest, if linkerd check has to pass"),
    ))
}

fn remedy(ctx: &Context<'_>, namespace: &str, name: &str) -> Remedy {
    let remedy = Remedy::new().command(
        "Check whether a rollout is in progress or stuck",
        kubectl().namespace(namespace).words("rollout status").arg(format!("deployment/{name}")).words("--timeout=10s"),
    );
    let act = "Upgrade all components to one release, that of the injector";
    upgrade::step(ctx, remedy, StepKind::Upgrade, act, Options::none())
}
