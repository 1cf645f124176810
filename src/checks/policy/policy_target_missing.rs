//! `policy-target-missing`: an AuthorizationPolicy or ServerAuthorization whose target does not exist.

use std::collections::HashSet;

use super::survey::{Survey, about, about_server, each, field, on, survey};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::fetched::Why;
use crate::finding::{Finding, Remedy, StepKind};
use crate::model::by_label::ByLabel;
use crate::nearest::closest;
use crate::objects::{AuthorizationPolicy, Kind, Meta, Route, Server, ServerAuthorization};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (survey, is_partial) = match survey(ctx) {
        // Of manifests, only namespaces whose targets are in the set as well can be judged.
        Err(Unjudged::Missing(missing)) if missing.why == Why::NotInManifests => (each(ctx)?, true),
        survey => (survey?, false),
    };
    let targets = Targets::new(survey, is_partial);
    let policies =
        survey.objects.authorization_policies.iter().filter_map(|policy| of_policy(ctx, &targets, policy));
    let older = survey.objects.server_authorizations.iter();
    let older = older.enumerate().filter_map(|(place, object)| of_older(ctx, &targets, place, object));
    Ok(policies.chain(older).collect::<Vec<_>>().into())
}

/// The existing targets of policies.
struct Targets<'a> {
    servers: HashSet<(&'a str, &'a str)>,
    /// By kind and namespace, with names in lower case.
    routes: HashSet<(Kind, &'a str, String)>,
    /// Whether more may exist.
    is_partial: bool,
    /// Places of the ServerAuthorizations whose selector matches a Server of their namespace.
    by_label: HashSet<usize>,
}

impl<'a> Targets<'a> {
    fn new(survey: &Survey<'a>, is_partial: bool) -> Targets<'a> {
        let objects = survey.objects;
        let routes = [
            (Kind::LinkerdHTTPRoute, objects.linkerd_http_routes),
            (Kind::HTTPRoute, objects.http_routes),
            (Kind::GRPCRoute, objects.grpc_routes),
        ];
        let routes = routes.into_iter().flat_map(|(kind, routes)| {
            routes.iter().map(move |Route { metadata: meta, .. }| {
                (kind, meta.namespace.as_str(), meta.name.to_ascii_lowercase())
            })
        });
        let older = objects.server_authorizations;
        let index = ByLabel::new(older.iter().map(|object| object.spec.server.selector.as_ref()));
        let matched = objects.servers.iter().flat_map(|Server { metadata: meta, .. }| {
            let places = index.candidates(&meta.labels).into_iter();
            places.filter(|place| {
                older.get(*place).is_some_and(|object| {
                    let selector = object.spec.server.selector.as_ref();
                    object.metadata.namespace == meta.namespace
                        && selector.is_some_and(|selector| selector.matches(&meta.labels))
                })
            })
        });
        Targets {
            servers: objects.servers.iter().map(|server| server.metadata.key()).collect(),
            routes: routes.collect(),
            by_label: matched.collect(),
            is_partial,
        }
    }

    /// Whether an absent target is missing: all targets are known, or others of its kind in its namespace.
    fn are_known(&self, kind: Kind, namespace: &str) -> bool {
        !self.is_partial
            || match kind {
                Kind::Server => self.servers.iter().any(|(home, _)| *home == namespace),
                _ => self.routes.iter().any(|(of, home, _)| *of == kind && *home == namespace),
            }
    }

    /// The names of the known targets of a kind in a namespace.
    fn names(&self, kind: Kind, namespace: &str) -> Vec<&str> {
        match kind {
            Kind::Server => {
                self.servers.iter().filter(|(home, _)| *home == namespace).map(|(_, name)| *name).collect()
            }
            _ => {
                let of_kind = self.routes.iter().filter(|(of, home, _)| *of == kind && *home == namespace);
                of_kind.map(|(_, _, name)| name.as_str()).collect()
            }
        }
    }

    fn has_route(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.routes.contains(&(kind, namespace, name.to_ascii_lowercase()))
    }
}

fn of_policy(ctx: &Context<'_>, targets: &Targets<'_>, policy: &AuthorizationPolicy) -> Option<Finding> {
    let (meta, target) = (&policy.metadata, &policy.spec.target_ref);
    let route = |kind: Kind| (kind, targets.has_route(kind, &meta.namespace, &target.name));
    let (kind, there) = if target.is_a("policy.linkerd.io", "Server") {
        (Kind::Server, targets.servers.contains(&(meta.namespace.as_str(), target.name.as_str())))
    } else if target.is_a("policy.linkerd.io", "HTTPRoute") {
        route(Kind::LinkerdHTTPRoute)
    } else if target.is_a("gateway.networking.k8s.io", "HTTPRoute") {
        route(Kind::HTTPRoute)
    } else if target.is_a("gateway.networking.k8s.io", "GRPCRoute") {
        route(Kind::GRPCRoute)
    } else if target.is_a("", "Namespace") && target.name != meta.namespace {
        return Some(
            about(
                ctx,
                Kind::AuthorizationPolicy,
                meta,
                format!(
                    "it names namespace {} but applies to its own, {}: a policy never applies to another \
                     namespace",
                    target.name, meta.namespace
                ),
            )
            .evidence(field(
                Kind::AuthorizationPolicy,
                meta,
                "spec.targetRef",
                format!("Namespace {}", target.name),
            ))
            .remedy(Remedy::new().run(
                StepKind::Command,
                "Apply it in the intended namespace, or name its own",
                on("edit", Kind::AuthorizationPolicy, meta),
            )),
        );
    } else {
        return None;
    };
    let said = format!("{} {}", kind, target.name);
    (!there && targets.are_known(kind, &meta.namespace))
        .then(|| finding(ctx, targets, (Kind::AuthorizationPolicy, meta), kind, "spec.targetRef", &said))
}

fn of_older(
    ctx: &Context<'_>,
    targets: &Targets<'_>,
    place: usize,
    object: &ServerAuthorization,
) -> Option<Finding> {
    let meta = &object.metadata;
    let choice = &object.spec.server;
    let kind = Kind::ServerAuthorization;
    if !targets.are_known(Kind::Server, &meta.namespace) {
        return None;
    }
    match (&choice.name, &choice.selector) {
        (Some(name), _) => (!targets.servers.contains(&(meta.namespace.as_str(), name.as_str())))
            .then(|| finding(ctx, targets, (kind, meta), Kind::Server, "spec.server.name", name)),
        (None, Some(_)) => {
            let said = "no Server of the namespace has these labels";
            (!targets.by_label.contains(&place))
                .then(|| finding(ctx, targets, (kind, meta), Kind::Server, "spec.server.selector", said))
        }
        (None, None) => None,
    }
}

fn finding(
    ctx: &Context<'_>,
    targets: &Targets<'_>,
    (kind, meta): (Kind, &Meta),
    of: Kind,
    path: &str,
    said: &str,
) -> Finding {
    let namespace = &meta.namespace;
    let name = said.trim_start_matches(of.info().kind).trim_start();
    let near = closest(name, targets.names(of, namespace));
    let near = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    let message = match (targets.is_partial, path.ends_with("selector")) {
        (true, true) => format!(
            "the manifests contain Servers of namespace {namespace}, but none with these labels. Without one, the \
             policy authorizes no client"
        ),
        (true, false) => format!(
            "the manifests contain other {of} objects of namespace {namespace}, but not {of} {name}{near}. Without \
             it, the policy authorizes no client"
        ),
        (false, true) => format!("no such {of} exists in namespace {namespace}, so it authorizes no client"),
        (false, false) => {
            format!("{of} {name} does not exist in namespace {namespace}{near}, so it authorizes no client")
        }
    };
    let finding = about(ctx, kind, meta, message).evidence(field(kind, meta, path, said)).remedy(
        Remedy::new()
            .run(
                StepKind::Command,
                "List the existing objects: policies apply only in their own namespace",
                kubectl().words("get").arg(of.resource()).words("-A"),
            )
            .run(
                StepKind::Command,
                "Name the intended object, or apply the policy in its namespace",
                on("edit", kind, meta),
            ),
    );
    let finding = if targets.is_partial { finding.likely() } else { finding };
    if of == Kind::Server {
        finding.tie(about_server(&meta.namespace, said.trim_start_matches("Server ")))
    } else {
        finding
    }
}
