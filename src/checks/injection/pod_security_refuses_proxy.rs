//! `pod-security-refuses-proxy`: Pod Security admission rejects pods with linkerd-init, or will reject new
//! ones.

use std::collections::{BTreeMap, HashMap};

use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::refused::{Refused, refused};
use crate::checks::upgrade::{self, Options};
use crate::checks::words::some;
use crate::model::injection::{Decision, INJECT};
use crate::model::refusal::{Refusal, names_linkerds};
use crate::objects::container::INIT_CONTAINER;

/// The label with the level that a namespace enforces.
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";
/// Maximum number of quoted workloads.
const QUOTED: usize = 3;

/// Evidence against the proxies of a namespace.
#[derive(Default)]
struct Against<'a> {
    refused: Vec<&'a Refused<'a>>,
    coming: Vec<&'a Maker<'a>>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let coming = coming(ctx);
    let mut against: BTreeMap<&str, Against<'_>> = BTreeMap::new();
    for one in refused(ctx).iter().filter(|one| ctx.judges(one.namespace())) {
        if matches!(one.refusal, Refusal::PodSecurity { .. }) && names_linkerds(one.said) {
            against.entry(one.namespace()).or_default().refused.push(one);
        }
    }
    match coming {
        Ok(coming) => {
            coming.into_iter().for_each(|maker| {
                against.entry(maker.namespace()).or_default().coming.push(maker);
            });
        }
        // An answer of the API server proves a rejection, whatever else is unknown.
        Err(missing) if !against.is_empty() => ctx.gap(missing),
        Err(missing) => return Err(missing.into()),
    }
    let levels = levels(ctx.optional_list::<Namespace>());
    let findings =
        against.iter().map(|(namespace, against)| finding(ctx, namespace, levels.get(namespace).copied(), against));
    Ok(findings.collect())
}

/// The levels without privileges that namespaces enforce.
fn levels(namespaces: &[Namespace]) -> HashMap<&str, &str> {
    let known = namespaces.iter().rev().filter_map(|namespace| {
        let level = namespace.metadata.label(ENFORCE);
        let level = level.filter(|level| matches!(*level, "baseline" | "restricted"));
        Some((namespace.metadata.name.as_str(), level?))
    });
    known.collect()
}

/// The workloads whose next pods get linkerd-init in a namespace that forbids it.
///
/// # Errors
/// Namespaces, the webhook, pods or the values of the chart are missing.
fn coming<'a>(ctx: &Context<'a>) -> Result<Vec<&'a Maker<'a>>, Missing> {
    let (rules, makers) = (Rules::from_context(ctx), makers(ctx));
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config");
    let levels = levels(ctx.partial_list::<Namespace>()?);
    let (rules, makers) = (rules?, makers?);
    let by_cni = match config? {
        None => None,
        Some(config) => config.chart_values().map(|values| values.bool("cniEnabled").unwrap_or(false)),
    };
    if by_cni != Some(false) {
        return Ok(Vec::new());
    }
    let injects = |maker: &Maker<'_>| {
        // Manifests may contain the container already.
        maker.spec.container(INIT_CONTAINER).is_some()
            || matches!(rules.admission.decide(maker.namespace(), maker.meta, maker.spec), Decision::Inject { .. })
    };
    let judged = makers.iter().filter(|maker| ctx.judges(maker.namespace()));
    Ok(judged.filter(|maker| levels.contains_key(maker.namespace()) && injects(maker)).collect())
}

fn finding(ctx: &Context<'_>, namespace: &str, level: Option<&str>, against: &Against<'_>) -> Finding {
    let meshed = |pod: &&Pod| pod.metadata.namespace == namespace && pod.spec.container(INIT_CONTAINER).is_some();
    let running = ctx.optional_list::<Pod>().iter().find(meshed);
    let of_init = against.refused.iter().any(|one| one.said.contains(INIT_CONTAINER));
    let message = if !against.refused.is_empty() && !of_init {
        "Pod Security admission rejects pods because of injected containers, although these need no \
         privileges. No new pod with a proxy starts in this namespace"
    } else if !against.refused.is_empty() {
        "Pod Security admission rejects pods because of Linkerd's init container, which needs NET_ADMIN and \
         NET_RAW. No new pod with a proxy starts in this namespace"
    } else {
        "the namespace enforces a Pod Security level that forbids NET_ADMIN and NET_RAW, which Linkerd's \
         init container needs. The next pod with a proxy is rejected, even if one runs today"
    };
    let object = format!("Namespace {namespace}");
    let mut finding = ctx.finding(Subject::object(Kind::Namespace, "", namespace), message);
    for one in against.refused.iter().take(QUOTED) {
        finding = finding.evidence(one.evidence.clone());
    }
    finding = match level {
        Some(level) => finding.evidence(Evidence::field(&object, format!("metadata.labels[{ENFORCE}]"), level)),
        None => finding.evidence(Evidence::field(
            &object,
            format!("metadata.labels[{ENFORCE}]"),
            "not set: the level is set for the whole cluster, in the API server's configuration",
        )),
    };
    if against.refused.is_empty() {
        let names = against.coming.iter().map(|maker| format!("{} {}", maker.owner.kind, maker.owner.name));
        finding = finding
            .evidence(Evidence::other("Workloads that request a proxy there", some(names, QUOTED)))
            .evidence(Evidence::field(
                format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
                "data.values: cniEnabled",
                "false",
            ));
    }
    let cure = if against.refused.is_empty() || of_init { remedy } else { unprivileged };
    finding = finding.remedy(cure(ctx, namespace));
    for one in &against.refused {
        finding = finding.subject(one.subject());
    }
    // Pods with linkerd-init run: they are older than the label, or the API server has an exemption.
    finding.likely_if(against.refused.is_empty() && running.is_some())
}

fn remedy(ctx: &Context<'_>, namespace: &str) -> Remedy {
    let remedy = Remedy::new().command(
        "Allow pods of this namespace the privileges that linkerd-init needs. The workloads retry on their \
         own",
        kubectl().words("label namespace").operand(namespace).arg(format!("{ENFORCE}=privileged")).words("--overwrite"),
    );
    let remedy = upgrade::with_values(
        ctx,
        remedy,
        "Or keep the level: install linkerd-cni, which redirects traffic without a privileged init \
         container, check that it is ready on every node, and then set cniEnabled",
        Options::none().set("cniEnabled", "true"),
    );
    // The control plane's own Deployments have the proxy in their template.
    if namespace == ctx.namespaces().control_plane {
        return remedy;
    }
    remedy
        .step(StepKind::Annotation, format!("Or exclude pods that need no mesh: {INJECT}: disabled in their template"))
}

/// The remedy for containers that need no privileges: a missing field results from a chart setting, an
/// annotation, or an old release.
fn unprivileged(_: &Context<'_>, namespace: &str) -> Remedy {
    let remedy = Remedy::new().note(
        "Find the rejected field and container in the answer. Remove \
         config.linkerd.io/enable-debug-sidecar, which exceeds this level. If seccompProfile or \
         runAsNonRoot is missing, a later webhook removed it",
    );
    remedy.command(
        "Or allow the namespace the next lower level. The workloads retry on their own",
        kubectl().words("label namespace").operand(namespace).arg(format!("{ENFORCE}=baseline")).words("--overwrite"),
    )
}
