//! The cluster's inbound policy and the workloads that it applies to, read once per run.

use serde_json::{Value, json};

use crate::checks::Upgrade;
use crate::checks::control_plane::installation::installed;
use crate::checks::prelude::*;
use crate::command::Call;
use crate::model::control_plane;
use crate::model::policy::{
    Controller, Ignored, Inbound, Index, NotReadable, Objects, Quirks, REQUIRE_IDENTITY, TakenBy, Workload,
};
use crate::objects::{
    AuthorizationPolicy, CustomResourceDefinition, ExternalWorkload, GRPCRoute, HTTPLocalRateLimitPolicy, HTTPRoute,
    LinkerdHTTPRoute, Listed, MeshTLSAuthentication, NetworkAuthentication, Route, Server, ServerAuthorization,
    TargetRef, is_undefined,
};
use crate::version::EdgeTag;

/// Everything that the policy checks read. The cards of these checks list the same items.
pub(in crate::checks) struct Survey<'a> {
    /// The policy.
    pub(in crate::checks) index: Index<'a>,
    /// The objects that it was read from.
    pub(super) objects: Objects<'a>,
    /// Injected pods that have not ended, as the controller models them.
    pub(in crate::checks) pods: Vec<(&'a Pod, Workload<'a>)>,
    /// ExternalWorkloads, as the controller models them.
    pub(super) external: Vec<Workload<'a>>,
    /// The installed release, if known.
    pub(super) version: Option<LinkerdVersion>,
}

impl<'a> Survey<'a> {
    /// The pods of a namespace; lists are sorted by namespace.
    pub(super) fn pods_of(&self, namespace: &str) -> &[(&'a Pod, Workload<'a>)] {
        let begin = self.pods.partition_point(|(pod, _)| pod.metadata.namespace.as_str() < namespace);
        let end = begin + self.pods[begin..].partition_point(|(pod, _)| pod.metadata.namespace == namespace);
        &self.pods[begin..end]
    }

    /// The pods in groups with the same policies.
    pub(super) fn replicas(&self) -> impl Iterator<Item = &[(&'a Pod, Workload<'a>)]> {
        self.pods.chunk_by(|(_, one), (_, next)| next.is_replica_of(one))
    }

    /// The workloads to which policy applies, pods and ExternalWorkloads, in groups with the same policies; without
    /// empty groups.
    pub(super) fn alike(&self) -> impl Iterator<Item = Vec<(Option<&'a Pod>, &Workload<'a>)>> {
        let of_pods = self.replicas().map(|group| group.iter().map(|(pod, of_pod)| (Some(*pod), of_pod)).collect());
        of_pods.chain(self.external.iter().map(|workload| vec![(None, workload)]))
    }

    /// The route of the Gateway API that an entry is about.
    pub(super) fn route_of(&self, one: &Ignored<'_>) -> Option<&'a Route> {
        let routes = match one.kind {
            Kind::HTTPRoute => self.objects.http_routes,
            Kind::GRPCRoute => self.objects.grpc_routes,
            _ => return None,
        };
        routes.iter().find(|route| route.metadata.key() == one.key)
    }
}

/// The survey of the run. Reads everything that the cards of this category name.
///
/// # Errors
/// If a part is missing: an unknown policy might authorize or select anything.
pub(in crate::checks) fn survey<'a>(ctx: &Context<'a>) -> Result<&'a Survey<'a>, Unjudged> {
    ctx.get_or_build(&ctx.joins.policy, build).as_ref().map_err(Unjudged::clone)
}

/// The existing policy objects, each read on its own, without workloads: for faults that no other object
/// can explain. Missing or incomplete lists are gaps, and the other objects are still checked.
///
/// # Errors
/// If no Deployment could be read, so that the release is unknown, or if the policy controller's settings
/// cannot be read.
pub(super) fn each<'a>(ctx: &Context<'a>) -> Result<&'a Survey<'a>, Unjudged> {
    ctx.get_or_build(&ctx.joins.policy_objects, build_each).as_ref().map_err(Unjudged::clone)
}

fn build_each<'a>(ctx: &Context<'a>) -> Result<Survey<'a>, Unjudged> {
    let deployments = ctx.partial_list::<Deployment>()?;
    let version = installed(ctx).ok().flatten().map(|(version, _)| version);
    // A minor given with `--linkerd-version` means its first release.
    let named =
        |version: LinkerdVersion| Upgrade::target(version.as_str(), ctx.knowledge.releases()).unwrap_or(version);
    let version = version.map(named);
    let namespace = ctx.namespaces().control_plane.as_str();
    let quirks = Quirks::from_version(version.as_ref(), ctx.knowledge);
    let controller = match Controller::find(deployments, namespace, quirks) {
        Ok(controller) => controller,
        Err(NotReadable::Absent) if ctx.complete_list::<Deployment>().is_err() => {
            Controller::with_defaults(namespace, quirks)
        }
        Err(trouble) => return Err(Unjudged::blocked("control-plane-not-ready", trouble.to_string())),
    };
    let objects = Objects {
        servers: existing::<Server>(ctx),
        server_authorizations: existing::<ServerAuthorization>(ctx),
        authorization_policies: existing::<AuthorizationPolicy>(ctx),
        mesh_tls_authentications: existing::<MeshTLSAuthentication>(ctx),
        network_authentications: existing::<NetworkAuthentication>(ctx),
        rate_limits: existing::<HTTPLocalRateLimitPolicy>(ctx),
        http_routes: existing::<HTTPRoute>(ctx),
        linkerd_http_routes: existing::<LinkerdHTTPRoute>(ctx),
        grpc_routes: existing::<GRPCRoute>(ctx),
    };
    let index = Index::new(controller, objects);
    Ok(Survey { index, objects, pods: Vec::new(), external: Vec::new(), version })
}

/// The existing objects of a kind; empty if no definition serves the kind. Notes a gap if there may be
/// more.
pub(in crate::checks) fn existing<'a, K: Listed>(ctx: &Context<'a>) -> &'a [K::Object] {
    let found = defined::<K>(ctx).or_else(|first| ctx.partial_list::<K>().map_err(|_| first));
    ctx.or_note(found).unwrap_or_default()
}

fn build<'a>(ctx: &Context<'a>) -> Result<Survey<'a>, Unjudged> {
    let deployments = ctx.complete_list::<Deployment>()?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
    let version = match ctx.upgraded() {
        Some(upgrade) => Some(upgrade.to.clone()),
        None => control_plane::installed(deployments, config, namespace).map(|(version, _)| version),
    };
    read_by(ctx, version)
}

/// The survey as the controller of another release reads the same objects.
///
/// # Errors
/// As [`survey`].
pub(in crate::checks) fn read_by<'a>(
    ctx: &Context<'a>,
    version: Option<LinkerdVersion>,
) -> Result<Survey<'a>, Unjudged> {
    let deployments = ctx.complete_list::<Deployment>()?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let quirks = Quirks::from_version(version.as_ref(), ctx.knowledge);
    let controller = Controller::find(deployments, namespace, quirks)
        .map_err(|trouble| Unjudged::blocked("control-plane-not-ready", trouble.to_string()))?;
    let objects = Objects {
        servers: defined::<Server>(ctx)?,
        server_authorizations: defined::<ServerAuthorization>(ctx)?,
        authorization_policies: defined::<AuthorizationPolicy>(ctx)?,
        mesh_tls_authentications: defined::<MeshTLSAuthentication>(ctx)?,
        network_authentications: defined::<NetworkAuthentication>(ctx)?,
        rate_limits: defined::<HTTPLocalRateLimitPolicy>(ctx)?,
        http_routes: defined::<HTTPRoute>(ctx)?,
        linkerd_http_routes: defined::<LinkerdHTTPRoute>(ctx)?,
        grpc_routes: defined::<GRPCRoute>(ctx)?,
    };
    let external = defined::<ExternalWorkload>(ctx)?.iter().map(Workload::of_external).collect();
    let alive = ctx.complete_list::<Pod>()?.iter().filter(|pod| !pod.is_finished());
    let pods = Workload::of_pods(alive, quirks);
    debug_assert!(pods.is_sorted_by_key(|(pod, _)| pod.metadata.key()));
    Ok(Survey { index: Index::new(controller, objects), objects, pods, external, version })
}

/// All objects of a kind; empty if no definition serves the kind.
///
/// # Errors
/// If they are missing. If the API server does not serve them, the missing definitions are the reason.
pub(in crate::checks) fn defined<'a, K: Listed>(ctx: &Context<'a>) -> Result<&'a [K::Object], Missing> {
    ctx.complete_list::<K>().or_else(|missing| match ctx.complete_list::<CustomResourceDefinition>() {
        Ok(all) if is_undefined(all, K::KIND) => Ok(&[][..]),
        Err(unknown) if missing.why == Why::NotServed => Err(unknown),
        _ => Err(missing),
    })
}

/// The tie of findings about policy to a Server.
pub(super) fn about_server(namespace: &str, name: &str) -> Tie {
    Tie::Fact(format!("server {namespace}/{name}"))
}

/// The ties of a finding about a policy to the Servers whose clients it is meant to authorize: its target, those that a
/// targeted route is attached to, or all of a targeted namespace.
pub(super) fn about_targets(objects: &Objects<'_>, namespace: &str, target: &TargetRef) -> Vec<Tie> {
    let of_route = |kind| about_parents(objects, kind, namespace, &target.name);
    if target.is_a("policy.linkerd.io", "Server") {
        vec![about_server(namespace, &target.name)]
    } else if target.is_a("policy.linkerd.io", "HTTPRoute") {
        of_route(Kind::LinkerdHTTPRoute)
    } else if target.is_a("gateway.networking.k8s.io", "HTTPRoute") {
        of_route(Kind::HTTPRoute)
    } else if target.is_a("gateway.networking.k8s.io", "GRPCRoute") {
        of_route(Kind::GRPCRoute)
    } else if target.is_a("", "Namespace") && target.name == namespace {
        let servers = objects.servers.iter().map(|server| server.metadata.key());
        let here = servers.filter(|(home, _)| *home == namespace);
        here.map(|(_, name)| about_server(namespace, name)).collect()
    } else {
        Vec::new()
    }
}

/// The ties to the Servers that a route is attached to.
pub(super) fn about_parents(objects: &Objects<'_>, kind: Kind, namespace: &str, name: &str) -> Vec<Tie> {
    let routes = match kind {
        Kind::LinkerdHTTPRoute => objects.linkerd_http_routes,
        Kind::HTTPRoute => objects.http_routes,
        Kind::GRPCRoute => objects.grpc_routes,
        _ => return Vec::new(),
    };
    let route = routes.iter().find(|route| route.metadata.key() == (namespace, name));
    let parents = route.into_iter().flat_map(|route| &route.spec.parent_refs);
    let servers = parents.filter(|parent| parent.is_a("policy.linkerd.io", "Server"));
    servers.map(|parent| about_server(namespace, &parent.name)).collect()
}

/// The ties to the Servers that a ServerAuthorization names or selects.
pub(super) fn about_chosen(objects: &Objects<'_>, policy: &ServerAuthorization) -> Vec<Tie> {
    let choice = &policy.spec.server;
    let namespace = policy.metadata.namespace.as_str();
    let is_chosen = |server: &&Server| match &choice.name {
        Some(name) => server.metadata.name == *name,
        None => choice.selector.as_ref().is_some_and(|selector| selector.matches(&server.metadata.labels)),
    };
    let here = objects.servers.iter().filter(|server| server.metadata.namespace == namespace);
    here.filter(is_chosen).map(|server| about_server(namespace, &server.metadata.name)).collect()
}

/// The tie between an authentication without an effect and the policies that require it.
pub(super) fn about_authentication(kind: Kind, meta: &Meta) -> Tie {
    Tie::Fact(format!("authentication {kind} {}/{}", meta.namespace, meta.name))
}

/// The tie between a kind of routes that the policy controller does not read and the routes.
pub(in crate::checks) fn unread(kind: Kind) -> Tie {
    Tie::Fact(format!("unread {}", kind.resource()))
}

/// The first release that reads the routes of a kind, if the installed one never reads them.
pub(in crate::checks) fn support_after(
    ctx: &Context<'_>,
    kind: Kind,
    version: Option<&LinkerdVersion>,
) -> Option<EdgeTag> {
    let known = ctx.knowledge.policy_controller();
    known.route_support_after(&kind.resource(), version?, ctx.knowledge)
}

/// An object as evidence.
pub(in crate::checks) fn field(kind: Kind, meta: &Meta, path: &str, said: impl Into<String>) -> Evidence {
    Evidence::field(Subject::object(kind, &meta.namespace, &meta.name), path, said)
}

/// The rule of a port as evidence: the Server that selects it, the annotation that requires an identity, or the
/// default policy.
pub(super) fn rule_of(inbound: &Inbound<'_>, port: u16) -> Evidence {
    match inbound.taken_by {
        TakenBy::Server(server) => field(Kind::Server, &server.metadata, "selects the port", port.to_string()),
        TakenBy::Default(_) if inbound.identity_required => {
            Evidence::other(format!("ports of {REQUIRE_IDENTITY}"), port.to_string())
        }
        TakenBy::Default(policy) => Evidence::other("default inbound policy", policy.as_str()),
    }
}

/// A finding about an object.
pub(super) fn about(ctx: &Context<'_>, kind: Kind, meta: &Meta, message: impl Into<String>) -> Finding {
    let finding = ctx.finding(Subject::object(kind, &meta.namespace, &meta.name), message);
    if !ctx.applies(kind, meta) {
        return finding;
    }
    // If the API server rejects the object, nothing else about it comes true.
    finding.tie(applied(kind, meta))
}

/// The tie of the findings about an object that is only applied.
pub(in crate::checks) fn applied(kind: Kind, meta: &Meta) -> Tie {
    Tie::Fact(format!("applied {} {}/{}", kind.resource(), meta.namespace, meta.name))
}

/// A command about one object: `kubectl -n NAMESPACE VERB KIND NAME`.
pub(in crate::checks) fn on(verb: &'static str, kind: Kind, meta: &Meta) -> Call {
    kubectl().namespace(&meta.namespace).words(verb).arg(kind.resource()).operand(&meta.name)
}

/// A command that sets fields of an object, each by its JSON pointer: `kubectl patch --type=json`. A field of a list's
/// item comes after a test of the item's name, because another change may have moved the item.
pub(in crate::checks) fn set(kind: Kind, meta: &Meta, fields: impl IntoIterator<Item = Value>) -> Call {
    let operations = Value::Array(fields.into_iter().collect());
    on("patch", kind, meta).words("--type=json -p").arg(operations.to_string())
}

/// An operation that sets a field, for [`set`].
pub(in crate::checks) fn put(path: impl Into<String>, value: impl Into<Value>) -> Value {
    json!({"op": "add", "path": path.into(), "value": value.into()})
}

/// An operation that requires the value of a field, for [`set`].
pub(in crate::checks) fn test(path: impl Into<String>, value: impl Into<Value>) -> Value {
    json!({"op": "test", "path": path.into(), "value": value.into()})
}

/// An operation that removes a field or an item, for [`set`].
pub(in crate::checks) fn removal(path: impl Into<String>) -> Value {
    json!({"op": "remove", "path": path.into()})
}

/// Steps that correct an object, or delete it if it is not needed.
pub(super) fn mend_or_delete(kind: Kind, meta: &Meta, mend: impl Into<String>) -> Remedy {
    let delete = format!("Or delete {kind} {}, if it is no longer needed", meta.name);
    Remedy::new().command(mend, on("edit", kind, meta)).command(delete, on("delete", kind, meta))
}

/// The word for an object of a kind within a sentence: `the route`.
pub(super) fn noun(kind: Kind) -> String {
    match kind {
        Kind::HTTPRoute | Kind::LinkerdHTTPRoute | Kind::GRPCRoute | Kind::TLSRoute | Kind::TCPRoute => {
            "the route".to_owned()
        }
        Kind::AuthorizationPolicy | Kind::ServerAuthorization => "the policy".to_owned(),
        Kind::HTTPLocalRateLimitPolicy => "the rate limit".to_owned(),
        kind => format!("the {kind}"),
    }
}

/// A reason with the object's noun instead of a pronoun at its start.
pub(super) fn with_noun(kind: Kind, why: &str) -> String {
    match (why.strip_prefix("it "), why.strip_prefix("its ")) {
        (Some(rest), _) => format!("{} {rest}", noun(kind)),
        (_, Some(rest)) => format!("{}'s {rest}", noun(kind)),
        _ => why.to_owned(),
    }
}
