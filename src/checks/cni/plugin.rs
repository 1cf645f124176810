//! The linkerd-cni version on a node. The image tag decides if the binary's answer to `VERSION` agrees. For a
//! vendor's tag, that answer leaves several versions, whose common behavior is known. Without either the
//! version is unknown, never old: the entry does not show it (charts and images are mixed), nor does the
//! order of its keys (Cilium and multus rewrite files in their own order).

use semver::Version;

use crate::checks::Context;
use crate::finding::Evidence;
use crate::knowledge::{HostBinaries, IptablesMode, PluginRelease, Support};
use crate::model::cni::Installed;
use crate::model::node::NodeSnapshot;
use crate::version::CniVersion;

/// The plugin on a node.
pub(super) struct PluginOn<'k> {
    /// The version of the image, unless the binary contradicts it.
    version: Option<CniVersion>,
    /// The possible versions: one row for a known version, several if only the binary's answer is known, none
    /// for an unknown version.
    rows: Vec<&'k PluginRelease>,
    /// The binary's answer, if the image does not decide.
    answer: Option<String>,
}

/// The newest CNI version that a node's plugin reports.
fn answered(snapshot: &NodeSnapshot) -> Option<Version> {
    let answer = snapshot.linkerd_cni_version()?;
    answer.supported_versions.iter().filter_map(|version| version.parse().ok()).max()
}

impl<'k> PluginOn<'k> {
    /// The plugin on a node. Reads the evidence of `installed`; `snapshot` has the node's files, if provided.
    pub(super) fn on_node(
        ctx: &Context<'k>,
        installed: &Installed<'_>,
        node: &str,
        snapshot: Option<&NodeSnapshot>,
    ) -> PluginOn<'k> {
        let known = ctx.knowledge.cni_plugin();
        let stated = installed.version_on(node);
        let row = stated.as_ref().and_then(|version| known.for_version(version));
        let spec = snapshot.and_then(answered);
        let agree = match (row, &spec) {
            (Some(row), Some(spec)) => row.cni_spec == *spec,
            (Some(_), None) => true,
            // A version newer than the data, or one that was released with Linkerd.
            (None, _) => !matches!(stated, Some(CniVersion::Unknown(_)) | None),
        };
        if agree {
            return PluginOn { version: stated, rows: row.into_iter().collect(), answer: None };
        }
        let rows = spec.as_ref().map_or_else(Vec::new, |spec| known.speaking(spec));
        PluginOn { version: None, rows, answer: spec.map(|spec| spec.to_string()) }
    }

    /// The version, if it is known exactly.
    pub(super) fn version(&self) -> Option<&CniVersion> {
        self.version.as_ref()
    }

    /// Facts about its version: one row, or all possible ones. Empty if nothing is known.
    pub(super) fn rows(&self) -> &[&'k PluginRelease] {
        &self.rows
    }

    /// Whether the version is known exactly, not only narrowed down by the binary's answer.
    pub(super) fn is_exact(&self) -> bool {
        self.answer.is_none()
    }

    /// The common value of all possible versions; `None` if they differ, or if nothing is known.
    pub(super) fn all<T: PartialEq>(&self, fact: impl Fn(&'k PluginRelease) -> T) -> Option<T> {
        let mut facts = self.rows.iter().map(|row| fact(row));
        let first = facts.next()?;
        facts.all(|other| other == first).then_some(first)
    }

    /// Whether it accepts a mode.
    pub(super) fn mode_supported(&self, ctx: &Context<'k>, mode: Option<&str>) -> Support<'k> {
        match &self.version {
            Some(version) => ctx.knowledge.cni_plugin().mode_supported(version, mode),
            None => self.all(|row| row.mode_supported(mode)).unwrap_or(Support::Unknown),
        }
    }

    /// The binaries that it runs on the host.
    pub(super) fn binaries(&self, ctx: &Context<'k>, mode: Option<&str>, ipv6: bool) -> Option<HostBinaries> {
        let known = ctx.knowledge.cni_plugin();
        match &self.version {
            Some(version) => known.binaries(version, mode, ipv6),
            None => self.all(|row| known.binaries_of(row, mode, ipv6)).flatten(),
        }
    }

    /// The modes that it tries in turn when a binary is missing.
    pub(super) fn fallbacks(&self) -> &'k [IptablesMode] {
        self.all(|row| row.falls_back.as_slice()).unwrap_or_default()
    }

    /// The binary's answer, for findings based on it.
    pub(super) fn evidence(&self, node: &str) -> Option<Evidence> {
        let answer = self.answer.as_ref()?;
        let name = format!("node {node}");
        let said = match (self.rows.first(), self.rows.last()) {
            (Some(first), Some(last)) => {
                format!("the node's linkerd-cni supports up to CNI {answer}, like v{} to v{}", first.first, last.first)
            }
            _ => format!("the node's linkerd-cni supports up to CNI {answer}"),
        };
        Some(Evidence::other(name, said))
    }
}
