//! `cni-token-not-rotated`: the token of linkerd-cni is overdue for renewal.

use super::nodes::{Nodes, lacks};
use super::places::{entry_evidence, entry_subject, in_file};
use super::plugin::PluginOn;
use super::remedy::{advised_version, restarted};
use super::target::target;
use super::token;
use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::finding::Moment;
use crate::knowledge::TokenRefresh;
use crate::model::node::{ChainEntry, NodeSnapshot};
use crate::token::Claims;

/// Upper bound in seconds of the validity of a token that is not extended: kubelets request about an hour.
const NOT_STRETCHED: i64 = 2 * 3600;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let installed = super::installers::installed(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        for running in nodes.chain(ctx, snapshot).entries {
            let Some((facts, claims)) = token::token(ctx, snapshot, running) else { continue };
            let plugin = PluginOn::on_node(ctx, &installed, &snapshot.node, Some(snapshot));
            findings.extend(late(ctx, snapshot, running, &facts.path, claims, &plugin));
        }
    }
    Ok(findings.into())
}

fn late(
    ctx: &Context<'_>,
    snapshot: &NodeSnapshot,
    running: ChainEntry<'_>,
    kubeconfig: &str,
    claims: &Claims,
    plugin: &PluginOn<'_>,
) -> Option<Finding> {
    let Some(due) = claims.warns_at() else {
        let lifetime = claims.exp.zip(claims.iat).map(|(exp, iat)| exp - iat);
        // A token without an extended expiry is valid or expired, and the token of a Secret is never
        // replaced.
        if claims.is_bound_to_pod() && lifetime.is_none_or(|seconds| seconds > NOT_STRETCHED) {
            let part = format!("node {}: the renewal time of the token in {kubeconfig}", snapshot.node);
            lacks(ctx, Why::NotOffered, part);
        }
        return None;
    };
    let taken = snapshot.meta.collected_at;
    let seen = taken.unwrap_or_else(|| ctx.now());
    if seen.duration_since(due) <= ctx.param_duration("minutes")
        || claims.expires_at().is_some_and(|expiry| expiry < seen)
    {
        return None;
    }
    let refresh = plugin.all(|row| row.token_refresh);
    let (severity, message) = match refresh {
        Some(TokenRefresh::Works) => (
            Severity::Warning,
            "linkerd-cni's installer does not renew the node's token, although its version should: once the \
             token expires or its pod is deleted, no new pod starts there",
        ),
        Some(TokenRefresh::None | TokenRefresh::Unreliable) => (
            Severity::Info,
            "linkerd-cni's token on the node is overdue for renewal, which this version does not do: once it \
             expires, no new pod starts there",
        ),
        None => (
            Severity::Info,
            "linkerd-cni's token on the node is overdue for renewal: no new pod starts there once it expires",
        ),
    };
    let when = match taken {
        Some(taken) => format!("the files were collected {taken}"),
        None => format!("the collection time of the files is not known; it is {seen} now"),
    };
    let until = claims.expires_at().map_or_else(String::new, |expiry| format!(", valid until {expiry}"));
    let finding = ctx
        .finding(entry_subject(snapshot, running.file, running.entry), message)
        .severity(severity)
        .evidence(entry_evidence(snapshot, running))
        .evidence(in_file(snapshot, kubeconfig, None, None, format!("token due for renewal {due}{until}; {when}")))
        .timeline(token::moments(ctx, (snapshot, kubeconfig), claims, &[]))
        .timeline(Moment::new(
            Some(due),
            format!("node {}", snapshot.node),
            format!("{kubeconfig} warnafter"),
            "the token was due for renewal",
        ))
        .evidences(plugin.evidence(&snapshot.node))
        .remedy(remedy(ctx, refresh));
    Some(finding.likely_if(taken.is_none()))
}

fn remedy(ctx: &Context<'_>, refresh: Option<TokenRefresh>) -> Remedy {
    let remedy = restarted(ctx, Remedy::new());
    let broken = target(ctx).clean_up_broken(ctx);
    match refresh {
        Some(TokenRefresh::None | TokenRefresh::Unreliable) if !broken => remedy.run(
            StepKind::Upgrade,
            format!("Plan an upgrade to {} or newer, whose installer follows each renewal", advised_version(ctx)),
            meshdoctor().words("check --only cni --to-cni").arg(advised_version(ctx)),
        ),
        _ => remedy,
    }
}
