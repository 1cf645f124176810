//! `policy-target-missing`: an AuthorizationPolicy or ServerAuthorization whose target does not exist.

use std::collections::HashSet;

use super::survey::{Survey, about, about_parents, about_server, each, field, on, put, set, survey, test};
use crate::checks::prelude::*;
use crate::model::policy::Objects;
use crate::nearest::{closest, is_slip};
use crate::objects::by_label::ByLabel;
use crate::objects::{AuthorizationPolicy, Route, Server, ServerAuthorization};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (survey, is_partial) = match survey(ctx) {
        // Of manifests, only namespaces whose targets are in the set as well can be judged.
        Err(Unjudged::Missing(missing)) if missing.why == Why::NotInManifests => (each(ctx)?, true),
        survey => (survey?, false),
    };
    let targets = Targets::new(survey, is_partial);
    let policies = survey.objects.authorization_policies.iter().filter_map(|policy| of_policy(ctx, &targets, policy));
    let older = survey.objects.server_authorizations.iter();
    let older = older.enumerate().filter_map(|(place, object)| of_older(ctx, &targets, place, object));
    Ok(policies.chain(older).collect())
}

/// The existing targets of policies.
struct Targets<'a> {
    servers: HashSet<(&'a str, &'a str)>,
    /// By kind and namespace, with names in lower case.
    routes: HashSet<(Kind, &'a str, String)>,
    objects: Objects<'a>,
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
            objects,
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

    /// The existing target of this kind and namespace whose name is most similar.
    fn similar(&self, kind: Kind, namespace: &str, name: &str) -> Option<String> {
        let servers = self.servers.iter().filter(|(home, _)| kind == Kind::Server && *home == namespace);
        let routes = self.routes.iter().filter(|(of, home, _)| *of == kind && *home == namespace);
        closest(name, servers.map(|(_, name)| *name).chain(routes.map(|(.., name)| name.as_str())))
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
                    "The policy targets namespace {}, but applies to its own namespace, {}: policies never \
                     apply to other namespaces",
                    target.name, meta.namespace
                ),
            )
            .evidence(field(Kind::AuthorizationPolicy, meta, "spec.targetRef", format!("Namespace {}", target.name)))
            .remedy(Remedy::new().command(
                format!(
                    "Target the policy's own namespace, {}, or create the policy in namespace {} instead",
                    meta.namespace, target.name
                ),
                set(
                    Kind::AuthorizationPolicy,
                    meta,
                    [
                        test("/spec/targetRef/name", target.name.as_str()),
                        put("/spec/targetRef/name", meta.namespace.as_str()),
                    ],
                ),
            )),
        );
    } else {
        return None;
    };
    let is_apart = ctx.is_apart(kind, &meta.namespace, Some(&target.name));
    (!there && !is_apart && targets.are_known(kind, &meta.namespace))
        .then(|| finding(ctx, targets, (Kind::AuthorizationPolicy, meta), kind, "spec.targetRef", Some(&target.name)))
}

fn of_older(ctx: &Context<'_>, targets: &Targets<'_>, place: usize, object: &ServerAuthorization) -> Option<Finding> {
    let meta = &object.metadata;
    let choice = &object.spec.server;
    let kind = Kind::ServerAuthorization;
    let is_apart = ctx.is_apart(Kind::Server, &meta.namespace, choice.name.as_deref());
    if is_apart || !targets.are_known(Kind::Server, &meta.namespace) {
        return None;
    }
    match (&choice.name, &choice.selector) {
        (Some(name), _) => (!targets.servers.contains(&(meta.namespace.as_str(), name.as_str())))
            .then(|| finding(ctx, targets, (kind, meta), Kind::Server, "spec.server.name", Some(name))),
        (None, Some(_)) => (!targets.by_label.contains(&place))
            .then(|| finding(ctx, targets, (kind, meta), Kind::Server, "spec.server.selector", None)),
        (None, None) => None,
    }
}

fn finding(
    ctx: &Context<'_>,
    targets: &Targets<'_>,
    (kind, meta): (Kind, &Meta),
    of: Kind,
    path: &str,
    name: Option<&str>,
) -> Finding {
    let namespace = &meta.namespace;
    let similar = name.and_then(|name| targets.similar(of, namespace, name));
    let instead = similar.as_ref().map_or_else(String::new, |similar| format!(" ({of} {similar} does)"));
    let message = match (name, targets.is_partial) {
        (Some(name), true) => format!(
            "{of} {name} is not in the manifests{}, so the policy authorizes no client",
            instead.replace(" does)", " is)")
        ),
        (Some(name), false) => {
            format!("{of} {name} does not exist in namespace {namespace}{instead}, so the policy authorizes no client")
        }
        (None, true) => format!(
            "no {of} of the manifests in namespace {namespace} has the labels of {path}, so the policy authorizes \
             no client"
        ),
        (None, false) => {
            format!("no {of} in namespace {namespace} has the labels of {path}, so the policy authorizes no client")
        }
    };
    let said = match (name, kind) {
        (Some(name), Kind::AuthorizationPolicy) => format!("{of} {name}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => "no Server of the namespace has these labels".to_owned(),
    };
    let act = match &similar {
        Some(similar) => {
            format!("Name {of} {similar} in {path}, or apply the policy in the namespace of its target")
        }
        None => "Name the intended object, or apply the policy in its namespace".to_owned(),
    };
    let pointer = format!("/{}{}", path.replace('.', "/"), if path == "spec.targetRef" { "/name" } else { "" });
    // Another name gives access to another port: only a slip is corrected without a person.
    let slip = similar.as_ref().filter(|similar| is_slip(name.unwrap_or_default(), similar));
    let correction = match slip {
        Some(similar) => set(kind, meta, [test(&pointer, name.unwrap_or_default()), put(&pointer, similar.as_str())]),
        None => on("edit", kind, meta),
    };
    let finding = about(ctx, kind, meta, message).evidence(field(kind, meta, path, said)).remedy(
        Remedy::new()
            .command(
                "List the candidates: policies apply only in their own namespace",
                kubectl().words("get").arg(of.resource()).words("-A"),
            )
            .command(act, correction),
    );
    let finding = finding.likely_if(targets.is_partial);
    let meant = similar.map(|similar| match of {
        Kind::Server => vec![about_server(namespace, &similar)],
        _ => about_parents(&targets.objects, of, namespace, &similar),
    });
    meant.into_iter().flatten().fold(finding, Finding::tie)
}
