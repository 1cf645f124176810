//! The operator's settings of a run, as far as checks need them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::rehearsal::Upgrade;
use crate::card::Mode;
use crate::chart::values_input::ValuesInput;
use crate::command::Rerun;
use crate::knowledge::RowMode;
use crate::model::traffic::EarlierTraffic;
use crate::version::{CniVersion, LinkerdVersion};

/// The operator's settings of a run, as far as checks need them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `-n`: check only workloads of these namespaces; empty means all. Never limits the control plane.
    pub namespaces: Vec<String>,
    /// `--to-cni`: the target version of linkerd-cni; `None` means the newest known release.
    pub to_cni: Option<CniVersion>,
    /// The moment in the life of the mesh (`--pre`, `--crds`).
    pub mode: Mode,
    /// `--linkerd-cni-enabled`: the installation that is about to come relies on linkerd-cni.
    pub cni_expected: bool,
    /// `--expected-version`: the release that everything should run; `None` means the one from the evidence
    /// and the release data.
    pub expected_version: Option<LinkerdVersion>,
    /// `--to`: the planned upgrade.
    pub upgrade: Option<Upgrade>,
    /// `--linkerd-version`: the release that manifests are for, if they do not include the control plane.
    pub linkerd_version: Option<LinkerdVersion>,
    /// Values for charts: from `--values` or from objects among the manifests.
    pub values: Vec<ValuesInput>,
    /// The flags for the checked manifests or values, with their arguments; an empty argument means a flag
    /// without one.
    pub manifests: Vec<(&'static str, String)>,
    /// Whether the state after that upgrade is evaluated.
    pub upgraded: bool,
    /// `--proxy`: also output the rows of the data plane. Checks run anyway.
    pub data_plane: bool,
    /// `--param`: parameters of checks, by check and name.
    pub params: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// `--wait` and `verify`: starting components count as not ready, whatever their age.
    pub no_grace: bool,
    /// `--before`: numbers of proxies from before a change.
    pub before: Option<EarlierTraffic>,
    /// The data for a command that repeats this run.
    pub rerun: Rerun,
    /// When the remaining checks are skipped; `None` means never.
    pub time_limit: Option<TimeLimit>,
}

/// A time limit for the checks of a run. Checks that have not begun by then are gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    until: Instant,
    length: Duration,
}

impl TimeLimit {
    /// A limit of that length from `began` on. One that is too long to be represented is none.
    pub fn from_start(began: Instant, length: Duration) -> Option<TimeLimit> {
        Some(TimeLimit { until: began.checked_add(length)?, length })
    }

    /// The length of the limit in seconds, if it has passed.
    pub(super) fn passed(self) -> Option<u64> {
        (Instant::now() >= self.until).then(|| self.length.as_secs().max(1))
    }
}

impl Settings {
    /// The mode of `linkerd check` that corresponds to this run.
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
