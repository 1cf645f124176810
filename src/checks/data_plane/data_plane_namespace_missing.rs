//! `data-plane-namespace-missing`: a namespace that was asked about (`-n`) does not exist.

use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::objects::Namespace;

pub(in crate::checks) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.every::<Namespace>(Kind::Namespace)?;
    let exists = |name: &str| namespaces.iter().any(|namespace| namespace.metadata.name == name);
    let missing = ctx.settings.namespaces.iter().filter(|name| !exists(name));
    let findings: Vec<_> = missing
        .map(|name| {
            let remedy = Remedy::verified_by("meshdoctor check").run(
                StepKind::Command,
                "Name one that exists, or leave -n away to have all of them judged",
                "kubectl get namespaces",
            );
            ctx.finding(
                Subject::object(Kind::Namespace, "", name),
                "the namespace that was asked about does not exist: nothing in it could be judged",
            )
            .evidence(Evidence::other("Namespaces", format!("none is called {name}")))
            .remedy(remedy)
        })
        .collect();
    Ok(Verdict::Judged(findings))
}
