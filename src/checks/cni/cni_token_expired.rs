//! `cni-token-expired`: a node's loaded entry authenticates with an expired token.

use jiff::SignedDuration;

use super::add_failures::{hinted_add_failures, on_node, on_this_node};
use super::nodes::Nodes;
use super::places::{entry_evidence, entry_subject, in_file};
use super::purge::purge_entry;
use super::{cni_add_unauthorized, token};
use crate::checks::{Context, Judgement};

/// Tolerated difference between the clocks of a node and of the API server.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let adds = hinted_add_failures(ctx);
    let mut findings = Vec::new();
    for snapshot in nodes.snapshots() {
        for running in nodes.chain(ctx, snapshot).entries {
            let Some((facts, claims)) = token::token(ctx, snapshot, running) else { continue };
            // A token without an expiry (of a Secret) never expires.
            let Some(expiry) = claims.expires_at() else { continue };
            let taken = snapshot.meta.collected_at;
            let seen = taken.unwrap_or_else(|| ctx.now());
            if seen.duration_since(expiry) <= CLOCK_SKEW {
                continue;
            }
            let when = match taken {
                Some(taken) => format!("the files were collected {taken}"),
                None => format!("the collection time of the files is not known; it is {seen} now"),
            };
            let known = Some((running.file, running.entry));
            let system = nodes.system(ctx, &snapshot.node);
            let finding = ctx
                .finding(
                    entry_subject(snapshot, running.file, running.entry),
                    "new pods on the node cannot start: the linkerd-cni entry that its runtime loads uses an \
                     expired token, which the API server rejects",
                )
                .parameter(running.file.path())
                .evidence(entry_evidence(snapshot, running))
                .evidence(in_file(snapshot, &facts.path, None, None, format!("token expired {expiry}; {when}")))
                .timeline(token::moments(ctx, (snapshot, &facts.path), claims, &on_this_node(adds, &snapshot.node)))
                .remedy(purge_entry(ctx, &snapshot.node, system, known, &on_this_node(adds, &snapshot.node)))
                .tie(on_node(cni_add_unauthorized::SIGNATURE, &snapshot.node));
            findings.push(finding.likely_if(taken.is_none()));
        }
    }
    Ok(findings.into())
}
