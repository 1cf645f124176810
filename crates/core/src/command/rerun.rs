//! Options to repeat a request: cluster and evidence.

use serde::{Deserialize, Serialize};

use super::{Call, Connection};

/// Options to repeat a request, as on the command line. Bundles store them, so that later reports print the same
/// commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rerun {
    /// Connection options.
    pub connection: Connection,
    /// Options of `check` for the scope: `--linkerd-namespace mesh`, `--probe`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Flag>,
    /// Options for additional evidence: `--nodes`, `--logs`, `--diagnostics`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub provided: Vec<Flag>,
}

/// A repeated option of `check`, with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Which.
    pub option: Repeated,
    /// Its value, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The options that are repeated. A bundle cannot contain others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// `--linkerd-namespace`.
    LinkerdNamespace,
    /// `--cni-namespace`.
    CniNamespace,
    /// `--linkerd-cli`.
    LinkerdCli,
    /// `--probe`.
    Probe,
    /// `--proxies`.
    Proxies,
    /// `--max-proxies`.
    MaxProxies,
    /// `--prometheus`.
    Prometheus,
    /// `--prometheus-window`.
    PrometheusWindow,
    /// `--prometheus-token-file`.
    PrometheusTokenFile,
    /// `--prometheus-ca`.
    PrometheusCa,
    /// `--prometheus-label`.
    PrometheusLabel,
    /// `--knowledge`.
    Knowledge,
    /// `--live`.
    Live,
    /// `--nodes`.
    Nodes,
    /// `--logs`.
    Logs,
    /// `--diagnostics`.
    Diagnostics,
}

impl Repeated {
    fn word(self) -> &'static str {
        match self {
            Repeated::LinkerdNamespace => "--linkerd-namespace",
            Repeated::CniNamespace => "--cni-namespace",
            Repeated::LinkerdCli => "--linkerd-cli",
            Repeated::Probe => "--probe",
            Repeated::Proxies => "--proxies",
            Repeated::MaxProxies => "--max-proxies",
            Repeated::Prometheus => "--prometheus",
            Repeated::PrometheusWindow => "--prometheus-window",
            Repeated::PrometheusTokenFile => "--prometheus-token-file",
            Repeated::PrometheusCa => "--prometheus-ca",
            Repeated::PrometheusLabel => "--prometheus-label",
            Repeated::Knowledge => "--knowledge",
            Repeated::Live => "--live",
            Repeated::Nodes => "--nodes",
            Repeated::Logs => "--logs",
            Repeated::Diagnostics => "--diagnostics",
        }
    }
}

impl Rerun {
    /// Adds the scope options, and an option that the evidence requires.
    pub fn asked(&self, call: Call, required: Option<Repeated>) -> Call {
        let call = repeated(call, self.options.iter().filter(|flag| flag.option != Repeated::Knowledge));
        // Metrics come from one source.
        let provides = |option: Repeated, required: Repeated| {
            option == required || (option, required) == (Repeated::Prometheus, Repeated::Proxies)
        };
        let is_missing =
            |required: &Repeated| self.options.iter().all(|flag| !provides(flag.option, *required));
        required.filter(is_missing).into_iter().fold(call, |call, required| call.words(required.word()))
    }

    /// Adds the options for evaluation.
    pub fn judged(&self, call: Call) -> Call {
        repeated(call, self.options.iter().filter(|flag| flag.option == Repeated::Knowledge))
    }

    /// Adds the options for additional evidence.
    pub fn providing(&self, call: Call) -> Call {
        repeated(call, &self.provided)
    }
}

fn repeated<'a>(call: Call, flags: impl IntoIterator<Item = &'a Flag>) -> Call {
    flags.into_iter().fold(call, |call, flag| {
        let call = call.words(flag.option.word());
        match &flag.value {
            Some(value) => call.arg(value),
            None => call,
        }
    })
}
