//! The result for an object, accepted or rejected, with the reason and the conditions of its status.

use ipnet::IpNet;

use super::RouteKind;
use crate::objects::{BackendRef, Condition, HTTPLocalRateLimitPolicy, Kind, ParentRef};

/// A parent of a route that Linkerd handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parent<'a> {
    /// Server, Service or EgressNetwork.
    pub kind: Kind,
    pub namespace: &'a str,
    pub name: &'a str,
    /// Its port; `None` for Servers, which have only one.
    pub port: Option<u16>,
}

impl Parent<'_> {
    /// Its API group as in statuses.
    pub fn group(&self) -> &'static str {
        if self.kind == Kind::Service { "core" } else { "policy.linkerd.io" }
    }

    /// Whether a status is about this parent.
    pub fn is(&self, written: &ParentRef) -> bool {
        written.is_a(if self.kind == Kind::Service { "" } else { self.group() }, self.kind.info().kind)
            && written.name == self.name
            && written.namespace.as_deref().is_none_or(|namespace| namespace == self.namespace)
            && written.port == self.port.map(i64::from)
    }
}

/// The result of a route at one parent.
#[derive(Debug, Clone)]
pub struct ParentAnswer<'a> {
    pub parent: Parent<'a>,
    /// The parent reference as written.
    pub reference: &'a ParentRef,
    /// Why the parent rejects the route, if it does.
    pub refused: Option<Refused<'a>>,
    /// Faults of its backends; `None` at Servers, which do not use them.
    pub faults: Option<Vec<BackendFault<'a>>>,
}

impl ParentAnswer<'_> {
    /// The conditions as the controller writes them.
    pub fn conditions(&self) -> Vec<Condition> {
        let refs = self.faults.as_ref().map(|faults| match faults.first() {
            None => Condition::new("ResolvedRefs", "True", "ResolvedRefs", ""),
            Some(fault) => fault.condition(),
        });
        std::iter::once(accepted(self.refused.as_ref())).chain(refs).collect()
    }
}

/// The reason for a rejection.
#[derive(Debug, Clone)]
pub enum Refused<'a> {
    /// The parent does not exist.
    NoParent(Parent<'a>),
    /// The Server or EgressNetwork exists but cannot be read.
    UnreadableParent,
    /// The Service has no ClusterIP.
    Headless,
    /// The EgressNetwork itself is not accepted.
    NetworkRefused,
    /// A route of a kind that takes precedence has the same parent.
    Conflict { kind: RouteKind, namespace: &'a str, name: &'a str },
    /// The Server of a rate limit does not exist.
    NoTarget,
    /// The Server of a rate limit exists but cannot be read.
    UnreadableTarget,
    /// An older rate limit targets the same Server.
    Later(&'a HTTPLocalRateLimitPolicy),
    /// A network of an EgressNetwork overlaps one of the cluster.
    Overlap {
        /// That of the EgressNetwork.
        network: IpNet,
        /// That of the cluster.
        cluster: IpNet,
    },
}

impl Refused<'_> {
    /// The condition as the controller writes it.
    pub fn condition(&self) -> Condition {
        accepted(Some(self))
    }

    /// The kind whose objects must be complete for this result to be certain.
    pub fn rests_on(&self) -> Option<Kind> {
        match self {
            Refused::NoParent(parent) => Some(parent.kind),
            Refused::NoTarget => Some(Kind::Server),
            Refused::UnreadableParent
            | Refused::UnreadableTarget
            | Refused::Headless
            | Refused::NetworkRefused
            | Refused::Conflict { .. }
            | Refused::Later(_)
            | Refused::Overlap { .. } => None,
        }
    }
}

/// A fault of a backend.
#[derive(Debug, Clone, Copy)]
pub enum BackendFault<'a> {
    /// It does not exist.
    Missing {
        /// Service or EgressNetwork.
        kind: Kind,
        namespace: &'a str,
        name: &'a str,
    },
    /// It is of an unsupported kind.
    OtherKind(&'a BackendRef),
    /// It is an EgressNetwork other than the route's parent.
    NotTheParent(&'a BackendRef),
}

impl BackendFault<'_> {
    /// The condition as the controller writes it.
    pub fn condition(&self) -> Condition {
        let (reason, message) = match self {
            BackendFault::Missing { .. } => ("BackendNotFound", ""),
            BackendFault::OtherKind(_) => ("InvalidKind", ""),
            BackendFault::NotTheParent(_) => {
                ("InvalidKind", "EgressNetwork backend needs to be on a route that has an EgressNetwork parent")
            }
        };
        Condition::new("ResolvedRefs", "False", reason, message)
    }

    /// The kind whose objects must be complete for this result to be certain.
    pub fn rests_on(&self) -> Option<Kind> {
        match self {
            BackendFault::Missing { kind, .. } => Some(*kind),
            BackendFault::OtherKind(_) | BackendFault::NotTheParent(_) => None,
        }
    }

    /// The text of the backend in reports.
    pub fn place(&self) -> String {
        match self {
            BackendFault::Missing { kind, namespace, name } => format!("{kind} {namespace}/{name}"),
            BackendFault::OtherKind(backend) | BackendFault::NotTheParent(backend) => {
                let kind = backend.kind.as_deref().unwrap_or("Service");
                match backend.group.as_deref().unwrap_or_default() {
                    "" => format!("{kind} {}", backend.name),
                    group => format!("{kind}.{group} {}", backend.name),
                }
            }
        }
    }
}

/// The Accepted condition, or the rejection.
pub(super) fn accepted(refused: Option<&Refused<'_>>) -> Condition {
    let Some(refused) = refused else { return Condition::new("Accepted", "True", "Accepted", "") };
    let (reason, message) = match refused {
        Refused::NoParent(_) | Refused::UnreadableParent => ("NoMatchingParent", ""),
        Refused::Headless => ("NoMatchingParent", "parent service must have a ClusterIP"),
        Refused::NetworkRefused => ("NoMatchingParent", "EgressNetwork parent has not been accepted"),
        Refused::Conflict { .. } => ("RouteReasonConflicted", ""),
        Refused::NoTarget | Refused::UnreadableTarget => ("NoMatchingTarget", ""),
        Refused::Later(_) => ("RateLimitReasonAlreadyExists", ""),
        Refused::Overlap { .. } => ("EgressReasonNetworkOverlap", "networks overlap with clusterNetworks"),
    };
    Condition::new("Accepted", "False", reason, message)
}
