//! `link-version-skew`: a Link was made by the command of another release.

use super::links::{field, link_again, links, subject};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, Severity, StepKind};
use crate::model::control_plane::CREATED_BY;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let cli = ctx.cli_version()?;
    let path = format!("metadata.annotations[{CREATED_BY}]");
    let mut findings = Vec::new();
    for link in links {
        let by = link.metadata.annotation(CREATED_BY).unwrap_or_default();
        let fix = Remedy::new();
        match by.strip_prefix("linkerd/cli ") {
            Some(version) if version == cli.as_str() => {}
            Some(_) => findings.push(
                ctx.finding(
                    subject(link),
                    "the link was made by a linkerd CLI of another release: it lacks what that release did not write",
                )
                .evidence(field(link, &path, by))
                .evidence(Evidence::other("linkerd CLI", cli.as_str()))
                .remedy(link_again(ctx, fix, link)),
            ),
            None => findings.push(
                ctx.finding(
                    subject(link),
                    "the link does not say which release made it, as links written by other tools never do: whether it fits the \
                     linkerd CLI is not known",
                )
                .severity(Severity::Info)
                .parameter("unknown")
                .evidence(field(link, &path, if by.is_empty() { "missing" } else { by }))
                .remedy(fix.step(
                    StepKind::Note,
                    "After an upgrade, compare the link with what `linkerd multicluster link` of the new release writes",
                )),
            ),
        }
    }
    Ok(findings.into())
}
