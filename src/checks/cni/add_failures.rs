//! The pods that linkerd-cni refuses, as its checks see them, and what ties them to their causes. Nothing here judges; the
//! card of a check that uses a function names what it reads.

use std::collections::BTreeMap;

use super::logs;
use crate::checks::Context;
use crate::checks::joins::Join;
use crate::finding::{Evidence, Finding, Tie};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::journal::Journal;
use crate::model::owners::Owners;
use crate::model::sandbox::{self, AddFailure, KnownPods};
use crate::objects::{Event, Pod};

/// How many events a finding about a node quotes.
const EVENTS_QUOTED: usize = 3;

/// The pods that linkerd-cni refuses, joined once for a run: from events and journals with owners, from events alone, and from
/// events and journals.
#[derive(Default)]
pub(in crate::checks) struct Refused<'a> {
    owned: Join<Vec<AddFailure<'a>>>,
    hinted: Join<Vec<AddFailure<'a>>>,
    reported: Join<Vec<AddFailure<'a>>>,
}

/// The pods that linkerd-cni refuses, for checks that are about those pods: limited by `-n`. Needs events, or a journal in
/// their place; pods, ReplicaSets and Jobs make it surer.
pub(super) fn add_failures<'a>(ctx: &Context<'a>) -> Result<&'a [AddFailure<'a>], Missing> {
    let journals = logs::journals(ctx);
    let events = match ctx.seen::<Event>() {
        Ok(events) => events,
        Err(missing) if journals.is_empty() => return Err(missing),
        Err(missing) => {
            ctx.gap(missing);
            &[]
        }
    };
    let adds: &'a Vec<_> = ctx.once(&ctx.joins.refused.owned, |ctx| {
        let mut adds = adds_among(ctx, (events, &journals), ctx.owners());
        let own = ctx.namespaces();
        adds.retain(|add| {
            ctx.judges(&add.namespace) || add.namespace == own.control_plane || add.namespace == own.cni
        });
        adds
    });
    Ok(adds)
}

/// The same for checks that ask what is wrong with nodes, and only sharpen with events and pods.
pub(super) fn hinted_add_failures<'a>(ctx: &Context<'a>) -> &'a [AddFailure<'a>] {
    let build = |ctx: &Context<'a>| adds_among(ctx, (ctx.hints::<Event>(), &[]), &Owners::default());
    let adds: &'a Vec<_> = ctx.once(&ctx.joins.refused.hinted, build);
    adds
}

/// The same, from journals as well: cards name `node-files` and `logs`.
pub(super) fn reported_add_failures<'a>(ctx: &Context<'a>) -> &'a [AddFailure<'a>] {
    let build =
        |ctx: &Context<'a>| adds_among(ctx, (ctx.hints::<Event>(), &logs::journals(ctx)), &Owners::default());
    let adds: &'a Vec<_> = ctx.once(&ctx.joins.refused.reported, build);
    adds
}

fn adds_among<'a>(
    ctx: &Context<'a>,
    reports: (&'a [Event], &[Journal<'a>]),
    owners: &Owners<'_>,
) -> Vec<AddFailure<'a>> {
    let pods = match ctx.every::<Pod>() {
        Ok(every) => KnownPods::Every(every),
        Err(_) => KnownPods::Some(ctx.hints::<Pod>()),
    };
    sandbox::add_failures(reports, pods, owners, ctx.knowledge, ctx.now())
}

/// Refused pods by node; those of which nobody knows the node are left out.
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

/// Those of one node, as references.
pub(super) fn on_this_node<'r, 'a>(adds: &'r [AddFailure<'a>], node: &str) -> Vec<&'r AddFailure<'a>> {
    adds.iter().filter(|add| add.node == node).collect()
}

/// The first events of a node, quoted.
pub(super) fn quoted(adds: &[&AddFailure<'_>]) -> Vec<Evidence> {
    adds.iter().take(EVENTS_QUOTED).map(|add| add.evidence()).collect()
}

/// A finding about one refused pod.
pub(super) fn refused(ctx: &Context<'_>, add: &AddFailure<'_>, message: impl Into<String>) -> Finding {
    let mut finding =
        ctx.finding(add.owner.subject(vec![add.pod.to_string()]), message).evidence(add.evidence());
    if let Some(signature) = add.signature {
        finding = finding.tie(everywhere(&signature.id)).tie(on_node(&signature.id, add.node));
    }
    if let Some((said, signature)) = add.detail {
        finding = finding
            .evidence(said.evidence())
            .tie(everywhere(&signature.id))
            .tie(on_node(&signature.id, add.node));
    }
    if add.waits {
        return finding;
    }
    // A pod that started since, or is gone, waits no more.
    ctx.noted(ctx.every::<Pod>());
    finding.likely()
}

/// What ties a cause that holds for every node to the pods that are refused with a signature: a row of `signatures.yaml`.
pub(super) fn everywhere(signature: &str) -> Tie {
    known(signature);
    Tie::Fact(format!("cni-add {signature}"))
}

/// What ties a cause on one node to the pods that are refused there with a signature: never to pods of another node, nor
/// to those that fail there for another reason.
pub(super) fn on_node(signature: &str, node: &str) -> Tie {
    known(signature);
    Tie::Fact(format!("cni-add {signature} on {node}"))
}

/// Ties a cause on one node to everything that it makes linkerd-cni answer there: one cause may show in several ways, and
/// explains no pod that is refused with another signature. Its card names the check that reports the signature under
/// `explains`.
pub(super) fn answers_on(finding: Finding, node: &str, signatures: &[&str]) -> Finding {
    signatures.iter().fold(finding, |finding, signature| finding.tie(on_node(signature, node)))
}

/// A misspelled signature would tie nothing to nothing, silently.
fn known(signature: &str) {
    debug_assert!(
        Knowledge::embedded().signatures().get(signature).is_some(),
        "signatures.yaml has no row {signature}"
    );
}
