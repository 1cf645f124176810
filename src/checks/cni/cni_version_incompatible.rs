//! `cni-version-incompatible`: the configuration that a runtime loads has a CNI version that linkerd-cni
//! there does not support.

use semver::Version;

use super::add_failures::{answers_on, hinted_add_failures};
use super::chart::{ChartValue, image_version, set};
use super::mode::{clean_chart, renders_no_mode};
use super::nodes::{Nodes, lacks};
use super::places::{entry_subject, in_file};
use super::plugin::PluginOn;
use super::pods::failed_deleted;
use super::remedy::{advised_version, onto_version, through_host_network};
use super::target::target;
use crate::checks::prelude::*;
use crate::model::node::{ChainEntry, NodeSnapshot};

/// The version of a configuration without `cniVersion`.
const UNSTATED: &str = "0.1.0";
const SIGNATURE: &str = "spec-version";

const MESSAGE: &str = "new pods on the node cannot start: the CNI configuration that its runtime loads has a \
                       cniVersion that the node's linkerd-cni does not support";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
        for running in nodes.chain(ctx, snapshot).entries {
            if running.entry.depth > 0 {
                let part = format!("node {}: the cniVersion of the network that multus runs", snapshot.node);
                lacks(ctx, Why::NotCaptured, part);
                continue;
            }
            let evidence = installed.image_on(&snapshot.node);
            findings.extend(refused(ctx, snapshot, running, &plugin, evidence));
        }
    }
    Ok(findings.into())
}

fn refused(
    ctx: &Context<'_>,
    snapshot: &NodeSnapshot,
    running: ChainEntry<'_>,
    plugin: &PluginOn<'_>,
    image: Option<Evidence>,
) -> Option<Finding> {
    let versions = &running.file.config()?.versions;
    let declared = versions.declared.as_deref().unwrap_or(UNSTATED);
    let newest =
        versions.list.iter().map(String::as_str).chain([declared]).max_by_key(|text| text.parse::<Version>().ok());
    let newest = newest.unwrap_or(declared);
    let Some((first, last)) = speaks(ctx, snapshot, plugin, declared).zip(speaks(ctx, snapshot, plugin, newest)) else {
        let part = format!("node {}: the CNI versions that linkerd-cni there supports", snapshot.node);
        lacks(ctx, Why::NotOffered, part);
        return None;
    };
    if first && last {
        return None;
    }
    let wanted = if first { newest } else { declared };
    let path = running.file.path();
    let answer = snapshot.linkerd_cni_version().filter(|answer| !answer.supported_versions.is_empty());
    let answer = answer.map(|answer| {
        let said = format!("the node's linkerd-cni reports for VERSION {}", answer.supported_versions.join(", "));
        Evidence::other(format!("node {}", snapshot.node), said)
    });
    let said = match (&versions.declared, versions.list.as_slice()) {
        (None, []) => "not set, which counts as 0.1.0".to_owned(),
        (Some(declared), []) => format!("{declared:?}"),
        (_, list) => format!("{declared:?}, cniVersions {}", list.join(", ")),
    };
    let finding = ctx
        .finding(entry_subject(snapshot, running.file, running.entry), MESSAGE)
        .parameter(wanted)
        .evidence(in_file(snapshot, &path, Some("cniVersion".to_owned()), versions.place, said))
        .evidences(answer)
        .evidences(image)
        .remedy(remedy(ctx, wanted));
    let finding = answers_on(finding, &snapshot.node, &[SIGNATURE]);
    // Older runtimes use cniVersion, newer ones the newest of cniVersions.
    Some(if first != last { finding.severity(Severity::Warning).likely() } else { finding })
}

/// Whether linkerd-cni on the node supports a version: by its answer, else by its own version.
fn speaks(ctx: &Context<'_>, snapshot: &NodeSnapshot, plugin: &PluginOn<'_>, wanted: &str) -> Option<bool> {
    if let Some(answer) = snapshot.linkerd_cni_version()
        && !answer.supported_versions.is_empty()
    {
        return Some(answer.supported_versions.iter().any(|version| version == wanted));
    }
    let wanted: Version = wanted.parse().ok()?;
    let known = ctx.knowledge.cni_plugin().cni_specs().contains(&wanted);
    plugin.all(|row| known && wanted <= row.cni_spec)
}

fn remedy(ctx: &Context<'_>, wanted: &str) -> Remedy {
    let remedy = Remedy::new();
    let speaks = wanted.parse().ok().and_then(|wanted| ctx.knowledge.cni_plugin().first_speaking(&wanted));
    let Some(first) = speaks else {
        return remedy.note(format!(
            "Look for a newer plugin that supports CNI {wanted}, because no known version does. Do \
                     not edit the configuration of the other network"
        ));
    };
    let installed = target(ctx).version.and_then(|version| ctx.knowledge.cni_plugin().for_version(&version).cloned());
    if installed.is_some_and(|row| row.first >= *first && !row.clean_up_broken) {
        // The binary on the node is older than its image.
        return finish(ctx, through_host_network(ctx, remedy));
    }
    let because =
        format!("the installed version does not support CNI {wanted}, which v{first} is the first to support");
    let remedy = if renders_no_mode(ctx) {
        set(
            ctx,
            remedy,
            "Set the mode first, because the installed chart renders none, which is legacy from v1.4.0 on. \
             plain keeps the node's own iptables",
            Some(&clean_chart(ctx)),
            &[ChartValue::new("iptablesMode", "plain"), image_version(advised_version(ctx))],
        )
    } else {
        remedy
    };
    finish(ctx, onto_version(ctx, remedy, Some((&advised_version(ctx), &because))))
}

fn finish(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let adds = hinted_add_failures(ctx);
    let failing: Vec<_> = adds.iter().filter(|add| add.is(SIGNATURE)).collect();
    let remedy = remedy.note(
        "Do not change cniVersion: the network that owns the file rewrites it, and its own plugins may need \
         it",
    );
    failed_deleted(ctx, remedy, &failing)
}
