//! Typed loaders of `checks/knowledge/*.yaml`: facts that change with releases. Each file is embedded and parsed on
//! first use; a directory can override single files. Wrong facts are corrected in the YAML.

mod admission;
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
mod go_duration;
mod key;
mod known_defects;
mod linkerd_check;
mod mesh_logs;
mod native_sidecar;
mod nearest;
mod node;
mod pasted;
mod plain_line;
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

pub use admission::{AdmissionRule, AdmissionRules, Schema, SchemaRule, SchemaType};
pub use annotations::{Annotations, NotAKey};
pub use calls::Calls;
pub use channels::{Channels, Origin};
pub use chart_values::{ChartType, ChartValues};
pub use charts::{Chart, ChartValue, Charts, Found, Known, Refusal, ValueKind, Wanted};
pub use cni_plugin::{CniPlugin, HostBinaries, PluginDefect, PluginRelease, Support};
pub use cni_words::{Backend, IptablesMode, Ipv6, ServerForm, TokenRefresh};
pub use control_plane::{
    ChartWebhook, ControlPlane, ControlPlaneService, Definition, FoundBy, GrantedRole, GroupVersion, NamespacedRole,
};
pub use extensions::{Extensions, MirrorKind, ServiceMirror};
pub use file::KnowledgeError;
pub use free_text::{FreeText, Hole, KeyValue, Template};
pub use go_duration::go_duration;
pub use key::{Key, KeyKind, KeyScope, KeyStatus, OnInvalid, WrittenBy};
pub use known_defects::{AffectedComponent, DefectTrigger, KnownDefect, KnownDefects, Reach, WorkaroundCommand};
pub use linkerd_check::{COMMAND, CheckRow, LinkerdCheck, RowCategory, RowList, RowMode, RowSeverity};
pub use mesh_logs::{MeshLogs, MeshSignature, written_at};
pub use native_sidecar::{KeysRead, NativeSidecar};
pub use nearest::Suggestion;
pub use nearest::edit_distance;
pub use node::{Containerd, Crictl, Crio, Kubelet, Log, LogPlaces, NodePlaces};
pub use pasted::{AnsweredBy, BareStatus, ExitCode, Pasted, ProxyError, ProxyVariable};
pub use plain_line::{PrefixedLine, plain_line};
pub use platforms::{Certainty, Network, Platform, Platforms, System};
pub use policy_controller::{FirstEdge, PolicyController};
pub use protocols::{First, KnownProtocol, Protocols};
pub use proxy_metrics::{
    MetricFamily, MetricGroup, MetricKind, MetricMeaning, ProxyMetricNames, ScrapeLabels, SkipReason,
};
pub use range::ReleaseRange;
pub use redaction::{Field, Fields, META, Redaction, Sort};
pub use releases::{
    ChartDefault, Defect, GatewayApi, GatewayChannel, KubernetesRange, NotRecommended, ReleaseRow, Releases,
};
pub use signatures::{AddFailure, Signature, SignatureScope, Signatures};
pub use unread::{UnreadKind, UnreadKinds};
pub use upgrades::{
    Between, DefaultMatters, Effect, GoneArchitecture, GoneExtension, LostValue, RenamedPort, RetypedValue,
    UnstoredValue, Upgrades,
};
pub use value::{Resource, ValueType, policy_duration};

use crate::version::MinorTable;
use file::{KnowledgeFile, LazyTable};

/// All knowledge files.
#[derive(Debug, Default)]
pub struct Knowledge {
    admission: LazyTable<AdmissionRules>,
    annotations: LazyTable<Annotations>,
    native_sidecar: LazyTable<NativeSidecar>,
    releases: LazyTable<Releases>,
    cni_plugin: LazyTable<CniPlugin>,
    signatures: LazyTable<Signatures>,
    platforms: LazyTable<Platforms>,
    node: LazyTable<NodePlaces>,
    policy_controller: LazyTable<PolicyController>,
    protocols: LazyTable<Protocols>,
    pasted: LazyTable<Pasted>,
    calls: LazyTable<Calls>,
    proxy_metrics: LazyTable<ProxyMetricNames>,
    linkerd_check: LazyTable<LinkerdCheck>,
    mesh_logs: LazyTable<MeshLogs>,
    control_plane: LazyTable<ControlPlane>,
    chart_values: LazyTable<ChartValues>,
    charts: LazyTable<Charts>,
    channels: LazyTable<Channels>,
    extensions: LazyTable<Extensions>,
    unread: LazyTable<UnreadKinds>,
    upgrades: LazyTable<Upgrades>,
    known_defects: LazyTable<KnownDefects>,
    redaction: LazyTable<Redaction>,
    free_text: LazyTable<FreeText>,
    /// Cache of keys and whether they are meant as native-sidecar switch: a cluster has few keys and many objects, and
    /// comparing one with all known keys is slow.
    sidecar_keys: Mutex<HashMap<String, bool>>,
}

impl Knowledge {
    /// The embedded files.
    pub fn embedded() -> &'static Knowledge {
        static EMBEDDED: OnceLock<Knowledge> = OnceLock::new();
        EMBEDDED.get_or_init(Knowledge::default)
    }

    /// The embedded files, with replacements from `dir`.
    ///
    /// # Errors
    /// The directory cannot be read, a `.yaml` in it is not a knowledge file, or a file does not parse or contradicts
    /// itself; the error names the file and, if known, line and column.
    pub fn load(dir: &Path) -> Result<Knowledge, KnowledgeError> {
        file::refuse_strangers(
            dir,
            &[
                AdmissionRules::NAME,
                Annotations::NAME,
                NativeSidecar::NAME,
                Releases::NAME,
                CniPlugin::NAME,
                Signatures::NAME,
                Platforms::NAME,
                NodePlaces::NAME,
                PolicyController::NAME,
                Protocols::NAME,
                Pasted::NAME,
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
                KnownDefects::NAME,
                Redaction::NAME,
                FreeText::NAME,
            ],
        )?;
        Ok(Knowledge {
            admission: LazyTable::load(dir)?,
            annotations: LazyTable::load(dir)?,
            native_sidecar: LazyTable::load(dir)?,
            releases: LazyTable::load(dir)?,
            cni_plugin: LazyTable::load(dir)?,
            signatures: LazyTable::load(dir)?,
            platforms: LazyTable::load(dir)?,
            node: LazyTable::load(dir)?,
            policy_controller: LazyTable::load(dir)?,
            protocols: LazyTable::load(dir)?,
            pasted: LazyTable::load(dir)?,
            calls: LazyTable::load(dir)?,
            linkerd_check: LazyTable::load(dir)?,
            mesh_logs: LazyTable::fixed(dir)?,
            proxy_metrics: LazyTable::fixed(dir)?,
            control_plane: LazyTable::load(dir)?,
            chart_values: LazyTable::load(dir)?,
            charts: LazyTable::load(dir)?,
            channels: LazyTable::load(dir)?,
            extensions: LazyTable::load(dir)?,
            unread: LazyTable::load(dir)?,
            upgrades: LazyTable::load(dir)?,
            known_defects: LazyTable::load(dir)?,
            redaction: LazyTable::fixed(dir)?,
            free_text: LazyTable::fixed(dir)?,
            sidecar_keys: Mutex::default(),
        })
    }

    /// Whether a key is meant as native-sidecar switch; calls `judge` on the first request for a key.
    pub fn means_native_sidecar(&self, key: &str, judge: impl FnOnce() -> bool) -> bool {
        let known = || self.sidecar_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known().get(key) {
            return *answer;
        }
        let answer = judge();
        known().insert(key.to_owned(), answer);
        answer
    }

    /// Date on which the releases table was last reviewed. Newer clusters may have keys and defects that no file
    /// contains.
    pub fn date(&self) -> jiff::civil::Date {
        self.releases().date()
    }

    /// `admission.yaml`: what schemas and webhooks reject.
    pub fn admission(&self) -> &AdmissionRules {
        self.admission.get()
    }

    /// `annotations.yaml`: every annotation and label key.
    pub fn annotations(&self) -> &Annotations {
        self.annotations.get()
    }

    /// `policy-controller.yaml`: behavior of the policy controller by release.
    pub fn policy_controller(&self) -> &PolicyController {
        self.policy_controller.get()
    }

    /// `native-sidecar.yaml`: keys that enable native sidecars.
    pub fn native_sidecar(&self) -> &NativeSidecar {
        self.native_sidecar.get()
    }

    /// `releases.yaml`: the minors, their ranges and defects.
    pub fn releases(&self) -> &Releases {
        self.releases.get()
    }

    /// The edge that opened each minor.
    pub fn minors(&self) -> &MinorTable {
        self.releases().minors()
    }

    /// `cni-plugin.yaml`: versions of the plugin.
    pub fn cni_plugin(&self) -> &CniPlugin {
        self.cni_plugin.get()
    }

    /// `signatures.yaml`: meanings of error texts.
    pub fn signatures(&self) -> &Signatures {
        self.signatures.get()
    }

    /// `calls.yaml`: errors that clients see if a request fails.
    pub fn calls(&self) -> &Calls {
        self.calls.get()
    }

    /// `protocols.yaml`: protocols that protocol detection delays.
    pub fn protocols(&self) -> &Protocols {
        self.protocols.get()
    }

    /// `pasted.yaml`: texts that people see outside of a report.
    pub fn pasted(&self) -> &Pasted {
        self.pasted.get()
    }

    /// `proxy-metrics.yaml`: names of proxy metrics.
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

    /// `mesh-logs.yaml`: meanings of log lines of control plane and proxies.
    pub fn mesh_logs(&self) -> &MeshLogs {
        self.mesh_logs.get()
    }

    /// `chart-values.yaml`: types of values in `linkerd-config`.
    pub fn chart_values(&self) -> &ChartValues {
        self.chart_values.get()
    }

    /// `charts.yaml`: values of charts.
    pub fn charts(&self) -> &Charts {
        self.charts.get()
    }

    /// `channels.yaml`: sources of charts, CLI and images of each channel.
    pub fn channels(&self) -> &Channels {
        self.channels.get()
    }

    /// `control-plane.yaml`: accounts, permissions and definitions of a control plane.
    pub fn control_plane(&self) -> &ControlPlane {
        self.control_plane.get()
    }

    /// `extensions.yaml`: objects of extensions.
    pub fn extensions(&self) -> &Extensions {
        self.extensions.get()
    }

    /// `unread.yaml`: kinds that no check reads.
    pub fn unread(&self) -> &UnreadKinds {
        self.unread.get()
    }

    /// Changes of upgrades.
    pub fn upgrades(&self) -> &Upgrades {
        self.upgrades.get()
    }

    /// `defects.yaml`: known defects of releases.
    pub fn known_defects(&self) -> &KnownDefects {
        self.known_defects.get()
    }

    /// `redaction.yaml`: fields that are not redacted.
    pub fn redaction(&self) -> &Redaction {
        self.redaction.get()
    }

    /// `free-text.yaml`: parts of messages, journals and logs that are kept.
    pub fn free_text(&self) -> &FreeText {
        self.free_text.get()
    }

    /// `node.yaml`: paths that a node snapshot reads.
    pub fn node(&self) -> &NodePlaces {
        self.node.get()
    }
}
