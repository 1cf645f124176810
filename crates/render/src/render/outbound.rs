//! The answers of `meshdoctor policy --to`, as text and as JSON.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::look::Look;
use super::text::{clean, escape_ci_commands, wrap};
use crate::inspect::evidence::OutboundEvidence;
use crate::inspect::outbound::{CallAnswer, Called, catches_all, matched};
use crate::model::policy::{
    Accrual, Backend, Destination, Outbound, OutboundIndex, OutboundRule, Parent, Retry, RetryOn, Spoken, Timeouts,
};
use crate::objects::Kind;

/// As text.
pub fn table(index: &OutboundIndex<'_>, answers: &[CallAnswer<'_>], look: Look) -> String {
    let mut text = String::new();
    for answer in answers {
        let title = match &answer.called {
            Called::Service { namespace, name, port } => {
                let port = port.map(|port| format!(", port {port}")).unwrap_or_default();
                format!("Service {namespace}/{name}{port}")
            }
            Called::Address(address) => address.to_string(),
        };
        let title = format!("{title}, for clients of {}", answer.from);
        _ = writeln!(text, "{}", look.strong(&clean(&title)));
        for (depth, line) in lines(index, answer) {
            let space = "  ".repeat(depth);
            for (at, part) in wrap(&clean(&line), look.prose().saturating_sub(2 * depth + 2)).into_iter().enumerate() {
                let hang = if at == 0 { "" } else { "  " };
                _ = writeln!(text, "{space}{hang}{part}");
            }
        }
        text.push('\n');
    }
    escape_ci_commands(&text).into_owned()
}

/// The lines about a call, each with its depth.
fn lines(index: &OutboundIndex<'_>, answer: &CallAnswer<'_>) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut say = |depth: usize, line: String| lines.push((depth, line));
    let Some(outbound) = &answer.outbound else {
        say(
            1,
            "a cluster address without a Service: the controller returns nothing, and the proxy \
         connects to it directly"
                .to_owned(),
        );
        return lines;
    };
    if !answer.there {
        say(1, "the Service does not exist: the controller answers as if no policy applied".to_owned());
    } else if !answer.declared {
        say(
            1,
            "the Service does not declare this port: connections to its address at this port are refused \
             since 2.19"
                .to_owned(),
        );
    }
    if let Some(profile) = answer.profile {
        let name = &profile.metadata.name;
        say(1, format!("ServiceProfile {name} has the routes: HTTP uses it, and the following has no effect"));
    }
    say(1, protocol_label(outbound).to_owned());
    match &outbound.parent {
        Parent::Egress { network, .. } => {
            let (namespace, name) = network.metadata.key();
            let rest = match (outbound.forbids_rest(), outbound.routes.is_empty()) {
                (false, _) => ": allowed",
                (true, true) => ": denied; HTTP is answered with 403",
                (true, false) => "; traffic that these routes do not allow is denied",
            };
            say(1, format!("EgressNetwork {namespace}/{name} selects it{rest}"));
        }
        Parent::Outside(_) => say(1, "no EgressNetwork selects it: allowed".to_owned()),
        Parent::Service { .. } => {}
    }
    for route in &outbound.routes {
        let (namespace, name) = route.route.metadata.key();
        let hosts = &route.route.spec.hostnames;
        let hosts = if hosts.is_empty() { String::new() } else { format!(", for {}", hosts.join(", ")) };
        say(1, format!("{} {namespace}/{name}{hosts}", route.kind.kind()));
        for rule in &route.rules {
            say(2, format!("{} -> {}", matched(rule), to(outbound, rule)));
            let limits = limits_of(outbound, rule);
            if !limits.is_empty() {
                say(3, limits);
            }
        }
    }
    let http = !matches!(outbound.spoken, Spoken::Opaque | Spoken::Refused | Spoken::Tls);
    let service = matches!(outbound.parent, Parent::Service { .. });
    if service && !outbound.routes.is_empty() && !catches_all(outbound) && http {
        say(1, "requests that match none of these rules are answered with 404".to_owned());
    }
    if service && outbound.routes.is_empty() && outbound.spoken != Spoken::Refused {
        say(1, "no route is attached: all traffic goes to the Service itself".to_owned());
        let limits = limits(outbound.timeouts, outbound.retry.as_ref());
        if !limits.is_empty() && http {
            say(2, limits);
        }
    }
    if let Some(accrual) = outbound.accrual.as_ref().filter(|_| http) {
        say(1, broken(accrual));
    }
    if let Some(penalty) = outbound.penalty.as_ref().filter(|_| http) {
        say(1, format!("failing endpoints are treated as {} slower", seconds(penalty.penalty)));
    }
    for nothing in counts_for_nothing(index, answer, outbound) {
        say(1, format!("has no effect: {nothing}"));
    }
    lines
}

fn protocol_label(outbound: &Outbound<'_>) -> &'static str {
    match outbound.spoken {
        Spoken::Detect => "the proxy detects the protocol: these rules apply to HTTP, other protocols pass unchanged",
        Spoken::Http1 => "the port speaks HTTP/1, by its appProtocol",
        Spoken::Http2 => "the port speaks HTTP/2, by its appProtocol",
        Spoken::Grpc => "the port speaks gRPC, because a GRPCRoute is attached",
        Spoken::Tls => "the port speaks TLS, because a TLSRoute is attached",
        Spoken::Opaque => "the port is opaque: no HTTP routes, limits or retries",
        Spoken::Refused => "refused: the Service does not declare this port",
    }
}

fn to(outbound: &Outbound<'_>, rule: &OutboundRule<'_>) -> String {
    if rule.backends.is_empty() {
        return match outbound.parent {
            Parent::Service { .. } => "the Service itself".to_owned(),
            _ => "allowed".to_owned(),
        };
    }
    let whole: u32 = rule.backends.iter().map(|backend| backend.weight).sum();
    let one = |backend: &Backend<'_>| {
        let name = &backend.named.name;
        let port = backend.named.port.map(|port| format!(":{port}")).unwrap_or_default();
        let part = match rule.backends.len() {
            1 => String::new(),
            _ => share(backend.weight, whole),
        };
        match backend.to.fails(name) {
            None if matches!(backend.to, Destination::Egress { .. }) => {
                format!("{}allowed", part.trim_end_matches("to "))
            }
            None => format!("{part}{name}{port}"),
            Some(why) => format!("{}fails with 500 ({why})", part.trim_end_matches("to ")),
        }
    };
    rule.backends.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `50% to `, or `1/3 to ` if that is not a whole percentage.
fn share(weight: u32, whole: u32) -> String {
    let hundredfold = u64::from(weight) * 100;
    match hundredfold.checked_rem(whole.into()) {
        Some(0) => format!("{}% to ", hundredfold / u64::from(whole)),
        _ => format!("{weight}/{whole} to "),
    }
}

fn limits_of(outbound: &Outbound<'_>, rule: &OutboundRule<'_>) -> String {
    let timeouts = if rule.timeouts == Timeouts::default() { outbound.timeouts } else { rule.timeouts };
    limits(timeouts, rule.retry.as_ref().or(outbound.retry.as_ref()))
}

fn limits(timeouts: Timeouts, retry: Option<&Retry>) -> String {
    let named = [("request", timeouts.request), ("response", timeouts.response), ("idle", timeouts.idle)];
    let limits = named.iter().filter_map(|(name, limit)| Some(format!("{name} {}", seconds((*limit)?))));
    let limits: Vec<String> = limits.collect();
    let mut said = Vec::new();
    if !limits.is_empty() {
        said.push(format!("time limits: {}", limits.join(", ")));
    }
    if let Some(retry) = retry {
        let on = match &retry.on {
            RetryOn::Statuses(ranges) => {
                let range = |(first, last): &(u16, u16)| match first == last {
                    true => first.to_string(),
                    false => format!("{first}-{last}"),
                };
                ranges.iter().map(range).collect::<Vec<_>>()
            }
            RetryOn::Grpc(statuses) => statuses.iter().map(|status| status.label().to_owned()).collect(),
        };
        let on = if on.is_empty() { "no status, so never".to_owned() } else { on.join(", ") };
        let limit = retry.timeout.map(|limit| format!(", each within {}", seconds(limit))).unwrap_or_default();
        said.push(format!("retried {} on {on}{limit}", times(retry.limit)));
    }
    said.join("; ")
}

fn times(number: u16) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

fn seconds(limit: Duration) -> String {
    format!("{limit:?}")
}

fn broken(accrual: &Accrual) -> String {
    let row = format!("after {} failures in a row", accrual.failures);
    let when = match accrual.success {
        None => row,
        Some(rate) => format!(
            "{row}, or if less than {} of {} requests or more within {} succeed",
            rate.threshold,
            rate.requests,
            seconds(rate.window)
        ),
    };
    format!(
        "circuit breaking: an endpoint is excluded {when}, for {} to {}",
        seconds(accrual.least),
        seconds(accrual.most)
    )
}

/// Objects for this call that have no effect, each with the reason.
fn counts_for_nothing(index: &OutboundIndex<'_>, answer: &CallAnswer<'_>, outbound: &Outbound<'_>) -> Vec<String> {
    let mut nothing: Vec<String> = outbound.unread.clone();
    for (kind, route) in &outbound.beside {
        let (namespace, name) = route.metadata.key();
        nothing.push(format!(
            "{} {namespace}/{name}: routes of another kind, or an older one, take precedence",
            kind.kind()
        ));
    }
    for (kind, name) in &answer.unjudged {
        nothing.push(format!("{} {name}: the policy controller has not accepted it yet", kind.kind()));
    }
    let parent = outbound.parent.object();
    for (kind, route, why) in index.passed_over() {
        let here = &route.metadata.namespace;
        let about = parent.is_some_and(|(of, namespace, name)| {
            let group = if of == Kind::Service { "" } else { "policy.linkerd.io" };
            route.spec.parent_refs.iter().any(|parent| {
                parent.is_a(group, of.info().kind)
                    && parent.name == name
                    && parent.port.is_none_or(|port| port == i64::from(outbound.port))
                    && parent.namespace.as_deref().unwrap_or(here) == namespace
            })
        });
        if about {
            nothing.push(format!("{} {here}/{}: {why}", kind.kind(), route.metadata.name));
        }
    }
    nothing
}

pub fn json(evidence: &OutboundEvidence<'_>, answers: &[CallAnswer<'_>]) -> Value {
    let index = &evidence.index;
    let call = |answer: &CallAnswer<'_>| {
        let outbound = answer.outbound.as_ref();
        json!({
            "to": answer.called.to_string(),
            "from": answer.from,
            "there": answer.there,
            "declared": answer.declared,
            "serviceProfile": answer.profile.map(|profile| &profile.metadata.name),
            "protocol": outbound.map(|outbound| protocol_word(outbound.spoken)),
            "egressNetwork": outbound.and_then(|outbound| match &outbound.parent {
                Parent::Egress { network, .. } => Some(json!({
                    "namespace": network.metadata.namespace,
                    "name": network.metadata.name,
                    "trafficPolicy": network.spec.traffic_policy,
                })),
                _ => None,
            }),
            "routes": outbound.map(|outbound| outbound.routes.iter().map(|route| json!({
                "kind": route.kind.kind().to_string(),
                "group": route.kind.group(),
                "namespace": route.route.metadata.namespace,
                "name": route.route.metadata.name,
                "hostnames": route.route.spec.hostnames,
                "rules": route.rules.iter().map(|rule| json!({
                    "matches": matched(rule),
                    "backends": rule.backends.iter().map(backend).collect::<Vec<_>>(),
                    "limits": limits_of(outbound, rule),
                })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>()),
            "limits": outbound.map(|outbound| limits(outbound.timeouts, outbound.retry.as_ref())),
            "circuitBreaking": outbound.and_then(|outbound| outbound.accrual.as_ref().map(broken)),
            "matchesEverything": outbound.map(|outbound| outbound.routes.is_empty() || catches_all(outbound)),
            "countsForNothing": outbound.map(|outbound| counts_for_nothing(index, answer, outbound)),
        })
    };
    json!({
        "schema": "meshdoctor.outbound/1",
        "linkerd": evidence.version.as_ref().map(ToString::to_string),
        "calls": answers.iter().map(call).collect::<Vec<_>>(),
        "notChecked": evidence.gaps.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn backend(backend: &Backend<'_>) -> Value {
    json!({
        "name": backend.named.name,
        "port": backend.named.port,
        "weight": backend.weight,
        "fails": backend.to.fails(&backend.named.name),
    })
}

fn protocol_word(spoken: Spoken) -> &'static str {
    match spoken {
        Spoken::Detect => "detect",
        Spoken::Http1 => "http1",
        Spoken::Http2 => "http2",
        Spoken::Grpc => "grpc",
        Spoken::Tls => "tls",
        Spoken::Opaque => "opaque",
        Spoken::Refused => "refused",
    }
}
