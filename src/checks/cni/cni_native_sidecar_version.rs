//! `cni-native-sidecar-version`: proxies are native sidecars, which the installed linkerd-cni does not
//! support.

use std::collections::BTreeMap;

use super::chart::{ChartValue, image_version};
use super::crossing::destination;
use super::mode::{clean_chart, renders_no_mode};
use super::nodes::lacks;
use super::plugin::PluginOn;
use super::pods::meshed_replaced;
use super::remedy::{advised_version, changed};
use super::target::asked_for as asked_for_version;
use super::target::target;
use crate::checks::prelude::*;
use crate::checks::written;
use crate::model::cni::{self, Installed};
use crate::model::node::NodeSnapshot;
use crate::objects::DaemonSet;
use crate::objects::container::{INIT_CONTAINER, PROXY_CONTAINER};
use crate::version::CniVersion;

/// Number of pods that a finding quotes.
const QUOTED: usize = 5;

const MESSAGE: &str = "linkerd-cni does not support native sidecar proxies: it writes no rules for those \
                       pods, so they fail in the network validator or bypass their proxy";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = ctx.partial_list::<DaemonSet>()?;
    let pods = ctx.partial_list::<Pod>()?;
    let installed = Installed::new(pods, sets);
    let snapshots: BTreeMap<&str, &NodeSnapshot> =
        ctx.snapshots().unwrap_or_default().iter().map(|s| (s.node.as_str(), s)).collect();
    let native: Vec<&Pod> = pods.iter().filter(|pod| relies_on_cni(pod)).collect();
    let mut blind: Vec<&Pod> = Vec::new();
    for pod in &native {
        let node = pod.node_name.as_str();
        let plugin = PluginOn::on_node(ctx, &installed, node, snapshots.get(node).copied());
        let old = matches!(plugin.version(), Some(CniVersion::InLinkerd(_)));
        match plugin.all(|row| row.native_sidecars) {
            _ if old => blind.push(pod),
            Some(false) => blind.push(pod),
            Some(true) => {}
            None => lacks(ctx, Why::NotOffered, format!("node {node}: the version of its linkerd-cni")),
        }
    }
    let known = ctx.knowledge.cni_plugin();
    let old = |version: CniVersion| {
        matches!(version, CniVersion::InLinkerd(_))
            || known.for_version(&version).is_some_and(|row| !row.native_sidecars)
    };
    let old_ones = installed.sets.iter().filter_map(|set| installs(ctx, set)).any(old);
    // The setting matters only for a plugin without support for it.
    let wanted = if old_ones { asked_for(ctx) } else { None };
    if blind.is_empty() && wanted.is_none() {
        return Ok(Vec::new().into());
    }
    Ok(finding(ctx, &installed, &blind, wanted).into())
}

/// The plugin that a DaemonSet installs: before an upgrade that of `--to-cni`, else that of the target,
/// unless it is older than the installed one.
fn installs(ctx: &Context<'_>, set: &Workload) -> Option<CniVersion> {
    let there = cni::version_of(&set.spec.template)?;
    let then = ctx.upgraded().and_then(|_| asked_for_version(ctx)).filter(|then| {
        let newer = match (there.plugin(), then.plugin()) {
            (Some(there), Some(then)) => there < then,
            _ => matches!(there, CniVersion::InLinkerd(_)),
        };
        ctx.settings.to_cni.is_some() || newer
    });
    Some(then.cloned().unwrap_or(there))
}

/// A pod whose proxy is a native sidecar and whose rules come from linkerd-cni.
fn relies_on_cni(pod: &Pod) -> bool {
    let init = |name: &str| pod.spec.init_containers.iter().any(|container| container.name == name);
    let over = matches!(pod.status.phase.as_str(), "Succeeded" | "Failed");
    init(PROXY_CONTAINER) && !init(INIT_CONTAINER) && !over && !pod.node_name.is_empty()
}

/// The chart's value that makes every proxy a native sidecar, if the control plane relies on linkerd-cni.
fn asked_for(ctx: &Context<'_>) -> Option<Evidence> {
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config");
    let config = ctx.or_note(config)??;
    // Before an upgrade, as the target release reads them.
    let values = written::values(ctx)?;
    let on = |path: &str| values.bool(path) == Some(true);
    (on("proxy.nativeSidecar") && on("cniEnabled")).then(|| {
        let object = format!("ConfigMap {}/linkerd-config", config.metadata.namespace);
        Evidence::field(object, "data.values", "proxy.nativeSidecar: true")
    })
}

fn finding(ctx: &Context<'_>, installed: &Installed<'_>, blind: &[&Pod], wanted: Option<Evidence>) -> Finding {
    let target = target(ctx);
    let first = blind.first().map_or("", |pod| pod.node_name.as_str());
    let quoted = blind.iter().take(QUOTED).map(|pod| {
        let meta = &pod.metadata;
        let said = format!("linkerd-proxy, on node {}", pod.node_name);
        Evidence::field(meta.described("Pod"), "spec.initContainers", said)
    });
    let more = blind.len().saturating_sub(QUOTED);
    let more = (more > 0).then(|| Evidence::other("pods", format!("{more} more")));
    let finding = ctx
        .finding(Subject::object("DaemonSet", target.namespace, target.name), MESSAGE)
        .evidences(installed.image_on(first))
        .evidences(wanted)
        .evidences(ctx.upgraded().and_then(|_| Some(destination(ctx, asked_for_version(ctx)?))))
        .evidences(quoted)
        .evidences(more)
        .remedy(match ctx.upgraded().filter(|_| blind.is_empty()) {
            Some(_) => named_newer(ctx),
            None => remedy(ctx),
        });
    blind.iter().fold(finding, |finding, pod| {
        finding.tie(Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()))
    })
}

/// The remedy for a plugin that an upgrade would install.
fn named_newer(ctx: &Context<'_>) -> Remedy {
    let first = ctx.knowledge.native_sidecar().cni_plugin();
    Remedy::new().step(
        StepKind::Upgrade,
        format!(
            "Upgrade linkerd-cni to v{first} or newer before the control plane (--to-cni with a newer \
             version, or without it the target's). Or keep ordinary sidecars with proxy.nativeSidecar=false"
        ),
    )
}

fn remedy(ctx: &Context<'_>) -> Remedy {
    let (first, clean) = (ctx.knowledge.native_sidecar().cni_plugin(), advised_version(ctx));
    let image = image_version(&clean);
    let words = format!(
        "Run a plugin that supports native sidecars: v{first} or newer, but use {clean} or newer, because \
         the versions just before it leave dead tokens behind"
    );
    let remedy = Remedy::new();
    let remedy = if renders_no_mode(ctx) {
        let words = format!(
            "{words}. The installed chart renders no iptables-mode, which is legacy from v1.4.0 on: also use \
             a newer chart and plain, the node's own iptables"
        );
        changed(ctx, remedy, words, Some(&clean_chart(ctx)), &[ChartValue::new("iptablesMode", "plain"), image])
    } else {
        changed(ctx, remedy, words, None, &[image])
    };
    meshed_replaced(ctx, remedy, "Restart the meshed workloads whose pods run or fail without their rules", &[])
}
