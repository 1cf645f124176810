//! `cni-iptables-binary-missing`: the mode of linkerd-cni needs iptables binaries that the node does not
//! have.

use std::collections::BTreeMap;

use super::add_failures::{by_node, hinted_add_failures, on_node, quoted};
use super::cni_add_exit_127;
use super::config_map::config;
use super::mode::mode_remedy;
use super::nodes::{Nodes, lacks, silent};
use super::places::{entry_subject, in_file, not_looked_at};
use super::plugin::PluginOn;
use super::usable::{BY_ADVICE, Usable, pair};
use crate::checks::prelude::*;
use crate::knowledge::{Certainty, IptablesMode, Support};
use crate::model::cni::{Installed, template_setting};
use crate::model::node::{ChainEntry, Looked, NodeSnapshot};
use crate::model::sandbox::AddFailure;

const MESSAGE: &str = "meshed pods cannot start on the node: it lacks an iptables binary of linkerd-cni's mode";
const INFERRED: &str = "meshed pods cannot start on the node, most likely because it lacks an iptables \
                        binary of linkerd-cni's mode";
const FALLS_BACK: &str = "the node lacks an iptables binary of linkerd-cni's mode: this version falls back \
                          to another mode, but an older one would fail for every meshed pod";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::perhaps_with_files(ctx);
    let adds = hinted_add_failures(ctx);
    let scan = IptablesScan {
        ctx,
        installed: super::installers::installed(ctx),
        failing: by_node(adds.iter().filter(|add| add.is(cni_add_exit_127::SIGNATURE))),
        nodes,
    };
    let mut findings = Vec::new();
    for snapshot in scan.nodes.snapshots() {
        for running in scan.nodes.chain(ctx, snapshot).entries {
            findings.extend(scan.on_node(snapshot, running));
        }
    }
    findings.extend(scan.inferred());
    Ok(findings.into())
}

struct IptablesScan<'c, 'a, 'r> {
    ctx: &'c Context<'a>,
    nodes: Nodes<'a>,
    installed: Installed<'a>,
    failing: BTreeMap<&'a str, Vec<&'r AddFailure<'a>>>,
}

/// The required binaries and their mode; `None` for versions without modes.
struct Needs {
    names: Vec<String>,
    mode: Option<IptablesMode>,
}

impl<'a> IptablesScan<'_, 'a, '_> {
    fn on_node(&self, snapshot: &NodeSnapshot, running: ChainEntry<'_>) -> Option<Finding> {
        let node = snapshot.node.as_str();
        let written = running.entry.iptables_mode.value().map(String::as_str);
        let plugin = PluginOn::on_node(self.ctx, &self.installed, node, Some(snapshot));
        let needs = self.needs(snapshot, &plugin, written)?;
        let missing = self.missing(snapshot, &needs.names)?;
        let failing = self.failing.get(node).map_or(&[][..], Vec::as_slice);
        let usable = Usable::from_node(self.ctx, snapshot);
        let falls_back = plugin.fallbacks().iter().any(|mode| usable.has(*mode));
        let host = snapshot.host_binaries.as_ref();
        let path = host.and_then(|host| host.runtime_path.as_deref());
        let on = path.map_or_else(|| "the runtime's PATH".to_owned(), |path| format!("the PATH {path}"));
        let names: Vec<String> = missing.iter().map(|name| snapshot.absent_binary(name)).collect();
        let said = match (written, needs.mode) {
            (Some(mode), Some(_)) => format!("{mode:?}"),
            (Some(mode), None) => format!("{mode:?}, which this version ignores: it runs iptables"),
            (None, Some(mode)) => format!("not set, which means {mode} in this version"),
            (None, None) => "not set: this version runs iptables".to_owned(),
        };
        let place = running.entry.iptables_mode.place().or(Some(running.entry.place()));
        let field = Some(running.entry.path_of("linkerd.iptables-mode"));
        let finding = self
            .ctx
            .finding(
                entry_subject(snapshot, running.file, running.entry),
                if falls_back { FALLS_BACK } else { MESSAGE },
            )
            .parameter(missing.join(" "))
            .evidence(Evidence::other(format!("node {node}"), format!("not on {on}: {}", names.join(", "))))
            .evidence(in_file(snapshot, &running.file.path(), field, place, said))
            .evidences(self.installed.image_on(node))
            .evidences(plugin.evidence(node))
            .evidences(quoted(failing))
            .remedy(mode_remedy(self.ctx, node, plugin.version(), &usable, failing))
            .tie(on_node(cni_add_exit_127::SIGNATURE, node));
        let certain = host.is_some_and(|host| host.path_is_certain()) || !failing.is_empty();
        // An unset mode depends on the version, which is only narrowed down.
        let finding = finding.observed_if(plugin.is_exact() || written.is_some());
        Some(match (falls_back, certain) {
            (true, _) => finding.severity(Severity::Warning),
            (false, true) => finding,
            // The PATH of the runtime is a guess.
            (false, false) => finding.severity(Severity::Warning).likely(),
        })
    }

    /// The binaries that the plugin runs there. Another check reports a mode that its version rejects.
    fn needs(&self, snapshot: &NodeSnapshot, plugin: &PluginOn<'a>, written: Option<&str>) -> Option<Needs> {
        if let Some(known) = plugin.binaries(self.ctx, written, false) {
            return Some(Needs { names: known.needed, mode: known.mode });
        }
        if matches!(plugin.mode_supported(self.ctx, written), Support::No { .. }) {
            return None;
        }
        // For an explicit mode, every version that supports modes runs the same binaries.
        let mode: Option<IptablesMode> = written.and_then(|mode| mode.parse().ok());
        let Some(names) = mode.and_then(|mode| pair(self.ctx, mode)) else {
            let part = format!("node {}: the version of linkerd-cni, which decides its binaries", snapshot.node);
            lacks(self.ctx, Why::NotOffered, part);
            return None;
        };
        Some(Needs { names: names.into(), mode })
    }

    /// The missing binaries; `None` if all exist, or if the snapshot did not look for them.
    fn missing(&self, snapshot: &NodeSnapshot, names: &[String]) -> Option<Vec<String>> {
        let mut missing = Vec::new();
        for name in names {
            match snapshot.binary(name) {
                Looked::Found(_) => {}
                Looked::Absent => missing.push(name.clone()),
                Looked::NotLookedFor(_) => {
                    silent(self.ctx, snapshot, "host/binaries.json", "its iptables binaries");
                }
            }
        }
        (!missing.is_empty()).then_some(missing)
    }

    /// Nodes without files on which pods fail with 127, with the mode, plugin and operating system from the
    /// API server.
    fn inferred(&self) -> Vec<Finding> {
        let without_files = self.failing.iter().filter(|(node, _)| !self.nodes.has_files(node));
        without_files.map(|(node, adds)| self.inferred_on(node, adds)).collect()
    }

    fn inferred_on(&self, node: &str, adds: &[&AddFailure<'_>]) -> Finding {
        let version = self.installed.version_on(node);
        let system = self.nodes.system(self.ctx, node);
        let expected = |mode: &IptablesMode| system.is_some_and(|system| system.has(*mode) == Certainty::Present);
        let usable = Usable::Expected(BY_ADVICE.into_iter().filter(expected).collect());
        let template = config(self.ctx).map(|config| (config, template_setting(config, "iptables-mode")));
        let written = template.as_ref().and_then(|(_, mode)| mode.as_ref()?.as_str());
        let plugin = self.ctx.knowledge.cni_plugin();
        let mode = version.as_ref().and_then(|version| plugin.binaries(version, written, false)?.mode);
        let configured = template.as_ref().map(|(config, _)| {
            let said = match (written, mode) {
                (Some(written), _) => format!("iptables-mode {written:?}"),
                (None, Some(mode)) => format!("no iptables-mode, which means {mode} in this version"),
                (None, None) => "no iptables-mode".to_owned(),
            };
            let object = format!("ConfigMap {}/linkerd-cni-config", config.metadata.namespace);
            Evidence::field(object, "data.cni_network_config", said)
        });
        let system_said = self.nodes.object(node).map(|object| {
            let image = &object.status.node_info.os_image;
            let lacking = mode.filter(|mode| system.is_some_and(|system| system.has(*mode).is_lacking()));
            let said = match lacking {
                Some(mode) => format!("{image}, which does not include the binaries of {mode}"),
                None => image.clone(),
            };
            Evidence::field(format!("Node {node}"), "status.nodeInfo.osImage", said)
        });
        self.ctx
            .finding(Subject::node(node), INFERRED)
            .likely()
            .evidences(quoted(adds))
            .evidences(self.installed.image_on(node))
            .evidences(configured)
            .evidences(system_said)
            .evidence(not_looked_at(node))
            .remedy(mode_remedy(self.ctx, node, version.as_ref(), &usable, adds))
            .tie(on_node(cni_add_exit_127::SIGNATURE, node))
    }
}
