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
    /// Whether its value is a file or folder of the user, with a name before it if needed.
    fn is_file(self) -> bool {
        matches!(
            self,
            Repeated::Nodes
                | Repeated::Logs
                | Repeated::Diagnostics
                | Repeated::Knowledge
                | Repeated::LinkerdCli
                | Repeated::PrometheusTokenFile
                | Repeated::PrometheusCa
        )
    }

    fn label(self) -> &'static str {
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

/// A value with the name of its file or folder only. A name before `=` remains: `NAMESPACE/POD:PORT=FILE`.
fn without_folder(value: &str) -> String {
    let (name, path) = value.split_at(value.find('=').map_or(0, |at| at + 1));
    let path = path.trim_end_matches('/');
    let file = path.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or(path);
    format!("{name}{file}")
}

impl Rerun {
    /// Adds the scope options, and an option that the evidence requires.
    pub fn with_scope_options(&self, call: Call, required: Option<Repeated>) -> Call {
        let call = repeated(call, self.options.iter().filter(|flag| flag.option != Repeated::Knowledge));
        // Metrics come from one source.
        let provides = |option: Repeated, required: Repeated| {
            option == required || (option, required) == (Repeated::Prometheus, Repeated::Proxies)
        };
        let is_missing = |required: &Repeated| self.options.iter().all(|flag| !provides(flag.option, *required));
        required.filter(is_missing).into_iter().fold(call, |call, required| call.words(required.label()))
    }

    /// The same without the folders of given files: they name the user and the machine, and mean nothing elsewhere.
    #[must_use]
    pub fn without_folders(mut self) -> Rerun {
        for flag in self.options.iter_mut().chain(&mut self.provided).filter(|flag| flag.option.is_file()) {
            if let Some(value) = &mut flag.value {
                *value = without_folder(value);
            }
        }
        self
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
        let call = call.words(flag.option.label());
        match &flag.value {
            Some(value) => call.arg(value),
            None => call,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_given_files_are_not_stored() {
        for (value, stored) in [
            ("/home/kim/mesh/before.txt", "before.txt"),
            ("shop/web-0:4191=/home/kim/raw.txt", "shop/web-0:4191=raw.txt"),
            ("ip-10-0-1-12=../nodes/one/", "ip-10-0-1-12=one"),
            ("before.txt", "before.txt"),
        ] {
            let flag = |option| Flag { option, value: Some(value.to_owned()) };
            let rerun = Rerun { provided: vec![flag(Repeated::Diagnostics)], ..Rerun::default() };
            assert_eq!(rerun.without_folders().provided[0].value.as_deref(), Some(stored));
        }
        let label = Flag { option: Repeated::PrometheusLabel, value: Some("cluster=a/b".to_owned()) };
        let rerun = Rerun { options: vec![label.clone()], ..Rerun::default() };
        assert_eq!(rerun.without_folders().options, [label]);
    }
}
