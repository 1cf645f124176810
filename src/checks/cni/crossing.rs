//! Changes between two versions of linkerd-cni that break nodes: another iptables mode, and files and
//! addresses that the newer installer or plugin does not accept.

use super::chart::{ChartValue, image_version, set};
use super::config_map::unreadable;
use super::installers::{shown, subject};
use super::mode::chart_with;
use super::nodes::{Nodes, silent};
use super::places::in_file;
use super::target::{asked_for, by_cli};
use super::usable::{Usable, better_mode, pair};
use crate::checks::prelude::*;
use crate::knowledge::{IptablesMode, PluginRelease, ServerForm};
use crate::model::cni::{INSTALLER, template_reads, template_setting};
use crate::model::node::{ConfFile, DefectKind, NodeSnapshot};
use crate::version::CniVersion;

/// An upgrade of linkerd-cni.
pub(super) struct Upgrade<'a> {
    pub(super) set: &'a Workload,
    /// Facts about the version; `None` for versions that were released with Linkerd.
    pub(super) runs: Option<&'a PluginRelease>,
    pub(super) to: &'a CniVersion,
    pub(super) row: &'a PluginRelease,
}

impl Upgrade<'_> {
    pub(super) fn subject(&self) -> Subject {
        subject(self.set)
    }

    /// Evidence of both versions.
    pub(super) fn evidence(&self, ctx: &Context<'_>) -> [Evidence; 2] {
        [image(self.set), destination(ctx, self.to)]
    }
}

pub(super) fn image(set: &Workload) -> Evidence {
    let container = set.spec.template.spec.container(INSTALLER);
    let said = container.map_or("", |container| container.image.as_str());
    Evidence::field(shown(set), "spec.template.spec.containers[install-cni].image", said)
}

pub(super) fn destination(ctx: &Context<'_>, to: &CniVersion) -> Evidence {
    let said = match (&ctx.settings.to_cni, asked_for(ctx)) {
        (Some(_), _) => format!("to {to} (--to-cni)"),
        (None, Some(_)) => {
            format!("to {to}, which the target release (--to) installs; --to-cni sets another")
        }
        (None, None) => format!("to {to}, the newest known release; --to-cni sets another"),
    };
    Evidence::other("upgrade of linkerd-cni", said)
}

pub(super) fn judge(ctx: &Context<'_>, upgrade: &Upgrade<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let change = change_of_mode(ctx, upgrade);
    let looks_at_files = upgrade.row.fatal_files && !upgrade.runs.is_some_and(|row| row.fatal_files);
    if let Some(ModeChange { after: Some(after), .. }) = &change
        && !upgrade.row.modes.contains(after)
    {
        findings.push(refused(ctx, upgrade, *after));
        return findings;
    }
    if change.is_none() && !looks_at_files {
        return findings;
    }
    let nodes = Nodes::perhaps_with_files(ctx);
    if let Some(change) = &change {
        findings.extend(without_binaries(ctx, upgrade, change, &nodes));
    }
    if looks_at_files {
        for snapshot in nodes.snapshots() {
            findings.extend(of_files(ctx, upgrade, snapshot));
        }
    }
    findings
}

/// The mode before and after; `None` means the host's own iptables.
struct ModeChange {
    before: Option<IptablesMode>,
    after: Option<IptablesMode>,
    /// A mode equal to the chart's default counts as unset, because an explicit value cannot be distinguished
    /// from it.
    assumed: bool,
    said: Evidence,
}

fn change_of_mode(ctx: &Context<'_>, upgrade: &Upgrade<'_>) -> Option<ModeChange> {
    let config = ctx.object::<ConfigMap>(Scope::Cni, "linkerd-cni-config");
    let config = ctx.or_note(config).flatten()?;
    if !template_reads(config) {
        ctx.gap(unreadable(ctx, "data.cni_network_config is not JSON", "the current iptables-mode"));
        return None;
    }
    let setting = template_setting(config, "iptables-mode");
    let written = setting.as_ref().and_then(|mode| mode.as_str());
    let mode: Option<IptablesMode> = written.and_then(|mode| mode.parse().ok());
    let knows_modes = upgrade.runs.is_some_and(|row| !row.modes.is_empty());
    let before = if knows_modes { mode.or(upgrade.runs?.absent_mode) } else { None };
    let default = mode.is_some_and(|mode| upgrade.runs.is_some_and(|row| row.is_default(mode)));
    // A value that is not the chart's default was set explicitly, and stays.
    let (after, assumed) = match mode {
        Some(mode) if !default => (Some(mode), false),
        _ => (upgrade.row.chart_mode, true),
    };
    let object = format!("ConfigMap {}/linkerd-cni-config", config.metadata.namespace);
    let said = written.map_or("no iptables-mode".to_owned(), |mode| format!("iptables-mode {mode:?}"));
    let refused = after.is_some_and(|after| !upgrade.row.modes.contains(&after));
    (before != after || refused).then(|| ModeChange {
        before,
        after,
        assumed,
        said: Evidence::field(object, "data.cni_network_config", said),
    })
}

/// A mode that stays set and that the target version does not support.
fn refused(ctx: &Context<'_>, upgrade: &Upgrade<'_>, mode: IptablesMode) -> Finding {
    let accepted: Vec<String> = upgrade.row.modes.iter().map(ToString::to_string).collect();
    let accepted = match accepted.as_slice() {
        [] => format!("linkerd-cni {} ignores iptables-mode", upgrade.to),
        some => format!("linkerd-cni {} accepts {}", upgrade.to, some.join(", ")),
    };
    let keep = "Keep a version that supports the mode, or first set another mode whose two binaries all \
                nodes have";
    ctx.finding(
        upgrade.subject(),
        "the target version does not support the configured iptables-mode: it would fail for every meshed \
         pod, or run other binaries than now",
    )
    .parameter(format!("refuses {mode}"))
    .evidences(upgrade.evidence(ctx))
    .evidence(Evidence::other("linkerd-cni plugin", accepted))
    .remedy(Remedy::new().step(StepKind::ChartValue, keep))
}

/// Nodes that lack the binaries of the mode after the upgrade.
fn without_binaries(
    ctx: &Context<'_>,
    upgrade: &Upgrade<'_>,
    change: &ModeChange,
    nodes: &Nodes<'_>,
) -> Option<Finding> {
    let after = change.after?;
    let falls_back = !upgrade.row.falls_back.is_empty();
    let (mut subjects, mut evidence, mut seen) = (Vec::new(), Vec::new(), false);
    for snapshot in nodes.snapshots() {
        let names = pair(ctx, after).unwrap_or_default();
        let absent: Vec<&str> =
            names.iter().filter(|name| snapshot.binary(name).is_absent()).map(String::as_str).collect();
        let usable = Usable::from_node(ctx, snapshot);
        if usable.has(after) || upgrade.row.falls_back.iter().any(|mode| usable.has(*mode)) {
            continue;
        }
        if absent.is_empty() {
            silent(ctx, snapshot, "host/binaries.json", "its iptables binaries");
            continue;
        }
        seen = true;
        subjects.push(Subject::node(&snapshot.node));
        let name = format!("node {}", snapshot.node);
        evidence.push(Evidence::other(name, format!("lacks {}", absent.join(", "))));
    }
    for (name, node) in nodes.objects() {
        let lacking = nodes.system(ctx, name).is_some_and(|system| system.has(after).is_lacking());
        if lacking && !falls_back && !nodes.has_files(name) {
            subjects.push(Subject::node(name));
            let image = &node.status.node_info.os_image;
            let said = format!("{image}, which does not include the binaries of {after}");
            evidence.push(Evidence::field(format!("Node {name}"), "status.nodeInfo.osImage", said));
        }
    }
    if subjects.is_empty() {
        return None;
    }
    let remedy = set_mode(ctx, upgrade, change.before);
    let mut finding = ctx
        .finding(
            upgrade.subject(),
            "the upgrade of linkerd-cni changes the iptables mode to one whose binaries nodes lack: each new \
             meshed pod there would fail with exit status 127",
        )
        .parameter(format!("mode {after}"))
        .evidences(upgrade.evidence(ctx))
        .evidence(change.said.clone())
        .evidences(evidence)
        .remedy(remedy);
    finding.subjects.extend(subjects);
    Some(finding.observed_if(seen && !change.assumed))
}

/// Sets the mode explicitly in the same step as the upgrade, so that no chart's default applies. Before the
/// upgrade, the ConfigMap does not distinguish the chart's default from the same explicit value.
fn set_mode(ctx: &Context<'_>, upgrade: &Upgrade<'_>, runs_now: Option<IptablesMode>) -> Remedy {
    let chart = chart_with(ctx, upgrade.row);
    let to = image_version(upgrade.to);
    let Some(mode) = runs_now else {
        if !upgrade.row.modes.contains(&IptablesMode::Plain) {
            let words = "Upgrade to a version that supports the mode plain, which keeps the iptables of the \
                         nodes, and set it in the same step";
            return Remedy::new().step(StepKind::ChartValue, words);
        }
        let words = "Set the mode in the same step as the upgrade: plain keeps the iptables of the nodes, \
                     which is used now";
        let values = [ChartValue::new("iptablesMode", "plain"), to];
        return set(ctx, Remedy::new(), words, Some(&chart), &values);
    };
    let with = if by_cli(ctx) { " with the linkerd CLI of the new release" } else { "" };
    // If the current mode does not work on some node, another finding sets one that does.
    let (mode, why) = match better_mode(ctx, mode, &upgrade.row.modes) {
        Some(other) => (other, "works on the nodes"),
        None => (mode, "is the current one"),
    };
    let words = format!("Upgrade{with} and set the mode in the same step: {mode} {why}");
    let values = [ChartValue::new("iptablesMode", mode.to_string()), to];
    set(ctx, Remedy::new(), words, Some(&chart), &values)
}

/// Files and addresses of a node that the newer installer or plugin does not accept.
fn of_files(ctx: &Context<'_>, upgrade: &Upgrade<'_>, snapshot: &NodeSnapshot) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in snapshot.conf_files.iter().filter(|file| ends_installer(file)) {
        let why = file.defect().map_or("", |defect| defect.message.as_str());
        let subject = Subject::Node { node: snapshot.node.clone(), file: Some(file.path()), path: None, line: None };
        let text = "Before the upgrade, correct the file, or move it out of the directory if it is not needed";
        findings.push(
            ctx.finding(
                subject,
                "the installer of the target version fails on this file, which is not a CNI configuration: \
                 it would neither install nor clean up the plugin on the node",
            )
            .parameter("file")
            .evidence(in_file(snapshot, &file.path(), None, None, why))
            .evidences(upgrade.evidence(ctx))
            .remedy(Remedy::new().step(StepKind::NodeFile, text)),
        );
    }
    for facts in snapshot.kubeconfigs.iter().flatten() {
        let server = facts.server.as_deref().unwrap_or_default();
        if is_ipv6(server) && upgrade.row.refuses_servers.contains(&ServerForm::BareIpv6) {
            let text = "Keep an older version until a newer one writes IPv6 addresses in brackets";
            findings.push(
                ctx.finding(
                    upgrade.subject(),
                    "the target version writes the API server's IPv6 address into its kubeconfig without \
                     brackets, but cannot parse that form: no pod would start",
                )
                .likely()
                .parameter("bare-ipv6")
                .evidence(in_file(snapshot, &facts.path, None, None, format!("server {server}")))
                .evidences(upgrade.evidence(ctx))
                .remedy(Remedy::new().step(StepKind::Upgrade, text)),
            );
        }
        if facts.insecure == Some(true) && upgrade.row.ignores_skip_tls_verify {
            let text = "Make sure that the CA in the ConfigMap kube-root-ca.crt signed the API server's \
                        certificate, or keep an older version";
            findings.push(
                ctx.finding(
                    upgrade.subject(),
                    "the target version ignores SKIP_TLS_VERIFY, which is set now: if the API server's \
                     certificate is not valid, no pod would start",
                )
                .parameter("skip-tls-verify")
                .evidence(in_file(snapshot, &facts.path, None, None, "insecure-skip-tls-verify: true"))
                .evidences(upgrade.evidence(ctx))
                .remedy(Remedy::new().note(text)),
            );
        }
    }
    findings
}

/// A `.conf` or `.conflist` that is not JSON, or has neither a type nor plugins.
fn ends_installer(file: &ConfFile) -> bool {
    let named = file.name.ends_with(".conf") || file.name.ends_with(".conflist");
    let broken = |kind: DefectKind| match kind {
        DefectKind::Empty
        | DefectKind::ByteOrderMark
        | DefectKind::Utf16
        | DefectKind::Syntax
        | DefectKind::NoPluginsKey
        | DefectKind::MissingType => true,
        DefectKind::WrongShape
        | DefectKind::NoName
        | DefectKind::NoPlugins
        | DefectKind::TooLarge
        | DefectKind::TooComplex
        | DefectKind::Unreadable => false,
    };
    named && file.defect().is_some_and(|defect| broken(defect.kind))
}

fn is_ipv6(server: &str) -> bool {
    let host = server.split_once("://").map_or(server, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or(host);
    let inside = host.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    let bare = host.rsplit_once(':').map_or(host, |(address, _)| address);
    [inside.unwrap_or_default(), bare].iter().any(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
}
