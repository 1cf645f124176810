//! What `linkerd diagnostics` printed, reduced to what checks read of it: one object for each proxy, for each port whose policy
//! was asked for, and for each Service whose endpoints were. This file owns its form; it reads no text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::asked::Asked;
use crate::close::Close;
use crate::fetched::Why;
use crate::objects::{Meta, Object, Store, by_metadata};

/// What was printed of one thing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Diagnostic {
    /// Where it is filed: a namespace, where one was told, and a name of its own.
    pub metadata: Meta,
    /// What it says.
    pub said: Answer,
}

impl Object for Diagnostic {
    by_metadata!();

    /// Its names were judged when it was read; what it is filed under is no object's name.
    fn refused(&self) -> Option<String> {
        None
    }
}

/// What one of the commands said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Answer {
    /// `linkerd diagnostics proxy-metrics`: of one proxy.
    ProxyMetrics(ProxyMetrics),
    /// `linkerd diagnostics policy po/NAME PORT`.
    Policy(PortPolicy),
    /// `linkerd diagnostics endpoints -o json`: of one Service.
    Endpoints(ServiceEndpoints),
}

impl Default for Answer {
    fn default() -> Answer {
        Answer::ProxyMetrics(ProxyMetrics::default())
    }
}

/// What the metrics of a proxy say. Times are seconds since 1970 by the clock of its node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProxyMetrics {
    /// The pod. Its namespace is not printed.
    pub pod: String,
    /// Why its metrics could not be had, in the command's words; empty where they could.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// When the metrics were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_at: Option<i64>,
    /// When the proxy started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// Until when its certificate is valid; 0 where it never had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// What inbound policy denied since it started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
}

/// What inbound policy denied at one port.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Denied {
    /// The port.
    pub port: u16,
    /// `requests` or `connections`.
    pub what: String,
    /// What takes the port: `server` or `default`.
    pub kind: String,
    /// The name of the Server or of the default policy.
    pub name: String,
    /// The client's identity; empty where it showed none.
    pub client: String,
    /// How often.
    pub count: u64,
}

/// What the policy controller said of a port of a pod.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortPolicy {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The port.
    pub port: u16,
    /// The answer, as far as it is compared.
    pub answer: InboundAnswer,
}

/// As much of an answer of the policy controller as is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboundAnswer {
    /// `detect`, `opaque`, `http1`.
    pub protocol: String,
    /// What takes the port: `server web`, `default all-unauthenticated`.
    pub server: String,
    /// What lets clients in: `authorizationpolicy web`; of a route with its name before it. Sorted.
    pub authorizations: Vec<String>,
    /// The routes, in the order of their names.
    pub routes: Vec<String>,
}

/// The endpoints of a Service, as destination gives them to proxies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceEndpoints {
    /// The namespace of the Service and of its pods.
    pub namespace: String,
    /// The Service.
    pub service: String,
    /// The addresses of pods; those of no pod, such as gateways, are left out.
    pub endpoints: Vec<Endpoint>,
}

/// An address of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoint {
    /// The pod.
    pub pod: String,
    /// Its address.
    pub ip: String,
    /// The port.
    pub port: u16,
}

impl Answer {
    /// What the metrics of a proxy say, if it is that.
    pub fn of_proxy(&self) -> Option<&ProxyMetrics> {
        if let Answer::ProxyMetrics(metrics) = self { Some(metrics) } else { None }
    }

    /// What was said of a port, if it is that.
    pub fn of_port(&self) -> Option<&PortPolicy> {
        if let Answer::Policy(policy) = self { Some(policy) } else { None }
    }

    /// What was said of a Service, if it is that.
    pub fn of_service(&self) -> Option<&ServiceEndpoints> {
        if let Answer::Endpoints(endpoints) = self { Some(endpoints) } else { None }
    }

    /// The object that is filed.
    pub fn object(&self) -> Value {
        let (namespace, name) = match self {
            Answer::ProxyMetrics(of) => ("", format!("{}/proxy-metrics", of.pod)),
            Answer::Policy(of) => (of.namespace.as_str(), format!("{}/policy/{}", of.pod, of.port)),
            Answer::Endpoints(of) => (of.namespace.as_str(), format!("{}/endpoints", of.service)),
        };
        serde_json::json!({
            "apiVersion": "meshdoctor.io/v1", "kind": "Diagnostic",
            "metadata": {"namespace": namespace, "name": name},
            "said": self,
        })
    }
}

impl InboundAnswer {
    /// Out of an answer of the controller, in the form of its API or in that in which the CLI prints it, which names each choice
    /// `Kind`. `None`: it is no such answer.
    pub fn of(answer: &Value) -> Option<InboundAnswer> {
        let (protocol, settings) = chosen(answer.get("protocol")?)?;
        let labels = answer.get("labels")?;
        let mut authorizations = by(answer);
        let mut routes = Vec::new();
        let lists = [settings.get("http_routes"), settings.get("routes")];
        for route in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let name = named(route.get("metadata"));
            authorizations.extend(by(route).into_iter().map(|by| format!("route {name}: {by}")));
            routes.push(name);
        }
        authorizations.sort();
        routes.sort();
        let server = format!("{} {}", labels.get("kind")?.as_str()?, labels.get("name")?.as_str()?);
        Some(InboundAnswer { protocol, server, authorizations, routes })
    }
}

/// Which of several an object chooses, in lower case, and what it says of it.
fn chosen(of: &Value) -> Option<(String, &Value)> {
    let of = of.get("Kind").unwrap_or(of);
    let (name, value) = of.as_object()?.iter().next()?;
    Some((name.to_ascii_lowercase(), value))
}

fn named(metadata: Option<&Value>) -> String {
    let name = metadata.and_then(chosen).and_then(|(_, value)| match value {
        Value::String(name) => Some(name.clone()),
        resource => resource.get("name")?.as_str().map(str::to_owned),
    });
    name.unwrap_or_default()
}

/// What an answer or a route lets clients in by.
fn by(of: &Value) -> Vec<String> {
    let all = of.get("authorizations").and_then(Value::as_array).into_iter().flatten();
    let named = all.filter_map(|one| {
        let labels = one.get("labels")?;
        Some(format!("{} {}", labels.get("kind")?.as_str()?, labels.get("name")?.as_str()?))
    });
    named.collect()
}

/// Output of `linkerd diagnostics` that was given.
#[derive(Debug)]
pub struct OfDiagnostics;

impl Asked for OfDiagnostics {
    fn answers(&self) -> &'static str {
        "Diagnostic"
    }

    fn passes(&self) -> &'static str {
        "{metadata: {namespace: text, name: text}, said: {command: word, pod: text, namespace: text, service: text, error: sentence, \
         denied: {what: word, kind: word, name: text, client: text}, \
         answer: {protocol: word, server: text, authorizations: text, routes: text}, endpoints: {pod: text, ip: text}}}"
    }

    fn store(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(Vec::<Diagnostic>::new()))
    }

    fn in_words(&self, _: Option<&str>) -> String {
        "output of linkerd diagnostics".to_owned()
    }

    fn documented(&self) -> String {
        "output of linkerd diagnostics, given with --diagnostics or in what --bundle reads (no permission)"
            .to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<Close> {
        Some(Close::say(match why {
            Why::NotOffered | Why::NotCaptured => {
                "provide what linkerd diagnostics proxy-metrics, policy or endpoints -o json prints: --diagnostics FILE"
            }
            _ => "run the linkerd diagnostics command again, and provide what it prints unchanged",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_answer_say_the_same() {
        let api = serde_json::json!({
            "protocol": {"detect": {"timeout": "10s", "http_routes": [
                {"metadata": {"resource": {"kind": "HTTPRoute", "name": "get"}},
                 "authorizations": [{"labels": {"group": "", "kind": "default", "name": "probe"}}]},
                {"metadata": {"default": "default"}},
            ]}},
            "labels": {"group": "policy.linkerd.io", "kind": "server", "name": "web"},
            "authorizations": [{"labels": {"kind": "authorizationpolicy", "name": "b"}},
                               {"labels": {"kind": "authorizationpolicy", "name": "a"}}],
        });
        let printed = serde_json::json!({
            "protocol": {"Kind": {"Detect": {"timeout": {"seconds": 10}, "http_routes": [
                {"metadata": {"Kind": {"Default": "default"}}},
                {"metadata": {"Kind": {"Resource": {"kind": "HTTPRoute", "name": "get"}}},
                 "authorizations": [{"labels": {"group": "", "kind": "default", "name": "probe"}}]},
            ]}}},
            "labels": {"group": "policy.linkerd.io", "kind": "server", "name": "web"},
            "authorizations": [{"labels": {"kind": "authorizationpolicy", "name": "a"}},
                               {"labels": {"kind": "authorizationpolicy", "name": "b"}}],
        });
        let answer = InboundAnswer::of(&api).expect("an answer");
        assert_eq!(answer.server, "server web");
        assert_eq!(answer.protocol, "detect");
        assert_eq!(answer.routes, ["default", "get"]);
        assert_eq!(
            answer.authorizations,
            ["authorizationpolicy a", "authorizationpolicy b", "route get: default probe"]
        );
        assert_eq!(InboundAnswer::of(&printed), Some(answer));
        for other in
            [serde_json::json!({}), serde_json::json!({"protocol": "TCP", "labels": {}}), Value::Null]
        {
            assert_eq!(InboundAnswer::of(&other), None, "{other}");
        }
    }
}
