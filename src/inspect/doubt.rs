//! What missing evidence does to a walk: a step that was told from lists that are not there, or not whole, was not judged. "There
//! is no policy about it" says nothing where nobody could see the policies.

use super::walk::{Outcome, Walk};
use crate::item::{Item, Kind};
use crate::missing::Missing;

/// The lists that a step is told from, beside the pods and Services that it names.
fn told_from(step: &str) -> &'static [Kind] {
    match step {
        "client" => &[Kind::Pod],
        "service" => &[Kind::Service],
        "destination" => &[Kind::Service, Kind::Pod],
        "endpoints" => &[Kind::EndpointSlice],
        "routes" => &[
            Kind::ServiceProfile,
            Kind::HTTPRoute,
            Kind::LinkerdHTTPRoute,
            Kind::GRPCRoute,
            Kind::TLSRoute,
            Kind::TCPRoute,
        ],
        "egress" => &[
            Kind::EgressNetwork,
            Kind::HTTPRoute,
            Kind::LinkerdHTTPRoute,
            Kind::GRPCRoute,
            Kind::TLSRoute,
            Kind::TCPRoute,
        ],
        "network" => &[
            Kind::NetworkPolicy,
            Kind::CiliumNetworkPolicy,
            Kind::CiliumClusterwideNetworkPolicy,
            Kind::CalicoNetworkPolicy,
            Kind::CalicoGlobalNetworkPolicy,
            Kind::CalicoTier,
            Kind::Namespace,
        ],
        "policy" => &[
            Kind::Server,
            Kind::ServerAuthorization,
            Kind::AuthorizationPolicy,
            Kind::MeshTLSAuthentication,
            Kind::NetworkAuthentication,
            Kind::HTTPRoute,
            Kind::LinkerdHTTPRoute,
            Kind::GRPCRoute,
        ],
        _ => &[],
    }
}

/// Takes back what was said of steps whose lists are missing, in part or whole: they neither pass nor stop the call then.
pub(super) fn take_back(walk: &mut Walk, gaps: &[Missing]) {
    for step in walk.steps.iter_mut().filter(|step| step.outcome != Outcome::NotJudged) {
        let kinds = told_from(step.name);
        let missing = gaps.iter().find_map(|gap| match gap.request.item {
            Item::List(kind) if kinds.contains(&kind) => Some((kind, &gap.why)),
            _ => None,
        });
        if let Some((kind, why)) = missing {
            step.outcome = Outcome::NotJudged;
            step.says = format!("{}, as far as could be looked: {}: {why}", step.says, kind.resource());
        }
    }
}
