//! `policy-target-missing`: an AuthorizationPolicy or ServerAuthorization whose target does not exist.

use super::survey::{Survey, about, about_server, field, on, survey};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Finding, Remedy, StepKind};
use crate::objects::{AuthorizationPolicy, Kind, Meta, Route, ServerAuthorization};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let policies =
        survey.objects.authorization_policies.iter().filter_map(|policy| of_policy(ctx, survey, policy));
    let older =
        survey.objects.server_authorizations.iter().filter_map(|object| of_older(ctx, survey, object));
    Ok(policies.chain(older).collect::<Vec<_>>().into())
}

fn of_policy(ctx: &Context<'_>, survey: &Survey<'_>, policy: &AuthorizationPolicy) -> Option<Finding> {
    let (meta, target) = (&policy.metadata, &policy.spec.target_ref);
    let here = |routes: &[Route]| {
        routes.iter().any(|route| {
            route.metadata.namespace == meta.namespace
                && route.metadata.name.eq_ignore_ascii_case(&target.name)
        })
    };
    let (kind, there) = if target.is_a("policy.linkerd.io", "Server") {
        (Kind::Server, has_server(survey, &meta.namespace, &target.name))
    } else if target.is_a("policy.linkerd.io", "HTTPRoute") {
        (Kind::LinkerdHTTPRoute, here(survey.objects.linkerd_http_routes))
    } else if target.is_a("gateway.networking.k8s.io", "HTTPRoute") {
        (Kind::HTTPRoute, here(survey.objects.http_routes))
    } else if target.is_a("gateway.networking.k8s.io", "GRPCRoute") {
        (Kind::GRPCRoute, here(survey.objects.grpc_routes))
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
    (!there).then(|| finding(ctx, Kind::AuthorizationPolicy, meta, kind, "spec.targetRef", &said))
}

fn has_server(survey: &Survey<'_>, namespace: &str, name: &str) -> bool {
    survey.objects.servers.iter().any(|server| server.metadata.key() == (namespace, name))
}

fn of_older(ctx: &Context<'_>, survey: &Survey<'_>, object: &ServerAuthorization) -> Option<Finding> {
    let meta = &object.metadata;
    let choice = &object.spec.server;
    let kind = Kind::ServerAuthorization;
    match (&choice.name, &choice.selector) {
        (Some(name), _) => (!has_server(survey, &meta.namespace, name))
            .then(|| finding(ctx, kind, meta, Kind::Server, "spec.server.name", name)),
        (None, Some(selector)) => {
            let mut here =
                survey.objects.servers.iter().filter(|server| server.metadata.namespace == meta.namespace);
            let said = "no Server of the namespace has these labels";
            (!here.any(|server| selector.matches(&server.metadata.labels)))
                .then(|| finding(ctx, kind, meta, Kind::Server, "spec.server.selector", said))
        }
        (None, None) => None,
    }
}

fn finding(ctx: &Context<'_>, kind: Kind, meta: &Meta, of: Kind, path: &str, said: &str) -> Finding {
    let finding = about(
        ctx,
        kind,
        meta,
        format!("no such {of} exists in namespace {}, so it authorizes no client", meta.namespace),
    )
    .evidence(field(kind, meta, path, said))
    .remedy(
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
    if of == Kind::Server {
        finding.tie(about_server(&meta.namespace, said.trim_start_matches("Server ")))
    } else {
        finding
    }
}
