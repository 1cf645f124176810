//! What it takes to ask the same question again: the options of a run that say which cluster was looked at, and how.

use serde::{Deserialize, Serialize};

use super::{Call, Connection};

/// What it takes to ask the same question again, as the command line had it. Bundles keep it, so that a report that is
/// made later prints the same commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rerun {
    /// How the cluster is reached.
    pub connection: Connection,
    /// Options of `check` that say what is looked at: `--linkerd-namespace mesh`, `--probe`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Flag>,
    /// The options that provided evidence beside the cluster: `--nodes`, `--logs`, `--diagnostics`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub provided: Vec<Flag>,
}

/// An option of `check` that is repeated, with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Which.
    pub option: Repeated,
    /// Its value, where it takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The options that are repeated. A bundle can name no other.
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
            Repeated::Knowledge => "--knowledge",
            Repeated::Live => "--live",
            Repeated::Nodes => "--nodes",
            Repeated::Logs => "--logs",
            Repeated::Diagnostics => "--diagnostics",
        }
    }
}

impl Rerun {
    /// Adds the options that say what is looked at; `probe`: running programs have to be asked, whatever they say.
    pub fn asked(&self, call: Call, probe: bool) -> Call {
        let is_said = self.options.iter().any(|flag| flag.option == Repeated::Probe);
        let call = repeated(call, self.options.iter().filter(|flag| flag.option != Repeated::Knowledge));
        if probe && !is_said { call.words("--probe") } else { call }
    }

    /// Adds the options that say how it is judged.
    pub fn judged(&self, call: Call) -> Call {
        repeated(call, self.options.iter().filter(|flag| flag.option == Repeated::Knowledge))
    }

    /// Adds the options that provide evidence of nodes and logs.
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
