//! `meshdoctor policy --to`: the outbound policy for clients of a namespace, to a Service or an outside
//! address.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use serde_json::{Value, json};

use super::evidence::OutboundEvidence;
use super::steps::place_and_port;
use crate::model::policy::{Outbound, OutboundRule, RouteKind, Spoken, outbound_to_json};
use crate::names;
use crate::objects::{MethodMatch, RouteMatch, ServiceProfile, ValueMatch};

/// The destination of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// A Service and one of its ports; all without a port. Without a namespace, [`Called::within`] adds it.
    Service {
        namespace: String,
        name: String,
        port: Option<u16>,
    },
    Address(SocketAddr),
}

/// A text that is not a destination.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a NAMESPACE/SERVICE, NAMESPACE/SERVICE:PORT or ADDRESS:PORT")]
pub struct NotCalled(pub String);

impl FromStr for Called {
    type Err = NotCalled;

    fn from_str(text: &str) -> Result<Called, NotCalled> {
        let refused = || NotCalled(text.to_owned());
        if let Ok(address) = text.parse::<SocketAddr>() {
            return if address.port() > 0 { Ok(Called::Address(address)) } else { Err(refused()) };
        }
        let (place, port) = place_and_port(text).ok_or_else(refused)?;
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        let has_namespace = place.contains('/');
        let both =
            (!has_namespace || names::NameRule::Label.accepts(namespace)) && names::NameRule::Label.accepts(name);
        both.then(|| Called::Service { namespace: namespace.to_owned(), name: name.to_owned(), port })
            .ok_or_else(refused)
    }
}

impl Called {
    /// The same in a namespace, unless it has one.
    #[must_use]
    pub fn within(self, other: &str) -> Called {
        match self {
            Called::Service { namespace, name, port } if namespace.is_empty() => {
                Called::Service { namespace: other.to_owned(), name, port }
            }
            called => called,
        }
    }

    /// Whether it is the name of a Service without its namespace.
    pub fn lacks_namespace(&self) -> bool {
        matches!(self, Called::Service { namespace, .. } if namespace.is_empty())
    }
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Called::Service { namespace, name, port } if namespace.is_empty() => match port {
                Some(port) => write!(f, "{name}:{port}"),
                None => f.write_str(name),
            },
            Called::Service { namespace, name, port: Some(port) } => write!(f, "{namespace}/{name}:{port}"),
            Called::Service { namespace, name, port: None } => write!(f, "{namespace}/{name}"),
            Called::Address(address) => address.fmt(f),
        }
    }
}

/// The answer for one port of a destination.
pub struct CallAnswer<'a> {
    /// The destination, with its port.
    pub called: Called,
    /// The namespace of the clients.
    pub from: String,
    /// The outbound policy; `None` for an address inside the cluster that does not belong to a Service.
    pub outbound: Option<Outbound<'a>>,
    /// The ServiceProfile that replaces the routes.
    pub profile: Option<&'a ServiceProfile>,
    /// Whether the Service exists; not evaluated for addresses.
    pub there: bool,
    /// Whether it declares the port; not evaluated for addresses.
    pub declared: bool,
    /// Routes that name it and have no status from the controller yet: kind and name.
    pub unjudged: Vec<(RouteKind, String)>,
}

impl CallAnswer<'_> {
    /// Whether it is an answer to this request.
    pub fn is_about(&self, asked: &Called) -> bool {
        match (asked, &self.called) {
            (Called::Service { namespace, name, port: None }, Called::Service { namespace: here, name: it, .. }) => {
                namespace == here && name == it
            }
            (asked, called) => asked == called,
        }
    }
}

/// The outbound policy for the destinations.
pub fn answers<'a>(evidence: &OutboundEvidence<'a>, called: &[Called], from: Option<&str>) -> Vec<CallAnswer<'a>> {
    let index = &evidence.index;
    let mut answers = Vec::new();
    for one in called {
        match one {
            Called::Address(address) => {
                let from = from.unwrap_or("default");
                answers.push(CallAnswer {
                    called: one.clone(),
                    from: from.to_owned(),
                    outbound: index.of_address(*address, from),
                    profile: None,
                    there: true,
                    declared: true,
                    unjudged: Vec::new(),
                });
            }
            Called::Service { namespace, name, port } => {
                let from = from.unwrap_or(namespace);
                let service = evidence.services.iter().find(|it| it.metadata.key() == (namespace, name));
                let declared: Vec<u16> =
                    service.into_iter().flat_map(|it| &it.spec.ports).map(|port| port.port).collect();
                let ports = port.map_or_else(|| declared.clone(), |port| vec![port]);
                let profile = evidence.profile(namespace, name);
                let unjudged = index.unjudged((namespace, name));
                let unjudged: Vec<(RouteKind, String)> =
                    unjudged.map(|(kind, route)| (kind, route.metadata.name.clone())).collect();
                answers.extend(ports.into_iter().map(|port| CallAnswer {
                    called: Called::Service { namespace: namespace.clone(), name: name.clone(), port: Some(port) },
                    from: from.to_owned(),
                    outbound: Some(index.of_service((namespace, name), port, from)),
                    profile,
                    there: service.is_some(),
                    declared: declared.contains(&port),
                    unjudged: unjudged.clone(),
                }));
            }
        }
    }
    answers
}

/// The answers in the controller's format: `{"outbound": [{"query": …, "policy": …}]}`.
pub fn as_controller(answers: &[CallAnswer<'_>], cluster_domain: &str) -> Value {
    let each = answers.iter().map(|answer| {
        let query = match &answer.called {
            Called::Service { namespace, name, port } => {
                let authority = format!("{name}.{namespace}.svc.{cluster_domain}:{}", port.unwrap_or(80));
                json!({ "source_ns": answer.from, "authority": authority })
            }
            Called::Address(address) => {
                json!({ "source_ns": answer.from, "ip": address.ip().to_string(), "port": address.port() })
            }
        };
        let policy = match &answer.outbound {
            Some(outbound) => outbound_to_json(outbound, cluster_domain),
            None => json!({"error": "NOT_FOUND"}),
        };
        json!({ "query": query, "policy": policy })
    });
    json!({ "outbound": each.collect::<Vec<_>>() })
}

/// Whether every request is matched by some rule.
pub fn catches_all(outbound: &Outbound<'_>) -> bool {
    outbound.routes.iter().flat_map(|route| &route.rules).any(|rule| any_request(outbound, rule))
}

/// Whether a rule matches every request.
fn any_request(outbound: &Outbound<'_>, rule: &OutboundRule<'_>) -> bool {
    let hosts = outbound
        .routes
        .iter()
        .find(|route| route.rules.iter().any(|one| std::ptr::eq(one, rule)))
        .is_some_and(|route| !route.route.spec.hostnames.is_empty());
    let tls = outbound.spoken == Spoken::Tls;
    !hosts && (tls || rule.rule.matches_everything())
}

/// The requests that a rule matches, as text.
pub fn matched(rule: &OutboundRule<'_>) -> String {
    if rule.rule.matches.is_empty() {
        return "every request".to_owned();
    }
    let one = |said: &RouteMatch| {
        let mut words = Vec::new();
        match &said.method {
            Some(MethodMatch::Http(method)) => words.push(method.clone()),
            Some(MethodMatch::Grpc { service, method, .. }) => {
                words.push(format!("{}/{}", service.as_deref().unwrap_or("*"), method.as_deref().unwrap_or("*")));
            }
            None => {}
        }
        if let Some(path) = &said.path {
            let value = path.value.as_deref().unwrap_or("/");
            words.push(match path.kind.as_deref() {
                Some("Exact") => value.to_owned(),
                Some("RegularExpression") => format!("path matching {value}"),
                _ if value == "/" => "/*".to_owned(),
                _ => format!("{}/*", value.trim_end_matches('/')),
            });
        }
        let pairs = |what: &str, values: &[ValueMatch]| {
            let pair = |said: &ValueMatch| {
                let by = if said.kind.as_deref() == Some("RegularExpression") { "matching " } else { "" };
                format!("{what} {}: {by}{}", said.name, said.value.as_deref().unwrap_or_default())
            };
            values.iter().map(pair).collect::<Vec<_>>()
        };
        words.extend(pairs("header", &said.headers));
        words.extend(pairs("query", &said.query_params));
        if words.is_empty() { "every request".to_owned() } else { words.join(" ") }
    };
    rule.rule.matches.iter().map(one).collect::<Vec<_>>().join(", or ")
}
