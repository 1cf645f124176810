//! Which linkerd-cni a node has. Its image says so, as long as what the binary on the node answers to `VERSION` agrees;
//! where the tag is a vendor's, that answer leaves some versions, and what all of those do is known too. A version that
//! nothing tells is unknown, never old: neither the entry (charts and images are mixed) nor the order of its keys (Cilium
//! and multus write files anew in their own) says what runs.

use semver::Version;

use crate::checks::Context;
use crate::finding::Evidence;
use crate::knowledge::{HostBinaries, IptablesMode, PluginRelease, Support};
use crate::model::cni::Installed;
use crate::model::node::NodeSnapshot;
use crate::version::CniVersion;

/// The plugin on a node.
pub(super) struct PluginOn<'k> {
    /// What the image states, where nothing contradicts it.
    version: Option<CniVersion>,
    /// What it may be: one row for a version that is known, several where only its answer is, none for a stranger.
    rows: Vec<&'k PluginRelease>,
    /// What the binary answered, where the image does not settle it.
    answer: Option<String>,
}

/// The newest CNI specification that a node's plugin says it speaks.
fn answered(snapshot: &NodeSnapshot) -> Option<Version> {
    let answer = snapshot.linkerd_cni_version()?;
    answer.supported_versions.iter().filter_map(|version| version.parse().ok()).max()
}

impl<'k> PluginOn<'k> {
    /// Reads what `installed` was made from; `snapshot` where the node's files are there.
    pub(super) fn of(
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
            // A version newer than the file, or one that was released with Linkerd.
            (None, _) => !matches!(stated, Some(CniVersion::Unknown(_)) | None),
        };
        if agree {
            return PluginOn { version: stated, rows: row.into_iter().collect(), answer: None };
        }
        let rows = spec.as_ref().map_or_else(Vec::new, |spec| known.speaking(spec));
        PluginOn { version: None, rows, answer: spec.map(|spec| spec.to_string()) }
    }

    /// The version, where it is known exactly.
    pub(super) fn version(&self) -> Option<&CniVersion> {
        self.version.as_ref()
    }

    /// What is known of its version: one row, or all that it may be. Empty: nothing.
    pub(super) fn rows(&self) -> &[&'k PluginRelease] {
        &self.rows
    }

    /// The version is known exactly, rather than narrowed down by what the binary answers.
    pub(super) fn is_exact(&self) -> bool {
        self.answer.is_none()
    }

    /// What all that it may be have in common; `None` where they differ, or where nothing is known.
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

    /// What it runs on the host.
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

    /// What the binary answered, for findings that rest on it.
    pub(super) fn evidence(&self, node: &str) -> Option<Evidence> {
        let answer = self.answer.as_ref()?;
        let name = format!("node {node}");
        let said = match (self.rows.first(), self.rows.last()) {
            (Some(first), Some(last)) => format!(
                "linkerd-cni there supports up to CNI {answer}, as v{} to v{} do",
                first.first, last.first
            ),
            _ => format!("linkerd-cni there supports up to CNI {answer}"),
        };
        Some(Evidence::other(name, said))
    }
}
