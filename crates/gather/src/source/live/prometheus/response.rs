//! Responses of the HTTP API of Prometheus: vectors and matrices, and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::yaml;

/// Maximum number of series of one response.
pub(super) const MOST_SERIES: usize = 300_000;

/// A series of a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
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

/// A result, and the server's warnings that it may be incomplete.
#[derive(Debug, Default)]
pub(super) struct QueryResult {
    pub(super) series: Vec<Series>,
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
    warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    result_type: String,
    #[serde(borrow)]
    result: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawResponse {
    metric: BTreeMap<String, String>,
    #[serde(default)]
    value: Option<(f64, String)>,
    #[serde(default)]
    values: Vec<(f64, String)>,
}

impl Series {
    /// A label; empty if missing.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// Parses the response to a query.
pub(super) fn parse(body: &[u8]) -> Result<QueryResult, InvalidResponse> {
    let Envelope { data, warnings, .. } = envelope(body)?;
    let data: Data<'_> = data
        .and_then(|data| serde_json::from_str(data.get()).ok())
        .filter(|data: &Data<'_>| ["vector", "matrix"].contains(&data.result_type.as_str()))
        .ok_or(InvalidResponse::Other)?;
    if data.result.len() > MOST_SERIES {
        return Err(InvalidResponse::TooMany);
    }
    let each = data.result.into_iter().map(|one| series(one.get()).ok_or(InvalidResponse::Other));
    Ok(QueryResult { series: each.collect::<Result<_, _>>()?, warnings })
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

fn series(json: &str) -> Option<Series> {
    let RawResponse { metric, value, values } = serde_json::from_str(json).ok()?;
    let samples = value.into_iter().chain(values);
    let samples = samples.map(|(time, value)| Some(Sample { time, value: value.parse().ok()? }));
    Some(Series { labels: metric, samples: samples.collect::<Option<_>>()? })
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
    let drops =
        |config: &Value| config["metric_relabel_configs"].as_array().is_some_and(|all| !all.is_empty());
    let keeps = |job: &String| {
        let mut of_job = all.iter().filter(|config| config["job_name"].as_str() == Some(job)).peekable();
        of_job.peek().is_some() && of_job.all(|config| !drops(config))
    };
    !all.is_empty() && !all.iter().any(drops) || !jobs.is_empty() && jobs.iter().all(keeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the documentation of the HTTP API, with values that are not finite.
    const MATRIX: &str = r#"{"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": {"__name__": "up", "job": "linkerd-proxy"}, "values": [[1768478280, "1"], [1768478880.5, "NaN"]]},
        {"metric": {}, "values": [[1768478880.5, "+Inf"]]}]}, "warnings": ["a store is unavailable"]}"#;

    #[test]
    fn vectors_and_matrices_are_read() {
        let result = parse(MATRIX.as_bytes()).expect("a result");
        assert_eq!(result.warnings, ["a store is unavailable"]);
        let [one, two] = result.series.as_slice() else { panic!("{result:?}") };
        assert_eq!(one.label("job"), "linkerd-proxy");
        assert_eq!(one.samples[0], Sample { time: 1_768_478_280.0, value: 1.0 });
        assert!(one.samples[1].value.is_nan() && two.samples[0].value.is_infinite());
        let vector =
            r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}"#;
        assert_eq!(parse(vector.as_bytes()).expect("a result").series[0].samples.len(), 1);
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
            (
                r#"{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}"#,
                InvalidResponse::Other,
            ),
            (
                r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}"#,
                InvalidResponse::Other,
            ),
        ] {
            assert_eq!(parse(body.as_bytes()).err(), Some(reason), "{body}");
        }
    }

    #[test]
    fn dropped_series_are_known_from_the_configuration() {
        let config =
            |yaml: &str| serde_json::json!({"status": "success", "data": {"yaml": yaml}}).to_string();
        let keeps =
            |body: &str, job: &str| keeps_every_series(body.as_bytes(), &BTreeSet::from([job.to_owned()]));
        let plain = config("scrape_configs:\n- job_name: linkerd-proxy\n- job_name: other\n");
        assert!(keeps(&plain, "linkerd-proxy") && keeps(&plain, "renamed"));
        let drops = "scrape_configs:\n- job_name: linkerd-proxy\n- job_name: other\n  \
                     metric_relabel_configs:\n  - {action: drop}\n";
        assert!(keeps(&config(drops), "linkerd-proxy"));
        assert!(!keeps(&config(drops), "other") && !keeps(&config(drops), "renamed"));
        for unknown in
            ["", "<html>", r#"{"status":"error","error":"x"}"#, &config("{"), &config("global: {}")]
        {
            assert!(!keeps(unknown, "linkerd-proxy"), "{unknown}");
        }
    }
}
