//! `data-plane-namespace-missing`: a namespace given with `-n` does not exist.

use std::collections::BTreeSet;

use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::nearest::closest;

pub(in crate::checks) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.complete_list::<Namespace>()?;
    let exists = |name: &str| namespaces.iter().any(|namespace| namespace.metadata.name == name);
    let missing = ctx.settings.namespaces.iter().filter(|name| !exists(name));
    let findings: Vec<_> = missing
        .map(|name| {
            let near = |name: &str| closest(name, namespaces.iter().map(|one| one.metadata.name.as_str()));
            let given = ctx.settings.namespaces.iter();
            let others: BTreeSet<String> =
                given.filter_map(|name| if exists(name) { Some(name.clone()) } else { near(name) }).collect();
            let again = match others.is_empty() {
                true => meshdoctor().words("check"),
                false => meshdoctor().words("check").option("-n", Vec::from_iter(others).join(",")),
            };
            let remedy = Remedy::new()
                .command("List the namespaces", kubectl().words("get namespaces"))
                .command("Check again with the names of existing namespaces, or without -n for all of them", again);
            ctx.finding(
                Subject::object(Kind::Namespace, "", name),
                "the namespace given with -n does not exist, so nothing in it was checked",
            )
            .evidence(Evidence::other("Namespaces", format!("none is named {name}")))
            .remedy(remedy)
        })
        .collect();
    Ok(findings.into())
}
