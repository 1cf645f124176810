//! Pods for which linkerd-cni fails, and the ties to their causes. The card of a check that uses a function
//! names the evidence that it reads.

use std::collections::BTreeMap;

use super::logs;
use crate::checks::joins::Join;
use crate::checks::prelude::*;
use crate::knowledge::Knowledge;
use crate::model::journal::Journal;
use crate::model::owners::Owners;
use crate::model::sandbox::{self, AddFailure, KnownPods};
use crate::objects::Event;

/// Number of events that a finding about a node quotes.
const EVENTS_QUOTED: usize = 3;

/// The pods for which linkerd-cni fails, joined once for a run: from events and journals with owners, from
/// events alone, and from events and journals.
#[derive(Default)]
pub(in crate::checks) struct RefusedAdds<'a> {
    owned: Join<Vec<AddFailure<'a>>>,
    hinted: Join<Vec<AddFailure<'a>>>,
    reported: Join<Vec<AddFailure<'a>>>,
}

/// The pods for which linkerd-cni fails, for checks about those pods: limited by `-n`. Needs events or
/// journals; pods, ReplicaSets and Jobs improve the result.
pub(super) fn add_failures<'a>(ctx: &Context<'a>) -> Result<&'a [AddFailure<'a>], Missing> {
    let journals = logs::journals(ctx);
    let events = match ctx.partial_list::<Event>() {
        Ok(events) => events,
        Err(missing) if journals.is_empty() => return Err(missing),
        Err(missing) => {
            ctx.gap(missing);
            &[]
        }
    };
    let adds: &'a Vec<_> = ctx.get_or_build(&ctx.joins.refused.owned, |ctx| {
        let mut adds = adds_among(ctx, (events, &journals), ctx.owners());
        let own = ctx.namespaces();
        adds.retain(|add| ctx.judges(&add.namespace) || add.namespace == own.control_plane || add.namespace == own.cni);
        adds
    });
    Ok(adds)
}

/// The same for checks about nodes, which use events and pods only as additional evidence.
pub(super) fn hinted_add_failures<'a>(ctx: &Context<'a>) -> &'a [AddFailure<'a>] {
    let build = |ctx: &Context<'a>| adds_among(ctx, (ctx.optional_list::<Event>(), &[]), &Owners::default());
    let adds: &'a Vec<_> = ctx.get_or_build(&ctx.joins.refused.hinted, build);
    adds
}

/// The same, including journals: cards name `node-files` and `logs`.
pub(super) fn reported_add_failures<'a>(ctx: &Context<'a>) -> &'a [AddFailure<'a>] {
    let build =
        |ctx: &Context<'a>| adds_among(ctx, (ctx.optional_list::<Event>(), &logs::journals(ctx)), &Owners::default());
    let adds: &'a Vec<_> = ctx.get_or_build(&ctx.joins.refused.reported, build);
    adds
}

fn adds_among<'a>(
    ctx: &Context<'a>,
    reports: (&'a [Event], &[Journal<'a>]),
    owners: &Owners<'_>,
) -> Vec<AddFailure<'a>> {
    let pods = match ctx.complete_list::<Pod>() {
        Ok(every) => KnownPods::Every(every),
        Err(_) => KnownPods::Some(ctx.optional_list::<Pod>()),
    };
    sandbox::add_failures(reports, pods, owners, ctx.knowledge, ctx.now())
}

/// Failed pods by node, without those whose node is not known.
pub(super) fn by_node<'r, 'a>(
    adds: impl IntoIterator<Item = &'r AddFailure<'a>>,
) -> BTreeMap<&'a str, Vec<&'r AddFailure<'a>>>
where
    'a: 'r,
{
    let mut by_node: BTreeMap<&str, Vec<&AddFailure<'_>>> = BTreeMap::new();
    for add in adds.into_iter().filter(|add| !add.node.is_empty()) {
        by_node.entry(add.node).or_default().push(add);
    }
    by_node
}

/// The failures on one node.
pub(super) fn on_this_node<'r, 'a>(adds: &'r [AddFailure<'a>], node: &str) -> Vec<&'r AddFailure<'a>> {
    adds.iter().filter(|add| add.node == node).collect()
}

/// The first events of a node, quoted.
pub(super) fn quoted(adds: &[&AddFailure<'_>]) -> Vec<Evidence> {
    adds.iter().take(EVENTS_QUOTED).map(|add| add.evidence()).collect()
}

/// A finding about one failed pod.
pub(super) fn refused(ctx: &Context<'_>, add: &AddFailure<'_>, message: impl Into<String>) -> Finding {
    let mut finding = ctx.finding(add.owner.subject(vec![add.pod.to_string()]), message).evidence(add.evidence());
    if let Some(signature) = add.signature {
        finding = finding.tie(everywhere(&signature.id)).tie(on_node(&signature.id, add.node));
    }
    if let Some((said, signature)) = add.detail {
        finding =
            finding.evidence(said.evidence()).tie(everywhere(&signature.id)).tie(on_node(&signature.id, add.node));
    }
    if add.waits {
        return finding;
    }
    // A pod that started since, or was deleted, no longer waits.
    ctx.or_note(ctx.complete_list::<Pod>());
    finding.likely()
}

/// Ties a cause on every node to the pods that fail with a signature, a row of `signatures.yaml`.
pub(super) fn everywhere(signature: &str) -> Tie {
    known(signature);
    Tie::Fact(format!("cni-add {signature}"))
}

/// Ties a cause on one node to the pods that fail there with a signature, but not to pods on other nodes or
/// with other errors.
pub(super) fn on_node(signature: &str, node: &str) -> Tie {
    known(signature);
    Tie::Fact(format!("cni-add {signature} on {node}"))
}

/// Ties a cause on one node to each error that it makes linkerd-cni return there. It explains no pod that
/// fails with another signature. Its card names the check that reports the signature under `explains`.
pub(super) fn answers_on(finding: Finding, node: &str, signatures: &[&str]) -> Finding {
    signatures.iter().fold(finding, |finding, signature| finding.tie(on_node(signature, node)))
}

/// Asserts that a signature exists: a misspelled one would match nothing.
fn known(signature: &str) {
    debug_assert!(
        Knowledge::embedded().signatures().get(signature).is_some(),
        "signatures.yaml has no row {signature}"
    );
}
