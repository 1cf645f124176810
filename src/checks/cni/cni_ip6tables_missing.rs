//! `cni-ip6tables-missing`: linkerd-cni is configured to write IPv6 rules on a node without ip6tables or
//! without IPv6.

use std::collections::BTreeMap;

use super::add_failures::{answers_on, by_node, hinted_add_failures, quoted};
use super::chart::ChartValue;
use super::cni_add_exit_127;
use super::nodes::{Nodes, lacks, silent};
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::pods::failed_deleted;
use super::remedy::changed;
use super::usable::BY_ADVICE;
use crate::checks::prelude::*;
use crate::knowledge::{IptablesMode, Ipv6};
use crate::model::cni::Installed;
use crate::model::node::{ChainEntry, Looked, NodeSnapshot};
use crate::model::sandbox::AddFailure;

/// The kernel setting that disables IPv6.
const OFF: &str = "net.ipv6.conf.all.disable_ipv6";
/// Errors of ip6tables on a node without IPv6.
const WITHOUT_IPV6: [&str; 3] = ["exit-3", "exit-4", "exit-1"];

const REFUSED: &str = "meshed pods cannot start on the node: linkerd-cni is configured to write IPv6 rules, \
                       but the ip6tables of its mode does not exist";
const UNRULED: &str = "meshed pods on the node get no IPv6 rules, because the ip6tables of linkerd-cni's \
                       mode does not exist. Their IPv6 traffic bypasses the proxy, and from v1.5.1 on they \
                       would not start";
const FALLS_BACK: &str = "the node lacks the ip6tables of linkerd-cni's mode: this version falls back to \
                          another mode, but an older one would fail for every meshed pod";
const NO_IPV6: &str = "linkerd-cni is configured to write IPv6 rules, but IPv6 is disabled on the node: if \
                       the kernel has no IPv6 tables, meshed pods cannot start";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let adds = hinted_add_failures(ctx);
    let signatures = WITHOUT_IPV6.into_iter().chain([cni_add_exit_127::SIGNATURE]);
    let scan = Ip6tablesScan {
        ctx,
        installed: super::installers::installed(ctx),
        failing: by_node(adds.iter().filter(|add| signatures.clone().any(|signature| add.is(signature)))),
    };
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        for running in nodes.chain(ctx, snapshot).entries {
            if running.entry.ipv6.value() == Some(&true) {
                findings.extend(scan.on_node(snapshot, running));
            }
        }
    }
    Ok(findings.into())
}

struct Ip6tablesScan<'c, 'a, 'r> {
    ctx: &'c Context<'a>,
    installed: Installed<'a>,
    failing: BTreeMap<&'a str, Vec<&'r AddFailure<'a>>>,
}

impl<'a> Ip6tablesScan<'_, 'a, '_> {
    fn on_node(&self, snapshot: &NodeSnapshot, running: ChainEntry<'_>) -> Option<Finding> {
        let node = snapshot.node.as_str();
        let plugin = PluginOn::on_node(self.ctx, &self.installed, node, Some(snapshot));
        let Some(names) = self.names(&plugin, running) else {
            let part = format!("node {node}: the version of linkerd-cni, which decides its IPv6 binaries");
            lacks(self.ctx, Why::NotOffered, part);
            return None;
        };
        // This version writes no IPv6 rules.
        let (_, last) = names.split_last().map(|(last, _)| ((), last))?;
        let mut missing = Vec::new();
        for name in &names {
            match snapshot.binary(name) {
                Looked::Found(_) => {}
                Looked::Absent => missing.push(name.clone()),
                Looked::NotLookedFor(_) => {
                    silent(self.ctx, snapshot, "host/binaries.json", "its ip6tables binaries");
                }
            }
        }
        let off = snapshot.sysctl.as_ref().and_then(|settings| settings.get(OFF));
        if missing.is_empty() && off.is_none() {
            silent(self.ctx, snapshot, "host/sysctl.json", "whether IPv6 is enabled");
        }
        let off = off.filter(|value| value.trim() == "1");
        let failing = self.failing.get(node).map_or(&[][..], Vec::as_slice);
        let fails = plugin.all(|row| row.ipv6);
        let place = running.entry.ipv6.place();
        let field = Some(running.entry.path_of("linkerd.ipv6"));
        let finding = |message: &str, parameter: String, said: String| {
            self.ctx
                .finding(entry_subject(snapshot, running.file, running.entry), message)
                .parameter(parameter)
                .evidence(in_file(snapshot, &running.file.path(), field.clone(), place, "true"))
                .evidence(Evidence::other(format!("node {node}"), said))
                .evidences(self.installed.image_on(node))
                .evidences(plugin.evidence(node))
                .evidences(quoted(failing))
                .remedy(remedy(self.ctx, failing))
        };
        if !missing.is_empty() {
            let host = snapshot.host_binaries.as_ref();
            let path = host.and_then(|host| host.runtime_path.as_deref());
            let on = path.map_or_else(|| "the runtime's PATH".to_owned(), |path| format!("the PATH {path}"));
            let falls_back = self.falls_back(&plugin, snapshot);
            let message = match fails {
                Some(Ipv6::FailuresIgnored) => UNRULED,
                Some(Ipv6::Required) if falls_back => FALLS_BACK,
                Some(Ipv6::Required | Ipv6::None) | None => REFUSED,
            };
            let found = finding(message, missing.join(" "), format!("not on {on}: {}", missing.join(", ")));
            let found = answers_on(found, node, &[cni_add_exit_127::SIGNATURE]);
            let certain = host.is_some_and(|host| host.path_is_certain()) || !failing.is_empty();
            let breaks = message == REFUSED && fails.is_some();
            let found = if breaks && certain { found } else { found.severity(Severity::Warning) };
            return Some(found.observed_if(certain && fails.is_some()));
        }
        let off = off?;
        let found = finding(NO_IPV6, last.clone(), format!("{OFF} = {off}"));
        Some(answers_on(found, node, &WITHOUT_IPV6).severity(Severity::Warning).likely())
    }

    /// The programs that the plugin runs for IPv6, the binary last; empty for versions without IPv6, `None`
    /// if the version is not known.
    fn names(&self, plugin: &PluginOn<'a>, running: ChainEntry<'_>) -> Option<Vec<String>> {
        let written = running.entry.iptables_mode.value().map(String::as_str);
        if let Some(known) = plugin.binaries(self.ctx, written, true) {
            let mode = known.mode.and_then(|mode| self.pair(mode)).unwrap_or_default();
            let all: Vec<String> = known.needed.into_iter().chain(known.optional).collect();
            return Some(mode.into_iter().filter(|name| all.contains(name)).collect());
        }
        let mode: IptablesMode = written?.parse().ok()?;
        self.pair(mode)
    }

    fn pair(&self, mode: IptablesMode) -> Option<Vec<String>> {
        self.ctx.knowledge.cni_plugin().ipv6_pair_of(mode)
    }

    /// Whether the version falls back to another mode whose binaries the node has.
    fn falls_back(&self, plugin: &PluginOn<'a>, snapshot: &NodeSnapshot) -> bool {
        let has = |name: &String| matches!(snapshot.binary(name), Looked::Found(_));
        let complete = |mode: &IptablesMode| self.pair(*mode).is_some_and(|names| names.iter().all(has));
        BY_ADVICE.iter().filter(|mode| plugin.fallbacks().contains(mode)).any(complete)
    }
}

fn remedy(ctx: &Context<'_>, failing: &[&AddFailure<'_>]) -> Remedy {
    let words = "If pods have no IPv6 addresses, disable IPv6 rules in linkerd-cni's chart and with the same \
                 value in the control plane's chart. If they have, install the ip6tables of the mode on the \
                 node instead";
    let values = [ChartValue::new("disableIPv6", "true")];
    failed_deleted(ctx, changed(ctx, Remedy::new(), words, None, &values), failing)
}
