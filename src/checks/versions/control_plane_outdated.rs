//! `control-plane-outdated`: the control plane does not have the expected or newest release, or has one that
//! is not recommended.

use super::compared::all_failed;
use super::newest::behind;
use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (version, seen) = of_control_plane(ctx)?;
    let pods = ctx.optional_list::<Pod>();
    let advised = advised_against(ctx, &version, &seen);
    // One reason to upgrade suffices, unless a release is expected.
    let behind = behind(ctx, &version).filter(|behind| behind.expected || advised.is_none());
    let behind = behind.map(|behind| {
        let message = if behind.expected {
            "the control plane is not at the release that is expected"
        } else {
            "a newer release than that of the control plane is known"
        };
        let remedy = Remedy::new().step(
            StepKind::Upgrade,
            format!(
                "Upgrade the control plane to {}, one minor at a time: CRDs first, then the control plane, then the \
                 workloads",
                behind.target
            ),
        );
        subject(ctx, message)
            .severity(behind.severity)
            .fact(behind.fact(&version))
            .evidence(seen.clone())
            .evidence(behind.evidence)
            .fails_rows(all_failed(ctx, pods, &behind.target, LinkerdVersion::same_release, |rows| rows.latest))
            .remedy(remedy)
    });
    Ok(advised.into_iter().chain(behind).collect())
}

fn subject(ctx: &Context<'_>, message: &str) -> Finding {
    ctx.finding(Subject::object("Namespace", "", &ctx.namespaces().control_plane), message)
}

/// The finding for an edge release that upstream does not recommend.
fn advised_against(ctx: &Context<'_>, version: &LinkerdVersion, seen: &Evidence) -> Option<Finding> {
    let row = ctx.knowledge.releases().not_recommended(version.edge()?)?;
    let finding = subject(ctx, "Linkerd does not recommend the installed edge")
        .severity(Severity::Info)
        .fact(format!("{version} is not recommended; {} or later is", row.instead))
        .parameter("advised-against")
        .evidence(seen.clone())
        .evidence(Evidence::other(format!("Linkerd on {version}"), row.why.clone()))
        .fails_rows([])
        .remedy(Remedy::new().step(StepKind::Upgrade, format!("Upgrade to {} or a later edge", row.instead)));
    Some(finding)
}
