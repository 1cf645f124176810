//! `cni-token-in-conflist`: an entry of linkerd-cni contains a token that linkerd-cni never reads.

use super::chart::{ChartValue, image_version};
use super::host::on_files;
use super::mode::{clean_chart, renders_no_mode};
use super::nodes::{Nodes, lacks};
use super::places::{entry_subject, in_file};
use super::remedy::{advised_version, changed};
use super::target::target;
use crate::checks::prelude::*;
use crate::command::program;
use crate::knowledge::System;
use crate::model::node::{ConfFile, Field, LinkerdEntry, NodeSnapshot, PolicyToken};

const SECRET: &str = "a CNI configuration on the node contains a service-account token that linkerd-cni \
                      never reads: every user who can read the file, or a copy of it, can use the token";
const PLACEHOLDER: &str = "linkerd-cni's entry has an unused field for a token: its chart is old, and \
                           another installer may write a token to the field";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        for file in &snapshot.conf_files {
            match file.linkerd_entries() {
                Ok(entries) => findings
                    .extend(entries.iter().filter_map(|entry| token_finding(ctx, &nodes, snapshot, file, entry))),
                Err(why) if file.is_loadable() => {
                    lacks(ctx, Why::NotCaptured, format!("node {}: {why}", snapshot.node))
                }
                Err(_) => {}
            }
        }
        // Without a known file nothing was checked.
        if snapshot.conf_files.is_empty() {
            nodes.chain(ctx, snapshot);
        }
    }
    Ok(findings.into())
}

fn token_finding(
    ctx: &Context<'_>,
    nodes: &Nodes<'_>,
    snapshot: &NodeSnapshot,
    file: &ConfFile,
    entry: &LinkerdEntry,
) -> Option<Finding> {
    let Field::Set { value, place } = &entry.policy_token else { return None };
    let (message, severity, said) = match value {
        PolicyToken::Jwt { .. } => (SECRET, Severity::Warning, "a token (redacted)".to_owned()),
        PolicyToken::Other => {
            (SECRET, Severity::Warning, "a secret, not a service-account token (redacted)".to_owned())
        }
        PolicyToken::Placeholder(text) => (PLACEHOLDER, Severity::Info, format!("{text:?}")),
        PolicyToken::Empty => return None,
    };
    let path = Some(entry.path_of("policy.k8s_auth_token"));
    let finding = ctx
        .finding(entry_subject(snapshot, file, entry), message)
        .severity(severity)
        .evidence(in_file(snapshot, &file.path(), path, Some(*place), said))
        .remedy(remedy(ctx, (snapshot, nodes.system(ctx, &snapshot.node)), file, severity));
    Some(finding.likely_if(*value == PolicyToken::Other))
}

fn remedy(
    ctx: &Context<'_>,
    (snapshot, system): (&NodeSnapshot, Option<&System>),
    file: &ConfFile,
    severity: Severity,
) -> Remedy {
    let remedy = Remedy::new();
    if !file.is_loadable() {
        return on_files(
            remedy,
            system,
            &snapshot.node,
            &format!("Delete the copy {}: no runtime loads a file with that name", file.path()),
            [program("rm").operand(file.path())],
        );
    }
    let first = ctx.knowledge.cni_plugin().first_chart_without_policy();
    let mut words = format!(
        "Upgrade to chart 20{:02}.{}.{} or newer, whose entry has no field for a token (its installer \
         rewrites every file of the directory)",
        first.year, first.month, first.number
    );
    let mut values = Vec::new();
    if renders_no_mode(ctx) {
        words += ". The mode is set too, because a missing one is legacy from v1.4.0 on: plain keeps the node's \
                  own iptables";
        values = vec![ChartValue::new("iptablesMode", "plain"), image_version(advised_version(ctx))];
    }
    let chart = clean_chart(ctx);
    let remedy = changed(ctx, remedy, words, Some(&chart), &values);
    match severity {
        Severity::Info => remedy,
        Severity::Warning | Severity::Error => remedy.run(
            StepKind::Command,
            "If a Secret holds the token, delete that Secret (this command lists the Secrets with tokens). The \
             token of a pod ended with the restart",
            kubectl()
                .namespace(target(ctx).namespace)
                .words("get secrets --field-selector type=kubernetes.io/service-account-token"),
        ),
    }
}
