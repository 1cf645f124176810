//! The token that an entry of linkerd-cni authenticates with, as far as the node's files tell.

use super::nodes::{lacks, silent};
use crate::checks::Context;
use crate::fetched::Why;
use crate::model::node::{ChainEntry, KubeconfigFacts, KubeconfigLookup, NodeSnapshot};
use crate::token::Claims;

const FACTS: &str = "cni/kubeconfig.facts.json";

/// What an entry's kubeconfig says; what cannot be told is noted as a gap. One that is known to be absent is trouble of
/// another kind than one that is wrong.
pub(super) fn kubeconfig<'s>(
    ctx: &Context<'_>,
    snapshot: &'s NodeSnapshot,
    running: ChainEntry<'_>,
) -> Option<&'s KubeconfigFacts> {
    match snapshot.kubeconfig_of(running.entry) {
        KubeconfigLookup::Facts(facts) => Some(facts),
        KubeconfigLookup::NotLookedFor { path, why } => {
            silent(ctx, snapshot, FACTS, &format!("{path}: {why}"));
            None
        }
        KubeconfigLookup::Absent { .. } | KubeconfigLookup::NoPath => None,
    }
}

/// The claims of an entry's token; what cannot be told is noted as a gap. A kubeconfig that is known to be absent, or to
/// hold no token, is trouble of another kind than a dead token.
pub(super) fn of<'s>(
    ctx: &Context<'_>,
    snapshot: &'s NodeSnapshot,
    running: ChainEntry<'_>,
) -> Option<(&'s KubeconfigFacts, &'s Claims)> {
    let facts = kubeconfig(ctx, snapshot, running)?;
    match (&facts.token_claims, facts.token_present()) {
        (Some(claims), _) => Some((facts, claims)),
        (None, Some(false)) => None,
        (None, Some(true) | None) => {
            let why = facts.token_error.as_ref().or(facts.parse_error.as_ref());
            let why = why.map_or(Why::NotOffered, |message| Why::Malformed { message: message.clone() });
            lacks(ctx, why, format!("node {}: the claims of the token in {}", snapshot.node, facts.path));
            None
        }
    }
}
