//! Routes without effect on their Server, because the policy controller rejects them or has not written a
//! status yet.

use crate::knowledge::Knowledge;
use crate::model::policy::status::{ParentAnswer, Refused, StatusObjects, Statuses, Writes};
use crate::model::policy::{Objects, RouteKind};
use crate::objects::{Kind, POLICY_CONTROLLER, Route};
use crate::version::LinkerdVersion;

/// Kind, namespace and name, and the reason.
pub type RefusedRoute<'a> = (Kind, (&'a str, &'a str), String);

/// Each route with a Server that rejects it. `complete`: the list of Servers is complete.
pub fn of_servers<'a>(
    objects: &Objects<'a>,
    version: Option<&LinkerdVersion>,
    knowledge: &Knowledge,
    complete: bool,
) -> Vec<RefusedRoute<'a>> {
    let objects = StatusObjects {
        servers: objects.servers,
        http_routes: objects.http_routes,
        linkerd_http_routes: objects.linkerd_http_routes,
        grpc_routes: objects.grpc_routes,
        ..StatusObjects::default()
    };
    let statuses = Statuses::new(Writes::from_version(version, knowledge), &[], objects);
    let mut refused = Vec::new();
    for (kind, routes) in objects.routes() {
        for route in routes {
            let answers = statuses.of_route(kind, route);
            let of_servers = answers.iter().filter(|answer| answer.parent.kind == Kind::Server);
            let why = of_servers.filter_map(|answer| why(kind, route, answer, complete));
            refused.extend(why.map(|why| (kind.kind(), route.metadata.key(), why)));
        }
    }
    refused
}

/// Why a route has no effect on a Server; `None` if its status shows that it has.
fn why(kind: RouteKind, route: &Route, answer: &ParentAnswer<'_>, complete: bool) -> Option<String> {
    let mut statuses = route.status.parents.iter();
    let own =
        statuses.find(|status| status.controller_name == POLICY_CONTROLLER && answer.parent.is(&status.parent_ref));
    let said = own.and_then(|status| status.conditions.iter().find(|condition| condition.kind == "Accepted"));
    if said.is_some_and(|said| said.status == "True") {
        return None;
    }
    let name = answer.parent.name;
    let cause = match &answer.refused {
        Some(Refused::NoParent(parent)) if complete => {
            Some(format!("Server {name} does not exist in namespace {}", parent.namespace))
        }
        Some(Refused::UnreadableParent) => Some(format!("the policy controller cannot read Server {name}")),
        Some(Refused::Conflict { kind: first, namespace, name: other }) => Some(format!(
            "{} {namespace}/{other} is also attached to Server {name}, and takes precedence over {}",
            first.kind(),
            crate::names::with_article(&kind.kind().to_string())
        )),
        _ => None,
    };
    Some(match (cause, said) {
        (Some(cause), _) => cause,
        (None, Some(said)) => {
            format!("the policy controller rejects its attachment to Server {name}: {}", said.reason)
        }
        (None, None) => format!("the policy controller has not yet accepted its attachment to Server {name}"),
    })
}
