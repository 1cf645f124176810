//! `data-plane-namespace-missing`: a namespace given with `-n` does not exist.

use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::objects::Namespace;

pub(in crate::checks) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.every::<Namespace>()?;
    let exists = |name: &str| namespaces.iter().any(|namespace| namespace.metadata.name == name);
    let missing = ctx.settings.namespaces.iter().filter(|name| !exists(name));
    let findings: Vec<_> = missing
        .map(|name| {
            let remedy = Remedy::new().run(
                StepKind::Command,
                "Give an existing namespace, or leave out -n to check all of them",
                kubectl().words("get namespaces"),
            );
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
