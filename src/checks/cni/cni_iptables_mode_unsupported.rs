//! `cni-iptables-mode-unsupported`: the version of linkerd-cni rejects the configured iptables-mode.

use super::add_failures::{everywhere, hinted_add_failures, on_node};
use super::chart::{ChartValue, image_version};
use super::config_map::unreadable;
use super::nodes::Nodes;
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::pods::failed_deleted;
use super::remedy::{self, advised_version, first_with};
use crate::checks::prelude::*;
use crate::knowledge::{IptablesMode, Support};
use crate::model::cni::{self, template_reads, template_setting, version_of};
use crate::model::node::{ChainEntry, NodeSnapshot};
use crate::objects::DaemonSet;
use crate::version::CniVersion;

/// Signature of the error.
const SIGNATURE: &str = "iptables-mode-unsupported";

const MESSAGE: &str = "the version of linkerd-cni rejects its iptables-mode: new meshed pods cannot start on \
                       nodes with this mode";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets: Vec<&Workload> = ctx.partial_list::<DaemonSet>()?.iter().filter(|set| cni::is_installer(set)).collect();
    let config = ctx.object::<ConfigMap>(Scope::Cni, "linkerd-cni-config")?;
    let mut findings: Vec<Finding> = Vec::new();
    let template = config.and_then(|config| template(ctx, config));
    for set in sets.iter().filter(|set| config.is_some_and(|c| c.metadata.namespace == set.metadata.namespace)) {
        let Some((mode, evidence)) = &template else { continue };
        let Some(refusal) = ModeRefusal::find(ctx, version_of(&set.spec.template).as_ref(), mode) else {
            continue;
        };
        let subject = Subject::object("DaemonSet", &set.metadata.namespace, &set.metadata.name);
        findings.push(refusal.finding(ctx, subject, mode, evidence.clone()).tie(everywhere(SIGNATURE)));
    }
    on_nodes(ctx, template.as_ref().map(|(mode, _)| mode.as_str()), &mut findings);
    Ok(findings.into())
}

/// The mode that installers write on nodes, and its source.
fn template(ctx: &Context<'_>, config: &ConfigMap) -> Option<(String, Evidence)> {
    if !template_reads(config) {
        ctx.gap(unreadable(ctx, "data.cni_network_config is not JSON", "the template of the entry"));
        return None;
    }
    let mode = template_setting(config, "iptables-mode")?.as_str()?.to_owned();
    let object = format!("ConfigMap {}/linkerd-cni-config", config.metadata.namespace);
    let evidence = Evidence::field(object, "data.cni_network_config", format!("iptables-mode {mode:?}"));
    Some((mode, evidence))
}

/// The entries on nodes. An entry with the ConfigMap's mode is additional evidence; any other is a separate
/// finding.
fn on_nodes(ctx: &Context<'_>, to_come: Option<&str>, findings: &mut Vec<Finding>) {
    let nodes = Nodes::perhaps_with_files(ctx);
    let installed = super::installers::installed(ctx);
    for snapshot in nodes.snapshots() {
        for running in nodes.chain(ctx, snapshot).entries {
            let Some(mode) = running.entry.iptables_mode.value() else { continue };
            let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
            let version = plugin.version();
            let support = plugin.mode_supported(ctx, Some(mode));
            let Some(refusal) = ModeRefusal::by(support, version, mode) else { continue };
            let evidence = quote(snapshot, running, mode);
            let subject = entry_subject(snapshot, running.file, running.entry);
            match findings.iter_mut().find(|finding| finding.parameters.first() == Some(mode)) {
                Some(finding) => {
                    finding.subjects.push(subject);
                    finding.evidence.push(evidence);
                }
                None => {
                    let finding = refusal.finding(ctx, subject, mode, evidence);
                    let finding = finding.tie(on_node(SIGNATURE, &snapshot.node));
                    // The ConfigMap has another mode now, which only has to reach the node.
                    let set_right = to_come.is_some_and(|mode| ModeRefusal::find(ctx, version, mode).is_none());
                    findings.push(if set_right { finding.remedy(restarted(ctx, Remedy::new())) } else { finding });
                }
            }
        }
    }
}

fn quote(snapshot: &NodeSnapshot, running: ChainEntry<'_>, mode: &str) -> Evidence {
    let path = Some(running.entry.path_of("linkerd.iptables-mode"));
    in_file(snapshot, &running.file.path(), path, running.entry.iptables_mode.place(), format!("{mode:?}"))
}

/// Why a version rejects a mode.
struct ModeRefusal {
    /// The modes that the version accepts, or that no version supports this one.
    said: Evidence,
    /// The version is known; otherwise no known version supports the value.
    certain: bool,
}

impl ModeRefusal {
    fn find(ctx: &Context<'_>, version: Option<&CniVersion>, mode: &str) -> Option<ModeRefusal> {
        let plugin = ctx.knowledge.cni_plugin();
        let support = version.map_or(Support::Unknown, |version| plugin.mode_supported(version, Some(mode)));
        ModeRefusal::by(support, version, mode)
    }

    fn by(support: Support<'_>, version: Option<&CniVersion>, mode: &str) -> Option<ModeRefusal> {
        match (support, version) {
            (Support::No { accepted }, Some(version)) => {
                let accepted: Vec<String> = accepted.iter().map(ToString::to_string).collect();
                let said = format!("{version} accepts {}", accepted.join(", "));
                Some(ModeRefusal { said: Evidence::other("linkerd-cni plugin", said), certain: true })
            }
            (Support::No { .. } | Support::Unknown, None) | (Support::Unknown, Some(_))
                if !mode.is_empty() && mode.parse::<IptablesMode>().is_err() =>
            {
                let said = "no known version supports this mode".to_owned();
                Some(ModeRefusal { said: Evidence::other("linkerd-cni plugin", said), certain: false })
            }
            (Support::No { .. } | Support::Yes | Support::IgnoresKey | Support::Unknown, _) => None,
        }
    }

    fn finding(&self, ctx: &Context<'_>, subject: Subject, mode: &str, seen: Evidence) -> Finding {
        let finding = ctx
            .finding(subject, MESSAGE)
            .parameter(mode)
            .evidence(seen)
            .evidence(self.said.clone())
            .remedy(remedy(ctx, mode));
        if self.certain { finding } else { finding.severity(Severity::Warning).likely() }
    }
}

fn remedy(ctx: &Context<'_>, mode: &str) -> Remedy {
    let (words, value) = match mode.parse::<IptablesMode>() {
        Ok(known) => {
            let clean = advised_version(ctx);
            let words = format!(
                "Run a plugin that supports the mode: {known} needs {} or newer, but use {clean} or newer, \
                 because earlier versions leave dead tokens behind",
                first_with(ctx, known)
            );
            (words, image_version(clean))
        }
        Err(()) => {
            let words = format!(
                "Set iptablesMode to a mode that the plugin supports and whose binaries the nodes have: \
                 legacy, nft, or plain (from {} on)",
                first_with(ctx, IptablesMode::Plain)
            );
            (words, ChartValue::new("iptablesMode", "nft"))
        }
    };
    deleted_too(ctx, remedy::changed(ctx, Remedy::new(), words, None, &[value]))
}

/// Restarts the installers, so that nodes get the chart's values.
fn restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    deleted_too(ctx, remedy::restarted(ctx, remedy))
}

/// Deletes every pod that failed because of the mode.
fn deleted_too(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let adds = hinted_add_failures(ctx);
    let failing: Vec<_> = adds.iter().filter(|add| add.is(SIGNATURE)).collect();
    failed_deleted(ctx, remedy, &failing)
}
