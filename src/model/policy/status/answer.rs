//! What is said of an object: taken or refused, why, and in the words of a status.

use ipnet::IpNet;

use super::RouteKind;
use crate::objects::{BackendRef, Condition, HTTPLocalRateLimitPolicy, Kind, ParentRef};

/// Something of Linkerd's that a route is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parent<'a> {
    /// Server, Service or EgressNetwork.
    pub kind: Kind,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// A port of it; Servers have one anyway.
    pub port: Option<u16>,
}

impl Parent<'_> {
    /// Its API group, as statuses write it.
    pub fn group(&self) -> &'static str {
        if self.kind == Kind::Service { "core" } else { "policy.linkerd.io" }
    }

    /// Whether a status speaks of it.
    pub fn is(&self, written: &ParentRef) -> bool {
        written.is_a(if self.kind == Kind::Service { "" } else { self.group() }, self.kind.info().kind)
            && written.name == self.name
            && written.namespace.as_deref().is_none_or(|namespace| namespace == self.namespace)
            && written.port == self.port.map(i64::from)
    }
}

/// What is said of a route at one parent.
#[derive(Debug, Clone)]
pub struct ParentAnswer<'a> {
    /// The parent.
    pub parent: Parent<'a>,
    /// As the route names it.
    pub reference: &'a ParentRef,
    /// Why the route is not taken there, if it is not.
    pub refused: Option<Refused<'a>>,
    /// What is wrong with its backends; at Servers nobody asks for them.
    pub faults: Option<Vec<BackendFault<'a>>>,
}

impl ParentAnswer<'_> {
    /// As it is written.
    pub fn conditions(&self) -> Vec<Condition> {
        let refs = self.faults.as_ref().map(|faults| match faults.first() {
            None => Condition::new("ResolvedRefs", "True", "ResolvedRefs", ""),
            Some(fault) => fault.condition(),
        });
        std::iter::once(accepted(self.refused.as_ref())).chain(refs).collect()
    }
}

/// Why something is not taken.
#[derive(Debug, Clone)]
pub enum Refused<'a> {
    /// The parent is not there.
    NoParent(Parent<'a>),
    /// The Server or the EgressNetwork is there, and cannot be read.
    UnreadableParent,
    /// The Service has no address.
    Headless,
    /// The EgressNetwork itself is not taken.
    NetworkRefused,
    /// A route of a kind that goes first is at the same parent: this one, by kind, namespace and name.
    Conflict {
        /// Its kind.
        kind: RouteKind,
        /// Its namespace.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// The Server of a rate limit is not there.
    NoTarget,
    /// The Server of a rate limit is there, and cannot be read.
    UnreadableTarget,
    /// An older rate limit is at the same Server.
    Later(&'a HTTPLocalRateLimitPolicy),
    /// A network of an EgressNetwork has a part in common with one of the cluster.
    Overlap {
        /// That of the EgressNetwork.
        network: IpNet,
        /// That of the cluster.
        cluster: IpNet,
    },
}

impl Refused<'_> {
    /// As it is written.
    pub fn condition(&self) -> Condition {
        accepted(Some(self))
    }

    /// Of which kind nothing may be left out, for this to be true.
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

/// What is wrong with a backend.
#[derive(Debug, Clone, Copy)]
pub enum BackendFault<'a> {
    /// It is not there.
    Missing {
        /// Service or EgressNetwork.
        kind: Kind,
        /// Its namespace.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// It is of a kind that routes of Linkerd do not go to.
    OtherKind(&'a BackendRef),
    /// It is an EgressNetwork, and not the one that the route is attached to.
    NotTheParent(&'a BackendRef),
}

impl BackendFault<'_> {
    /// As it is written.
    pub fn condition(&self) -> Condition {
        let (reason, message) = match self {
            BackendFault::Missing { .. } => ("BackendNotFound", ""),
            BackendFault::OtherKind(_) => ("InvalidKind", ""),
            BackendFault::NotTheParent(_) => (
                "InvalidKind",
                "EgressNetwork backend needs to be on a route that has an EgressNetwork parent",
            ),
        };
        Condition::new("ResolvedRefs", "False", reason, message)
    }

    /// Of which kind nothing may be left out, for this to be true.
    pub fn rests_on(&self) -> Option<Kind> {
        match self {
            BackendFault::Missing { kind, .. } => Some(*kind),
            BackendFault::OtherKind(_) | BackendFault::NotTheParent(_) => None,
        }
    }

    /// What it is about, as people write it.
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

/// The condition of what is taken, or why it is not.
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
