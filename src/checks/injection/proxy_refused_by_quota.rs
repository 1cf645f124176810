//! `proxy-refused-by-quota`: a quota requires resources that Linkerd's containers do not set, or a
//! LimitRange rejects their resources, so no pod with a proxy starts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::limit_bounds::{bounds, predicted};
use super::pods_refused::is_meshed;
use super::proxy_resources::{MeshSettings, stated_by};
use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::quota::counts_running_pods;
use crate::checks::refused::{Refused, refused};
use crate::model::injection::Decision;
use crate::model::refusal::{Refusal, unstated_by_linkerd};
use crate::objects::container::Container;
use crate::objects::{LimitRange, ResourceQuota};

/// Maximum number of quoted rejections or workloads.
const QUOTED: usize = 3;

/// Evidence against the proxies of a namespace: the quota's requirements, rejected workloads, and workloads
/// that will be rejected.
#[derive(Default)]
struct Against<'a> {
    asked: BTreeSet<&'a str>,
    refused: Vec<&'a Refused<'a>>,
    coming: Vec<&'a Maker<'a>>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let quotas = ctx.partial_list::<ResourceQuota>();
    let refused = refused(ctx);
    let rules = Rules::from_context(ctx);
    let limits = ctx.complete_list::<LimitRange>();
    let stated = MeshSettings::from_context(ctx);
    let makers = makers(ctx);
    let quotas = quotas?;
    let mut against: BTreeMap<(&str, &str), Against<'_>> = BTreeMap::new();
    for one in refused.iter().filter(|one| ctx.judges(one.namespace())) {
        let Refusal::Unstated { quota, lacking } = one.refusal else { continue };
        let mut asked = unstated_by_linkerd(lacking).peekable();
        if asked.peek().is_some() {
            let entry = against.entry((one.namespace(), quota)).or_default();
            entry.asked.extend(asked);
            entry.refused.push(one);
        }
    }
    // A prediction needs the proxies' resources and the defaults of LimitRanges.
    let known = || -> Result<_, Missing> { Ok((rules?, limits?, stated?, makers?)) };
    let known = ctx.or_note(known());
    let coming = known.as_ref().map(|known| (known, quotas)).into_iter().flat_map(|(known, quotas)| {
        let own = |quota: &&ResourceQuota| ctx.judges(&quota.metadata.namespace) && counts_running_pods(quota);
        quotas.iter().filter(own).map(move |quota| (known, quota))
    });
    let mut by_namespace: HashMap<&str, Vec<&Maker<'_>>> = HashMap::new();
    for maker in known.iter().flat_map(|(_, _, _, makers)| makers.iter()) {
        by_namespace.entry(maker.namespace()).or_default().push(maker);
    }
    let running = Running::new(ctx);
    for ((rules, limits, stated, _), quota) in coming {
        let (namespace, name) = quota.metadata.key();
        for maker in by_namespace.get(namespace).into_iter().flatten().copied() {
            let lacking = unset_resources(quota, maker, rules, stated, limits, &running);
            if !lacking.is_empty() {
                let entry = against.entry((namespace, name)).or_default();
                entry.asked.extend(lacking);
                entry.coming.push(maker);
            }
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    for ((namespace, name), mut against) in against {
        // If the quota was removed, the workload only waits for its next attempt.
        let Some(quota) = quotas.iter().find(|quota| quota.metadata.key() == (namespace, name)) else {
            continue;
        };
        against.asked.retain(|resource| quota.spec.hard.contains_key(*resource));
        if !against.asked.is_empty() {
            findings.push(of_quota(ctx, quota, &against, known.as_ref().map(|(_, _, stated, _)| stated)));
        }
    }
    if let Some((rules, limits, ..)) = &known {
        let of_limits = of_limits(ctx, refused, rules, limits);
        let is_rejected = |namespace: &str| {
            let mut all = refused.iter();
            all.any(|one| one.namespace() == namespace && one.refusal == Refusal::LimitRange)
        };
        let makers = by_namespace.iter().map(|(namespace, makers)| (*namespace, makers.as_slice()));
        findings.extend(of_limits);
        findings.extend(predicted(ctx, (rules, limits), makers, is_rejected));
    }
    Ok(findings.into())
}

/// The resources of running proxies by namespace, each different one once.
struct Running<'a>(HashMap<&'a str, Vec<&'a Container>>);

impl<'a> Running<'a> {
    fn new(ctx: &Context<'a>) -> Running<'a> {
        let mut proxies: HashMap<&str, Vec<&Container>> = HashMap::new();
        for pod in ctx.optional_list::<Pod>() {
            let Some(proxy) = pod.spec.proxy() else { continue };
            let known = proxies.entry(pod.metadata.namespace.as_str()).or_default();
            if !known.iter().any(|one| one.resources == proxy.resources) {
                known.push(proxy);
            }
        }
        Running(proxies)
    }

    /// Whether a running proxy of a namespace has a resource, which it gets in some way.
    fn has(&self, namespace: &str, resource: &str) -> bool {
        let mut proxies = self.0.get(namespace).into_iter().flatten();
        proxies.any(|proxy| stated_by(resource).is_some_and(|by| by.is_in(proxy)))
    }
}

/// The quota's resources that the proxies of a workload will not set.
fn unset_resources<'a>(
    quota: &'a ResourceQuota,
    maker: &Maker<'_>,
    rules: &Rules<'_>,
    stated: &MeshSettings<'_>,
    limits: &[LimitRange],
    running: &Running<'_>,
) -> Vec<&'a str> {
    let asked: Vec<&str> = quota.spec.hard.keys().map(String::as_str).filter(|key| stated_by(key).is_some()).collect();
    if asked.is_empty()
        || !matches!(rules.admission.decide(maker.namespace(), maker.meta, maker.spec), Decision::Inject { .. })
    {
        return Vec::new();
    }
    let namespace = rules.admission.namespace(maker.namespace());
    asked
        .into_iter()
        .filter(|resource| {
            let Some(by) = stated_by(resource) else { return false };
            !stated.states(by, maker.meta, namespace)
                && !by.is_given(limits.iter().filter(|limit| limit.metadata.namespace == maker.namespace()))
                && !running.has(maker.namespace(), resource)
        })
        .collect()
}

fn of_quota(
    ctx: &Context<'_>,
    quota: &ResourceQuota,
    against: &Against<'_>,
    stated: Option<&MeshSettings<'_>>,
) -> Finding {
    let (namespace, name) = quota.metadata.key();
    let hard: Vec<String> =
        against.asked.iter().filter_map(|key| Some(format!("{key}: {}", quota.spec.hard.get(*key)?))).collect();
    let annotations: BTreeSet<(&str, &str)> =
        against.asked.iter().filter_map(|key| stated_by(key)).map(|by| (by.annotation, by.variable)).collect();
    let mut annotate = kubectl().words("annotate namespace").operand(namespace);
    for (annotation, quantity) in annotations {
        annotate = annotate.arg(Arg::from(format!("{annotation}=")).then(Arg::placeholder(quantity)));
    }
    let remedy = Remedy::new()
        .command(
            "Set the resources of the namespace's proxies, which the injector copies \
            into their containers",
            annotate,
        )
        .note(
            "Or give the namespace a LimitRange with defaults for containers. Rejected workloads retry on \
             their own",
        )
        .shown_by(kubectl().namespace(namespace).words("get replicasets"));
    let mut finding = ctx
        .finding(
            Subject::object("ResourceQuota", namespace, name),
            "The quota requires resources of every container, and Linkerd's containers set none. No pod with \
             a proxy starts in this namespace",
        )
        .evidence(Evidence::field(format!("ResourceQuota {namespace}/{name}"), "spec.hard", hard.join(", ")))
        .evidences(against.refused.iter().take(QUOTED).map(|one| one.evidence.clone()))
        .timeline(against.refused.iter().take(QUOTED).flat_map(|one| one.moments.iter().cloned()));
    if against.refused.is_empty() {
        let names: Vec<String> = against
            .coming
            .iter()
            .take(QUOTED)
            .map(|maker| format!("{} {}", maker.owner.kind, maker.owner.name))
            .collect();
        finding = finding
            .evidences(stated.map(|stated| stated.nothing(&against.asked)))
            .evidence(Evidence::other("Workloads that request a proxy there", names.join(", ")));
    }
    finding = finding.remedy(remedy);
    let mut owners: Vec<Subject> = against.refused.iter().map(|one| one.subject()).collect();
    owners.dedup();
    owners.into_iter().fold(finding, Finding::subject)
}

/// Findings about meshed workloads that LimitRanges reject, most likely because of injected containers.
fn of_limits(ctx: &Context<'_>, refused: &[Refused<'_>], rules: &Rules<'_>, limits: &[LimitRange]) -> Vec<Finding> {
    let mut by_namespace: BTreeMap<&str, Vec<&Refused<'_>>> = BTreeMap::new();
    for one in refused.iter().filter(|one| ctx.judges(one.namespace())) {
        if one.refusal == Refusal::LimitRange && is_meshed(rules, one) {
            by_namespace.entry(one.namespace()).or_default().push(one);
        }
    }
    let finding = |(namespace, refused): (&str, Vec<&Refused<'_>>)| {
        let own: Vec<&LimitRange> = limits.iter().filter(|limit| limit.metadata.namespace == namespace).collect();
        // If the LimitRange was removed, the workload only waits for its next attempt.
        let first = own.first()?;
        let subject = match own.len() {
            1 => Subject::object(Kind::LimitRange, namespace, &first.metadata.name),
            _ => Subject::object(Kind::Namespace, "", namespace),
        };
        let remedy = Remedy::new()
            .command(
                "Check what the LimitRange allows for a container",
                kubectl().namespace(namespace).words("describe limitrange"),
            )
            .command(
                "Set resources within it for the proxies of the namespace (and limits, if it limits their \
                 ratio)",
                kubectl()
                    .words("annotate namespace")
                    .operand(namespace)
                    .arg(Arg::known("config.linkerd.io/proxy-cpu-request=").then(Arg::placeholder("CPU_REQUEST")))
                    .arg(Arg::known("config.linkerd.io/proxy-memory-request=").then(Arg::placeholder("MEMORY_REQUEST")))
                    .words("--overwrite"),
            );
        let finding = ctx
            .finding(
                subject,
                "a LimitRange rejects pods of meshed workloads. Most likely the proxy's requests or limits \
                 are outside of its bounds",
            )
            .parameter("limit-range")
            .likely()
            .evidences(refused.iter().take(QUOTED).map(|one| one.evidence.clone()))
            .evidences(own.iter().filter_map(|limit| bounds(limit)))
            .remedy(remedy);
        let mut owners: Vec<Subject> = refused.iter().map(|one| one.subject()).collect();
        owners.dedup();
        Some(owners.into_iter().fold(finding, Finding::subject))
    };
    by_namespace.into_iter().filter_map(finding).collect()
}
