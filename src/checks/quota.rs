//! Whether the ResourceQuotas and LimitRanges of a namespace accept the new pods of a rollout. Otherwise the
//! API server refuses them: a rollout that starts a pod before it stops one hangs, and one that stops pods
//! first has fewer.

use std::collections::BTreeMap;

use super::Context;
use crate::model::quantity;
use crate::objects::{Container, LimitRange, Pod, PodSpec, RangeLimit, ResourceQuota, Workload};

/// The reason why the API server refuses the new pods of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QuotaRefusal {
    /// No room for the pod that a rollout starts before it stops one.
    Room,
    /// No room for the ReplicaSet of the new pods.
    ReplicaSet,
    /// The quota requires an amount that a container does not state.
    Unstated,
    /// A container's amount is outside of the bounds of a LimitRange.
    Bounds,
}

/// An object that refuses new pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) refusal: QuotaRefusal,
    /// The object, and its limit: `ResourceQuota shop/small (pods: 10 of 10 used)`.
    pub(super) object: String,
}

impl QuotaRefusal {
    /// The advice for objects: `No room …: raise X first`.
    pub(super) fn advice(self, objects: &str) -> String {
        match self {
            QuotaRefusal::Room => {
                format!("No room for the additional pod of a rollout: raise {objects} first")
            }
            QuotaRefusal::ReplicaSet => {
                format!("No room for the new ReplicaSet of a rollout: raise {objects} first")
            }
            QuotaRefusal::Unstated => format!(
                "The API server refuses new pods, whose containers do not state an amount that a quota requires: \
                 {objects}. Give the namespace a LimitRange with defaults first"
            ),
            QuotaRefusal::Bounds => format!(
                "The API server refuses new pods, whose amounts are outside of a LimitRange: {objects}. Change it first"
            ),
        }
    }
}

/// A workload whose pods a rollout replaces.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rolled<'a> {
    Deployment(&'a Workload),
    /// A StatefulSet or DaemonSet: it stops each pod before it starts the next one.
    Set(&'static str, &'a Workload),
}

impl<'a> Rolled<'a> {
    fn workload(self) -> &'a Workload {
        match self {
            Rolled::Deployment(workload) | Rolled::Set(_, workload) => workload,
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Rolled::Deployment(_) => "Deployment",
            Rolled::Set(kind, _) => kind,
        }
    }
}

/// What keeps a workload from rolling. `None` if nothing is known to. `ranges` are all LimitRanges of the
/// cluster, if they are known. Reads `resourcequotas`, `pods`, `replicasets.apps` and `jobs.batch`, if they
/// are available.
pub(super) fn obstacle(ctx: &Context<'_>, rolled: Rolled<'_>, ranges: Option<&[LimitRange]>) -> Option<Obstacle> {
    let workload = rolled.workload();
    let (spec, namespace) = (&workload.spec, &workload.metadata.namespace);
    if spec.replicas == Some(0) {
        return None;
    }
    let quotas = ctx.optional_list::<ResourceQuota>().iter();
    let own: Vec<&ResourceQuota> =
        quotas.filter(|quota| quota.metadata.namespace == *namespace && counts_running_pods(quota)).collect();
    let ranges: Option<Vec<&LimitRange>> =
        ranges.map(|all| all.iter().filter(|range| range.metadata.namespace == *namespace).collect());
    if own.is_empty() && ranges.as_ref().is_none_or(Vec::is_empty) {
        return None;
    }
    // Injected containers count too, and only pods show them.
    let owners = ctx.owners();
    let is_own = |pod: &&Pod| {
        let owner = owners.owner(pod);
        owner.kind == rolled.kind() && owner.name == workload.metadata.name
    };
    let near = ctx.optional_list::<Pod>().iter().filter(|pod| pod.metadata.namespace == *namespace);
    let running = near.into_iter().find(is_own);
    let pod = running.map_or(&spec.template.spec, |pod| &*pod.spec);
    let pod = NewPod { pod, limits: ranges.as_deref().map(of_containers) };
    let is_deployment = matches!(rolled, Rolled::Deployment(_));
    let needs_room = is_deployment && spec.strategy.starts_before_it_stops(spec.replicas.unwrap_or(1));
    let refused = own.iter().find_map(|quota| pod.unstated(quota));
    let refused = refused.or_else(|| ranges.iter().flatten().find_map(|range| pod.outside(range)));
    refused
        .or_else(|| own.iter().filter(|_| is_deployment).find_map(|quota| no_replica_set(quota)))
        .or_else(|| own.iter().filter(|_| needs_room).find_map(|quota| pod.no_room(quota)))
}

/// The CPU in cores and the memory in bytes that the containers of a pod request.
pub(super) fn requests(pod: &PodSpec) -> (f64, f64) {
    let pod = NewPod { pod, limits: None };
    let sum = |resource| pod.needed(resource).map_or(0.0, |(amount, _)| amount);
    (sum("cpu"), sum("memory"))
}

/// Whether a quota counts every pod that runs for good.
pub(super) fn counts_running_pods(quota: &ResourceQuota) -> bool {
    !quota.spec.selects && quota.spec.scopes.iter().all(|scope| scope == "NotTerminating")
}

fn of_containers<'a>(ranges: &[&'a LimitRange]) -> Vec<&'a RangeLimit> {
    let all = ranges.iter().flat_map(|range| &range.spec.limits);
    all.filter(|limit| limit.kind == "Container").collect()
}

/// Sums of decimal fractions are not exact.
const ROUNDING: f64 = 1e-6;

fn hard(quota: &ResourceQuota) -> &BTreeMap<String, String> {
    if quota.status.hard.is_empty() { &quota.spec.hard } else { &quota.status.hard }
}

/// A quota whose use leaves less room than a rollout needs.
fn used_up(
    quota: &ResourceQuota,
    refusal: QuotaRefusal,
    needed: impl Fn(&str) -> Option<(f64, bool)>,
) -> Option<Obstacle> {
    let (namespace, name) = quota.metadata.key();
    hard(quota).iter().find_map(|(resource, hard)| {
        let used = quota.status.used.get(resource)?;
        let (needed, is_whole) = needed(resource)?;
        let (taken, limit) = (quantity::read(used)?, quantity::read(hard)?);
        // Without an amount, the API server rejects the pod, or a LimitRange sets one for which no room is left.
        let lacks = taken + needed > limit + ROUNDING || !is_whole && taken + ROUNDING >= limit;
        let object = format!("ResourceQuota {namespace}/{name} ({resource}: {used} of {hard} used)");
        lacks.then_some(Obstacle { refusal, object })
    })
}

/// A rollout creates a ReplicaSet before it removes an old one, whatever the strategy.
fn no_replica_set(quota: &ResourceQuota) -> Option<Obstacle> {
    used_up(quota, QuotaRefusal::ReplicaSet, |resource| (resource == "count/replicasets.apps").then_some((1.0, true)))
}

/// One more pod of a workload.
struct NewPod<'a> {
    pod: &'a PodSpec,
    /// The limits for containers of the namespace's LimitRanges, if they are known.
    limits: Option<Vec<&'a RangeLimit>>,
}

/// A resource of a quota that containers state.
#[derive(Clone, Copy)]
struct StatedResource {
    name: &'static str,
    is_limit: bool,
}

impl StatedResource {
    fn parse(resource: &str) -> Option<StatedResource> {
        let (name, is_limit) = match resource {
            "cpu" | "requests.cpu" => ("cpu", false),
            "memory" | "requests.memory" => ("memory", false),
            "limits.cpu" => ("cpu", true),
            "limits.memory" => ("memory", true),
            _ => return None,
        };
        Some(StatedResource { name, is_limit })
    }

    /// The amount in a container's own resources: it requests its limit if it states no request.
    fn in_container(self, container: &Container) -> Option<f64> {
        let resources = container.resources.as_deref()?;
        let of = |amounts: &crate::objects::container::Amounts| {
            quantity::read(if self.name == "cpu" { &amounts.cpu } else { &amounts.memory })
        };
        match self.is_limit {
            true => of(&resources.limits),
            false => of(&resources.requests).or_else(|| of(&resources.limits)),
        }
    }

    /// The default of a LimitRange; the API server derives one from the bounds.
    fn by_default(self, limit: &RangeLimit) -> Option<f64> {
        let read = |all: &BTreeMap<String, String>| quantity::read(all.get(self.name)?);
        let as_limit = || read(&limit.default).or_else(|| read(&limit.max));
        match self.is_limit {
            true => as_limit(),
            false => read(&limit.default_request).or_else(|| read(&limit.min)).or_else(as_limit),
        }
    }
}

impl NewPod<'_> {
    fn amount(&self, container: &Container, of: StatedResource) -> Option<f64> {
        let by_default = || self.limits.iter().flatten().find_map(|limit| of.by_default(limit));
        of.in_container(container).or_else(by_default)
    }

    fn containers(&self) -> impl Iterator<Item = &Container> {
        self.pod.containers.iter().chain(self.pod.init_containers.iter())
    }

    /// The quota requires an amount of every container, and one states none and gets none.
    fn unstated(&self, quota: &ResourceQuota) -> Option<Obstacle> {
        self.limits.as_ref()?;
        let (namespace, name) = quota.metadata.key();
        hard(quota).keys().find_map(|resource| {
            let of = StatedResource::parse(resource)?;
            let without = self.containers().find(|one| self.amount(one, of).is_none())?;
            let object =
                format!("ResourceQuota {namespace}/{name} ({resource}; container {} states none)", without.name);
            Some(Obstacle { refusal: QuotaRefusal::Unstated, object })
        })
    }

    /// The LimitRange refuses an amount of a container.
    fn outside(&self, range: &LimitRange) -> Option<Obstacle> {
        let (namespace, name) = range.metadata.key();
        let limits = range.spec.limits.iter().filter(|limit| limit.kind == "Container");
        limits.into_iter().find_map(|limit| {
            let bounds = [(&limit.max, "max", true), (&limit.min, "min", false)];
            bounds.into_iter().find_map(|(bounds, word, is_max)| {
                let (resource, bound, container) = bounds.iter().find_map(|(resource, bound)| {
                    let limit = quantity::read(bound)?;
                    let amounts = [format!("limits.{resource}"), format!("requests.{resource}")];
                    let is_outside = |one: &&Container| {
                        let stated = amounts.iter().filter_map(|of| self.amount(one, StatedResource::parse(of)?));
                        let mut stated = stated;
                        stated.any(|amount| match is_max {
                            true => amount > limit + ROUNDING,
                            false => amount + ROUNDING < limit,
                        })
                    };
                    Some((resource, bound, self.containers().find(is_outside)?))
                })?;
                let object =
                    format!("LimitRange {namespace}/{name} ({word} {resource}: {bound}; container {})", container.name);
                Some(Obstacle { refusal: QuotaRefusal::Bounds, object })
            })
        })
    }

    fn no_room(&self, quota: &ResourceQuota) -> Option<Obstacle> {
        used_up(quota, QuotaRefusal::Room, |resource| self.needed(resource))
    }

    /// How much of a resource the pod takes, and whether every container states its amount; `None` for
    /// resources of other objects.
    fn needed(&self, resource: &str) -> Option<(f64, bool)> {
        if matches!(resource, "pods" | "count/pods") {
            return Some((1.0, true));
        }
        let of = StatedResource::parse(resource)?;
        let is_sidecar = |one: &&Container| one.restart_policy.as_deref() == Some("Always");
        let sidecars = self.pod.init_containers.iter().filter(is_sidecar);
        let amounts: Vec<Option<f64>> =
            self.pod.containers.iter().chain(sidecars).map(|one| self.amount(one, of)).collect();
        Some((amounts.iter().flatten().sum(), amounts.iter().all(Option::is_some)))
    }
}
