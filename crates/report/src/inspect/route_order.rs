//! The rules of routes that get requests. A proxy compares the specificity of matches, and the first of
//! equal ones wins: an older route before a younger one, an earlier rule before a later one. A rule whose
//! matches all equal those of earlier rules never gets a request.

use std::collections::BTreeSet;

use crate::model::policy::{Outbound, OutboundRoute, OutboundRule};
use crate::objects::{MethodMatch, RouteMatch, ValueMatch};
use crate::redact::is_marked;

/// A rule with its route.
#[derive(Clone, Copy)]
pub(super) struct RuleOfRoute<'o, 'a> {
    pub(super) route: &'o OutboundRoute<'a>,
    pub(super) rule: &'o OutboundRule<'a>,
}

/// The rules that can get requests, in the order of the proxy.
pub(super) fn effective_rules<'o, 'a>(outbound: &'o Outbound<'a>) -> Vec<RuleOfRoute<'o, 'a>> {
    let each = outbound.routes.iter().flat_map(|route| route.rules.iter().map(move |rule| RuleOfRoute { route, rule }));
    let mut kept: Vec<RuleOfRoute<'o, 'a>> = Vec::new();
    for one in each {
        let is_taken = |said: &Option<ComparableMatch<'_>>| {
            said.is_some() && kept.iter().any(|first| precedes(*first, one) && conditions(first.rule).contains(said))
        };
        if !conditions(one.rule).iter().all(is_taken) {
            kept.push(one);
        }
    }
    kept
}

/// Whether an earlier rule wins against a later one for the same match: within a route always, between
/// routes if their order is known and they apply to the same hosts.
fn precedes(first: RuleOfRoute<'_, '_>, later: RuleOfRoute<'_, '_>) -> bool {
    if std::ptr::eq(first.route, later.route) {
        return true;
    }
    let hosts = |one: RuleOfRoute<'_, '_>| -> BTreeSet<String> {
        one.route.route.spec.hostnames.iter().map(|host| host.to_ascii_lowercase()).collect()
    };
    // Objects of manifests get their time when they are applied.
    first.route.route.metadata.creation_timestamp.is_some() && hosts(first) == hosts(later)
}

/// A match in a form that is equal for equal matches.
#[derive(Debug, PartialEq, Eq)]
struct ComparableMatch<'a> {
    path: (&'a str, &'a str),
    headers: Vec<(&'a str, String, &'a str)>,
    query_params: Vec<(&'a str, String, &'a str)>,
    method: Option<&'a MethodMatch>,
}

/// The matches of a rule; `None` for one whose values are redacted, so that it equals no other one.
fn conditions<'a>(rule: &OutboundRule<'a>) -> Vec<Option<ComparableMatch<'a>>> {
    if rule.rule.matches.is_empty() {
        return vec![Some(any())];
    }
    rule.rule.matches.iter().map(condition).collect()
}

fn any<'a>() -> ComparableMatch<'a> {
    ComparableMatch { path: ("PathPrefix", "/"), headers: Vec::new(), query_params: Vec::new(), method: None }
}

fn condition(said: &RouteMatch) -> Option<ComparableMatch<'_>> {
    let path = said.path.as_ref();
    let values = path.into_iter().chain(&said.headers).chain(&said.query_params);
    if values.filter_map(|one| one.value.as_deref()).any(is_marked) {
        return None;
    }
    let path = path.map(|one| (one.kind.as_deref().unwrap_or("PathPrefix"), one.value.as_deref().unwrap_or("/")));
    Some(ComparableMatch {
        path: path.unwrap_or(any().path),
        headers: sorted(&said.headers, str::to_ascii_lowercase),
        query_params: sorted(&said.query_params, str::to_owned),
        method: said.method.as_ref(),
    })
}

/// Headers or parameters, each with type, name and value, in an order of their own.
fn sorted(values: &[ValueMatch], name: impl Fn(&str) -> String) -> Vec<(&str, String, &str)> {
    let mut all: Vec<(&str, String, &str)> = Vec::new();
    for said in values {
        let kind = said.kind.as_deref().unwrap_or("Exact");
        all.push((kind, name(&said.name), said.value.as_deref().unwrap_or_default()));
    }
    all.sort();
    all
}
