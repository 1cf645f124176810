//! Parsers for flag values: durations, kinds, node evidence, versions. Each error describes the accepted values.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::finding::Severity;
use crate::inspect::outbound::{Called, NotCalled};
use crate::inspect::policy::{NoTarget, Target};
use crate::inspect::reach::{End, ParseTargetError};
use crate::item::Kind;
use crate::model::log::LogOf;
use crate::names::{A_NAMESPACE, A_NODE, is_label, is_subdomain};
use crate::objects::LabelSelector;
use crate::source::diagnostics::PortOf;
use crate::terminal::is_hostile;
use crate::version::{CniVersion, K8sVersion, LinkerdVersion, Minor};

/// The name of a namespace.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    if is_label(text) { Ok(text.to_owned()) } else { Err(A_NAMESPACE.to_owned()) }
}

/// A service account, with its namespace.
pub(super) fn service_account(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((namespace, name)) if is_label(namespace) && is_subdomain(name) => {
            Ok((namespace.to_owned(), name.to_owned()))
        }
        Some(_) | None => Err("expected NAMESPACE/NAME".to_owned()),
    }
}

/// The severity of a check's findings: `injector-fails-open=error`.
pub(super) fn severity(text: &str) -> Result<(String, Severity), String> {
    let (check, word) = text.rsplit_once('=').ok_or("expected CHECK=error, CHECK=warning or CHECK=info")?;
    let severity = match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Info,
        _ => return Err(format!("{word:?} is not a severity: use error, warning or info")),
    };
    Ok((check.to_owned(), severity))
}

/// A parameter of a check: `workload-without-owner.label=team`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The check.
    pub check: String,
    /// The parameter.
    pub name: String,
    /// The value, as written.
    pub value: String,
}

pub(super) fn parameter(text: &str) -> Result<Parameter, String> {
    let parts = text.split_once('=').and_then(|(of, value)| Some((of.split_once('.')?, value)));
    let Some(((check, name), value)) = parts else {
        return Err("expected CHECK.NAME=VALUE".to_owned());
    };
    Ok(Parameter { check: check.to_owned(), name: name.to_owned(), value: value.to_owned() })
}

/// A label selector, as in kubectl: `app=web,tier!=db`, `app in (a,b)`, `app`, `!app`.
pub(super) fn selector(text: &str) -> Result<LabelSelector, String> {
    LabelSelector::parse(text).ok_or_else(|| "not a label selector such as app=web,tier!=db".to_owned())
}

/// The name of a node.
pub(super) fn node(text: &str) -> Result<String, String> {
    if is_subdomain(text) { Ok(text.to_owned()) } else { Err(A_NODE.to_owned()) }
}

/// A duration as in kubectl: `30s`, `2m`, `1h30m`, or a number of seconds; `0` means no limit.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let signed: jiff::SignedDuration =
        text.parse().map_err(|_| "expected a duration such as 30s, 2m or 1h30m".to_owned())?;
    Duration::try_from(signed).map_err(|_| "a duration must not be negative".to_owned())
}

/// A duration greater than zero.
pub(super) fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("the time limit must be greater than 0; omit it for no limit".to_owned()),
        duration => Ok(duration),
    }
}

/// `--proxies`: the time between two reads of metrics.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        between if (1..=240).contains(&between.as_secs()) => Ok(between),
        _ => Err("the time between two reads is from 1s to 4m".to_owned()),
    }
}

/// `--max-proxies`.
pub(super) fn max_proxies(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (1..=2000).contains(number));
    number.ok_or_else(|| "the number of proxies is from 1 to 2000".to_owned())
}

/// `--prometheus`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrometheusArg {
    /// The server of the viz extension.
    Viz,
    /// A URL, without credentials, query and trailing slash.
    Url(String),
    /// A URL with credentials. It is rejected later, because clap would print it.
    WithCredentials,
}

impl fmt::Display for PrometheusArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrometheusArg::Viz => f.write_str("viz"),
            PrometheusArg::Url(url) => f.write_str(url),
            PrometheusArg::WithCredentials => f.write_str("a URL with credentials"),
        }
    }
}

/// `--prometheus`: `viz`, or a URL.
pub(super) fn prometheus(text: &str) -> Result<PrometheusArg, String> {
    if text == "viz" {
        return Ok(PrometheusArg::Viz);
    }
    // Also with a misspelled scheme: clap would print the value.
    if text.contains('@') {
        return Ok(PrometheusArg::WithCredentials);
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let rest = rest.ok_or("expected viz, or a URL such as https://prometheus.example:9090")?;
    let host = rest.split('/').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_graphic() && !"\"'\\<>`{}|^?#".contains(c);
    if host.is_empty() || !rest.chars().all(is_plain) {
        return Err("expected a URL without query and fragment, up to the path before /api/v1".to_owned());
    }
    Ok(PrometheusArg::Url(text.trim_end_matches('/').to_owned()))
}

/// `--prometheus-window`: the time between two values.
pub(super) fn window(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        window if (60..=24 * 60 * 60).contains(&window.as_secs()) => Ok(window),
        _ => Err("the window is from 1m to 24h".to_owned()),
    }
}

/// `--prometheus-label`: a label and its value.
pub(super) fn prometheus_label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected LABEL=VALUE, such as cluster=east")?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("{name:?} is not the name of a label: expected LABEL=VALUE"));
    }
    if value.is_empty() || value.chars().any(is_hostile) {
        return Err("the value of the label is missing or has control characters".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A time (RFC 3339).
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("{text:?} is not a time such as 2026-01-15T12:00:00Z"))
}

/// A part of `--complete`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompleteArg {
    /// Every kind.
    All,
    /// These kinds.
    Kinds(BTreeSet<Kind>),
}

pub(super) fn complete(text: &str) -> Result<CompleteArg, String> {
    if text == "all" {
        return Ok(CompleteArg::All);
    }
    let mut kinds = BTreeSet::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word.parse::<Kind>() {
            Ok(kind) => _ = kinds.insert(kind),
            // The full name of an unknown custom resource is accepted and ignored.
            Err(_) if word.split('.').count() >= 3 && is_resource(word) => {}
            Err(error) => {
                let names = Kind::all().map(|kind| kind.info().plural);
                let nearest = crate::nearest::closest(&word.to_ascii_lowercase(), names);
                let hint = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
                return Err(format!("{error}{hint}"));
            }
        }
    }
    Ok(CompleteArg::Kinds(kinds))
}

fn is_resource(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// One `--nodes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodesArg {
    /// `NAME=PATH`.
    One {
        /// The node's name.
        name: String,
        /// A snapshot, or a copy of a CNI configuration directory.
        path: PathBuf,
    },
    /// A folder or archive of node snapshots.
    Folder(PathBuf),
}

pub(super) fn nodes(text: &str) -> Result<NodesArg, String> {
    match text.split_once('=') {
        Some(("", _)) => Err("the node name before '=' is missing".to_owned()),
        Some((_, "")) => Err("the path after '=' is missing".to_owned()),
        // A path whose folder name contains '='.
        Some((name, _)) if name.contains('/') => Ok(NodesArg::Folder(PathBuf::from(text))),
        Some((name, path)) => Ok(NodesArg::One { name: node(name)?, path: PathBuf::from(path) }),
        None => Ok(NodesArg::Folder(PathBuf::from(text))),
    }
}

/// `--logs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogsArg {
    /// No value: logs of the cluster.
    Live,
    /// The source of the log, and the file.
    File(String, PathBuf),
}

/// `--logs`: empty, or the source of a log and its file. The file name may contain '=', the source may not.
pub(super) fn logs(text: &str) -> Result<LogsArg, String> {
    match text.split_once('=') {
        None if text.is_empty() => Ok(LogsArg::Live),
        Some(("", _)) => Err("the name of a node or pod before '=' is missing".to_owned()),
        Some((_, "")) => Err("the file after '=' is missing; '-' is standard input".to_owned()),
        Some((name, _)) if LogOf::parse(name).is_none() => {
            Err(format!("{name:?} is neither a node nor a pod: use NODE, NAMESPACE/POD or NAMESPACE/POD/CONTAINER"))
        }
        Some((name, path)) => Ok(LogsArg::File(name.to_owned(), PathBuf::from(path))),
        None => Err("expected NODE=FILE, NAMESPACE/POD=FILE or NAMESPACE/POD/CONTAINER=FILE".to_owned()),
    }
}

/// `--diagnostics`: the file, and the pod and port of its content if required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticsArg {
    /// The pod and port of `linkerd diagnostics policy`.
    pub of: Option<PortOf>,
    /// The file.
    pub path: PathBuf,
}

impl fmt::Display for DiagnosticsArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(PortOf { namespace, pod, port }) = &self.of {
            write!(f, "{namespace}/{pod}:{port}=")?;
        }
        write!(f, "{}", self.path.display())
    }
}

pub(super) fn diagnostics(text: &str) -> Result<DiagnosticsArg, String> {
    let (of, path) = match text.split_once('=') {
        // A path may contain '=', a name may not.
        Some((name, path)) if name.contains(':') => {
            let of = PortOf::parse(name)
                .ok_or_else(|| format!("{name:?} is not a pod port: expected NAMESPACE/POD:PORT=FILE"))?;
            (Some(of), path)
        }
        _ => (None, text),
    };
    if path.is_empty() {
        return Err("the file name is missing".to_owned());
    }
    Ok(DiagnosticsArg { of, path: PathBuf::from(path) })
}

/// `--linkerd-cli`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CliVersionArg {
    /// Use no CLI.
    None,
    /// Run the command at this path.
    Path(PathBuf),
    /// Use this version.
    Version(LinkerdVersion),
}

pub(super) fn cli_version(text: &str) -> Result<CliVersionArg, String> {
    if text == "none" {
        return Ok(CliVersionArg::None);
    }
    if text.contains(std::path::MAIN_SEPARATOR) || text.contains('/') {
        return Ok(CliVersionArg::Path(PathBuf::from(text)));
    }
    release(text).map(CliVersionArg::Version).map_err(|error| format!("{error}; a path must contain '/'"))
}

/// A version of Linkerd, as `linkerd version` states it.
pub(super) fn linkerd_version(text: &str) -> Result<LinkerdVersion, String> {
    text.parse().map_err(|error: crate::version::InvalidVersion| error.to_string())
}

/// A release of Linkerd; a minor is not enough.
pub(super) fn release(text: &str) -> Result<LinkerdVersion, String> {
    match text.strip_prefix('v').unwrap_or(text).parse::<Minor>() {
        Ok(minor) => Err(format!("{minor} is a minor, not a release: give a release, such as edge-25.4.4 for 2.18")),
        Err(_) => linkerd_version(text),
    }
}

/// A version of Kubernetes: `1.35`, `v1.35.1`.
pub(super) fn kubernetes_version(text: &str) -> Result<K8sVersion, String> {
    text.parse().map_err(|_| format!("{text:?} is not a Kubernetes version such as 1.35 or v1.35.1"))
}

/// A version of the linkerd-cni plugin, as its image tag states it.
pub(super) fn cni_version(text: &str) -> Result<CniVersion, String> {
    match CniVersion::from_tag(text) {
        version @ CniVersion::Plugin(_) => Ok(version),
        CniVersion::InLinkerd(_) | CniVersion::Unknown(_) => Err(format!(
            "{text:?} is not a linkerd-cni version: use an image tag of major 1 such as v1.6.8 or \
             v1.7.0-alpha.1"
        )),
    }
}

/// Client or destination of a connection.
pub(super) fn end(text: &str) -> Result<End, ParseTargetError> {
    text.parse()
}

/// Destination of outbound policy.
pub(super) fn called(text: &str) -> Result<Called, NotCalled> {
    text.parse()
}

/// Workload of inbound policy.
pub(super) fn target(text: &str) -> Result<Target, NoTarget> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cni_upgrade_target_is_a_plugin_version() {
        for text in ["v1.6.8", "1.6.8", "v1.7.0-alpha.1"] {
            assert!(cni_version(text).is_ok(), "{text}");
        }
        for text in ["1.7", "stable-2.14.10", "2025.8.1", "latest", ""] {
            assert!(cni_version(text).is_err(), "{text}");
        }
    }

    #[test]
    fn version_path_and_none_are_distinguished() {
        assert_eq!(cli_version("none"), Ok(CliVersionArg::None));
        assert!(matches!(cli_version("./linkerd"), Ok(CliVersionArg::Path(_))));
        for version in ["2.15.7", "edge-25.4.4", "stable-2.14.10", "enterprise-2.17.0-1"] {
            assert!(matches!(cli_version(version), Ok(CliVersionArg::Version(_))), "{version}");
        }
        assert!(cli_version("linkerd").is_err());
    }

    #[test]
    fn kinds_parse_like_kubectl_with_suggestions() {
        assert!(
            matches!(complete("ns,deploy,gateways.gateway.networking.k8s.io"), Ok(CompleteArg::Kinds(k)) if k.len() == 2)
        );
        assert!(complete("podz").is_err_and(|e| e.contains("did you mean pods")));
    }

    #[test]
    fn durations_parse_like_kubectl() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert!(duration("soon").is_err());
    }
}
