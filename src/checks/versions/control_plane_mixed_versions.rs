//! `control-plane-mixed-versions`: the components of the control plane are not of one version.

use std::collections::BTreeMap;

use crate::checks::control_plane::installation::{config, installed, none_installed};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::model::control_plane::{components, pod_versions, proxy_version};
use crate::model::installed::COMPONENT;
use crate::model::objects::{Pod, Workload};
use crate::model::values::Values;
use crate::source::Why;
use crate::version::LinkerdVersion;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let Some((reference, seen)) = installed(ctx)? else {
        return Ok(none_installed());
    };
    let namespace = &ctx.namespaces().control_plane;
    // Who sets the proxies' version apart wants them to differ.
    let values = config(ctx).ok().flatten().and_then(Values::of);
    let apart = values.is_some_and(|values| values.text("proxy.image.version").is_some());
    let mut running: BTreeMap<&str, Vec<(&Pod, LinkerdVersion)>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.metadata.namespace == *namespace && !pod.is_finished()) {
        let Some(component) = pod.metadata.label(COMPONENT) else { continue };
        let other = pod_versions(pod).into_values().find(|version| !version.same_build(&reference));
        let other =
            other.or_else(|| proxy_version(pod).filter(|_| !apart).filter(|v| !v.same_build(&reference)));
        if let Some(other) = other.filter(|_| pod.metadata.deletion_timestamp.is_none()) {
            running.entry(component).or_default().push((pod, other));
        }
    }
    let mut findings = Vec::new();
    for component in components(ctx.hints::<Workload>(Kind::Deployment), namespace) {
        let name = &component.deployment.metadata.name;
        let object = format!("Deployment {namespace}/{name}");
        let mut evidence = Vec::new();
        match component.version() {
            Some(version) if !version.same_build(&reference) => {
                evidence.push(Evidence::field(&object, "spec.template.spec.containers", version.as_str()));
            }
            Some(_) => {}
            None => ctx.gap(ctx.lacking(
                Item::List(Kind::Deployment),
                Why::Malformed {
                    message: "no image, label or annotation states a Linkerd version".to_owned(),
                },
                object,
            )),
        }
        let pods = running.remove(component.name).unwrap_or_default();
        evidence.extend(pods.first().map(|(pod, version)| {
            let object = format!("Pod {namespace}/{}", pod.metadata.name);
            Evidence::field(object, "spec.containers", version.as_str())
        }));
        if evidence.is_empty() {
            continue;
        }
        let names = pods.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
        let subject = Subject::Object {
            kind: "Deployment".to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
            pods: names,
        };
        let finding = ctx
            .finding(
                subject,
                "a component of the control plane runs another version than the injector: releases are made and tested \
                 as one, and an upgrade that stopped half-way looks like this",
            )
            .evidences(evidence)
            .evidence(seen.clone())
            .remedy(remedy(namespace, name));
        findings.push(finding);
    }
    Ok(findings.into())
}

fn remedy(namespace: &str, name: &str) -> Remedy {
    Remedy::verified_by("meshdoctor check --only control-plane,versions")
        .run(
            StepKind::Command,
            "See whether a rollout is still under way, or stuck",
            format!("kubectl -n {namespace} rollout status deployment/{name} --timeout=10s"),
        )
        .run(
            StepKind::Upgrade,
            "Apply one release to all components: with the CLI of that release, or helm upgrade of the whole chart",
            "linkerd upgrade | kubectl apply -f -",
        )
}
