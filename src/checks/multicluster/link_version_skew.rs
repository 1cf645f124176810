//! `link-version-skew`: a Link was created by the CLI of another release.

use super::links::{field, link_again, links, subject};
use crate::checks::Upgrade;
use crate::checks::prelude::*;
use crate::model::control_plane::CREATED_BY;
use crate::objects::Link;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    if let Some(upgrade) = ctx.upgraded() {
        return Ok(links.iter().filter_map(|link| before_upgrade(ctx, upgrade, link)).collect());
    }
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
                    "the link was created by a linkerd CLI of another release: it lacks fields that that \
                     release did not write",
                )
                .evidence(field(link, &path, by))
                .evidence(Evidence::other("linkerd CLI", cli.as_str()))
                .remedy(link_again(ctx, fix, link)),
            ),
            None => findings.push(
                ctx.finding(
                    subject(link),
                    "the link does not state the release that created it, as links written by other tools \
                     never do: it may not fit the linkerd CLI",
                )
                .severity(Severity::Info)
                .parameter("unknown")
                .evidence(field(link, &path, if by.is_empty() { "missing" } else { by }))
                .remedy(fix.note(
                    "After an upgrade, compare the link with the output of `linkerd multicluster link` of \
                     the new release",
                )),
            ),
        }
    }
    Ok(findings.into())
}

/// A link of another minor than the target, which must be created again after the extension's upgrade.
fn before_upgrade(ctx: &Context<'_>, upgrade: &Upgrade, link: &Link) -> Option<Finding> {
    let minors = ctx.knowledge.minors();
    let by = link.metadata.annotation(CREATED_BY).unwrap_or_default();
    let made_by: LinkerdVersion = by.strip_prefix("linkerd/cli ")?.parse().ok()?;
    if made_by.minor(minors)? == upgrade.to.minor(minors)? {
        return None;
    }
    let remedy = Remedy::new().note("Upgrade the extension multicluster first, in both clusters");
    let remedy = link_again(ctx, remedy, link);
    Some(
        ctx.finding(
            subject(link),
            "the link was created by a linkerd CLI of another minor than the target: it lacks fields of \
             the target until it is created again",
        )
        .severity(Severity::Info)
        .parameter("upgrade")
        .evidence(field(link, &format!("metadata.annotations[{CREATED_BY}]"), by))
        .evidence(upgrade.evidence())
        .remedy(remedy),
    )
}
