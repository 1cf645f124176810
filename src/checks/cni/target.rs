//! The DaemonSet of linkerd-cni that remedies change: its namespace, the tool that manages it, and its
//! version.

use crate::checks::Context;
use crate::knowledge::PluginRelease;
use crate::model::cni;
use crate::model::managed_by::{Installer, ManagedBy};
use crate::objects::{DaemonSet, Workload};
use crate::version::CniVersion;

/// The name of the DaemonSet in the chart and the CLI.
const NAME: &str = "linkerd-cni";

/// The DaemonSet that remedies name: the one in the namespace of linkerd-cni, else the charts' default name.
pub(super) struct CniDaemonSet<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// The tool that manages it; `None` if no DaemonSet is known.
    pub(super) managed_by: Option<ManagedBy<'a>>,
    /// The version in its template.
    pub(super) version: Option<CniVersion>,
    pub(super) set: Option<&'a Workload>,
}

/// Reads `daemonsets.apps`.
pub(super) fn target<'a>(ctx: &Context<'a>) -> CniDaemonSet<'a> {
    let namespace = ctx.namespaces().cni.as_str();
    let installers: Vec<&Workload> =
        ctx.optional_list::<DaemonSet>().iter().filter(|set| cni::is_installer(set)).collect();
    let in_namespace = installers.iter().find(|set| set.metadata.namespace == namespace);
    match in_namespace.or_else(|| installers.first()) {
        Some(set) => CniDaemonSet {
            namespace: &set.metadata.namespace,
            name: &set.metadata.name,
            managed_by: Some(ManagedBy::from_metadata(&set.metadata)),
            version: cni::version_of(&set.spec.template),
            set: Some(set),
        },
        None => CniDaemonSet { namespace, name: NAME, managed_by: None, version: None, set: None },
    }
}

/// The target version that the user requested, if any.
pub(super) fn asked_for<'a>(ctx: &Context<'a>) -> Option<&'a CniVersion> {
    let settings = ctx.settings;
    settings.to_cni.as_ref().or_else(|| Some(settings.upgrade.as_ref()?.plugin.as_ref()?.by(by_cli(ctx))))
}

/// Whether the CLI installed linkerd-cni.
pub(super) fn by_cli(ctx: &Context<'_>) -> bool {
    target(ctx).managed_by.is_some_and(|by| by.installer == Some(Installer::Cli) && by.gitops.is_none())
}

impl<'a> CniDaemonSet<'a> {
    /// The image of its installer, as written.
    pub(super) fn image(&self) -> Option<&'a str> {
        Some(self.set?.spec.template.spec.container(cni::INSTALLER)?.image.as_str())
    }

    /// Facts about the version in its template.
    pub(super) fn release<'k>(&self, ctx: &Context<'k>) -> Option<&'k PluginRelease> {
        ctx.knowledge.cni_plugin().for_version(self.version.as_ref()?)
    }

    /// Whether the version in its template leaves its entry and a dead token behind when it stops.
    pub(super) fn clean_up_broken(&self, ctx: &Context<'_>) -> bool {
        self.release(ctx).is_some_and(|row| row.clean_up_broken)
    }
}
