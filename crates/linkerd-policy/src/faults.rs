//! Faults of single fields as the policy controller reads them, for validating admission. The errors are
//! reasons.

use ipnet::IpNet;

use super::outbound::{accrual, retry, timeouts};
use super::parse::{self, Broken};
use super::read::protocol;
use super::routes::{self, RouteKind};
use crate::objects::{HeaderModifier, Kind, LabelSelector, Meta, Redirect, RouteFilter, RouteMatch, Server};

fn plain<T>(read: Result<T, Broken>) -> Result<T, String> {
    read.map_err(|Broken(why)| why)
}

/// Parses a CIDR, or an address as a network of its own.
///
/// # Errors
/// It is neither.
pub fn parse_network(text: &str) -> Result<IpNet, String> {
    plain(super::authentication::cidr(text))
}

/// Whether a label selector is valid.
///
/// # Errors
/// It is not.
pub fn selector_fault(selector: &LabelSelector) -> Result<(), String> {
    plain(parse::selector(selector))
}

/// Whether the port of a Server is valid.
///
/// # Errors
/// It is not.
pub fn server_port_fault(server: &Server) -> Result<(), String> {
    plain(parse::port(server)).map(drop)
}

/// Whether a `proxyProtocol` is known.
///
/// # Errors
/// It is not.
pub fn proxy_protocol_fault(word: &str) -> Result<(), String> {
    plain(protocol(Some(word))).map(drop)
}

/// Whether the controller knows the type of a filter.
///
/// # Errors
/// It does not.
pub fn filter_type_fault(kind: RouteKind, filter: &RouteFilter) -> Result<(), String> {
    plain(routes::of_known_type(kind, filter))
}

/// Whether a filter of Linkerd's own HTTPRoutes has the content that its type requires.
///
/// # Errors
/// It does not.
pub fn filter_content_fault(filter: &RouteFilter) -> Result<(), String> {
    plain(routes::has_what_it_says(filter))
}

/// Whether a proxy can read the regular expression of a ServiceProfile's condition.
///
/// # Errors
/// It cannot.
pub fn profile_pattern_fault(text: &str) -> Result<(), String> {
    routes::pattern(text)
}

/// Whether a match is valid.
///
/// # Errors
/// It is not.
pub fn match_fault(kind: RouteKind, said: &RouteMatch) -> Result<(), String> {
    routes::matched(kind, said)
}

/// Whether the headers of a filter are valid.
///
/// # Errors
/// They are not.
pub fn modifier_fault(modifier: &HeaderModifier) -> Result<(), String> {
    routes::modified(modifier)
}

/// Whether a redirect is valid.
///
/// # Errors
/// It is not.
pub fn redirect_fault(redirect: &Redirect) -> Result<(), String> {
    routes::redirected(redirect)
}

/// A group of annotations of routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteAnnotations {
    /// `retry.linkerd.io/`
    Retries,
    /// `timeout.linkerd.io/`
    Timeouts,
    /// `balancer.linkerd.io/failure-accrual`, before the mode `unified`.
    Accrual,
}

/// Whether a group of annotations of a route is valid.
///
/// # Errors
/// It is not; begins with the key.
pub fn annotations_fault(meta: &Meta, kind: RouteKind, group: RouteAnnotations) -> Result<(), String> {
    match group {
        RouteAnnotations::Retries => retry(meta, kind).map(drop),
        RouteAnnotations::Timeouts => timeouts(meta).map(drop),
        RouteAnnotations::Accrual => accrual(meta, false).map(drop),
    }
}

impl RouteKind {
    /// The kind of routes of a kind of objects.
    pub fn from_kind(kind: Kind) -> Option<RouteKind> {
        let all = [RouteKind::Http, RouteKind::LinkerdHttp, RouteKind::Grpc, RouteKind::Tls, RouteKind::Tcp];
        all.into_iter().find(|of| of.kind() == kind)
    }
}
