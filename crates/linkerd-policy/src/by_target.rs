//! Indexes policy objects by their targets: a namespace may have thousands of both.

use std::collections::HashMap;

use super::read::{ReadServerAuthorization, Required, is_meant};
use super::routes::ReadRoute;
use crate::objects::by_label::ByLabel;
use crate::objects::{AuthorizationPolicy, HTTPLocalRateLimitPolicy, Server};

/// Indexes of the policies of a namespace, by target.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// By the target's name, in lower case.
    by_name: HashMap<String, Vec<usize>>,
    /// Those whose target is the namespace.
    of_namespace: Vec<usize>,
}

impl Targets {
    pub(super) fn new(policies: &[(&AuthorizationPolicy, Required)]) -> Targets {
        let mut targets = Targets::default();
        for (place, (policy, _)) in policies.iter().enumerate() {
            let target = &policy.spec.target_ref;
            if target.is_a("", "Namespace") {
                targets.of_namespace.push(place);
            } else {
                targets.by_name.entry(target.name.to_ascii_lowercase()).or_default().push(place);
            }
        }
        targets
    }

    /// Those whose target has a name, and those of the namespace.
    pub(super) fn by_name(&self, name: &str) -> Vec<usize> {
        let named = self.by_name.get(&name.to_ascii_lowercase()).into_iter().flatten();
        let mut places: Vec<usize> = named.chain(&self.of_namespace).copied().collect();
        places.sort_unstable();
        places
    }
}

/// The ServerAuthorizations of a namespace.
#[derive(Debug, Default)]
pub(super) struct IndexedServerAuthorizations<'a> {
    all: Vec<ReadServerAuthorization<'a>>,
    /// Indexes of the objects that name a Server.
    named: HashMap<&'a str, Vec<usize>>,
    /// Indexes of the others, by their place in the index.
    selecting: Vec<usize>,
    by_label: ByLabel<'a>,
}

impl<'a> IndexedServerAuthorizations<'a> {
    pub(super) fn new(all: Vec<ReadServerAuthorization<'a>>) -> IndexedServerAuthorizations<'a> {
        let mut found = IndexedServerAuthorizations::default();
        let mut selectors = Vec::new();
        for (place, (authorization, ..)) in all.iter().enumerate() {
            let choice = &authorization.spec.server;
            if let Some(name) = &choice.name {
                found.named.entry(name).or_default().push(place);
            } else {
                found.selecting.push(place);
                selectors.push(choice.selector.as_ref());
            }
        }
        found.by_label = ByLabel::new(selectors);
        found.all = all;
        found
    }

    /// Those that apply to a Server, in order.
    pub(super) fn for_server(&self, server: &Server) -> impl Iterator<Item = &ReadServerAuthorization<'a>> {
        let named = self.named.get(server.metadata.name.as_str()).into_iter().flatten().copied();
        let candidates = self.by_label.candidates(&server.metadata.labels).into_iter();
        let selecting = candidates.filter_map(|at| self.selecting.get(at).copied());
        let mut places: Vec<usize> = named.chain(selecting).collect();
        places.sort_unstable();
        let here = places.into_iter().filter_map(|place| self.all.get(place));
        here.filter(|(authorization, ..)| is_meant(authorization, server))
    }
}

/// The routes of a namespace.
#[derive(Debug, Default)]
pub(super) struct RoutesOfServers<'a> {
    all: Vec<ReadRoute<'a>>,
    by_server: HashMap<&'a str, Vec<usize>>,
}

impl<'a> RoutesOfServers<'a> {
    pub(super) fn new(all: Vec<ReadRoute<'a>>) -> RoutesOfServers<'a> {
        let mut by_server: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, read) in all.iter().enumerate() {
            for server in &read.servers {
                let places = by_server.entry(server).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        RoutesOfServers { all, by_server }
    }

    /// Those that are attached to a Server, in order.
    pub(super) fn for_server(&self, server: &str) -> impl Iterator<Item = &ReadRoute<'a>> {
        let places = self.by_server.get(server).into_iter().flatten();
        places.filter_map(|place| self.all.get(*place)).filter(move |read| read.is_of(server))
    }
}

/// Rate limits, by the namespace and the name of their target.
pub(super) type RateLimits<'a> = HashMap<(&'a str, &'a str), Vec<&'a HTTPLocalRateLimitPolicy>>;

/// Groups rate limits by their target.
pub(super) fn by_target<'a>(all: HashMap<&'a str, Vec<&'a HTTPLocalRateLimitPolicy>>) -> RateLimits<'a> {
    let mut found = RateLimits::new();
    for (namespace, limits) in all {
        for limit in limits {
            found.entry((namespace, limit.spec.target_ref.name.as_str())).or_default().push(limit);
        }
    }
    found
}
