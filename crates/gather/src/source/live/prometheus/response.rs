//! Responses of the HTTP API of Prometheus: vectors and matrices, and the configuration. The series of a result are
//! read one at a time from its text, so memory does not grow with their number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::yaml;

/// Maximum number of series of one response.
pub(super) const MOST_SERIES: usize = 300_000;
/// Maximum number of labels of a series. Queries name those that the server keeps.
pub(super) const MOST_LABELS: usize = 100;
/// Maximum size of the labels of a series.
const LARGEST_LABELS: usize = 64 << 10;

/// A series of a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuerySeries {
    pub(super) labels: BTreeMap<String, String>,
    /// Its values.
    pub(super) samples: Vec<Sample>,
}

/// A value at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// Seconds since 1970.
    pub(super) time: f64,
    /// The value; may be NaN or infinite.
    pub(super) value: f64,
}

/// A valid result, and the server's warnings that it may be incomplete.
#[derive(Debug)]
pub(super) struct QueryResult {
    body: Vec<u8>,
    /// Position of the series in the body.
    series: Range<usize>,
    pub(super) warnings: Vec<String>,
}

/// Reason why a response is not a result.
#[derive(Debug, PartialEq)]
pub(super) enum InvalidResponse {
    /// An HTML page.
    Html,
    /// Not a response of the API.
    Other,
    /// More series than are read.
    TooMany,
    /// A series with more or larger labels than are read.
    TooWide,
    /// The server reports an error.
    Failed(String),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    status: String,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(default)]
    error: String,
    #[serde(default)]
    warnings: Option<Vec<String>>,
    /// Whether a cluster of VictoriaMetrics could not read all its nodes.
    #[serde(default, rename = "isPartial")]
    is_partial: Option<bool>,
}

/// The warning of a result that the server marks as a part.
const PARTIAL: &str = "the server marks the result as partial (isPartial)";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    result_type: String,
    #[serde(borrow)]
    result: &'a RawValue,
}

#[derive(Deserialize)]
struct RawResponse {
    #[serde(deserialize_with = "labels")]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    value: Option<(f64, String)>,
    #[serde(default)]
    values: Vec<(f64, String)>,
}

impl QuerySeries {
    /// A label; empty if missing.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    fn parse(json: &str) -> Result<QuerySeries, InvalidResponse> {
        let RawResponse { metric, value, values } = serde_json::from_str(json)
            .map_err(|error| if is(&error, TOO_WIDE) { InvalidResponse::TooWide } else { InvalidResponse::Other })?;
        let samples = value.into_iter().chain(values);
        let samples = samples.map(|(time, value)| Some(Sample { time, value: value.parse().ok()? }));
        let samples = samples.collect::<Option<_>>().ok_or(InvalidResponse::Other)?;
        Ok(QuerySeries { labels: metric, samples })
    }
}

impl QueryResult {
    /// Reads the response to a query, and all its series once: later, every one can be read.
    pub(super) fn parse(body: Vec<u8>) -> Result<QueryResult, InvalidResponse> {
        let Envelope { data, warnings, is_partial, .. } = envelope(&body)?;
        let mut warnings = warnings.unwrap_or_default();
        if is_partial == Some(true) {
            warnings.push(PARTIAL.to_owned());
        }
        let data: Data<'_> = data
            .and_then(|data| serde_json::from_str(data.get()).ok())
            .filter(|data: &Data<'_>| ["vector", "matrix"].contains(&data.result_type.as_str()))
            .ok_or(InvalidResponse::Other)?;
        let text = data.result.get();
        each(text, &mut |_| {})?;
        // The text is a part of the body.
        let start = (text.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
        let series = start..start + text.len();
        Ok(QueryResult { body, series, warnings })
    }

    /// Reads each series.
    pub(super) fn each(&self, take: &mut dyn FnMut(QuerySeries)) {
        let text = self.body.get(self.series.clone()).and_then(|text| std::str::from_utf8(text).ok());
        // It was read before.
        _ = each(text.unwrap_or("[]"), take);
    }
}

fn envelope(body: &[u8]) -> Result<Envelope<'_>, InvalidResponse> {
    if body.trim_ascii_start().starts_with(b"<") {
        return Err(InvalidResponse::Html);
    }
    let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|_| InvalidResponse::Other)?;
    match envelope.status.as_str() {
        "success" => Ok(envelope),
        "error" => Err(InvalidResponse::Failed(envelope.error)),
        _ => Err(InvalidResponse::Other),
    }
}

/// Reads the series of a list one after another.
fn each(list: &str, take: &mut dyn FnMut(QuerySeries)) -> Result<(), InvalidResponse> {
    let mut invalid = None;
    let visitor = Each { take, invalid: &mut invalid };
    match serde_json::Deserializer::from_str(list).deserialize_seq(visitor) {
        Ok(()) => Ok(()),
        Err(_) => Err(invalid.unwrap_or(InvalidResponse::Other)),
    }
}

struct Each<'a> {
    take: &'a mut dyn FnMut(QuerySeries),
    invalid: &'a mut Option<InvalidResponse>,
}

impl<'de> Visitor<'de> for Each<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of series")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(one) = list.next_element::<&RawValue>()? {
            count += 1;
            let series =
                if count > MOST_SERIES { Err(InvalidResponse::TooMany) } else { QuerySeries::parse(one.get()) };
            match series {
                Ok(series) => (self.take)(series),
                Err(invalid) => {
                    *self.invalid = Some(invalid);
                    return Err(A::Error::custom("invalid"));
                }
            }
        }
        Ok(())
    }
}

/// The error of [`labels`].
const TOO_WIDE: &str = "too many or too large labels";

fn is(error: &serde_json::Error, text: &str) -> bool {
    error.is_data() && error.to_string().starts_with(text)
}

/// The labels of a series, if they are not too many.
fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct Labels;
    impl<'de> Visitor<'de> for Labels {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of labels")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut labels = BTreeMap::new();
            let mut size = 0;
            while let Some((name, value)) = map.next_entry::<String, String>()? {
                size += name.len() + value.len();
                labels.insert(name, value);
                if labels.len() > MOST_LABELS || size > LARGEST_LABELS {
                    return Err(A::Error::custom(TOO_WIDE));
                }
            }
            Ok(labels)
        }
    }
    deserializer.deserialize_map(Labels)
}

/// Whether these jobs store every series that they scrape, by the response to a request of the configuration.
/// `false` if it is unknown.
pub(super) fn keeps_every_series(body: &[u8], jobs: &BTreeSet<String>) -> bool {
    #[derive(Deserialize)]
    struct Configuration {
        yaml: String,
    }
    let config = envelope(body)
        .ok()
        .and_then(|envelope| serde_json::from_str::<Configuration>(envelope.data?.get()).ok())
        .and_then(|config| yaml::parse::<Value>(&config.yaml).ok());
    let Some(config) = config else { return false };
    let Some(all) = config["scrape_configs"].as_array() else { return false };
    let drops = |config: &Value| config["metric_relabel_configs"].as_array().is_some_and(|all| !all.is_empty());
    let keeps = |job: &String| {
        let mut of_job = all.iter().filter(|config| config["job_name"].as_str() == Some(job)).peekable();
        of_job.peek().is_some() && of_job.all(|config| !drops(config))
    };
    !all.is_empty() && !all.iter().any(drops) || !jobs.is_empty() && jobs.iter().all(keeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_result_has_a_warning() {
        let with = |field: &str| {
            let data = r#""data": {"resultType": "vector", "result": []}"#;
            let body = format!(r#"{{"status": "success", {field} {data}}}"#);
            QueryResult::parse(body.into_bytes()).map(|result| result.warnings)
        };
        assert_eq!(with(r#""isPartial": true,"#), Ok(vec![PARTIAL.to_owned()]));
        for whole in ["", r#""isPartial": false,"#, r#""warnings": null,"#] {
            assert_eq!(with(whole), Ok(Vec::new()), "{whole}");
        }
    }

    /// As in the documentation of the HTTP API, with values that are not finite.
    const MATRIX: &str = r#"{"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": "up", "job": "linkerd-proxy"}, "values": [[1768478280, "1"], [1768478880.5, "NaN"]]},
        {"metric": {}, "values": [[1768478880.5, "+Inf"]]}]}, "warnings": ["a store is unavailable"]}"#;

    fn read(result: &QueryResult) -> Vec<QuerySeries> {
        let mut all = Vec::new();
        result.each(&mut |series| all.push(series));
        all
    }

    #[test]
    fn vectors_and_matrices_are_read() {
        let result = QueryResult::parse(MATRIX.into()).expect("a result");
        assert_eq!(result.warnings, ["a store is unavailable"]);
        let all = read(&result);
        let [one, two] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(one.label("job"), "linkerd-proxy");
        assert_eq!(one.samples[0], Sample { time: 1_768_478_280.0, value: 1.0 });
        assert!(one.samples[1].value.is_nan() && two.samples[0].value.is_infinite());
        let vector = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}"#;
        let vector = QueryResult::parse(vector.into()).expect("a result");
        assert_eq!(read(&vector)[0].samples.len(), 1);
    }

    #[test]
    fn other_responses_have_a_reason() {
        let error = r#"{"status":"error","errorType":"timeout","error":"query timed out"}"#;
        for (body, reason) in [
            ("\n<!DOCTYPE html><title>Login</title>", InvalidResponse::Html),
            (error, InvalidResponse::Failed("query timed out".to_owned())),
            ("", InvalidResponse::Other),
            ("{}", InvalidResponse::Other),
            ("[]", InvalidResponse::Other),
            (&MATRIX[..200], InvalidResponse::Other),
            (r#"{"status":"success"}"#, InvalidResponse::Other),
            (r#"{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}"#, InvalidResponse::Other),
            (
                r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}"#,
                InvalidResponse::Other,
            ),
        ] {
            assert_eq!(QueryResult::parse(body.into()).err(), Some(reason), "{body}");
        }
    }

    #[test]
    fn series_and_their_labels_have_limits() {
        let body = |series: &str| {
            format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{series}]}}}}"#).into_bytes()
        };
        let labels = |count: usize, value: &str| {
            let all: Vec<String> = (0..count).map(|at| format!("\"l{at}\":\"{value}\"")).collect();
            format!(r#"{{"metric":{{{}}},"value":[1,"2"]}}"#, all.join(","))
        };
        assert!(QueryResult::parse(body(&labels(MOST_LABELS, "x"))).is_ok());
        for wide in [labels(MOST_LABELS + 1, "x"), labels(1, &"x".repeat(LARGEST_LABELS))] {
            let reason = QueryResult::parse(body(&format!("{},{wide}", labels(1, "x")))).err();
            assert_eq!(reason, Some(InvalidResponse::TooWide));
        }
        let one = format!("{},", labels(1, "x"));
        let many = one.repeat(MOST_SERIES + 1);
        let reason = QueryResult::parse(body(many.trim_end_matches(','))).err();
        assert_eq!(reason, Some(InvalidResponse::TooMany));
    }

    #[test]
    fn dropped_series_are_known_from_the_configuration() {
        let config = |yaml: &str| serde_json::json!({"status": "success", "data": {"yaml": yaml}}).to_string();
        let keeps = |body: &str, job: &str| keeps_every_series(body.as_bytes(), &BTreeSet::from([job.to_owned()]));
        let plain = config("scrape_configs:\n- job_name: linkerd-proxy\n- job_name: other\n");
        assert!(keeps(&plain, "linkerd-proxy") && keeps(&plain, "renamed"));
        let drops = "scrape_configs:\n- job_name: linkerd-proxy\n- job_name: other\n  \
                     metric_relabel_configs:\n  - {action: drop}\n";
        assert!(keeps(&config(drops), "linkerd-proxy"));
        assert!(!keeps(&config(drops), "other") && !keeps(&config(drops), "renamed"));
        for unknown in ["", "<html>", r#"{"status":"error","error":"x"}"#, &config("{"), &config("global: {}")] {
            assert!(!keeps(unknown, "linkerd-proxy"), "{unknown}");
        }
    }
}
