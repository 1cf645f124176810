//! Namespaces on the command line that the cluster does not have.

use std::collections::BTreeSet;

use super::args::{Check, EvidenceArgs, Verbosity};
use super::evidence::warn;
use super::stop::Stop;
use crate::collect::Collected;
use crate::fetched::Fetched;
use crate::item::{Item, Kind};
use crate::nearest::closest;
use crate::objects::{Namespace, Pod};

/// Rejects a namespace that does not exist: a typing error must not look like a healthy cluster.
pub(super) fn of_check(args: &Check, collected: &Collected) -> Result<(), Stop> {
    let before = args.stage.pre || args.stage.crds;
    known(&args.namespace, &args.evidence, before, collected, &args.verbosity)
}

/// The same for another command; `before` an installation its namespaces may be missing. If the evidence may lack
/// namespaces, one that it does not have is only a warning.
pub(super) fn known(
    namespaces: &[String],
    evidence: &EvidenceArgs,
    before: bool,
    collected: &Collected,
    verbosity: &Verbosity,
) -> Result<(), Stop> {
    let answer = collected.cluster.answer(&Item::List(Kind::Namespace));
    let objects: &[Namespace] = answer.map_or(&[][..], |answer| answer.objects());
    let is_complete = answer.is_some_and(|answer| answer.fetched == Fetched::Complete);
    let mut names: BTreeSet<&str> = objects.iter().map(|n| n.metadata.name.as_str()).collect();
    if !is_complete {
        let pods = collected.cluster.answer(&Item::List(Kind::Pod));
        let pods: &[Pod] = pods.map_or(&[][..], |answer| answer.objects());
        names.extend(pods.iter().map(|pod| pod.metadata.namespace.as_str()));
        if names.is_empty() {
            return Ok(());
        }
    }
    let homes = evidence.linkerd_namespace.iter().map(|name| ("-L", name));
    let homes = homes.chain(evidence.cni_namespace.iter().map(|name| ("--cni-namespace", name)));
    let homes = homes.filter(|_| !before && is_complete);
    let asked = namespaces.iter().map(|name| ("-n", name)).chain(homes);
    for (flag, name) in asked {
        if names.contains(name.as_str()) {
            continue;
        }
        let nearest = closest(name, names.iter().copied());
        let hint = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        if !is_complete {
            warn(&[format!("the evidence has no namespace {name} ({flag}){hint}")], verbosity);
            continue;
        }
        return Err(Stop::usage(
            format!("the namespace {name:?} ({flag}) does not exist{hint}"),
            format!("the cluster has {}", shown(&names.into_iter().collect::<Vec<_>>())),
        ));
    }
    Ok(())
}

fn shown(names: &[&str]) -> String {
    match names {
        [] => "no namespaces".to_owned(),
        few if few.len() <= 12 => few.join(", "),
        many => format!("{} and {} more", many[..12].join(", "), many.len() - 12),
    }
}
