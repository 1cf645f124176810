//! `cni-cilium-exclusive`: Cilium keeps every other plugin's entry out of the node's CNI configuration.

use super::absent::{absences, cilium, exclusive, leave_entries_alone};
use super::effect::{loaded_evidence, plugin_types};
use super::nodes::{Nodes, cni_enabled};
use super::pods::meshed_replaced;
use super::remedy::restarted_for;
use crate::checks::prelude::*;
use crate::model::cni;
use crate::objects::DaemonSet;

const EVICTED: &str = "Cilium rewrites the node's CNI configuration without other plugins' entries and \
                       renames all other files. linkerd-cni's entry is missing, so new meshed pods get no \
                       traffic rules";
const WOULD: &str = "Cilium is configured to rewrite the node's CNI configuration without other plugins' \
                     entries: it removes linkerd-cni's entry as soon as its agent checks the file";
/// Cilium's own plugin.
const PLUGIN: &str = "cilium-cni";
/// Its ConfigMap.
const CILIUM: &str = "cilium-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    if ctx.object::<ConfigMap>(cilium_scope(), CILIUM)?.is_none() {
        return without_settings(ctx);
    }
    if exclusive(ctx) == Some(false) {
        return Ok(Verdict::fine());
    }
    if !is_there(ctx) {
        // Whether linkerd-cni is used is not known.
        ctx.complete_list::<DaemonSet>()?;
    }
    Ok(exclusive_finding(ctx).into())
}

/// Whether any evidence shows that linkerd-cni is used.
fn is_there(ctx: &Context<'_>) -> bool {
    cni_enabled(ctx) == Some(true)
        || ctx.optional_list::<DaemonSet>().iter().any(cni::is_installer)
        || ctx.snapshots().is_ok_and(|snapshots| !snapshots.is_empty())
}

/// The namespace of Cilium's ConfigMap.
fn cilium_scope() -> Scope {
    Scope::Fixed("kube-system".to_owned())
}

/// A provider that manages Cilium may hide its ConfigMap. Then only the nodes show that it runs.
fn without_settings(ctx: &Context<'_>) -> Judgement {
    let snapshots = ctx.snapshots().unwrap_or_default();
    let runs = snapshots
        .iter()
        .find(|snapshot| snapshot.loadable_files().iter().any(|file| plugin_types(file).contains(&PLUGIN)));
    match runs {
        Some(snapshot) => {
            let item = Item::named(Kind::ConfigMap, cilium_scope(), CILIUM);
            let part = format!("the settings of Cilium, which node {} runs", snapshot.node);
            ctx.gap(ctx.missing(item, Why::NotCaptured, part));
            Ok(Verdict::fine())
        }
        None => Err(Unjudged::not_applicable("the ConfigMap kube-system/cilium-config does not exist")),
    }
}

fn exclusive_finding(ctx: &Context<'_>) -> Finding {
    let nodes = Nodes::perhaps_with_files(ctx);
    let absent = ctx.or_note(absences(ctx, &nodes)).unwrap_or_default();
    let evicted = || absent.iter().filter(|absent| plugin_types(absent.file).contains(&PLUGIN));
    let data = |key: &str| cilium(ctx).and_then(|config| config.data.get(key));
    let said = data("cni-exclusive").map_or("not set, which means true", String::as_str);
    let field =
        |key: &str, said: &str| Evidence::field("ConfigMap kube-system/cilium-config", format!("data.{key}"), said);
    let gone = evicted().next().is_some();
    let finding = ctx
        .finding(Subject::object("ConfigMap", "kube-system", "cilium-config"), if gone { EVICTED } else { WOULD })
        .evidence(field("cni-exclusive", &format!("{said}, expected false")))
        .evidences(data("write-cni-conf-when-ready").map(|file| field("write-cni-conf-when-ready", file)))
        .evidences(evicted().take(3).map(|absent| loaded_evidence(absent.snapshot, absent.file)))
        .remedy(remedy(ctx));
    let finding = if gone { finding } else { finding.severity(Severity::Warning) };
    evicted().fold(finding, |finding, absent| finding.tie(Tie::Node(absent.snapshot.node.clone())))
}

fn remedy(ctx: &Context<'_>) -> Remedy {
    let words = "Restart linkerd-cni, so that it adds its entry to Cilium's file again";
    let remedy = restarted_for(ctx, leave_entries_alone(ctx, Remedy::new()), words);
    meshed_replaced(
        ctx,
        remedy,
        "Once the entry is in Cilium's file on their node, restart the meshed workloads whose pods started \
         or failed without their rules",
        &[],
    )
}
