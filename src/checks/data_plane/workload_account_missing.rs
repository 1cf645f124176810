//! `workload-account-missing`: the ServiceAccount of a meshed workload does not exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::item::EXTENSION_LABEL;
use crate::objects::ServiceAccount;

/// The account of pods that name none; its controller creates it again.
const DEFAULT: &str = "default";
/// Maximum number of quoted pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let accounts = ctx.complete_list::<ServiceAccount>();
    let rules = Rules::from_context(ctx);
    let makers = makers(ctx)?;
    let (accounts, rules) = (accounts?, rules?);
    let known: BTreeSet<(&str, &str)> = accounts.iter().map(|one| one.metadata.key()).collect();
    // Another check covers the accounts of extensions.
    let is_application = |maker: &&Maker<'_>| {
        let namespace = rules.admission.namespace(maker.namespace());
        namespace.is_none_or(|one| one.metadata.label(EXTENSION_LABEL).is_none())
    };
    let mut missing: BTreeMap<(&str, &str), Vec<&Maker<'_>>> = BTreeMap::new();
    for maker in makers.iter().filter(is_application).filter(|maker| ctx.judges(maker.namespace())) {
        let key = (maker.namespace(), maker.spec.account());
        if key.1 != DEFAULT && !known.contains(&key) && rules.is_meshed(maker) {
            missing.entry(key).or_default().push(maker);
        }
    }
    let running = running(ctx);
    Ok(missing.iter().map(|(key, makers)| finding(ctx, *key, makers, &running)).collect())
}

/// The names of running pods, by owner.
fn running(ctx: &Context<'_>) -> BTreeMap<Owner, Vec<String>> {
    let owners = ctx.owners();
    let mut running: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for pod in ctx.optional_list::<Pod>().iter().filter(|pod| !pod.is_finished()) {
        running.entry(owners.owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    running
}

fn finding(
    ctx: &Context<'_>,
    (namespace, account): (&str, &str),
    makers: &[&Maker<'_>],
    running: &BTreeMap<Owner, Vec<String>>,
) -> Finding {
    let runs = makers.iter().any(|maker| running.contains_key(&maker.owner));
    let message = match runs {
        true => {
            "the ServiceAccount of meshed pods does not exist: identity renews no certificate of these pods, and no \
             new pod is created"
        }
        false => "the ServiceAccount of meshed pods does not exist: the API server rejects every pod of the workload",
    };
    let mut remedy = Remedy::new()
        .command(
            "Create the ServiceAccount again, with the labels and annotations of its source",
            kubectl().namespace(namespace).words("create serviceaccount").operand(account),
        )
        .note("If it was renamed on purpose, change serviceAccountName in the pod template instead");
    let mut finding = ctx
        .finding(Subject::object("ServiceAccount", namespace, account), message)
        .evidence(Evidence::other(format!("ServiceAccount {namespace}/{account}"), "does not exist"));
    for maker in makers {
        finding = finding.evidence(maker.field("spec.serviceAccountName", account)).subject(maker.subject());
        let pods = running.get(&maker.owner).map_or(&[][..], Vec::as_slice);
        if pods.is_empty() {
            continue;
        }
        let named: Vec<String> = pods.iter().take(QUOTED).cloned().collect();
        let because = "tokens of running pods are bound to the deleted account";
        remedy.steps.push(renew(ctx, &maker.owner, &named, Needs::NewPods, because));
    }
    finding.remedy(remedy)
}
