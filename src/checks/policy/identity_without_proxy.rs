//! `identity-without-proxy`: policies authorize a service account whose pods all run without a proxy, so
//! they have no identity.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{Survey, about, field, survey};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::INJECT;
use crate::objects::MeshTLSAuthentication;

/// Maximum number of quoted pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let mut by_account: BTreeMap<(&str, &str), Vec<&Pod>> = BTreeMap::new();
    for pod in ctx.complete_list::<Pod>()?.iter().filter(|pod| pod.status.phase == "Running") {
        let account = pod.spec.account();
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

/// The service accounts that are authorized by name: field, value as written, namespace and name.
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
        "Calls from the pods of ServiceAccount {namespace}/{account} are denied: they run without a proxy, \
         so they do not have the identity that is authorized"
    );
    let quoted = pods.iter().take(QUOTED).map(|pod| {
        let meta = &pod.metadata;
        Evidence::field(meta.described("Pod"), "spec.containers", "no linkerd-proxy")
    });
    let see = kubectl().words("get pods").namespace(namespace).words("-o wide");
    let host = pods.iter().all(|pod| pod.spec.host_network);
    let act = if host {
        "Authorize the pods' addresses with a NetworkAuthentication: they share their node's network and cannot be \
         meshed"
    } else {
        "Or authorize the pods' addresses with a NetworkAuthentication"
    };
    let remedy = Remedy::new().command("List the pods of the namespace", see);
    let remedy = match host {
        true => remedy.note(act),
        false => injected(ctx, remedy, pods).note(act),
    };
    let finding = about(ctx, Kind::MeshTLSAuthentication, &object.metadata, message);
    // A pod that requests a proxy and lacks it explains this.
    let tied = pods.iter().fold(finding, |finding, pod| {
        finding.tie(Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()))
    });
    tied.parameter(text)
        .evidence(field(Kind::MeshTLSAuthentication, &object.metadata, path, text))
        .evidences(quoted)
        .remedy(remedy)
}

/// The steps that add a proxy to the workloads of pods.
fn injected(ctx: &Context<'_>, remedy: Remedy, pods: &[&Pod]) -> Remedy {
    let owners: BTreeSet<Owner> = pods.iter().map(|pod| ctx.owners().owner(pod)).collect();
    owners.iter().take(QUOTED).fold(remedy, |remedy, owner| {
        let act = format!("Set {INJECT}: \"enabled\" for {}", owner.name);
        rewrite::meshed(ctx, remedy, &act, owner, pods)
    })
}
