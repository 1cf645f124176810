//! Responses of programs (`--probe`), reduced to the parts that checks read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::query::Query;
use super::{Probe, Program};
use crate::certificates::{Certificate, from_pem};
use crate::command::{Arg, kubectl};
use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;
use crate::objects::{Meta, Object, Pod, Store, by_metadata};
use crate::yaml;

/// Number of bytes to quote of an unexpected response.
const QUOTED: usize = 200;

/// Whether a pod belongs to a program and is running.
pub fn runs(program: Program, pod: &Pod) -> bool {
    let component = pod.metadata.label("component");
    pod.status.phase == "Running" && component.is_some_and(|name| program.components().contains(&name))
}

/// The response of a pod, as an object.
pub fn object(program: Program, (namespace, pod): (&str, &str), said: &Response) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "meshdoctor.io/v1", "kind": "ProbeAnswer",
        "metadata": {"namespace": namespace, "name": pod},
        "program": program.name(), "answer": said,
    })
}

/// The response of one pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ProbeAnswer {
    /// The pod.
    pub metadata: Meta,
    /// Its content.
    pub answer: Response,
}

impl Object for ProbeAnswer {
    by_metadata!();
}

impl Query for Probe {
    fn answers(&self) -> &'static str {
        "ProbeAnswer"
    }

    fn passes(&self) -> &'static str {
        "{program: word, answer: {trouble: sentence, pods: object, anchors: checksum}}"
    }

    fn store(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(Vec::<ProbeAnswer>::new()))
    }

    fn describe(&self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) => format!("answer of {} in pod {namespace}/{}", self.program.name(), self.pod),
            None => format!("answer of {}", self.program.name()),
        }
    }

    fn is_one_of_many(&self) -> bool {
        true
    }

    fn documented(&self) -> String {
        match self.program {
            Program::LinkedCluster => {
                "the trust anchors of linked clusters, only with --probe (get on the Secrets that Links \
                 refer to)"
                    .to_owned()
            }
            program => {
                format!("the response of {}, only with --probe (create on pods/portforward)", program.name())
            }
        }
    }

    fn right(&self) -> String {
        match self.program {
            Program::LinkedCluster => "get on the Link and on the Secret that it refers to",
            Program::MetricsApi | Program::Prometheus | Program::ServiceMirror => {
                "create and get on pods/portforward in the namespace of the extension"
            }
        }
        .to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        match (why, self.program) {
            (Why::NotCaptured | Why::NotOffered, _) => Some(GapRemediation::with_probe()),
            (Why::TimedOut { .. } | Why::Failed { .. }, Program::LinkedCluster) => Some(GapRemediation::run(
                "using the context of the linked cluster, compare the output of",
                kubectl()
                    .in_context(Arg::placeholder("OTHER_CLUSTER"))
                    .words("-n linkerd get configmap linkerd-identity-trust-roots -o yaml"),
            )),
            (Why::TimedOut { .. } | Why::Failed { .. }, _) => Some(GapRemediation::instruction(
                "check that the API server reaches the kubelet and the kubelet the pod; kubectl \
                 port-forward uses the same path",
            )),
            _ => None,
        }
    }

    fn bundle_path(&self) -> Option<(String, String)> {
        Some((format!("probes/{}", self.program.name()), self.pod.clone()))
    }

    fn is_probed(&self) -> bool {
        true
    }
}

/// Content of a response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Response {
    /// HTTP status; 0 if no server was reached, with the reason in `trouble`.
    pub status: u16,
    /// Problem of an unexpected response, or its first words; else empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub trouble: String,
    /// Pods with metrics in Prometheus: `namespace/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<String>,
    /// Whether the gateway of a cluster is alive, by cluster name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gateways: BTreeMap<String, bool>,
    /// Trust anchors of a linked cluster, by fingerprint; see [`crate::certificates::Certificate::print`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<String>,
}

impl Response {
    /// Whether it is the response of a healthy program.
    pub fn is_well(&self) -> bool {
        self.status == 200 && self.trouble.is_empty()
    }

    /// A response for an unreachable server.
    pub fn unreached(why: &str) -> Response {
        Response { trouble: quoted(why), ..Response::default() }
    }

    /// Whether a server responded.
    pub fn is_an_answer(&self) -> bool {
        self.status != 0
    }

    /// Description for evidence.
    pub fn describe(&self) -> String {
        match (self.status, self.trouble.as_str()) {
            (200, "") => "200".to_owned(),
            (0 | 200, trouble) => trouble.to_owned(),
            (status, "") => format!("HTTP {status}"),
            (status, trouble) => format!("HTTP {status}: {trouble}"),
        }
    }

    /// Parses the response of a program.
    pub fn read(program: Program, status: u16, body: &[u8]) -> Response {
        let text = String::from_utf8_lossy(body);
        if status != 200 {
            return Response { status, trouble: quoted(&text), ..Response::default() };
        }
        match program {
            Program::MetricsApi => {
                // The default response of Linkerd programs.
                let trouble = match text.trim() {
                    "ok" => String::new(),
                    other => format!("not a response of metrics-api: {}", quoted(other)),
                };
                Response { status, trouble, ..Response::default() }
            }
            Program::Prometheus => match series(&text) {
                Ok(pods) => Response { status, pods, ..Response::default() },
                Err(trouble) => Response { status, trouble, ..Response::default() },
            },
            Program::ServiceMirror => Response { status, gateways: gateways(&text), ..Response::default() },
            Program::LinkedCluster => match anchors(&text) {
                Ok(anchors) => Response { status, anchors, ..Response::default() },
                Err(trouble) => Response { status, trouble, ..Response::default() },
            },
        }
    }
}

/// Fingerprints of the trust anchors in a `linkerd-config`. Nothing of it is quoted, because it belongs to another
/// cluster.
fn anchors(text: &str) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct Config {
        data: BTreeMap<String, String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Values {
        #[serde(rename = "identityTrustAnchorsPEM")]
        anchors: String,
    }
    let config: Config = serde_json::from_str(text).map_err(|_| "no ConfigMap".to_owned())?;
    let values = config.data.get("values").ok_or("its linkerd-config has no values")?;
    let values: Values = yaml::parse(values).map_err(|_| "its linkerd-config has no trust anchors".to_owned())?;
    let found = from_pem(values.anchors.as_bytes()).map_err(|_| "its trust anchors cannot be read".to_owned())?;
    let mut prints: Vec<String> = found.iter().map(Certificate::print).collect();
    prints.sort();
    prints.dedup();
    if prints.is_empty() { Err("its linkerd-config has no trust anchor".to_owned()) } else { Ok(prints) }
}

/// First line of a response, redacted and without control characters.
fn quoted(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let short: String = line.chars().filter(|c| !c.is_control()).take(QUOTED).collect();
    crate::redact::free_text(&short).into_owned()
}

/// The pods in Prometheus's response to an instant query.
fn series(text: &str) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct QueryResponse {
        status: String,
        #[serde(default)]
        error: String,
        data: Option<Data>,
    }
    #[derive(Deserialize)]
    struct Data {
        result: Vec<Series>,
    }
    #[derive(Deserialize)]
    struct Series {
        metric: BTreeMap<String, String>,
    }
    let answer: QueryResponse =
        serde_json::from_str(text).map_err(|_| format!("not a response of Prometheus: {}", quoted(text)))?;
    let data = match answer {
        QueryResponse { status, data: Some(data), .. } if status == "success" => data,
        other => return Err(format!("{}: {}", other.status, quoted(&other.error))),
    };
    let mut pods: Vec<String> = data
        .result
        .into_iter()
        .filter_map(|series| Some(format!("{}/{}", series.metric.get("namespace")?, series.metric.get("pod")?)))
        .collect();
    pods.sort();
    pods.dedup();
    Ok(pods)
}

/// The gauge `gateway_alive` by target cluster, from metrics in Prometheus text format.
fn gateways(text: &str) -> BTreeMap<String, bool> {
    text.lines()
        .filter_map(|line| {
            let (labels, value) = line.strip_prefix("gateway_alive{")?.rsplit_once('}')?;
            let (_, rest) = labels.split_once("target_cluster_name=\"")?;
            let cluster = rest.split('"').next()?;
            let value: f64 = value.split_whitespace().next()?.parse().ok()?;
            Some((cluster.to_owned(), value > 0.5))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_response_lists_pods() {
        let text = br#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"namespace":"shop","pod":"web-1"},"value":[1,"2"]},{"metric":{},"value":[1,"2"]}]}}"#;
        let said = Response::read(Program::Prometheus, 200, text);
        assert!(said.is_well());
        assert_eq!(said.pods, ["shop/web-1"]);
        let failed = Response::read(Program::Prometheus, 200, br#"{"status":"error","error":"query timed out"}"#);
        assert_eq!(failed.describe(), "error: query timed out");
        assert!(!Response::read(Program::Prometheus, 200, b"<html>login</html>").is_well());
        assert_eq!(
            Response::read(Program::Prometheus, 503, b"\n Service Unavailable\n").describe(),
            "HTTP 503: Service Unavailable"
        );
    }

    #[test]
    fn response_of_invalid_pod_name_is_rejected() {
        use crate::objects::Object;
        let refused = |namespace: &str, pod: &str| {
            let said = Response { status: 200, ..Response::default() };
            let filed = object(Program::MetricsApi, (namespace, pod), &said);
            serde_json::from_value::<ProbeAnswer>(filed).expect("an answer").refused()
        };
        assert_eq!(refused("linkerd-viz", "metrics-api-5d9f"), None);
        for bad in ["", "$(id)", "-x", "a\nb", "Web", "a/b", "--all"] {
            assert!(refused("linkerd-viz", bad).is_some(), "{bad}");
            assert!(bad.is_empty() || refused(bad, "metrics-api-5d9f").is_some(), "{bad}");
        }
    }

    #[test]
    fn other_page_is_not_a_metrics_api_response() {
        assert!(Response::read(Program::MetricsApi, 200, b"ok\n").is_well());
        for other in [&b""[..], b"<html>login</html>", b"\xff\x00"] {
            assert!(!Response::read(Program::MetricsApi, 200, other).is_well(), "{other:?}");
        }
    }

    #[test]
    fn controller_metrics_show_live_gateways() {
        let text = b"# TYPE gateway_alive gauge\ngateway_alive{gateway_name=\"g\",target_cluster_name=\"east\"} 1\n\
            gateway_alive{target_cluster_name=\"west\",x=\"y\"} \
            0\ngateway_alive{broken\nother{target_cluster_name=\"no\"} 1\n";
        let said = Response::read(Program::ServiceMirror, 200, text);
        assert_eq!(
            said.gateways.into_iter().collect::<Vec<_>>(),
            [("east".to_owned(), true), ("west".to_owned(), false)]
        );
    }
}
