//! Namespaces on the command line that the cluster does not have.

use super::args::{Check, EvidenceArgs};
use super::stop::Stop;
use crate::collect::Collected;
use crate::fetched::Fetched;
use crate::item::{Item, Kind};
use crate::nearest::closest;
use crate::objects::Namespace;

/// Rejects a namespace that does not exist: a typing error must not look like a healthy cluster.
pub(super) fn of_check(args: &Check, collected: &Collected) -> Result<(), Stop> {
    let before = args.stage.pre || args.stage.crds;
    known(&args.namespace, &args.evidence, before, collected)
}

/// The same for another command; `before` an installation its namespaces may be missing.
pub(super) fn known(
    namespaces: &[String],
    evidence: &EvidenceArgs,
    before: bool,
    collected: &Collected,
) -> Result<(), Stop> {
    let Some(answer) = collected.cluster.answer(&Item::List(Kind::Namespace)) else { return Ok(()) };
    if answer.fetched != Fetched::Complete {
        return Ok(());
    }
    let names: Vec<&str> = answer.objects::<Namespace>().iter().map(|n| n.metadata.name.as_str()).collect();
    let homes = evidence.linkerd_namespace.iter().map(|name| ("-L", name));
    let homes = homes.chain(evidence.cni_namespace.iter().map(|name| ("--cni-namespace", name)));
    let homes = homes.filter(|_| !before);
    let asked = namespaces.iter().map(|name| ("-n", name)).chain(homes);
    for (flag, name) in asked {
        if !names.contains(&name.as_str()) {
            let nearest = closest(name, names.iter().copied());
            let hint = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            return Err(Stop::usage(
                format!("the namespace {name:?} ({flag}) does not exist{hint}"),
                format!("the cluster has {}", shown(&names)),
            ));
        }
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
