//! Output of `linkerd diagnostics`, reduced to the parts that checks read: one object per proxy, per port with policy,
//! and per Service with endpoints. Defines the format; parses no text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::proxy_metrics::ProxyMetrics;
use super::query::Query;
use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;
use crate::knowledge::MetricMeaning;
use crate::objects::{Meta, Object, Store, by_metadata};

/// Output about one target.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Diagnostic {
    /// Its key: the namespace if known, and a name of its own.
    pub metadata: Meta,
    /// Its content.
    pub said: Answer,
}

impl Object for Diagnostic {
    by_metadata!();

    /// Its names were validated when it was parsed; its key is not an object's name.
    fn refused(&self) -> Option<String> {
        None
    }
}

/// Output of one of the commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Answer {
    /// `linkerd diagnostics proxy-metrics` or `controller-metrics`, for one container.
    ProxyMetrics(ProxyMetrics),
    /// `linkerd diagnostics policy po/NAME PORT`.
    Policy(PortPolicy),
    /// `linkerd diagnostics endpoints -o json`, for one Service.
    Endpoints(ServiceEndpoints),
    /// The certificates of a running proxy.
    ProxyCertificates(ProxyCertificates),
    /// `linkerd diagnostics profile` of a known replica, for one Service or one port of it.
    Profile(ReplicaProfile),
    /// The extent of a sample of metrics that was read from a cluster.
    MetricsSample(MetricsSample),
    /// The extent of the endpoints that were requested from each replica of destination.
    EndpointsSample(EndpointsSample),
}

impl Default for Answer {
    fn default() -> Answer {
        Answer::ProxyMetrics(ProxyMetrics::default())
    }
}

/// The extent of a sample of metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetricsSample {
    /// Number of processes whose metrics were read.
    pub read: usize,
    /// Number of processes that the limits left out.
    pub left: usize,
    /// Pods of the first ones that the limits left out, as `NAMESPACE/NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Those whose metrics could not be read.
    pub failed: Vec<FailedRead>,
    /// Pods whose metrics a Prometheus server does not have: the first ones, as `NAMESPACE/NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unscraped: Vec<String>,
    /// Number of pods whose metrics a Prometheus server does not have.
    #[serde(skip_serializing_if = "is_zero")]
    pub unscraped_count: usize,
    /// Families of which a Prometheus server returned nothing, or not everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackingFamily>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A metric family of which a Prometheus server returned nothing, or not everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LackingFamily {
    pub meaning: MetricMeaning,
    /// The error; empty if there are no series.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

/// A process whose metrics could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedRead {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
    /// The container; empty for the proxy.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub container: String,
    /// The reason.
    pub error: String,
}

/// The policy controller's response for a port of a pod.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortPolicy {
    /// The pod's namespace.
    pub namespace: String,
    pub pod: String,
    pub port: u16,
    /// The parts of the response that are compared.
    pub answer: InboundAnswer,
}

/// The compared parts of a response of the policy controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboundAnswer {
    /// `detect`, `opaque`, `http1`.
    pub protocol: String,
    /// Policy of the port: `server web`, `default all-unauthenticated`.
    pub server: String,
    /// Authorizations: `authorizationpolicy web`; those of a route with its name before it. Sorted.
    pub authorizations: Vec<String>,
    /// The routes, sorted by name.
    pub routes: Vec<String>,
}

/// Endpoints of a Service, as the destination component sends them to proxies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceEndpoints {
    /// The namespace of the Service and of its pods.
    pub namespace: String,
    pub service: String,
    /// The pod of destination that returned them; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub replica: String,
    /// The port of the Service; 0 if unknown: then they are those of all requested ports.
    #[serde(skip_serializing_if = "is_unknown")]
    pub port: u16,
    /// Addresses of pods; of a known replica also others, such as gateways, without the name of a pod.
    pub endpoints: Vec<Endpoint>,
    /// The same of a second read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Vec<Endpoint>>,
    /// Seconds between two reads, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<u64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_unknown(port: &u16) -> bool {
    *port == 0
}

impl ServiceEndpoints {
    /// `NAMESPACE/NAME` of the Service.
    pub fn service_name(&self) -> String {
        format!("{}/{}", self.namespace, self.service)
    }
}

/// An address of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoint {
    pub pod: String,
    /// Its address.
    pub ip: String,
    pub port: u16,
    /// The identity that clients require of it; empty if they do not use TLS, or if it is unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub identity: String,
}

impl Endpoint {
    /// `IP:PORT`.
    pub fn address(&self) -> String {
        if self.ip.contains(':') {
            format!("[{}]:{}", self.ip, self.port)
        } else {
            format!("{}:{}", self.ip, self.port)
        }
    }
}

/// The certificates of a running proxy, in PEM. Without an error, at least one of them is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProxyCertificates {
    /// The pod's namespace.
    pub namespace: String,
    pub pod: String,
    /// Its own certificate and those above it, as it serves them; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chain: String,
    /// The trust anchors in its environment; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub anchors: String,
    /// The reason why something is unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
}

/// The profile of a Service, as a replica of destination sends it to proxies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplicaProfile {
    /// The namespace of the Service.
    pub namespace: String,
    pub service: String,
    /// The pod of destination that returned it.
    pub replica: String,
    /// The port of the Service; 0 if unknown.
    #[serde(skip_serializing_if = "is_unknown")]
    pub port: u16,
    pub profile: ProfileAnswer,
    /// The same of a second read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<ProfileAnswer>,
    /// Seconds between two reads, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<u64>,
}

/// The compared parts of a profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ProfileAnswer {
    /// Whether proxies forward the port without protocol detection.
    pub opaque: bool,
    /// Number of routes of the ServiceProfile.
    pub routes: usize,
    /// Number of destinations that requests are split between.
    pub splits: usize,
}

impl ProfileAnswer {
    /// Parses the output of the linkerd command, which leaves out what is false or empty.
    pub fn parse(profile: &Value) -> ProfileAnswer {
        let length = |name: &str| profile.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        ProfileAnswer {
            opaque: profile.get("opaque_protocol") == Some(&Value::Bool(true)),
            routes: length("routes"),
            splits: length("dst_overrides"),
        }
    }
}

/// The extent of the endpoints that were requested from each replica of destination.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointsSample {
    /// Number of Service ports whose endpoints were requested.
    pub read: usize,
    /// Number of Service ports that the limits left out.
    pub left: usize,
    /// The first ones that the limits left out, as `NAMESPACE/NAME:PORT`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Replicas that did not answer, and those that returned an error for a Service, which the error names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedRead>,
    /// Services as `NAMESPACE/NAME` with different answers, whose EndpointSlices may have changed between the first
    /// list and the last answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<String>,
}

impl Answer {
    /// The metrics of a proxy, if it is that output.
    pub fn of_proxy(&self) -> Option<&ProxyMetrics> {
        self.metrics().filter(|metrics| metrics.container.is_empty())
    }

    /// The metrics of a control-plane container, if it is that output.
    pub fn of_controller(&self) -> Option<&ProxyMetrics> {
        self.metrics().filter(|metrics| !metrics.container.is_empty())
    }

    fn metrics(&self) -> Option<&ProxyMetrics> {
        if let Answer::ProxyMetrics(metrics) = self { Some(metrics) } else { None }
    }

    /// The extent of a sample of metrics, if it is that.
    pub fn of_sample(&self) -> Option<&MetricsSample> {
        if let Answer::MetricsSample(sample) = self { Some(sample) } else { None }
    }

    /// The policy of a port, if it is that output.
    pub fn of_port(&self) -> Option<&PortPolicy> {
        if let Answer::Policy(policy) = self { Some(policy) } else { None }
    }

    /// The endpoints of a Service, if it is that output.
    pub fn of_service(&self) -> Option<&ServiceEndpoints> {
        if let Answer::Endpoints(endpoints) = self { Some(endpoints) } else { None }
    }

    /// The certificates of a proxy, if it is that.
    pub fn of_certificates(&self) -> Option<&ProxyCertificates> {
        if let Answer::ProxyCertificates(certificates) = self { Some(certificates) } else { None }
    }

    /// The profile of a Service, if it is that output.
    pub fn of_profile(&self) -> Option<&ReplicaProfile> {
        if let Answer::Profile(profile) = self { Some(profile) } else { None }
    }

    /// The extent of requests to replicas of destination, if it is that.
    pub fn of_replicas(&self) -> Option<&EndpointsSample> {
        if let Answer::EndpointsSample(sample) = self { Some(sample) } else { None }
    }

    /// The object to file.
    pub fn object(&self) -> Value {
        let (namespace, name) = match self {
            Answer::ProxyMetrics(of) if of.container.is_empty() => {
                (of.namespace.as_str(), format!("{}/proxy-metrics", of.pod))
            }
            Answer::ProxyMetrics(of) => (of.namespace.as_str(), format!("{}/metrics/{}", of.pod, of.container)),
            Answer::Policy(of) => (of.namespace.as_str(), format!("{}/policy/{}", of.pod, of.port)),
            Answer::Endpoints(of) if of.replica.is_empty() => {
                (of.namespace.as_str(), format!("{}/endpoints", of.service))
            }
            Answer::Endpoints(of) => {
                (of.namespace.as_str(), format!("{}/endpoints/{}/{}", of.service, of.replica, of.port))
            }
            Answer::ProxyCertificates(of) => (of.namespace.as_str(), format!("{}/certificates", of.pod)),
            Answer::Profile(of) => {
                (of.namespace.as_str(), format!("{}/profile/{}/{}", of.service, of.replica, of.port))
            }
            Answer::MetricsSample(_) => ("", "metrics-sample".to_owned()),
            Answer::EndpointsSample(_) => ("", "endpoints-sample".to_owned()),
        };
        serde_json::json!({
            "apiVersion": "meshdoctor.io/v1", "kind": "Diagnostic",
            "metadata": {"namespace": namespace, "name": name},
            "said": self,
        })
    }
}

impl InboundAnswer {
    /// Parses a response of the controller, in the format of its API or of the CLI, which names each variant `Kind`.
    /// `None` if it is another text.
    pub fn parse(answer: &Value) -> Option<InboundAnswer> {
        let (protocol, settings) = chosen(answer.get("protocol")?)?;
        let labels = answer.get("labels")?;
        let mut authorizations = by(answer);
        let mut routes = Vec::new();
        let lists = [settings.get("http_routes"), settings.get("routes")];
        for route in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let name = object_name(route.get("metadata"));
            authorizations.extend(by(route).into_iter().map(|by| format!("route {name}: {by}")));
            routes.push(name);
        }
        authorizations.sort();
        routes.sort();
        let server = format!("{} {}", labels.get("kind")?.as_str()?, labels.get("name")?.as_str()?);
        Some(InboundAnswer { protocol, server, authorizations, routes })
    }
}

/// The variant of an object, in lower case, and its content.
fn chosen(of: &Value) -> Option<(String, &Value)> {
    let of = of.get("Kind").unwrap_or(of);
    let (name, value) = of.as_object()?.iter().next()?;
    Some((name.to_ascii_lowercase(), value))
}

fn object_name(metadata: Option<&Value>) -> String {
    let name = metadata.and_then(chosen).and_then(|(_, value)| match value {
        Value::String(name) => Some(name.clone()),
        resource => resource.get("name")?.as_str().map(str::to_owned),
    });
    name.unwrap_or_default()
}

/// The authorizations of a response or route.
fn by(of: &Value) -> Vec<String> {
    let all = of.get("authorizations").and_then(Value::as_array).into_iter().flatten();
    let named = all.filter_map(|one| {
        let labels = one.get("labels")?;
        Some(format!("{} {}", labels.get("kind")?.as_str()?, labels.get("name")?.as_str()?))
    });
    named.collect()
}

/// Given output of `linkerd diagnostics`.
#[derive(Debug)]
pub struct OfDiagnostics;

impl Query for OfDiagnostics {
    fn answers(&self) -> &'static str {
        "Diagnostic"
    }

    fn passes(&self) -> &'static str {
        "{metadata: {namespace: object, name: object}, said: {command: word, pod: object, container: object, \
         namespace: object, service: object, error: sentence, exported: word, truncated: word, failed: {pod: \
         object, container: object, error: sentence}, left_out: object, unscraped: object, lacking: {meaning: word, \
         error: sentence}, series: {meaning: word, labels: {\"*\": name}}, denied: {what: word, kind: word, name: \
         name, client: name}, answer: {protocol: word, server: name, authorizations: name, routes: name}, replica: \
         object, chain: certificates, anchors: certificates, unconfirmed: object, endpoints: {pod: object, ip: \
         object, identity: name}, again: {pod: object, ip: object, identity: name}}}"
    }

    fn store(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(Vec::<Diagnostic>::new()))
    }

    fn describe(&self, _: Option<&str>) -> String {
        "metrics and output of linkerd diagnostics".to_owned()
    }

    fn documented(&self) -> String {
        "metrics, read with --proxies or --prometheus, endpoints of each destination replica, read with \
         --proxies, and output of linkerd diagnostics, given with --diagnostics or in --bundle (create and get on \
         pods/portforward, only for --proxies)"
            .to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        Some(GapRemediation::instruction(match why {
            Why::NotOffered | Why::NotCaptured => {
                "read metrics with --proxies or --prometheus, or provide the output of linkerd diagnostics \
                 proxy-metrics, controller-metrics, policy or endpoints -o json with --diagnostics FILE"
            }
            _ => "run again; for --diagnostics, provide the unchanged output of the linkerd command",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_response_formats_are_equal() {
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
        let answer = InboundAnswer::parse(&api).expect("an answer");
        assert_eq!(answer.server, "server web");
        assert_eq!(answer.protocol, "detect");
        assert_eq!(answer.routes, ["default", "get"]);
        assert_eq!(
            answer.authorizations,
            ["authorizationpolicy a", "authorizationpolicy b", "route get: default probe"]
        );
        assert_eq!(InboundAnswer::parse(&printed), Some(answer));
        for other in [serde_json::json!({}), serde_json::json!({"protocol": "TCP", "labels": {}}), Value::Null] {
            assert_eq!(InboundAnswer::parse(&other), None, "{other}");
        }
    }
}
