//! `policy-unreadable`: an object that the policy controller cannot read; up to 2.19 it reads no other of its kind then.

use super::survey::{about, mend_or_delete, survey};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Severity};
use crate::objects::Meta;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let version = survey.version.as_ref().map_or_else(|| "not known".to_owned(), ToString::to_string);
    let unreadable = survey.index.ignored().iter().filter(|one| one.unreadable);
    let findings = unreadable.map(|one| {
        let (namespace, name) = one.key;
        let meta = Meta { namespace: namespace.to_owned(), name: name.to_owned(), ..Meta::default() };
        let voids = survey.index.void().contains(&one.kind);
        let message = if voids {
            format!(
                "the policy controller cannot read it, and this release then reads no {} of the cluster from its next start on: all \
                 of them count for nothing",
                one.kind
            )
        } else {
            "the policy controller cannot read it and passes it over: it counts for nothing".to_owned()
        };
        let severity = if voids { Severity::Error } else { Severity::Warning };
        about(ctx, one.kind, &meta, message)
            .severity(severity)
            .evidence(Evidence::field(format!("{} {namespace}/{name}", one.kind), "spec", one.why.clone()))
            .evidence(Evidence::other("Linkerd", version.clone()))
            .remedy(mend_or_delete(one.kind, &meta, "Write what it says above as it should be, and apply it again"))
    });
    Ok(findings.collect::<Vec<_>>().into())
}
