//! `identity-without-proxy`: policies let in a service account whose pods all run without a proxy, and so cannot show it.

use std::collections::BTreeMap;

use super::survey::{Survey, about, field, survey};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::objects::{Kind, MeshTLSAuthentication, Pod};

/// How many pods are quoted.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let mut by_account: BTreeMap<(&str, &str), Vec<&Pod>> = BTreeMap::new();
    for pod in ctx.every::<Pod>()?.iter().filter(|pod| pod.status.phase == "Running") {
        let account = match pod.spec.service_account_name.as_str() {
            "" => "default",
            account => account,
        };
        by_account.entry((&pod.metadata.namespace, account)).or_default().push(pod);
    }
    let objects = survey.objects.mesh_tls_authentications.iter();
    let mut findings: Vec<Finding> = Vec::new();
    for object in objects.filter(|one| ctx.judges(&one.metadata.namespace)) {
        for (path, text, account) in accounts(survey, object) {
            let Some(pods) = by_account.get(&account) else { continue };
            if pods.iter().any(|pod| pod.spec.proxy().is_some()) {
                continue;
            }
            findings.push(finding(ctx, object, (path, &text), account, pods));
        }
    }
    Ok(findings.into())
}

/// The service accounts that are let in by name: the field, what stands there, namespace and name.
fn accounts<'a>(
    survey: &Survey<'_>,
    object: &'a MeshTLSAuthentication,
) -> Vec<(&'static str, String, (&'a str, &'a str))> {
    let suffix = survey.index.controller.identity_suffix();
    let written = object.spec.identities.iter().filter_map(|text| {
        let (account, namespace) = text.strip_suffix(suffix.as_str())?.split_once('.')?;
        let whole = !account.contains('*') && !namespace.contains(['.', '*']);
        whole.then(|| ("spec.identities", text.clone(), (namespace, account)))
    });
    let referred = object.spec.identity_refs.iter().filter_map(|reference| {
        let namespace = reference.namespace.as_deref().unwrap_or(&object.metadata.namespace);
        let is_account = reference.is_a("", "ServiceAccount") && !reference.name.is_empty();
        let text = format!("ServiceAccount {namespace}/{}", reference.name);
        is_account.then_some(("spec.identityRefs", text, (namespace, reference.name.as_str())))
    });
    written.chain(referred).collect()
}

fn finding(
    ctx: &Context<'_>,
    object: &MeshTLSAuthentication,
    (path, text): (&str, &str),
    (namespace, account): (&str, &str),
    pods: &[&Pod],
) -> Finding {
    let message = format!(
        "it lets in ServiceAccount {namespace}/{account}, and every pod of it runs without a proxy: none can show the identity, and their \
         calls are refused"
    );
    let quoted = pods.iter().take(QUOTED).map(|pod| {
        let meta = &pod.metadata;
        Evidence::field(
            format!("Pod {}/{}", meta.namespace, meta.name),
            "spec.containers",
            "no linkerd-proxy",
        )
    });
    let see = kubectl().words("get pods").namespace(namespace).words("-o wide");
    let host = pods.iter().all(|pod| pod.spec.host_network);
    let act = if host {
        "They share the network of their node and cannot be meshed: let their addresses in, with a NetworkAuthentication"
    } else {
        "Mesh them (linkerd.io/inject: enabled on their template) and create them again; or let their addresses in, with a \
         NetworkAuthentication"
    };
    about(ctx, Kind::MeshTLSAuthentication, &object.metadata, message)
        .parameter(text)
        .evidence(field(Kind::MeshTLSAuthentication, &object.metadata, path, text))
        .evidences(quoted)
        .remedy(
            Remedy::new().run(StepKind::Command, "See which pods these are", see).step(StepKind::Note, act),
        )
}
