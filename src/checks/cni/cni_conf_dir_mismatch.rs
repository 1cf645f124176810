//! `cni-conf-dir-mismatch`: linkerd-cni installs into directories that the node's runtime does not use.

use super::add_failures::on_node;
use super::chart::{ChartValue, set};
use super::config_map;
use super::effect::plugin_types;
use super::nodes::{Nodes, runs_pods_on_linux, silent};
use super::places::{in_file, not_looked_at};
use super::pods::meshed_replaced;
use super::remedy::{changed, changed_rolled_out, through_host_network};
use super::target::target;
use crate::checks::prelude::*;
use crate::knowledge::Platform;
use crate::model::node::{Looked, MULTUS_DIR, NodeSnapshot};
use crate::version::K8sVersion;

/// The message about an entry in the runtime's directory, if that is multus's.
const OWNED: &str = "linkerd-cni writes its entry to the directory whose configuration multus owns and rewrites: it \
                     can be lost at any time, and new meshed pods on the node then get no traffic rules";

/// One of the two directories that the chart sets.
struct Dir {
    /// The key of linkerd-cni's ConfigMap.
    key: &'static str,
    /// The chart's value.
    value: &'static str,
    message: &'static str,
}

const CONF: Dir = Dir {
    key: "dest_cni_net_dir",
    value: "destCNINetDir",
    message: "linkerd-cni writes its entry to a directory that the node's runtime does not read: new meshed \
              pods on the node get no traffic rules",
};
const BIN: Dir = Dir {
    key: "dest_cni_bin_dir",
    value: "destCNIBinDir",
    message: "linkerd-cni installs its binary into a directory that the node's runtime does not search: with \
              its entry loaded, no new pod can start on the node",
};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(config) = config_map::needed_config(ctx)? else {
        return Err(Unjudged::not_applicable("the ConfigMap linkerd-cni-config does not exist"));
    };
    let nodes = Nodes::perhaps_with_files(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        findings.extend(conf_dir(ctx, &nodes, snapshot, config));
        findings.extend(bin_dir(ctx, &nodes, snapshot, config));
    }
    let others = ctx.optional_list::<Node>().iter().filter(|node| !nodes.has_files(&node.metadata.name));
    for node in others.filter(|node| runs_pods_on_linux(node)) {
        findings.extend(inferred(ctx, node, config));
    }
    Ok(findings.into())
}

/// The installer's directory, from its ConfigMap.
fn configured<'a>(config: &'a ConfigMap, dir: &Dir) -> Option<&'a str> {
    config.data.get(dir.key).map(|dir| dir.trim_end_matches('/')).filter(|dir| !dir.is_empty())
}

fn conf_dir(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, config: &ConfigMap) -> Option<Finding> {
    let configured = configured(config, &CONF)?;
    let used = snapshot.conf_dir();
    if snapshot.conf_dir_is_assumed() {
        silent(ctx, snapshot, "cni/dirs.json", "the directory that its runtime reads");
        return None;
    }
    if configured == used {
        return None;
    }
    let chain = nodes.loaded(ctx, snapshot);
    // One directory may be a link to the other, and Cilium or multus may have copied the entry over.
    if !chain.entries.is_empty() {
        return None;
    }
    let multus = chain.effective.file().filter(|file| plugin_types(file).contains(&"multus"));
    let used = match multus {
        None => used.to_owned(),
        Some(file) => {
            let dirs = file.plugins().iter().filter(|plugin| plugin.is_multus()).map(|plugin| {
                let named = plugin.cluster_network.as_deref().filter(|network| network.starts_with('/'));
                named.or(plugin.conf_dir.as_deref()).unwrap_or(MULTUS_DIR).trim_end_matches('/').to_owned()
            });
            let dirs: Vec<String> = dirs.collect();
            if dirs.iter().any(|dir| dir == configured) {
                return None;
            }
            dirs.first().cloned().unwrap_or_else(|| MULTUS_DIR.to_owned())
        }
    };
    let source = in_file(
        snapshot,
        &used,
        None,
        None,
        format!("is the directory that the {} reads", if multus.is_some() { "runtime's multus" } else { "runtime" }),
    );
    Some(
        mismatch(ctx, &snapshot.node, config, (&CONF, CONF.message), &used, source)
            .remedy(remedy(ctx, &CONF, &used, false)),
    )
}

fn bin_dir(ctx: &Context<'_>, nodes: &Nodes<'_>, snapshot: &NodeSnapshot, config: &ConfigMap) -> Option<Finding> {
    let configured = configured(config, &BIN)?;
    let dirs = snapshot.plugin_dirs();
    let Some(first) = dirs.first() else {
        silent(ctx, snapshot, "cni/dirs.json", "the directories that its runtime searches for plugins");
        return None;
    };
    if dirs.contains(&configured) {
        return None;
    }
    match snapshot.plugin_binary("linkerd-cni") {
        // One directory may be a link to the other.
        Looked::Found(_) => None,
        Looked::NotLookedFor(_) => {
            silent(ctx, snapshot, "cni/bin.json", &format!("the files of {}", dirs.join(", ")));
            None
        }
        Looked::Absent => {
            let source =
                in_file(snapshot, first, None, None, "is the directory that the runtime searches, without linkerd-cni");
            let loaded = !nodes.loaded(ctx, snapshot).entries.is_empty();
            let finding = mismatch(ctx, &snapshot.node, config, (&BIN, BIN.message), first, source)
                .remedy(remedy(ctx, &BIN, first, loaded));
            Some(finding.tie(on_node("plugin-missing", &snapshot.node)))
        }
    }
}

/// Compares with the platform's defaults, for a node without files.
fn inferred(ctx: &Context<'_>, node: &Node, config: &ConfigMap) -> Vec<Finding> {
    let info = &node.status.node_info;
    let version = info.kubelet_version.parse::<K8sVersion>().ok();
    let distribution = version.and_then(|version| version.distribution());
    let platforms = ctx.knowledge.platforms();
    let platform = platforms.platform(distribution, Some(&info.os_image), Some(&node.spec.provider_id));
    let Some(platform) = platform else { return Vec::new() };
    let bins = [&platform.bin_dir].into_iter().chain(&platform.other_bin_dirs).map(String::as_str).collect();
    [(&CONF, vec![platform.conf_dir.as_str()]), (&BIN, bins)]
        .into_iter()
        .filter(|(dir, usual): &(&Dir, Vec<&str>)| {
            configured(config, dir).is_some_and(|configured| !usual.contains(&configured))
        })
        .map(|(dir, usual)| usually(ctx, node, config, dir, platform, usual[0]))
        .collect()
}

fn usually(ctx: &Context<'_>, node: &Node, config: &ConfigMap, dir: &Dir, platform: &Platform, usual: &str) -> Finding {
    let name = &node.metadata.name;
    let source = Evidence::other(format!("node {name}"), format!("{} uses {usual}", platform.title));
    let is_owned = dir.key == CONF.key && configured(config, dir) == platform.multus_dir.as_deref();
    let message = if is_owned { OWNED } else { dir.message };
    mismatch(ctx, name, config, (dir, message), usual, source)
        .remedy(remedy(ctx, dir, usual, false))
        .severity(Severity::Warning)
        .likely()
        .evidence(not_looked_at(name))
}

fn mismatch(
    ctx: &Context<'_>,
    node: &str,
    config: &ConfigMap,
    (dir, message): (&Dir, &'static str),
    expected: &str,
    source: Evidence,
) -> Finding {
    let meta = &config.metadata;
    let seen = configured(config, dir).unwrap_or_default();
    ctx.finding(Subject::node(node), message)
        .parameter(dir.key)
        .parameter(expected)
        .evidence(Evidence::field(
            meta.described("ConfigMap"),
            format!("data.{}", dir.key),
            format!("{seen}, expected {expected}"),
        ))
        .evidence(source)
}

/// Installs the binary in a directory that the node's runtime searches, if the runtime already loads an
/// entry.
pub(super) fn bin_dir_cure(ctx: &Context<'_>, snapshot: &NodeSnapshot) -> Remedy {
    let default = ctx.knowledge.platforms().default_bin_dir();
    let dirs = snapshot.plugin_dirs();
    remedy(ctx, &BIN, dirs.first().copied().unwrap_or(default), true)
}

/// `stuck`: new pods of the node wait for the binary, including the next installer.
fn remedy(ctx: &Context<'_>, dir: &Dir, expected: &str, stuck: bool) -> Remedy {
    let words = format!(
        "Set {} of linkerd-cni to {expected}, the directory that these nodes use. Nodes of another type need an \
         installation of their own, with a nodeSelector",
        dir.value
    );
    let values = [ChartValue::new(dir.value, expected)];
    let remedy = if !stuck && target(ctx).clean_up_broken(ctx) {
        changed(ctx, Remedy::new(), words, None, &values)
    } else {
        set(ctx, Remedy::new(), words, None, &values)
    };
    let remedy = if stuck { through_host_network(ctx, remedy) } else { remedy };
    let remedy = remedy.run(
        StepKind::Command,
        "Wait until its pods have restarted with the new directory",
        changed_rolled_out(ctx),
    );
    let remedy = remedy.step(StepKind::NodeFile, "Delete linkerd-cni's files from the old directory");
    meshed_replaced(ctx, remedy, "Restart the meshed workloads whose pods failed or started without their rules", &[])
}
