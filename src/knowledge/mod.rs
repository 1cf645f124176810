//! Typed loaders of `checks/knowledge/*.yaml`: the facts that change with releases. Each file is embedded and parsed when
//! it is first asked for, so commands that need none of them pay nothing; a directory can override file by file. No check
//! lives here, and no fact: a wrong answer is corrected in the YAML.

mod annotations;
mod calls;
mod channels;
mod chart_values;
mod charts;
mod cni_plugin;
mod cni_words;
mod control_plane;
mod extensions;
mod file;
mod free_text;
mod key;
mod linkerd_check;
mod mesh_logs;
mod native_sidecar;
mod nearest;
mod node;
mod platforms;
mod policy_controller;
mod protocols;
mod proxy_metrics;
mod range;
mod redaction;
mod releases;
mod signatures;
mod unread;
mod upgrades;
mod value;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

pub use annotations::{Annotations, NotAKey};
pub use calls::Calls;
pub use channels::{Channels, Origin};
pub use chart_values::{ChartType, ChartValues};
pub use charts::{Chart, ChartValue, Charts, Found, Known, Refusal, ValueKind, Wanted};
pub use cni_plugin::{CniPlugin, HostBinaries, PluginDefect, PluginRelease, Support};
pub use cni_words::{Backend, IptablesMode, Ipv6, ServerForm, TokenRefresh};
pub use control_plane::{
    ControlPlane, ControlPlaneService, Definition, FoundBy, GrantedRole, GroupVersion, NamespacedRole,
};
pub use extensions::{Extensions, MirrorKind, ServiceMirror};
pub use file::KnowledgeError;
pub use free_text::{FreeText, KeyValue};
pub use key::{Key, KeyKind, KeyScope, KeyStatus, OnInvalid, WrittenBy};
pub use linkerd_check::{COMMAND, LinkerdCheck, Row, RowCategory, RowList, RowMode, RowSeverity};
pub use mesh_logs::{MeshLogs, MeshSignature, written_at};
pub use native_sidecar::{KeysRead, NativeSidecar};
pub use nearest::Suggestion;
pub(crate) use nearest::apart;
pub use node::{Containerd, Crictl, Crio, Kubelet, Log, LogPlaces, NodePlaces};
pub use platforms::{Certainty, Network, Platform, Platforms, System};
pub use policy_controller::PolicyController;
pub use protocols::{First, KnownProtocol, Protocols};
pub use proxy_metrics::{MetricMeaning, ProxyMetricNames};
pub use range::ReleaseRange;
pub use redaction::{Field, Fields, META, Redaction, Sort};
pub use releases::{
    ChartDefault, Defect, GatewayApi, GatewayChannel, KubernetesRange, NotRecommended, ReleaseRow, Releases,
};
pub use signatures::{AddFailure, Signature, SignatureScope, Signatures};
pub use unread::{UnreadKind, UnreadKinds};
pub use upgrades::{
    Between, DefaultMatters, Effect, GoneArchitecture, GoneExtension, LostValue, RenamedPort, Upgrades,
};
pub use value::ValueType;

use crate::version::MinorTable;
use file::{KnowledgeFile, Part};

/// All knowledge files.
#[derive(Debug, Default)]
pub struct Knowledge {
    annotations: Part<Annotations>,
    native_sidecar: Part<NativeSidecar>,
    releases: Part<Releases>,
    cni_plugin: Part<CniPlugin>,
    signatures: Part<Signatures>,
    platforms: Part<Platforms>,
    node: Part<NodePlaces>,
    policy_controller: Part<PolicyController>,
    protocols: Part<Protocols>,
    calls: Part<Calls>,
    proxy_metrics: Part<ProxyMetricNames>,
    linkerd_check: Part<LinkerdCheck>,
    mesh_logs: Part<MeshLogs>,
    control_plane: Part<ControlPlane>,
    chart_values: Part<ChartValues>,
    charts: Part<Charts>,
    channels: Part<Channels>,
    extensions: Part<Extensions>,
    unread: Part<UnreadKinds>,
    upgrades: Part<Upgrades>,
    redaction: Part<Redaction>,
    free_text: Part<FreeText>,
    /// Keys that were asked about, and whether they are meant for the switch for native sidecars: a cluster has few keys
    /// and many objects, and comparing one with every known key takes long.
    sidecar_keys: Mutex<HashMap<String, bool>>,
}

impl Knowledge {
    /// What this build was made with.
    pub fn embedded() -> &'static Knowledge {
        static EMBEDDED: OnceLock<Knowledge> = OnceLock::new();
        EMBEDDED.get_or_init(Knowledge::default)
    }

    /// The embedded files, each replaced by the file of the same name in `dir` where there is one.
    ///
    /// # Errors
    /// A directory that cannot be read, a `.yaml` in it that is no knowledge file, and any file that does not parse or
    /// contradicts itself; the error names the file and, where the parser knows it, line and column.
    pub fn load(dir: &Path) -> Result<Knowledge, KnowledgeError> {
        file::refuse_strangers(
            dir,
            &[
                Annotations::NAME,
                NativeSidecar::NAME,
                Releases::NAME,
                CniPlugin::NAME,
                Signatures::NAME,
                Platforms::NAME,
                NodePlaces::NAME,
                PolicyController::NAME,
                Protocols::NAME,
                Calls::NAME,
                ProxyMetricNames::NAME,
                LinkerdCheck::NAME,
                MeshLogs::NAME,
                ControlPlane::NAME,
                ChartValues::NAME,
                Charts::NAME,
                Channels::NAME,
                Extensions::NAME,
                UnreadKinds::NAME,
                Upgrades::NAME,
                Redaction::NAME,
                FreeText::NAME,
            ],
        )?;
        Ok(Knowledge {
            annotations: Part::load(dir)?,
            native_sidecar: Part::load(dir)?,
            releases: Part::load(dir)?,
            cni_plugin: Part::load(dir)?,
            signatures: Part::load(dir)?,
            platforms: Part::load(dir)?,
            node: Part::load(dir)?,
            policy_controller: Part::load(dir)?,
            protocols: Part::load(dir)?,
            calls: Part::load(dir)?,
            linkerd_check: Part::load(dir)?,
            mesh_logs: Part::fixed(dir)?,
            proxy_metrics: Part::fixed(dir)?,
            control_plane: Part::load(dir)?,
            chart_values: Part::load(dir)?,
            charts: Part::load(dir)?,
            channels: Part::load(dir)?,
            extensions: Part::load(dir)?,
            unread: Part::load(dir)?,
            upgrades: Part::load(dir)?,
            redaction: Part::fixed(dir)?,
            free_text: Part::fixed(dir)?,
            sidecar_keys: Mutex::default(),
        })
    }

    /// Whether a key is meant for the switch for native sidecars: as `judge` says when a key is asked about first.
    pub(crate) fn means_native_sidecar(&self, key: &str, judge: impl FnOnce() -> bool) -> bool {
        let known = || self.sidecar_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known().get(key) {
            return *answer;
        }
        let answer = judge();
        known().insert(key.to_owned(), answer);
        answer
    }

    /// The day on which the releases table was last checked against the world. A cluster newer than that may know keys
    /// and defects that no file here does.
    pub fn date(&self) -> jiff::civil::Date {
        self.releases().date()
    }

    /// `annotations.yaml`: every annotation and label key.
    pub fn annotations(&self) -> &Annotations {
        self.annotations.get()
    }

    /// `policy-controller.yaml`: what the policy controller of a release does with objects.
    pub fn policy_controller(&self) -> &PolicyController {
        self.policy_controller.get()
    }

    /// `native-sidecar.yaml`: which keys switch to native sidecars.
    pub fn native_sidecar(&self) -> &NativeSidecar {
        self.native_sidecar.get()
    }

    /// `releases.yaml`: the minors, their ranges and defects.
    pub fn releases(&self) -> &Releases {
        self.releases.get()
    }

    /// Which edge opened which minor.
    pub fn minors(&self) -> &MinorTable {
        self.releases().minors()
    }

    /// `cni-plugin.yaml`: the plugin's versions.
    pub fn cni_plugin(&self) -> &CniPlugin {
        self.cni_plugin.get()
    }

    /// `signatures.yaml`: what error texts mean.
    pub fn signatures(&self) -> &Signatures {
        self.signatures.get()
    }

    /// `calls.yaml`: what callers get if a call fails.
    pub fn calls(&self) -> &Calls {
        self.calls.get()
    }

    /// `protocols.yaml`: protocols that detection holds up.
    pub fn protocols(&self) -> &Protocols {
        self.protocols.get()
    }

    /// `proxy-metrics.yaml`: the names of the proxy's metrics that are read.
    pub fn proxy_metrics(&self) -> &ProxyMetricNames {
        self.proxy_metrics.get()
    }

    /// `platforms.yaml`: directories and binaries by platform.
    pub fn platforms(&self) -> &Platforms {
        self.platforms.get()
    }

    /// `linkerd-check.yaml`: the rows of `linkerd check`.
    pub fn linkerd_check(&self) -> &LinkerdCheck {
        self.linkerd_check.get()
    }

    /// `mesh-logs.yaml`: what lines in the logs of the control plane and of proxies mean.
    pub fn mesh_logs(&self) -> &MeshLogs {
        self.mesh_logs.get()
    }

    /// `chart-values.yaml`: the types of what `linkerd-config` holds.
    pub fn chart_values(&self) -> &ChartValues {
        self.chart_values.get()
    }

    /// `charts.yaml`: which values charts take.
    pub fn charts(&self) -> &Charts {
        self.charts.get()
    }

    /// `channels.yaml`: where the charts, CLI and images of each channel come from.
    pub fn channels(&self) -> &Channels {
        self.channels.get()
    }

    /// `control-plane.yaml`: accounts, rights and definitions of a control plane.
    pub fn control_plane(&self) -> &ControlPlane {
        self.control_plane.get()
    }

    /// `extensions.yaml`: what extensions bring with them.
    pub fn extensions(&self) -> &Extensions {
        self.extensions.get()
    }

    /// `unread.yaml`: kinds that no check reads.
    pub fn unread(&self) -> &UnreadKinds {
        self.unread.get()
    }

    /// What upgrades change.
    pub fn upgrades(&self) -> &Upgrades {
        self.upgrades.get()
    }

    /// `redaction.yaml`: what passes the sanitizer.
    pub fn redaction(&self) -> &Redaction {
        self.redaction.get()
    }

    /// `free-text.yaml`: what passes of messages, journals and logs.
    pub fn free_text(&self) -> &FreeText {
        self.free_text.get()
    }

    /// `node.yaml`: where a node keeps what a snapshot of it reads.
    pub fn node(&self) -> &NodePlaces {
        self.node.get()
    }
}
