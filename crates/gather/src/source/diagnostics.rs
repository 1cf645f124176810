//! Reads the output of `linkerd diagnostics`, from given files or from a dump. Of metrics, only the few series that
//! checks read are kept; the output of other commands is reduced in the same way. This file only parses.

mod metrics;
mod scrape;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

use super::error::LoadError;
use crate::archive::GZIP;
use crate::encoding::decoded;
use crate::fetched::{Fetched, Why};
use crate::item::destination::DESTINATION_PORT;
use crate::item::diagnostic::{
    Answer, Endpoint, EndpointsSample, InboundAnswer, MetricsSample, PortPolicy, ProfileAnswer, ProxyCertificates,
    ReplicaProfile, ServiceEndpoints,
};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning;
use crate::names::{is_label, is_subdomain};
use crate::objects::container::TRUST_ANCHORS;
use crate::yaml;
pub use metrics::{MetricsReader, begins_metrics, own_container, share_clocks};
#[cfg(feature = "live")]
pub(super) use scrape::EXPORTED;

/// The beginning of certificates.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

/// Maximum size of a text.
pub const MOST: u64 = 64 << 20;

/// Pod and port of a text that does not contain them: the output of `linkerd diagnostics policy`, and metrics
/// as a proxy serves them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortOf {
    /// The pod's namespace.
    pub namespace: String,
    pub pod: String,
    pub port: u16,
}

impl PortOf {
    /// `NAMESPACE/POD:PORT`; `None` if it is not a valid name.
    pub fn parse(text: &str) -> Option<PortOf> {
        let (pod, port) = text.rsplit_once(':')?;
        let (namespace, pod) = pod.split_once('/')?;
        let port = port.parse().ok().filter(|port| *port > 0)?;
        (is_label(namespace) && is_subdomain(pod)).then(|| PortOf {
            namespace: namespace.to_owned(),
            pod: pod.to_owned(),
            port,
        })
    }
}

/// Reason why a text is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnusedText {
    /// It is not output of `linkerd diagnostics`.
    Other,
    /// It is, but is not read for this reason.
    Of(&'static str),
    /// It is, and no check uses it, for this reason.
    NotUsed(&'static str),
}

/// The parsed outputs.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    files: Vec<String>,
    unused: Vec<String>,
    answers: BTreeMap<String, Answer>,
    failed: Option<Why>,
    /// Whether texts of metrics count as whole although they contain only some families, as in examples.
    takes_excerpts: bool,
}

impl Diagnostics {
    /// Reads the files of `--diagnostics`.
    ///
    /// # Errors
    /// A file cannot be read, is too large, or is not a supported output.
    pub fn open(given: &[(Option<PortOf>, PathBuf)]) -> Result<Diagnostics, LoadError> {
        let mut all = Diagnostics::default();
        for (of, path) in given {
            let shown = path.display().to_string();
            let unreadable = |reason: &str| LoadError::Unreadable { path: shown.clone(), reason: reason.to_owned() };
            let open = |error| LoadError::Open { path: shown.clone(), error };
            if path.as_os_str() == "-" {
                return Err(unreadable("standard input is not supported: write the output to a file"));
            }
            let mut bytes = Vec::new();
            let mut file = BufReader::new(File::open(path).map_err(open)?);
            let is_packed = file.fill_buf().map_err(open)?.starts_with(GZIP);
            let text: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
            text.take(MOST + 1).read_to_end(&mut bytes).map_err(open)?;
            if bytes.len() as u64 > MOST {
                return Err(unreadable("it is larger than 64 MiB: split the metrics into files with fewer pods"));
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                return Err(unreadable("the file is empty: linkerd diagnostics printed nothing"));
            }
            match all.read(&decoded(&bytes), of.as_ref()) {
                Ok(_) => all.files.push(shown),
                Err(UnusedText::NotUsed(why)) => all.unused.push(format!("{shown} is not used: {why}")),
                Err(UnusedText::Of(why)) => return Err(unreadable(why)),
                Err(UnusedText::Other) => {
                    return Err(unreadable(
                        "it is neither output of linkerd diagnostics proxy-metrics, controller-metrics, policy, \
                         profile or endpoints -o json, nor metrics of a proxy, a controller or Prometheus",
                    ));
                }
            }
        }
        Ok(all)
    }

    /// The files, for the origin of the report.
    pub fn name(&self) -> String {
        self.files.join(", ")
    }

    /// The files that no check uses, with the reason.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.failed.is_none()
    }

    /// Adds the output of one command, and returns its size.
    ///
    /// # Errors
    /// It is not a supported output.
    pub fn read(&mut self, text: &str, of: Option<&PortOf>) -> Result<usize, UnusedText> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).trim_start();
        let answers = match () {
            () if begins_metrics(text.as_bytes()) => metrics::read(text, of)?,
            () if text.starts_with(CERTIFICATE) => {
                certificates(of, |one| one.chain = format!("{}\n", text.trim_end()))?
            }
            () if metrics::begins_exposition(text) => metrics::read_of(text, of)?,
            () => document(text, of)?,
        };
        let count = answers.len();
        for mut answer in answers {
            if let Answer::ProxyMetrics(metrics) = &mut answer {
                metrics.is_part &= !self.takes_excerpts;
            }
            self.add(answer);
        }
        Ok(count)
    }

    /// Makes texts of metrics count as whole although they contain only some families, as in examples.
    pub fn take_excerpts(&mut self) {
        self.takes_excerpts = true;
    }

    /// Adds metrics of a process; those of another read of it give the growth of its counters.
    pub fn add_metrics(&mut self, metrics: ProxyMetrics) {
        self.add(Answer::ProxyMetrics(metrics));
    }

    /// Adds the extent of a sample.
    pub fn add_sample(&mut self, sample: MetricsSample) {
        self.add(Answer::MetricsSample(sample));
    }

    /// Adds the extent of requests to replicas of destination.
    pub fn add_replicas(&mut self, sample: EndpointsSample) {
        self.add(Answer::EndpointsSample(sample));
    }

    /// Records that metrics were requested, and that none could be read.
    pub fn fail(&mut self, why: Why) {
        self.failed = Some(why);
    }

    /// Adds an output; a second read of a process is combined with the first.
    pub fn add(&mut self, mut answer: Answer) {
        if let Answer::ProxyMetrics(metrics) = &mut answer {
            self.set_clock(metrics);
        }
        let object = answer.object();
        let key = format!("{}/{}", object["metadata"]["namespace"], object["metadata"]["name"]);
        let answer = match (self.answers.remove(&key), answer) {
            (Some(Answer::ProxyMetrics(earlier)), Answer::ProxyMetrics(later)) => {
                Answer::ProxyMetrics(earlier.followed_by(later))
            }
            (Some(Answer::Endpoints(earlier)), Answer::Endpoints(later)) if !later.replica.is_empty() => {
                Answer::Endpoints(ServiceEndpoints { again: Some(later.endpoints), ..earlier })
            }
            (Some(Answer::ProxyCertificates(earlier)), Answer::ProxyCertificates(later)) => {
                let other = |later: String, earlier: String| if later.is_empty() { earlier } else { later };
                Answer::ProxyCertificates(ProxyCertificates {
                    chain: other(later.chain, earlier.chain),
                    anchors: other(later.anchors, earlier.anchors),
                    ..later
                })
            }
            (Some(Answer::Profile(earlier)), Answer::Profile(later)) => {
                Answer::Profile(ReplicaProfile { again: Some(later.profile), ..earlier })
            }
            (_, answer) => answer,
        };
        self.answers.insert(key, answer);
    }

    /// Controllers in Go do not export their clock: that of the last read of their pod's proxy is used. It may be
    /// minutes older, so it is not the time of an issuer's lifetime.
    fn set_clock(&self, metrics: &mut ProxyMetrics) {
        let has_lifetime = metrics.series(MetricMeaning::IssuerLifetime).next().is_some();
        if metrics.read_at.is_some() || metrics.container.is_empty() || has_lifetime {
            return;
        }
        let proxies = self.answers.values().filter_map(Answer::of_proxy);
        let is_its = |proxy: &&ProxyMetrics| (&proxy.namespace, &proxy.pod) == (&metrics.namespace, &metrics.pod);
        metrics.read_at = proxies.filter(is_its).find_map(|proxy| proxy.read_at);
    }

    /// Each output as an object.
    pub fn answer(&self, take: &mut dyn FnMut(&[u8])) -> Fetched {
        if self.answers.is_empty() {
            return Fetched::Missing { reason: self.failed.clone().unwrap_or(Why::NotOffered) };
        }
        for answer in self.answers.values() {
            let object = match answer {
                Answer::ProxyMetrics(metrics) => Answer::ProxyMetrics(metrics.clone().reduced()).object(),
                other => other.object(),
            };
            take(object.to_string().as_bytes());
        }
        match &self.failed {
            Some(why) => Fetched::Partial { reasons: vec![why.clone()] },
            None => Fetched::Complete,
        }
    }
}

/// Whether a text may be output of `linkerd diagnostics`, by its beginning.
pub fn may_begin(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let has = |names: &[&str]| names.iter().all(|name| text.contains(name));
    begins_metrics(head)
        || has(&["Kind", "protocol"])
        || has(&["\"namespace\"", "\"ip\"", "\"pod\"", "\"service\""])
        || has(&["fully_qualified_name"])
}

/// The output of `policy` and `endpoints`, as JSON or YAML.
fn document(text: &str, of: Option<&PortOf>) -> Result<Vec<Answer>, UnusedText> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) if text.starts_with(['{', '[']) => return Err(UnusedText::Other),
        Err(_) => yaml::parse(text).map_err(|_| UnusedText::Other)?,
    };
    if let Some(rows) = value.as_array() {
        return endpoints(rows, replica_of(of).unwrap_or_default()).ok_or(UnusedText::Other);
    }
    if let Some(answer) = InboundAnswer::parse(&value) {
        let Some(PortOf { namespace, pod, port }) = of.cloned() else {
            return Err(UnusedText::Of(
                "the output of linkerd diagnostics policy does not name its pod and port: use --diagnostics \
                 NAMESPACE/POD:PORT=FILE",
            ));
        };
        return Ok(vec![Answer::Policy(PortPolicy { namespace, pod, port, answer })]);
    }
    let keys = |names: &[&str]| names.iter().all(|name| value.get(name).is_some());
    if keys(&["protocol", "metadata"]) {
        return Err(UnusedText::Of(
            "linkerd diagnostics policy of a Service is not compared: see the outbound policy with the \
             command policy --to",
        ));
    }
    if let Some(anchors) = value.get(TRUST_ANCHORS).and_then(Value::as_str) {
        return certificates(of, |one| one.anchors = anchors.to_owned());
    }
    if let (true, Some(replica)) = (keys(&["fully_qualified_name"]), replica_of(of)) {
        return profile(&value, replica).map(|profile| vec![profile]).ok_or(UnusedText::Other);
    }
    if keys(&["fully_qualified_name"]) || keys(&["retry_budget"]) {
        return Err(UnusedText::NotUsed(
            "checks read ServiceProfiles and opaque ports from objects. They compare the output of linkerd diagnostics \
             profile only between replicas: --diagnostics NAMESPACE/POD:8086=FILE",
        ));
    }
    Err(UnusedText::Other)
}

/// Certificates of the proxy that a text is of.
fn certificates(of: Option<&PortOf>, set: impl FnOnce(&mut ProxyCertificates)) -> Result<Vec<Answer>, UnusedText> {
    let Some(PortOf { namespace, pod, .. }) = of.cloned() else {
        return Err(UnusedText::Of(
            "certificates do not name the pod of their proxy: use --diagnostics NAMESPACE/POD:4191=FILE",
        ));
    };
    let mut one = ProxyCertificates { namespace, pod, ..ProxyCertificates::default() };
    set(&mut one);
    Ok(vec![Answer::ProxyCertificates(one)])
}

/// The pod of destination that a text is of.
fn replica_of(of: Option<&PortOf>) -> Option<&str> {
    of.filter(|of| of.port == DESTINATION_PORT).map(|of| of.pod.as_str())
}

/// The profile of a Service.
fn profile(value: &Value, replica: &str) -> Option<Answer> {
    let mut name = value.get("fully_qualified_name")?.as_str()?.split('.');
    let (service, namespace) = (name.next()?.to_owned(), name.next()?.to_owned());
    if name.next() != Some("svc") || !is_label(&service) || !is_label(&namespace) {
        return None;
    }
    let profile = ProfileAnswer::parse(value);
    let replica = replica.to_owned();
    Some(Answer::Profile(ReplicaProfile { namespace, service, replica, profile, ..ReplicaProfile::default() }))
}

/// The endpoints of Services, of a replica if it is known.
fn endpoints(rows: &[Value], replica: &str) -> Option<Vec<Answer>> {
    #[derive(Deserialize)]
    struct EndpointRow {
        namespace: String,
        ip: String,
        port: u16,
        pod: String,
        service: String,
    }
    let mut services: BTreeMap<(String, String), Vec<Endpoint>> = BTreeMap::new();
    for row in rows {
        let row: EndpointRow = serde_json::from_value(row.clone()).ok()?;
        let service = row.service.strip_suffix(&format!(".{}", row.namespace))?.to_owned();
        if !is_label(&row.namespace) || !is_label(&service) {
            return None;
        }
        let endpoints = services.entry((row.namespace, service)).or_default();
        if is_subdomain(&row.pod) || !replica.is_empty() && row.pod.is_empty() {
            endpoints.push(Endpoint { pod: row.pod, ip: row.ip, port: row.port, ..Endpoint::default() });
        }
    }
    let each = services.into_iter().map(|((namespace, service), mut endpoints)| {
        endpoints.sort();
        let replica = replica.to_owned();
        Answer::Endpoints(ServiceEndpoints { namespace, service, replica, endpoints, ..ServiceEndpoints::default() })
    });
    (!rows.is_empty()).then(|| each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Answer>, UnusedText> {
        let mut all = Diagnostics::default();
        all.read(text, None)?;
        Ok(all.answers.into_values().collect())
    }

    #[test]
    fn only_used_metric_series_are_kept() {
        let text = "#\n# POD web-1 (1 of 2)\n#\n# HELP x y\nrequest_total{authority=\"secret.example\"} 4\n\
            process_start_time_seconds 1768471200\nprocess_clock_time_seconds 1768478400.5\n\
            identity_cert_expiration_timestamp_seconds 1768550000\n\
            inbound_http_authz_deny_total{target_addr=\"10.0.0.1:8080\",target_port=\"8080\",srv_kind=\"server\",srv_name=\"web\",tls=\"true\",client_id=\"api.shop\"} 7\n\
            inbound_tcp_authz_deny_total{target_port=\"5432\",srv_kind=\"default\",srv_name=\"deny\"} 0\n\
            #\n# POD web-2 (2 of 2)\n#\n# ERROR: pod not running: web-2\n";
        let both = [text.to_owned(), text.replace('\n', "\r\n")];
        for text in both {
            let answers = read(&text).unwrap();
            let [Answer::ProxyMetrics(one), Answer::ProxyMetrics(two)] = answers.as_slice() else {
                panic!("{answers:?}")
            };
            assert_eq!(one.read_at, Some(1_768_478_400));
            assert_eq!(one.expires_at, Some(1_768_550_000));
            assert_eq!(one.denied.len(), 1);
            assert_eq!((one.denied[0].port, one.denied[0].count), (8080, 7));
            assert_eq!(one.denied[0].client, "api.shop");
            assert_eq!(two.error, "pod not running: web-2");
            assert!(!format!("{answers:?}").contains("secret"));
        }
    }

    #[test]
    fn metrics_as_served_need_the_name_of_their_pod() {
        let text = "# HELP proxy_build_info x\n# TYPE proxy_build_info gauge\nproxy_build_info{version=\"2.3\"} 1\n\
            process_start_time_seconds 1768471200\nprocess_uptime_seconds_total 60\n";
        let mut all = Diagnostics::default();
        assert!(matches!(all.read(text, None), Err(UnusedText::Of(why)) if why.contains("POD:PORT")));
        assert_eq!(all.read(text, PortOf::parse("shop/web-1:4191").as_ref()), Ok(1));
        let answers: Vec<Answer> = all.answers.into_values().collect();
        let [Answer::ProxyMetrics(one)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((one.namespace.as_str(), one.pod.as_str()), ("shop", "web-1"));
        assert_eq!(one.read_at, Some(1_768_471_260));
        let of_go = "# HELP go_goroutines x\n# TYPE go_goroutines gauge\ngo_goroutines 5\n";
        assert!(matches!(read(of_go), Err(UnusedText::Of(why)) if why.contains("controller-metrics")));
    }

    #[test]
    fn parts_of_metrics_without_comments_are_read() {
        let part = "process_clock_time_seconds 1768471260\noutbound_http_errors_total{error=\"failfast\"} 3\n";
        let mut all = Diagnostics::default();
        assert_eq!(all.read(part, PortOf::parse("shop/web-1:4191").as_ref()), Ok(1));
        let one = all.answers.values().find_map(Answer::of_proxy).expect("a proxy");
        assert_eq!(one.read_at, Some(1_768_471_260));
        let of_other = PortOf::parse("shop/web-1:8080");
        assert!(matches!(Diagnostics::default().read(part, of_other.as_ref()), Err(UnusedText::Of(_))));
        for text in ["fully_qualified_name: x\n", "retry_budget: 5\n", "5\n", "a_b c\n", "a_b{c 1\n"] {
            let read = Diagnostics::default().read(text, PortOf::parse("shop/web-1:4191").as_ref());
            assert!(read.is_err(), "{text}: {read:?}");
        }
    }

    #[test]
    fn compressed_files_are_read() {
        use std::io::Write as _;
        let text = "# TYPE proxy_build_info gauge\nproxy_build_info{version=\"2.366.0\"} 1\n";
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).expect("memory");
        let path = std::env::temp_dir().join(format!("diagnostics-{}.txt.gz", std::process::id()));
        std::fs::write(&path, packed.finish().expect("memory")).expect("a file");
        let read = Diagnostics::open(&[(PortOf::parse("shop/web-1:4191"), path.clone())]);
        std::fs::remove_file(&path).expect("the file");
        assert!(!read.expect("metrics").is_empty());
    }

    #[test]
    fn port_of_served_metrics_names_the_controller() {
        let of = |port: &str| PortOf::parse(&format!("linkerd/linkerd-identity-1:{port}"));
        let proxy = "# TYPE proxy_build_info gauge\nproxy_build_info{version=\"2.366.0\"} 1\n\
            process_start_time_seconds 1768471200\nprocess_clock_time_seconds 1768471260\n";
        let issuer = "# HELP issuer_cert_ttl_seconds x\n# TYPE issuer_cert_ttl_seconds gauge\n\
            issuer_cert_ttl_seconds 3600\nprocess_start_time_seconds 1768471200\n";
        let mut all = Diagnostics::default();
        assert_eq!(all.read(proxy, of("4191").as_ref()), Ok(1));
        assert_eq!(all.read(issuer, of("9990").as_ref()), Ok(1));
        let started = "# HELP a b\nprocess_start_time_seconds 1768471200\n";
        assert_eq!(all.read(started, of("9996").as_ref()), Ok(1));
        let both: Vec<_> = all.answers.values().filter_map(Answer::of_controller).collect();
        let both: Vec<_> = both.iter().map(|one| (one.container.as_str(), one.read_at)).collect();
        // The clock of the proxy may be older than the lifetime of the issuer.
        assert_eq!(both, [("destination", Some(1_768_471_260)), ("identity", None)]);
        let proxy = all.answers.values().find_map(Answer::of_proxy).expect("a proxy");
        assert_eq!(proxy.build(), Some("2.366.0"));
        assert!(matches!(all.read(issuer, of("8080").as_ref()), Err(UnusedText::Of(_))));
    }

    #[test]
    fn dump_of_prometheus_is_split_by_pod() {
        let text = "# TYPE endpoints_updates untyped\n\
            endpoints_updates{job=\"c\",namespace=\"linkerd\",pod=\"dst-1\",container=\"destination\",exported_namespace=\"shop\",service=\"web\",port=\"80\"} 7 1768471250000\n\
            # TYPE inbound_http_errors_total untyped\n\
            inbound_http_errors_total{job=\"p\",namespace=\"shop\",pod=\"web-1\",container=\"linkerd-proxy\",error=\"loadshed\",target_port=\"80\"} 3 1768471255000\n\
            inbound_http_errors_total{job=\"other\",namespace=\"shop\",pod=\"web-1\",container=\"linkerd-proxy\",error=\"loadshed\",target_port=\"80\"} 3 1768471255000\n\
            process_clock_time_seconds{job=\"p\",namespace=\"shop\",pod=\"web-1\",container=\"linkerd-proxy\"} 1768471254 1768471255000\n\
            process_start_time_seconds{job=\"p\",namespace=\"shop\",pod=\"web-1\",container=\"web\"} 1768471254 1768471255000\n";
        let answers = read(text).unwrap();
        let [Answer::ProxyMetrics(destination), Answer::ProxyMetrics(web)] = answers.as_slice() else {
            panic!("{answers:?}")
        };
        assert_eq!((destination.pod.as_str(), destination.container.as_str()), ("dst-1", "destination"));
        assert_eq!(destination.read_at, Some(1_768_471_250));
        assert_eq!(destination.series[0].label("namespace"), "shop");
        assert_eq!((web.namespace.as_str(), web.container.as_str()), ("shop", ""));
        assert_eq!((web.series.len(), web.series[0].value, web.read_at), (1, 3.0, Some(1_768_471_254)));
    }

    #[test]
    fn unused_output_has_a_reason() {
        let of = |text: &str| match read(text) {
            Err(UnusedText::Of(why)) => why,
            other => panic!("{text}: {other:?}"),
        };
        let profile = "{\"fully_qualified_name\": \"web.shop.svc.cluster.local\"}";
        assert!(matches!(read(profile), Err(UnusedText::NotUsed(why)) if why.contains("ServiceProfiles")));
        assert!(
            of("{\"protocol\":{\"Kind\":{\"Opaque\":{}}},\"labels\":{\"kind\":\"server\",\"name\":\"a\"}}")
                .contains("POD:PORT")
        );
        assert!(of("protocol:\n  Kind:\n    Detect: {}\nmetadata: {Kind: {}}\n").contains("--to"));
        for other in
            ["", "{}", "[]", "hello", "[1]", "{\"kind\":\"List\"}", "#\n# POD ../x (1 of 1)\n", "[{\"pod\":\"a\"}]"]
        {
            assert_eq!(read(other), Err(UnusedText::Other), "{other:?}");
        }
    }

    #[test]
    fn endpoints_are_those_of_services() {
        let text = r#"[{"namespace":"shop","ip":"10.1.0.4","port":8080,"pod":"web-1","service":"web.shop","weight":1,"labels":{}},
            {"namespace":"shop","ip":"203.0.113.7","port":4143,"pod":"","service":"web-east.shop","weight":1,"labels":null}]"#;
        let answers = read(text).unwrap();
        let [Answer::Endpoints(east), Answer::Endpoints(web)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((east.service.as_str(), east.endpoints.len()), ("web-east", 0));
        assert_eq!(web.endpoints, [of_pod()]);
    }

    fn of_pod() -> Endpoint {
        Endpoint { pod: "web-1".into(), ip: "10.1.0.4".into(), port: 8080, ..Endpoint::default() }
    }

    #[test]
    fn certificates_need_the_pod_and_keep_nothing_else() {
        let chain = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n\n";
        let environment = r#"{"LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS": "anchors", "OTHER": "secret"}"#;
        for text in [chain, environment] {
            assert!(matches!(read(text), Err(UnusedText::Of(why)) if why.contains("POD:4191")), "{text}");
        }
        let of = PortOf::parse("shop/web-1:4191");
        let mut all = Diagnostics::default();
        for text in [chain, environment] {
            assert_eq!(all.read(text, of.as_ref()), Ok(1));
        }
        let answers: Vec<Answer> = all.answers.into_values().collect();
        let [Answer::ProxyCertificates(one)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((one.pod.as_str(), one.chain.trim_end()), ("web-1", chain.trim_end()));
        assert_eq!((one.anchors.as_str(), one.error.as_str()), ("anchors", ""));
    }

    #[test]
    fn profiles_of_a_replica_are_read_twice() {
        let of = PortOf::parse("linkerd/linkerd-destination-1:8086");
        let first = r#"{"fully_qualified_name": "web.shop.svc.cluster.local", "routes": [{}, {}], "retry_budget": {}}"#;
        let second = r#"{"fully_qualified_name": "web.shop.svc.cluster.local", "opaque_protocol": true}"#;
        let mut all = Diagnostics::default();
        for text in [first, second] {
            assert_eq!(all.read(text, of.as_ref()), Ok(1));
        }
        let answers: Vec<Answer> = all.answers.into_values().collect();
        let [Answer::Profile(one)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((one.replica.as_str(), one.service.as_str()), ("linkerd-destination-1", "web"));
        assert_eq!(one.profile, ProfileAnswer { routes: 2, ..ProfileAnswer::default() });
        assert_eq!(one.again, Some(ProfileAnswer { opaque: true, ..ProfileAnswer::default() }));
    }

    #[test]
    fn endpoints_of_a_replica_are_read_twice() {
        let text = r#"[{"namespace":"shop","ip":"10.1.0.4","port":8080,"pod":"web-1","service":"web.shop"},
            {"namespace":"shop","ip":"203.0.113.7","port":4143,"pod":"","service":"web.shop"}]"#;
        let mut all = Diagnostics::default();
        let of = PortOf::parse("linkerd/linkerd-destination-1:8086");
        let other = PortOf::parse("linkerd/linkerd-destination-2:8086");
        for of in [&of, &other, &of] {
            assert_eq!(all.read(text, of.as_ref()), Ok(1));
        }
        let answers: Vec<Answer> = all.answers.into_values().collect();
        let [Answer::Endpoints(one), Answer::Endpoints(two)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((one.replica.as_str(), one.endpoints.len()), ("linkerd-destination-1", 2));
        assert_eq!(one.again.as_ref(), Some(&one.endpoints));
        assert_eq!((two.replica.as_str(), two.again.as_ref()), ("linkerd-destination-2", None));
    }

    #[test]
    fn pod_port_has_one_format() {
        assert_eq!(PortOf::parse("shop/web-1:8080").map(|of| of.port), Some(8080));
        for bad in ["", "web-1:8080", "shop/web-1", "shop/web-1:0", "shop/web-1:x", "a/b/c:1", "shop/../x:1", "S/a:1"] {
            assert_eq!(PortOf::parse(bad), None, "{bad}");
        }
    }
}
