//! The token that a linkerd-cni entry authenticates with, from the node's files.

use super::nodes::{lacks, silent};
use crate::checks::prelude::*;
use crate::finding::Moment;
use crate::model::node::{ChainEntry, KubeconfigFacts, KubeconfigLookup, NodeSnapshot};
use crate::model::sandbox::{AddFailure, ReportedBy};
use crate::model::{cni, moments};
use crate::token::Claims;

const FACTS: &str = "cni/kubeconfig.facts.json";

/// The facts of an entry's kubeconfig; unknown ones are noted as a gap. `None` without a gap if the file is
/// known to be missing, which another check reports.
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

/// When a token was issued and expired, when the installer on its node started, and when pods failed.
pub(super) fn moments(
    ctx: &Context<'_>,
    (snapshot, file): (&NodeSnapshot, &str),
    claims: &Claims,
    refused: &[&AddFailure<'_>],
) -> Vec<Moment> {
    let node = snapshot.node.as_str();
    let installers =
        ctx.optional_list::<Pod>().iter().filter(|pod| cni::is_installer_pod(pod) && pod.node_name == node);
    let installers =
        installers.flat_map(|pod| moments::of_restarts(pod, "linkerd-cni created", |name| name == cni::INSTALLER));
    let mut all = moments::of_token(node, file, claims, ctx.now());
    all.extend(installers);
    all.extend(refusals(refused));
    all
}

/// When pods failed, from events.
pub(super) fn refusals(refused: &[&AddFailure<'_>]) -> Vec<Moment> {
    let events = refused.iter().filter_map(|add| match add.reported_by {
        ReportedBy::Event(event) => Some(event),
        ReportedBy::Journal(_) => None,
    });
    moments::of_events(events)
}

/// The claims of an entry's token; unknown ones are noted as a gap. `None` without a gap if the kubeconfig or
/// its token is known to be missing, which other checks report.
pub(super) fn token<'s>(
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
