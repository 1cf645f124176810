//! What the operator set for a run, as far as checks care.

use std::collections::BTreeMap;

use super::rehearsal::Upgrade;
use crate::card::Mode;
use crate::chart::given::Given;
use crate::command::Rerun;
use crate::knowledge::RowMode;
use crate::version::{CniVersion, LinkerdVersion};

/// What the operator set for the run, as far as checks care.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `-n`: judge only workloads of these namespaces; empty means all. Never limits the control plane.
    pub namespaces: Vec<String>,
    /// `--to-cni`: the version of linkerd-cni that an upgrade is to go to; `None` means the newest release that is known.
    pub to_cni: Option<CniVersion>,
    /// The moment in the life of the mesh (`--pre`, `--crds`).
    pub mode: Mode,
    /// `--linkerd-cni-enabled`: the installation that is about to come relies on linkerd-cni.
    pub cni_expected: bool,
    /// `--expected-version`: the release that everything should be at; `None` means what the evidence and the release
    /// knowledge say.
    pub expected_version: Option<LinkerdVersion>,
    /// `--to`: the upgrade that is about to come.
    pub upgrade: Option<Upgrade>,
    /// `--linkerd-version`: the release that manifests are for, where they do not hold the control plane.
    pub linkerd_version: Option<LinkerdVersion>,
    /// Values that are about to be given to charts: by `--values`, or by objects among manifests.
    pub values: Vec<Given>,
    /// The flags that name the manifests or values that are judged, with what they are given; nothing: by themselves.
    pub manifests: Vec<(&'static str, String)>,
    /// Whether the world is judged in which that upgrade is done.
    pub upgraded: bool,
    /// `--proxy`: the rows of the data plane are wanted as well. Checks judge it anyway.
    pub data_plane: bool,
    /// `--param`: parameters of checks, by check and name.
    pub params: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// `--wait` and `verify`: what is starting counts as not ready, whatever its age.
    pub no_grace: bool,
    /// What it takes to ask the same question again.
    pub rerun: Rerun,
}

impl Settings {
    /// The way to run `linkerd check` that asks the same.
    pub fn row_mode(&self) -> RowMode {
        match self.mode {
            Mode::Installed | Mode::Upgrade if self.data_plane => RowMode::Proxy,
            Mode::Installed | Mode::Upgrade => RowMode::Default,
            Mode::Pre if self.cni_expected => RowMode::PreCni,
            Mode::Pre => RowMode::Pre,
            Mode::Crds => RowMode::Crds,
        }
    }
}
