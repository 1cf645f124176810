//! Predicts the policy controller's status of routes, rate limits and EgressNetworks without one: in
//! manifests that were not applied, and before the controller ran. References to objects that were not
//! provided are not checked and not reported as missing.

use std::collections::BTreeMap;

use super::survey::{about, defined, field, noun, on, put, set, test};
use crate::checks::control_plane::installation::installed;
use crate::checks::prelude::*;
use crate::model::policy::status::{BackendFault, ParentAnswer, Refused, StatusObjects, Statuses, Writes};
use crate::model::policy::{Controller, Quirks, RouteKind};
use crate::nearest::{closest, is_slip};
use crate::objects::{
    EgressNetwork, GRPCRoute, HTTPLocalRateLimitPolicy, HTTPRoute, LinkerdHTTPRoute, Listed, ParentRef, Route, Server,
    TCPRoute, TLSRoute,
};

/// The inputs of a prediction, and the missing ones.
pub(super) struct PredictionInputs<'c, 'a> {
    pub(super) ctx: &'c Context<'a>,
    pub(super) statuses: Statuses<'a>,
    /// The installed release, if known.
    pub(super) version: Option<LinkerdVersion>,
    /// The kinds with missing objects.
    partial: BTreeMap<Kind, Missing>,
    /// Why the cluster's networks are unknown, if they are.
    pub(super) networks_unknown: Option<Missing>,
}

/// Reads the inputs of predictions.
///
/// # Errors
/// If there is no policy controller, or its version is unknown.
pub(super) fn known<'c, 'a>(ctx: &'c Context<'a>) -> Result<PredictionInputs<'c, 'a>, Unjudged> {
    let version = installed(ctx)?.map(|(version, _)| version);
    let namespace = ctx.namespaces().control_plane.as_str();
    let quirks = Quirks::from_version(version.as_ref(), ctx.knowledge);
    let (cluster, networks_unknown) = match Controller::find(ctx.partial_list::<Deployment>()?, namespace, quirks) {
        Ok(controller) => (controller.cluster_networks, None),
        Err(trouble) => match ctx.complete_list::<Deployment>() {
            Err(missing) => (Vec::new(), Some(missing)),
            Ok(_) => return Err(Unjudged::blocked("control-plane-not-ready", trouble.to_string())),
        },
    };
    let mut partial = BTreeMap::new();
    // A missing route may be rejected or take precedence.
    let judged = |missing: Option<Missing>| missing.into_iter().for_each(|missing| ctx.gap(missing));
    let (http_routes, missing) = there::<HTTPRoute>(ctx);
    judged(missing);
    let (linkerd_http_routes, missing) = there::<LinkerdHTTPRoute>(ctx);
    judged(missing);
    let (grpc_routes, missing) = there::<GRPCRoute>(ctx);
    judged(missing);
    let (tls_routes, missing) = there::<TLSRoute>(ctx);
    judged(missing);
    let (tcp_routes, missing) = there::<TCPRoute>(ctx);
    judged(missing);
    let (rate_limits, missing) = there::<HTTPLocalRateLimitPolicy>(ctx);
    judged(missing);
    let (egress_networks, missing) = there::<EgressNetwork>(ctx);
    partial.extend(missing.clone().map(|missing| (Kind::EgressNetwork, missing)));
    judged(missing);
    let (servers, missing) = there::<Server>(ctx);
    partial.extend(missing.map(|missing| (Kind::Server, missing)));
    let services = ctx.complete_list::<Service>().unwrap_or_else(|missing| {
        partial.insert(Kind::Service, missing);
        ctx.optional_list::<Service>()
    });
    let objects = StatusObjects {
        servers,
        services,
        egress_networks,
        rate_limits,
        http_routes,
        linkerd_http_routes,
        grpc_routes,
        tls_routes,
        tcp_routes,
    };
    let writes = Writes::from_version(version.as_ref(), ctx.knowledge);
    let statuses = Statuses::new(writes, &cluster, objects);
    Ok(PredictionInputs { ctx, statuses, version, partial, networks_unknown })
}

/// The available objects of a kind from a CustomResourceDefinition, and why there may be more.
fn there<'a, K: Listed>(ctx: &Context<'a>) -> (&'a [K::Object], Option<Missing>) {
    match defined::<K>(ctx) {
        Ok(objects) => (objects, None),
        Err(missing) => (ctx.optional_list::<K>(), Some(missing)),
    }
}

impl PredictionInputs<'_, '_> {
    /// Whether an answer is certain although it depends on the absence of objects of a kind. If not, this
    /// is noted.
    fn certain(&self, rests_on: Option<Kind>) -> bool {
        let missing = rests_on.and_then(|kind| self.partial.get(&kind));
        missing.into_iter().for_each(|missing| self.ctx.gap(missing.clone()));
        missing.is_none()
    }

    /// The predicted finding about a route at one parent.
    pub(super) fn of_parent(&self, kind: Kind, meta: &Meta, answer: &ParentAnswer<'_>) -> Option<Finding> {
        let parent = &answer.parent;
        let at = format!("{} {}", parent.kind, parent.name);
        if let Some(refused) = &answer.refused
            && self.certain(refused.rests_on())
        {
            return self.of_object(kind, meta, &at, refused).map(|finding| finding.parameter(at));
        }
        let faults = answer.faults.as_deref().unwrap_or_default();
        let mut certain = faults.iter().filter(|fault| self.certain(fault.rests_on()));
        let (first, others) = (certain.next()?, certain);
        let finding = self
            .unresolved(kind, meta, &at, first)
            .evidences(others.map(|fault| field(kind, meta, "spec.rules", format!("backendRefs {}", fault.place()))))
            .parameter(at);
        Some(match *first {
            BackendFault::Missing { kind: of, namespace, name } => {
                self.with_candidates(finding, (kind, meta), (of, namespace, name))
            }
            BackendFault::OtherKind(_) | BackendFault::NotTheParent(_) => {
                finding.remedy(corrected(kind, meta, "BackendNotFound"))
            }
        })
    }

    /// The finding about a backend that the controller cannot resolve: it accepts the route at the parent
    /// nevertheless, and requests to the backend fail.
    fn unresolved(&self, kind: Kind, meta: &Meta, parent: &str, fault: &BackendFault<'_>) -> Finding {
        let (place, then) = (fault.place(), failure(kind));
        let why = match fault {
            BackendFault::Missing { .. } => "which does not exist",
            BackendFault::OtherKind(_) => "which is not a Service",
            BackendFault::NotTheParent(_) => "but an EgressNetwork is a backend only of routes that are attached to it",
        };
        let message = format!("the route of {parent} names the backend {place}, {why}: {then}");
        about(self.ctx, kind, meta, message).severity(Severity::Error).evidence(field(
            kind,
            meta,
            "spec.rules",
            format!("backendRefs {place}"),
        ))
    }

    /// The finding about a route that the controller does not accept at a parent because of a backend that
    /// does not exist; `None` if the available objects do not show which one.
    pub(super) fn backend_missing(
        &self,
        kind: Kind,
        meta: &Meta,
        answer: &ParentAnswer<'_>,
        parent: &str,
    ) -> Option<Finding> {
        let missing = answer.faults.iter().flatten().find_map(|fault| match *fault {
            BackendFault::Missing { kind, namespace, name } => Some((kind, namespace, name, fault)),
            BackendFault::OtherKind(_) | BackendFault::NotTheParent(_) => None,
        });
        let (of, namespace, name, fault) = missing.filter(|(_, _, _, fault)| self.certain(fault.rests_on()))?;
        let finding = self.unresolved(kind, meta, parent, fault);
        Some(self.with_candidates(finding, (kind, meta), (of, namespace, name)))
    }

    /// The predicted finding about an object, at a parent or on its own; `None` if it is not certain.
    pub(super) fn of_object(&self, kind: Kind, meta: &Meta, at: &str, refused: &Refused<'_>) -> Option<Finding> {
        if !self.certain(refused.rests_on()) {
            return None;
        }
        let (message, said) = match refused {
            Refused::NoParent(parent) => {
                let named = format!("{} {}/{}", parent.kind, parent.namespace, parent.name);
                let missing = (parent.kind, parent.namespace, parent.name);
                return Some(self.without(kind, meta, at, ("spec.parentRefs", named), missing));
            }
            Refused::NoTarget => {
                let name = self.target(meta);
                let (named, missing) = (format!("Server {name}"), (Kind::Server, &*meta.namespace, name));
                return Some(self.without(kind, meta, at, ("spec.targetRef", named), missing));
            }
            Refused::UnreadableParent | Refused::UnreadableTarget => {
                ("the controller cannot read the object that it refers to".to_owned(), ("spec", at.to_owned()))
            }
            Refused::Headless => (
                "routes attach only to Services with a ClusterIP, and this one is headless".to_owned(),
                ("spec.parentRefs", at.to_owned()),
            ),
            Refused::NetworkRefused => {
                ("the EgressNetwork named in parentRefs is not accepted".to_owned(), ("spec.parentRefs", at.to_owned()))
            }
            Refused::Conflict { kind: first, namespace, name } => (
                format!(
                    "{} {namespace}/{name} is attached to the same parent and takes precedence (GRPCRoute \
                     before HTTPRoute before TLSRoute before TCPRoute)",
                    first.kind()
                ),
                ("spec.parentRefs", at.to_owned()),
            ),
            Refused::Later(first) => (
                format!(
                    "the older HTTPLocalRateLimitPolicy {} is attached to the same Server, and only that \
                     one has an effect",
                    first.metadata.name
                ),
                ("spec.targetRef", format!("Server {}", first.spec.target_ref.name)),
            ),
            Refused::Overlap { network, cluster } => (
                "the networks overlap those of the cluster; the object is used nevertheless".to_owned(),
                ("spec.networks", format!("{network}, which overlaps {cluster} of the cluster")),
            ),
        };
        let (path, said) = said;
        Some(self.would(kind, meta, at, &message).evidence(field(kind, meta, path, said)).remedy(corrected(
            kind,
            meta,
            reason(refused),
        )))
    }

    /// The predicted finding about an object that refers to a missing one, in a field.
    fn without(
        &self,
        kind: Kind,
        meta: &Meta,
        at: &str,
        (path, named): (&'static str, String),
        missing: (Kind, &str, &str),
    ) -> Finding {
        let (of, namespace, name) = missing;
        let finding = self
            .would(kind, meta, at, &format!("{of} {name} does not exist in namespace {namespace}"))
            .evidence(field(kind, meta, path, named));
        self.with_candidates(finding, (kind, meta), missing)
    }

    fn would(&self, kind: Kind, meta: &Meta, at: &str, why: &str) -> Finding {
        let message = format!("The policy controller will not accept {} for {at}: {why}", noun(kind));
        about(self.ctx, kind, meta, message).severity(Severity::Warning).likely()
    }

    /// The Server that a rate limit targets.
    fn target(&self, meta: &Meta) -> &str {
        let limits = self.statuses.objects().rate_limits.iter();
        let mut own = limits.filter(|limit| limit.metadata.key() == meta.key());
        own.next().map_or("", |limit| limit.spec.target_ref.name.as_str())
    }

    /// Adds the objects that a wrong name may refer to, and the steps to correct it.
    fn with_candidates(&self, finding: Finding, (kind, meta): (Kind, &Meta), of: (Kind, &str, &str)) -> Finding {
        let (wanted, namespace, name) = of;
        let keys = self.keys(wanted);
        let here = keys.iter().filter(|(at, _)| *at == namespace).map(|(_, name)| *name);
        let near = closest(name, here).map(|near| (namespace.to_owned(), near));
        let elsewhere = || keys.iter().find(|(_, known)| *known == name);
        let near = near.or_else(|| elsewhere().map(|(at, name)| ((*at).to_owned(), (*name).to_owned())));
        // Another name means other traffic: only a slip is corrected without a person.
        let is_meant = |(home, near): &&(String, String)| home == namespace && is_slip(name, near);
        let correction = near.as_ref().filter(is_meant).and_then(|(_, near)| {
            let operations = self.renamed((kind, meta), (wanted, namespace, name), near)?;
            Some((near.clone(), operations))
        });
        let near = near.map(|(namespace, name)| {
            let like = Meta { namespace: namespace.into(), name, ..Meta::default() };
            field(wanted, &like, "metadata.name", "exists, and may be the intended one")
        });
        finding.evidences(near).remedy(
            Remedy::new()
                .command(
                    format!("List the {}s of the namespace", wanted.info().kind),
                    kubectl().namespace(namespace).words("get").arg(wanted.resource()),
                )
                .command(
                    format!(
                        "Set the reference to {}, or create {} {namespace}/{name}",
                        match &correction {
                            Some((near, _)) => format!("{} {near}", wanted.info().kind),
                            None => format!("the intended {}", wanted.info().kind),
                        },
                        wanted.info().kind
                    ),
                    match correction {
                        Some((_, operations)) => set(kind, meta, operations),
                        None => on("edit", kind, meta),
                    },
                ),
        )
    }

    /// The operations that name another object in each reference to a missing one.
    fn renamed(
        &self,
        (kind, meta): (Kind, &Meta),
        (wanted, namespace, name): (Kind, &str, &str),
        new: &str,
    ) -> Option<Vec<serde_json::Value>> {
        let at = |path: String| [test(path.as_str(), name), put(path, new)];
        if kind == Kind::HTTPLocalRateLimitPolicy {
            return Some(at("/spec/targetRef/name".to_owned()).to_vec());
        }
        let routes = self.statuses.objects().routes();
        let mut own = routes.into_iter().filter(|(of, _)| of.kind() == kind).flat_map(|(_, routes)| routes);
        let route = own.find(|route| route.metadata.key() == meta.key())?;
        let is_it = |of: &str, home: Option<&str>| of == name && home.unwrap_or(&meta.namespace) == namespace;
        let group = if wanted == Kind::Service { "" } else { wanted.info().group };
        let parents = route.spec.parent_refs.iter().enumerate().filter(|(_, parent)| {
            parent.is_a(group, wanted.info().kind) && is_it(&parent.name, parent.namespace.as_deref())
        });
        let parents = parents.map(|(i, _)| format!("/spec/parentRefs/{i}/name"));
        let backends = route.spec.rules.iter().enumerate().flat_map(|(at, rule)| {
            let named = rule.backend_refs.iter().enumerate().filter(|(_, backend)| {
                backend.is_a(group, wanted.info().kind) && is_it(&backend.name, backend.namespace.as_deref())
            });
            named.map(move |(i, _)| format!("/spec/rules/{at}/backendRefs/{i}/name")).collect::<Vec<_>>()
        });
        let operations: Vec<serde_json::Value> = parents.chain(backends).flat_map(at).collect();
        (!operations.is_empty()).then_some(operations)
    }

    /// Namespaces and names of the available objects of a kind.
    fn keys(&self, kind: Kind) -> Vec<(&str, &str)> {
        let objects = self.statuses.objects();
        match kind {
            Kind::Server => objects.servers.iter().map(|it| it.metadata.key()).collect(),
            Kind::Service => objects.services.iter().map(|it| it.metadata.key()).collect(),
            _ => objects.egress_networks.iter().map(|it| it.metadata.key()).collect(),
        }
    }
}

/// The reason that the policy controller would write.
fn reason(refused: &Refused<'_>) -> &'static str {
    match refused {
        Refused::NoParent(_) | Refused::Headless | Refused::UnreadableParent => "NoMatchingParent",
        Refused::NoTarget | Refused::UnreadableTarget => "NoMatchingTarget",
        Refused::NetworkRefused => "EgressNetworkNotAccepted",
        Refused::Conflict { .. } => "RouteReasonConflicted",
        Refused::Later(_) => "RateLimitReasonAlreadyExists",
        Refused::Overlap { .. } => "EgressReasonNetworkOverlap",
    }
}

/// What a backend that does not exist means for clients.
fn failure(kind: Kind) -> &'static str {
    match kind {
        Kind::TLSRoute | Kind::TCPRoute => "connections to it fail",
        _ => "requests to it get status 500",
    }
}

/// The repair for a reason of the policy controller.
pub(super) fn correction(reason: &str) -> &'static str {
    match reason {
        "NoMatchingParent" => "Name an existing object in parentRefs, or remove the reference",
        "NoMatchingTarget" => "Name an existing Server in targetRef",
        "RouteReasonConflicted" => {
            "Attach routes of one kind to this parent: convert this route, or remove the parent from parentRefs"
        }
        "RateLimitReasonAlreadyExists" => "Target another Server, or merge both rate limits into one",
        "BackendNotFound" | "InvalidKind" => "Name existing Services in backendRefs",
        "EgressReasonNetworkOverlap" => "Exclude the cluster's networks with except",
        "EgressNetworkNotAccepted" => "Repair the EgressNetwork, or remove it from parentRefs",
        _ => "Correct the field that the reason names",
    }
}

fn corrected(kind: Kind, meta: &Meta, reason: &str) -> Remedy {
    Remedy::new().command(correction(reason), on("edit", kind, meta))
}

/// Parents of a Linkerd kind with a group that has no such kind: the policy controller ignores them,
/// without a status.
pub(super) fn of_group(ctx: &Context<'_>, kind: RouteKind, route: &Route) -> Vec<Finding> {
    let meta = &route.metadata;
    let parents = route.spec.parent_refs.iter().enumerate();
    let lost = parents.filter_map(|(at, parent)| Some((at, parent, misplaced(kind, parent)?)));
    lost.map(|(at, parent, (said, wanted))| {
        let path = format!("/spec/parentRefs/{at}");
        let of = parent.kind.as_deref().unwrap_or_default();
        let named = match &parent.group {
            Some(_) => format!("parentRefs has {said}"),
            None => format!("without a group, parentRefs means {said}"),
        };
        about(
            ctx,
            kind.kind(),
            meta,
            format!("The route has no effect on {of} {}: {of} is a kind of group {wanted}, and {named}", parent.name),
        )
        .severity(Severity::Warning)
        .likely()
        .evidence(field(kind.kind(), meta, "spec.parentRefs", format!("group {said}, kind {of}, name {}", parent.name)))
        .parameter(format!("{of} {}", parent.name))
        .remedy(Remedy::new().run(
            StepKind::Command,
            format!("Set the group of the kind: group: {wanted}"),
            set(
                kind.kind(),
                meta,
                [test(format!("{path}/name"), parent.name.as_str()), put(format!("{path}/group"), wanted)],
            ),
        ))
    })
    .collect()
}

/// The group of a parent, and the group that its kind belongs to.
fn misplaced(kind: RouteKind, parent: &ParentRef) -> Option<(&str, &'static str)> {
    const GROUPS: [&str; 4] = ["", "core", "policy.linkerd.io", "gateway.networking.k8s.io"];
    let of = parent.kind.as_deref()?;
    let is = |wanted: &str| of.eq_ignore_ascii_case(wanted);
    let wanted = match () {
        () if is("Service") => "core",
        () if is("Server") || is("EgressNetwork") => "policy.linkerd.io",
        () => return None,
    };
    let said = parent.group.as_deref().unwrap_or(kind.group());
    let said = if said.is_empty() { "core" } else { said };
    let known = GROUPS.iter().any(|group| group.eq_ignore_ascii_case(said));
    (known && !said.eq_ignore_ascii_case(wanted)).then_some((said, wanted))
}
