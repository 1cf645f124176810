//! `gateway-api-after-controller`: the policy controller started before some route CRDs existed, and watches
//! none of their routes.

use jiff::Timestamp;

use crate::checks::control_plane::installation::installed;
use crate::checks::policy::{support_after, unread};
use crate::checks::prelude::*;
use crate::model::installed::COMPONENT;
use crate::objects::{CustomResourceDefinition, GRPCRoute, HTTPRoute, Route, TCPRoute, TLSRoute};

const DEPLOYMENT: &str = "linkerd-destination";
const CONTAINER: &str = "policy";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>();
    let definitions = ctx.complete_list::<CustomResourceDefinition>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let started: Vec<(&Pod, Timestamp)> = pods?
        .iter()
        .filter(|pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT) == Some("destination"))
        .filter_map(|pod| {
            let status = pod.container_status(CONTAINER)?;
            Some((pod, status.state.running()?.started_at.get()?))
        })
        .collect();
    let Some((pod, first)) = started.iter().min_by_key(|(_, at)| *at) else {
        return Err(Unjudged::not_applicable("no running policy controller states its start time"));
    };
    let kinds = [Kind::HTTPRoute, Kind::GRPCRoute, Kind::TLSRoute, Kind::TCPRoute];
    // A restart of a release that never reads a kind changes nothing; `route-not-accepted` reports its routes.
    let version = installed(ctx).ok().flatten().map(|(version, _)| version);
    let is_read = |kind: &Kind| support_after(ctx, *kind, version.as_ref()).is_none();
    let findings = kinds.into_iter().filter(is_read).filter_map(|kind| -> Option<Finding> {
        let name = kind.resource();
        let definition = definitions.iter().find(|definition| definition.metadata.name == name)?;
        let created = definition.metadata.creation_timestamp.get().filter(|created| *created > *first)?;
        let behind = started.iter().filter(|(_, at)| *at < created).count();
        let message = format!(
            "{kind} was installed after the policy controller started, which detects route kinds only at \
             startup: {behind} of {} of its pods read none, so their clients bypass every such route",
            started.len()
        );
        // If the routes are unknown, some may exist.
        let routes = routes(ctx, kind);
        let severity = match routes {
            Some([]) => Severity::Info,
            _ => Severity::Warning,
        };
        let routes = routes.unwrap_or_default();
        let finding = ctx
            .finding(Subject::object("CustomResourceDefinition", "", &name), message)
            .severity(severity)
            .tie(unread(kind))
            .evidence(Evidence::field(
                format!("CustomResourceDefinition {name}"),
                "metadata.creationTimestamp",
                created.to_string(),
            ))
            .evidence(Evidence::field(
                format!("Pod {home}/{}", pod.metadata.name),
                format!("status.containerStatuses[{CONTAINER}].state.running.startedAt"),
                first.to_string(),
            ));
        let one = routes.first().map(|route| {
            let (namespace, name) = route.metadata.key();
            Evidence::other(format!("{kind} in the cluster"), format!("{}, such as {namespace}/{name}", routes.len()))
        });
        let restart = kubectl().namespace(home).words("rollout restart deployment").operand(DEPLOYMENT);
        Some(finding.evidences(one).remedy(
            Remedy::new().command("Restart the controller; proxies keep their configuration meanwhile", restart),
        ))
    });
    Ok(findings.collect())
}

/// The routes of a kind; `None`, with a noted gap, if they are unavailable.
fn routes<'a>(ctx: &Context<'a>, kind: Kind) -> Option<&'a [Route]> {
    match kind {
        Kind::HTTPRoute => ctx.or_note(ctx.partial_list::<HTTPRoute>()),
        Kind::GRPCRoute => ctx.or_note(ctx.partial_list::<GRPCRoute>()),
        Kind::TLSRoute => ctx.or_note(ctx.partial_list::<TLSRoute>()),
        _ => ctx.or_note(ctx.partial_list::<TCPRoute>()),
    }
}
