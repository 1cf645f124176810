//! `scc-refuses-proxy`: OpenShift's security context constraints reject pods with a proxy, or will reject
//! new ones.

use std::collections::BTreeMap;

use super::pods_refused::is_meshed;
use crate::annotations::UID_RANGE;
use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::refused::{Refused, refused};
use crate::model::injection::{Decision, effective};
use crate::model::refusal::Refusal;
use crate::objects::{ClusterRoleBinding, RoleBinding};

/// The proxy's default uid.
const UID: i64 = 2102;
/// The annotation that changes it.
const UID_KEY: &str = "config.linkerd.io/proxy-uid";
/// The name prefix of roles that grant constraints.
const GRANTS: &str = "system:openshift:scc:";
/// Maximum number of quoted rejections.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let refused = refused(ctx);
    let makers = makers(ctx);
    let namespaces = ctx.partial_list::<Namespace>()?;
    let rules = rules?;
    let mut by_namespace: BTreeMap<&str, Vec<&Refused<'_>>> = BTreeMap::new();
    for one in refused.iter().filter(|one| ctx.judges(one.namespace())) {
        if one.refusal == Refusal::Constraints && is_meshed(&rules, one) {
            by_namespace.entry(one.namespace()).or_default().push(one);
        }
    }
    let mut findings: Vec<Finding> =
        by_namespace.iter().map(|(namespace, refused)| refusal(ctx, namespace, refused)).collect();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
    let values = config.and_then(ConfigMap::chart_values);
    let of_mesh = values.as_ref().and_then(|values| values.number("proxy.uid")).unwrap_or(UID);
    let pods = ctx.optional_list::<Pod>();
    let makers = makers?;
    for namespace in namespaces {
        let meta = &namespace.metadata;
        let Some((range, first, last)) = range(namespace) else { continue };
        if by_namespace.contains_key(meta.name.as_str()) || !ctx.judges(&meta.name) {
            continue;
        }
        // A running proxy proves that it is allowed.
        if pods.iter().any(|pod| pod.metadata.namespace == meta.name && pod.spec.proxy().is_some()) {
            continue;
        }
        let outside = makers.iter().filter(|maker| {
            let injects =
                || matches!(rules.admission.decide(&meta.name, maker.meta, maker.spec), Decision::Inject { .. });
            let uid = effective(UID_KEY, maker.meta, Some(namespace), true);
            let uid = uid.and_then(|(_, uid)| uid.parse().ok()).unwrap_or(of_mesh);
            maker.namespace() == meta.name && !(first..=last).contains(&uid) && injects()
        });
        let outside: Vec<&Maker<'_>> = outside.filter(|maker| !is_granted(ctx, maker)).collect();
        if !outside.is_empty() {
            findings.push(coming(ctx, namespace, range, of_mesh, &outside));
        }
    }
    Ok(findings.into())
}

/// The uid range that OpenShift assigns to a namespace: as written, first and last uid.
fn range(namespace: &Namespace) -> Option<(&str, i64, i64)> {
    let written = namespace.metadata.annotation(UID_RANGE)?;
    let (first, count) = written.split_once('/')?;
    let (first, count) = (first.parse::<i64>().ok()?, count.parse::<i64>().ok()?);
    Some((written, first, first.saturating_add(count).saturating_sub(1)))
}

/// Whether a role that grants constraints is bound to the pods' service account, or to all accounts of its
/// namespace.
fn is_granted(ctx: &Context<'_>, maker: &Maker<'_>) -> bool {
    let namespace = maker.namespace();
    let account = maker.spec.account();
    let everywhere = ctx.or_note(ctx.partial_list::<ClusterRoleBinding>()).unwrap_or_default();
    let here = ctx.or_note(ctx.partial_list::<RoleBinding>()).unwrap_or_default();
    let here = here.iter().filter(|binding| binding.metadata.namespace == namespace);
    everywhere
        .iter()
        .chain(here)
        .filter(|binding| binding.role_ref.name.starts_with(GRANTS))
        .any(|binding| binding.subjects.iter().any(|subject| subject.covers(namespace, account)))
}

fn refusal(ctx: &Context<'_>, namespace: &str, refused: &[&Refused<'_>]) -> Finding {
    let finding = ctx
        .finding(
            Subject::object(Kind::Namespace, "", namespace),
            "OpenShift's security context constraints reject pods with Linkerd's containers, so no new pod \
             with a proxy starts in this namespace",
        )
        .evidences(refused.iter().take(QUOTED).map(|one| one.evidence.clone()))
        .remedy(remedy(namespace));
    refused.iter().fold(finding, |finding, one| finding.subject(one.subject()))
}

fn coming(ctx: &Context<'_>, namespace: &Namespace, range: &str, uid: i64, outside: &[&Maker<'_>]) -> Finding {
    let name = &namespace.metadata.name;
    let names: Vec<String> =
        outside.iter().take(QUOTED).map(|maker| format!("{} {}", maker.owner.kind, maker.owner.name)).collect();
    ctx.finding(
        Subject::object(Kind::Namespace, "", name),
        "the uid of Linkerd's proxy is outside the namespace's OpenShift range, and no role that allows it \
         is bound to the pods' service accounts. The next pod with a proxy is rejected",
    )
    .severity(Severity::Warning)
    .likely()
    .evidence(Evidence::field(format!("Namespace {name}"), format!("metadata.annotations[{UID_RANGE}]"), range))
    .evidence(Evidence::other("uid of the proxy", uid.to_string()))
    .evidence(Evidence::other("Workloads that request a proxy there", names.join(", ")))
    .remedy(remedy(name))
}

fn remedy(namespace: &str) -> Remedy {
    Remedy::new()
        .command(
            "Bind constraints that allow the proxy's uid to the service accounts of the namespace \
             (nonroot-v2 with linkerd-cni; linkerd-init needs privileged)",
            kubectl()
                .namespace(namespace)
                .words("create rolebinding linkerd-proxy-scc")
                .option("--clusterrole", Arg::known("system:openshift:scc:").then(Arg::placeholder("SCC")))
                .option("--group", format!("system:serviceaccounts:{namespace}")),
        )
        .step(
            StepKind::Annotation,
            format!("Or, with linkerd-cni, set {UID_KEY} on the namespace to an unused uid within its range"),
        )
}
