//! `upgrade-target-not-recommended`: upstream advises against the target.

use super::Upgrade;
use crate::checks::prelude::*;
use crate::command::meshdoctor;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let releases = ctx.knowledge.releases();
    let Some(row) = way.to.edge().and_then(|edge| releases.not_recommended(edge)) else {
        return Ok(Verdict::fine());
    };
    let message = format!("Linkerd advises against this release: {}", row.why);
    let remedy = Remedy::new().run(
        StepKind::Upgrade,
        format!("Upgrade to {} or later instead, and check that target first", row.instead),
        meshdoctor().words("check").option("--to", row.instead.to_string()),
    );
    let finding = ctx
        .finding(Subject::thing("upgrade"), message)
        .evidence(way.target)
        .evidence(Evidence::other("release data", format!("as of {}", releases.date())))
        .remedy(remedy);
    Ok(finding.into())
}
