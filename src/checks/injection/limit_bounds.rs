//! LimitRanges that will reject or starve the next proxies: their bounds and defaults against the requests and limits
//! that annotations and chart values set.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::admission::{Rules, Setting};
use crate::checks::pod_owners::Maker;
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::words::some;
use crate::model::injection::Decision;
use crate::model::quantity;
use crate::objects::{LimitRange, RangeLimit};

/// Maximum number of quoted workloads.
const QUOTED: usize = 3;
/// The memory that the chart's values for high availability request for a proxy, and their limit.
const USUAL_MEMORY: &str = "20Mi";
const USUAL_MEMORY_LIMIT: &str = "250Mi";

/// A resource with the annotations and chart values of its request and its limit.
struct Resource {
    name: &'static str,
    request: (&'static str, &'static str),
    limit: (&'static str, &'static str),
}

const RESOURCES: [Resource; 2] = [
    Resource {
        name: "cpu",
        request: ("config.linkerd.io/proxy-cpu-request", "proxy.resources.cpu.request"),
        limit: ("config.linkerd.io/proxy-cpu-limit", "proxy.resources.cpu.limit"),
    },
    Resource {
        name: "memory",
        request: ("config.linkerd.io/proxy-memory-request", "proxy.resources.memory.request"),
        limit: ("config.linkerd.io/proxy-memory-limit", "proxy.resources.memory.limit"),
    },
];

/// Effect of a LimitRange on the next proxies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Rejects,
    Starves,
}

/// A fault of the next proxies' resources, and the annotation that repairs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LimitFault {
    effect: Effect,
    said: String,
    annotation: &'static str,
    value: String,
}

/// Workloads with the same fault.
#[derive(Default)]
struct Affected<'a> {
    makers: Vec<&'a Maker<'a>>,
    evidence: Vec<Evidence>,
}

/// Findings about LimitRanges of namespaces whose workloads are not rejected yet.
pub(super) fn predicted<'a>(
    ctx: &Context<'_>,
    (rules, limits): (&Rules<'_>, &[LimitRange]),
    by_namespace: impl Iterator<Item = (&'a str, &'a [&'a Maker<'a>])>,
    is_rejected: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let mut found: BTreeMap<(&str, &str, LimitFault), Affected<'_>> = BTreeMap::new();
    for (namespace, makers) in by_namespace {
        let own: Vec<&LimitRange> = limits.iter().filter(|limit| limit.metadata.namespace == namespace).collect();
        if own.is_empty() || !ctx.judges(namespace) || is_rejected(namespace) {
            continue;
        }
        let is_injected = |maker: &&&Maker<'_>| {
            let decision = rules.admission.decide(maker.namespace(), maker.meta, maker.spec);
            matches!(decision, Decision::Inject { .. })
        };
        for maker in makers.iter().filter(is_injected) {
            for resource in &RESOURCES {
                let Some((range, fault, evidence)) = fault(rules, maker, resource, &own) else { continue };
                let key = (range.metadata.namespace.as_str(), range.metadata.name.as_str(), fault);
                let affected = found.entry(key).or_default();
                affected.makers.push(maker);
                if affected.evidence.is_empty() {
                    affected.evidence = evidence;
                }
            }
        }
    }
    let finding = |((namespace, name, fault), affected): (&(&str, &str, LimitFault), &Affected<'_>)| {
        let range = limits.iter().find(|one| one.metadata.key() == (*namespace, *name))?;
        Some(finding(ctx, rules, range, fault, affected))
    };
    found.iter().filter_map(finding).collect()
}

fn of_containers(range: &LimitRange) -> impl Iterator<Item = &RangeLimit> {
    range.spec.limits.iter().filter(|limit| limit.kind == "Container")
}

/// A quantity as written, and its value.
type Amount = (String, f64);

fn amount(all: &BTreeMap<String, String>, name: &str) -> Option<Amount> {
    let written = all.get(name)?;
    Some((written.clone(), quantity::read(written)?))
}

/// The first fault of a resource of a workload's next proxy, with the LimitRange that causes it.
fn fault<'a>(
    rules: &Rules<'_>,
    maker: &Maker<'_>,
    resource: &Resource,
    own: &[&'a LimitRange],
) -> Option<(&'a LimitRange, LimitFault, Vec<Evidence>)> {
    // Unknown values may set a request or limit.
    rules.values.as_ref()?;
    let set = |(annotation, value): (&str, &str)| rules.setting(maker, annotation, value);
    let (request, limit) = (set(resource.request), set(resource.limit));
    let read = |setting: &Option<Setting>| {
        let value = &setting.as_ref()?.value;
        Some((value.clone(), quantity::read(value)?))
    };
    let (own_request, own_limit) = (read(&request), read(&limit));
    let all = || own.iter().flat_map(|range| of_containers(range));
    let by_default =
        |limit: &RangeLimit| amount(&limit.default, resource.name).or_else(|| amount(&limit.max, resource.name));
    let limited = own_limit.clone().or_else(|| all().find_map(by_default));
    // A container without a request requests its own limit.
    let requested = own_request.or_else(|| own_limit.clone()).or_else(|| {
        all().find_map(|limit| {
            let request = amount(&limit.default_request, resource.name);
            request.or_else(|| by_default(limit)).or_else(|| amount(&limit.min, resource.name))
        })
    });
    let evidence: Vec<Evidence> = [request, limit].into_iter().flatten().map(|one| one.evidence).collect();
    for range in own {
        for bounds in of_containers(range) {
            if let Some(fault) = outside(resource, bounds, requested.as_ref(), limited.as_ref()) {
                return Some((range, fault, evidence));
            }
        }
    }
    let starved = || {
        let range = own.iter().find(|range| of_containers(range).any(|one| by_default(one).is_some()))?;
        Some((*range, starving(resource, own_limit.is_none().then_some(limited.as_ref()?)?)?))
    };
    starved().map(|(range, fault)| (range, fault, evidence))
}

/// The bound of a LimitRange that amounts violate.
fn outside(
    resource: &Resource,
    bounds: &RangeLimit,
    request: Option<&Amount>,
    limit: Option<&Amount>,
) -> Option<LimitFault> {
    let name = resource.name;
    let new = |said: String, annotation: &'static str, value: &str| {
        Some(LimitFault { effect: Effect::Rejects, said, annotation, value: value.to_owned() })
    };
    // A request may follow from the limit.
    let kinds = [("limit", limit, resource.limit.0), ("request", request, resource.request.0)];
    for (kind, amount, annotation) in kinds {
        let Some((said, amount)) = amount else { continue };
        if let Some((least, _)) = self::amount(&bounds.min, name).filter(|(_, bound)| amount < bound) {
            return new(format!("{name} {kind} {said} is below the minimum {least}"), annotation, &least);
        }
        if let Some((most, _)) = self::amount(&bounds.max, name).filter(|(_, bound)| amount > bound) {
            return new(format!("{name} {kind} {said} is above the maximum {most}"), annotation, &most);
        }
    }
    let ((request, requested), (limit, limited)) = (request?, limit?);
    if requested > limited {
        let said = format!("{name} request {request} is above the limit {limit}");
        return new(said, resource.request.0, limit);
    }
    let (most, ratio) = self::amount(&bounds.max_limit_request_ratio, name)?;
    (limited / requested > ratio).then(|| {
        let said = format!("{name} limit {limit} is more than {most} times the request {request}");
        LimitFault { effect: Effect::Rejects, said, annotation: resource.request.0, value: limit.clone() }
    })
}

/// A default limit with which a proxy does not start.
fn starving(resource: &Resource, (written, limit): &Amount) -> Option<LimitFault> {
    let needed = quantity::read(USUAL_MEMORY)?;
    (resource.name == "memory" && *limit < needed).then(|| LimitFault {
        effect: Effect::Starves,
        said: format!("memory limit {written}"),
        annotation: resource.limit.0,
        value: USUAL_MEMORY_LIMIT.to_owned(),
    })
}

fn finding(
    ctx: &Context<'_>,
    rules: &Rules<'_>,
    range: &LimitRange,
    fault: &LimitFault,
    affected: &Affected<'_>,
) -> Finding {
    let (namespace, name) = range.metadata.key();
    let (severity, message) = match fault.effect {
        Effect::Rejects => (
            Severity::Error,
            format!(
                "the LimitRange rejects the next pods with a proxy: the proxy's {}. No pod of these workloads can be \
                 replaced",
                fault.said
            ),
        ),
        Effect::Starves => (
            Severity::Warning,
            format!(
                "the LimitRange gives new proxies the {}, less than the {USUAL_MEMORY} that a proxy needs: the kernel \
                 kills them",
                fault.said
            ),
        ),
    };
    let workloads: BTreeSet<String> =
        affected.makers.iter().map(|maker| format!("{} {}", maker.owner.kind, maker.owner.name)).collect();
    ctx.finding(Subject::object(Kind::LimitRange, namespace, name), message)
        .severity(severity)
        .parameter(format!("next-{}", fault.annotation.trim_start_matches("config.linkerd.io/proxy-")))
        .evidences(affected.evidence.iter().cloned())
        .evidences(bounds(range))
        .evidence(Evidence::other("Workloads that request a proxy there", some(workloads, QUOTED)))
        .remedy(remedy(ctx, rules, fault, affected))
}

/// The steps that set another amount where it is set now: in pod templates, or for the namespace.
fn remedy(ctx: &Context<'_>, rules: &Rules<'_>, fault: &LimitFault, affected: &Affected<'_>) -> Remedy {
    let (key, value) = (fault.annotation, fault.value.as_str());
    let mut remedy = Remedy::new();
    let mut is_for_namespace = false;
    for maker in &affected.makers {
        if maker.meta.annotation(key).is_none() {
            is_for_namespace = true;
            continue;
        }
        let act = format!("Set {key}: {value:?}");
        remedy = rewrite::of_owner(ctx, remedy, &act, &maker.owner, &[(key, Some(value))]);
    }
    let namespace = affected.makers.first().map_or("", |maker| maker.namespace());
    if is_for_namespace && rules.admission.namespace(namespace).is_some() {
        remedy = remedy.run(
            StepKind::Annotation,
            "Set an amount within the LimitRange for the proxies of the namespace (also in its source manifest)",
            kubectl().words("annotate --overwrite namespace").operand(namespace).arg(format!("{key}={value}")),
        );
    }
    remedy.note("Or change the bounds or defaults of the LimitRange")
}

/// Evidence of a LimitRange's bounds for containers.
pub(super) fn bounds(limit: &LimitRange) -> Option<Evidence> {
    let of = limit.spec.limits.iter().find(|of| of.kind == "Container").or(limit.spec.limits.first())?;
    let said = |name: &str, quantities: &BTreeMap<String, String>| {
        let all: Vec<String> = quantities.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        (!all.is_empty()).then(|| format!("{name} {}", all.join(", ")))
    };
    let all = [
        said("default", &of.default),
        said("defaultRequest", &of.default_request),
        said("min", &of.min),
        said("max", &of.max),
        said("maxLimitRequestRatio", &of.max_limit_request_ratio),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    let (namespace, name) = limit.metadata.key();
    Some(Evidence::field(
        format!("LimitRange {namespace}/{name}"),
        format!("spec.limits[{}]", of.kind),
        if all.is_empty() { "no bounds".to_owned() } else { all.join("; ") },
    ))
}
