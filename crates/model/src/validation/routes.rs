//! The policy-validator webhook for routes.

use jiff::SignedDuration;
use serde_json::Value;

use super::{Denied, Validation, read};
use crate::item::Kind;
use crate::knowledge::{AdmissionRule as Rule, go_duration};
use crate::objects::{BackendRef, MethodMatch, Redirect, Route, RouteFilter, RouteMatch};
use crate::policy::{self, RouteAnnotations, RouteKind};

pub(super) fn validate(of: &Validation<'_>, kind: Kind, object: &Value) -> Result<(), Denied> {
    let Some(route) = read::<Route>(object) else { return Ok(()) };
    let Some(kind) = RouteKind::from_kind(kind) else { return Ok(()) };
    if is_admitted_unread(of, kind, &route) {
        return Ok(());
    }
    filter_types(of, kind, &route)?;
    let to_egress = |at: &usize| {
        let parent = &route.spec.parent_refs[*at];
        parent.is_a("policy.linkerd.io", "EgressNetwork") && parent.port.is_none()
    };
    if let Some(at) = (0..route.spec.parent_refs.len()).find(to_egress)
        && of.holds(Rule::EgressPort)
    {
        let why = "a parent of kind EgressNetwork needs a port";
        return Err(Denied::new(Rule::EgressPort, format!("spec.parentRefs[{at}]"), why));
    }
    if matches!(kind, RouteKind::Tls | RouteKind::Tcp) {
        return match route.spec.rules.len() {
            1 => Ok(()),
            number => {
                let why = format!("it has {number} rules, and only a single rule is supported");
                Err(Denied::new(Rule::SingleRule, "spec.rules", why))
            }
        };
    }
    annotations(of, kind, &route)?;
    rules(of, kind, &route, object)
}

/// Whether the webhook cannot read a route of the Gateway API, and therefore admits it.
fn is_admitted_unread(of: &Validation<'_>, kind: RouteKind, route: &Route) -> bool {
    let is_unknown = |filter: &RouteFilter| {
        policy::filter_type_fault(kind, filter).is_err() && !(filter.kind == "CORS" && of.holds(Rule::CorsKnown))
    };
    match kind {
        RouteKind::LinkerdHttp | RouteKind::Tcp => false,
        RouteKind::Http | RouteKind::Grpc => !of.holds(Rule::FilterType) && filters(route).any(|(_, f)| is_unknown(f)),
        RouteKind::Tls => {
            let lacks =
                route.spec.hostnames.is_empty() || route.spec.rules.iter().any(|rule| rule.backend_refs.is_empty());
            of.holds(Rule::TlsRouteUnread) && lacks
        }
    }
}

/// The filters of rules, each with its place.
fn filters(route: &Route) -> impl Iterator<Item = (String, &RouteFilter)> {
    let rules = route.spec.rules.iter().enumerate();
    rules.flat_map(|(rule, of_rule)| {
        let each = of_rule.filters.iter().enumerate();
        each.map(move |(at, filter)| (format!("spec.rules[{rule}].filters[{at}]"), filter))
    })
}

fn filter_types(of: &Validation<'_>, kind: RouteKind, route: &Route) -> Result<(), Denied> {
    for (path, filter) in filters(route) {
        match kind {
            RouteKind::LinkerdHttp => {
                let fault = policy::filter_content_fault(filter);
                Denied::at(Rule::RouteFilter, &path, fault)?;
            }
            _ if of.holds(Rule::FilterType) => {
                let fault = policy::filter_type_fault(kind, filter);
                Denied::at(Rule::FilterType, &format!("{path}.type"), fault)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn annotations(of: &Validation<'_>, kind: RouteKind, route: &Route) -> Result<(), Denied> {
    let parents = [("", "Service"), ("policy.linkerd.io", "EgressNetwork")];
    let is_outbound =
        route.spec.parent_refs.iter().any(|parent| parents.iter().any(|(group, kind)| parent.is_a(group, kind)));
    if !is_outbound {
        return Ok(());
    }
    for (rule, what) in [
        (Rule::RetryAnnotation, RouteAnnotations::Retries),
        (Rule::TimeoutAnnotation, RouteAnnotations::Timeouts),
        (Rule::AccrualAnnotation, RouteAnnotations::Accrual),
    ] {
        if of.holds(rule)
            && let Err(why) = policy::annotations_fault(&route.metadata, kind, what)
        {
            let path = match why.split_once(": ") {
                Some((key, _)) => format!("metadata.annotations[{key}]"),
                None => "metadata.annotations".to_owned(),
            };
            return Err(Denied::new(rule, path, why));
        }
    }
    Ok(())
}

fn rules(of: &Validation<'_>, kind: RouteKind, route: &Route, object: &Value) -> Result<(), Denied> {
    for (at, rule) in route.spec.rules.iter().enumerate() {
        let path = format!("spec.rules[{at}]");
        for (at, said) in rule.matches.iter().enumerate() {
            matched(of, kind, said, &format!("{path}.matches[{at}]"))?;
        }
        for (at, filter) in rule.filters.iter().enumerate() {
            filtered(of, filter, &format!("{path}.filters[{at}]"))?;
        }
        match kind {
            RouteKind::LinkerdHttp => timeouts(&object["spec"]["rules"][at]["timeouts"], &path)?,
            _ if of.holds(Rule::BackendPort) => {
                for (at, backend) in rule.backend_refs.iter().enumerate() {
                    backend_port(backend, &format!("{path}.backendRefs[{at}]"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn matched(of: &Validation<'_>, kind: RouteKind, said: &RouteMatch, path: &str) -> Result<(), Denied> {
    if let (RouteKind::Grpc, Some(MethodMatch::Grpc { kind: by, service, method })) = (kind, &said.method) {
        let place = format!("{path}.method");
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
        if is_empty(service) && is_empty(method) && of.holds(Rule::MethodEmpty) {
            let why = "at least one of service and method must be set";
            return Err(Denied::new(Rule::MethodEmpty, place, why));
        }
        if by.as_deref() == Some("RegularExpression") && of.holds(Rule::MethodPattern) {
            let why = "methods cannot be matched by RegularExpression";
            return Err(Denied::new(Rule::MethodPattern, format!("{place}.type"), why));
        }
    }
    let other = RouteMatch { method: None, ..said.clone() };
    Denied::at(Rule::RouteMatch, path, policy::match_fault(kind, &other))
}

fn filtered(of: &Validation<'_>, filter: &RouteFilter, path: &str) -> Result<(), Denied> {
    let modifiers = [
        ("requestHeaderModifier", &filter.request_header_modifier),
        ("responseHeaderModifier", &filter.response_header_modifier),
    ];
    for (field, modifier) in modifiers {
        let fault = modifier.as_ref().map_or(Ok(()), policy::modifier_fault);
        Denied::at(Rule::RouteFilter, &format!("{path}.{field}"), fault)?;
    }
    let Some(redirect) = &filter.request_redirect else { return Ok(()) };
    let path = format!("{path}.requestRedirect");
    if redirect.path.as_ref().is_some_and(|to| to.replace_full_path.is_none() && to.replace_prefix_match.is_none()) {
        let why = "the path must contain either replaceFullPath or replacePrefixMatch";
        if of.holds(Rule::RedirectPath) {
            return Err(Denied::new(Rule::RedirectPath, format!("{path}.path"), why));
        }
        let rest = Redirect { path: None, ..redirect.clone() };
        return Denied::at(Rule::RouteFilter, &path, policy::redirect_fault(&rest));
    }
    Denied::at(Rule::RouteFilter, &path, policy::redirect_fault(redirect))
}

/// The time limits of a rule of Linkerd's own HTTPRoutes.
fn timeouts(written: &Value, path: &str) -> Result<(), Denied> {
    let limit = |field: &str| -> Result<Option<SignedDuration>, Denied> {
        let Some(text) = written[field].as_str().and_then(super::known) else { return Ok(None) };
        let place = format!("{path}.timeouts.{field}");
        let denied = |why: String| Err(Denied::new(Rule::RouteTimeouts, &*place, why));
        if text.starts_with('-') {
            return denied(format!("{text} must not be negative"));
        }
        // Unlike Go, the controller reads a text without a number as zero, and accepts several signs.
        let unsigned = text.trim_start_matches('+');
        match go_duration(unsigned).or(unsigned.is_empty().then_some(SignedDuration::ZERO)) {
            Some(duration) => Ok(Some(duration)),
            None => denied(format!("{text:?} is not a duration such as 250ms or 10s")),
        }
    };
    let (request, of_backend) = (limit("request")?, limit("backendRequest")?);
    match (request, of_backend) {
        (Some(request), Some(of_backend)) if of_backend > request => {
            let why = "backendRequest must not be greater than request";
            Err(Denied::new(Rule::RouteTimeouts, format!("{path}.timeouts.backendRequest"), why))
        }
        _ => Ok(()),
    }
}

fn backend_port(backend: &BackendRef, path: &str) -> Result<(), Denied> {
    let is_service = matches!(backend.group.as_deref(), None | Some("" | "core"))
        && matches!(backend.kind.as_deref(), None | Some("Service"));
    if is_service && matches!(backend.port, None | Some(0)) {
        let why = format!("invalid backendRef: Service {} has no port", backend.name);
        return Err(Denied::new(Rule::BackendPort, path, why));
    }
    Ok(())
}
