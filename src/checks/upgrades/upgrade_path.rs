//! `upgrade-path`: the target is not the next minor of the same channel.

use super::Way;
use crate::annotations::HELM_RELEASE;
use crate::checks::control_plane::installation::minors;
use crate::checks::{Context, Judgement};
use crate::command::meshdoctor;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject, Tie};
use crate::knowledge::ReleaseRow;
use crate::objects::CustomResourceDefinition;
use crate::version::{Channel, LinkerdVersion, Minor};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Way::of(ctx)?;
    let mut findings = Vec::new();
    let table = ctx.knowledge.minors();
    let minor = |version: &LinkerdVersion| version.minor(table);
    match minor(&way.from).zip(minor(way.to)) {
        _ if way.from.same_release(way.to) => findings.push(same(ctx, &way)),
        Some((from, to)) => match to.ahead_of(from) {
            // It says what the first of the steps is.
            Some(ahead) if ahead > 0 && from < Minor::new(2, 12) => {
                findings.push(one_chart(ctx, &way));
                if ahead > 1 {
                    findings.push(skips(ctx, &way, from, to, ahead.unsigned_abs()));
                }
            }
            Some(ahead) if ahead > 1 => findings.push(skips(ctx, &way, from, to, ahead.unsigned_abs())),
            Some(ahead) if ahead < 0 => findings.push(back(ctx, &way)),
            Some(0) if way.to.cmp_same_channel(&way.from).is_some_and(std::cmp::Ordering::is_lt) => {
                findings.push(back(ctx, &way));
            }
            Some(_) | None => {}
        },
        None => findings.push(not_comparable(ctx, &way)),
    }
    if family(way.from.channel()) != family(way.to.channel()) {
        findings.push(sideways(ctx, &way));
    }
    Ok(findings.into())
}

/// Who releases it.
fn family(channel: Channel) -> &'static str {
    match channel {
        Channel::Stable | Channel::Edge => "the open-source project",
        Channel::Enterprise | Channel::Preview | Channel::Unmarked => "a vendor",
        Channel::Dev | Channel::Git => "a build of somebody's own",
    }
}

fn about(ctx: &Context<'_>, way: &Way<'_>, message: impl Into<String>) -> Finding {
    ctx.finding(Subject::thing("upgrade"), message).evidence(way.seen.clone()).evidence(way.target.clone())
}

fn skips(ctx: &Context<'_>, way: &Way<'_>, from: Minor, to: Minor, distance: u32) -> Finding {
    let rows = ctx.knowledge.releases().rows();
    let between: Vec<&ReleaseRow> = rows.iter().filter(|row| row.minor > from && row.minor <= to).collect();
    let remedy = between.iter().fold(Remedy::new(), |remedy, row| {
        remedy.run(
            StepKind::Command,
            format!(
                "Upgrade to {} ({}), with its data plane, as the plan (-o plan) does; see what that brings",
                row.minor,
                row.release()
            ),
            meshdoctor().words("check --to").arg(row.minor.to_string()),
        )
    });
    let message = format!(
        "the target is {} ahead, and Linkerd supports upgrades by one: proxies of the older minor are served by a control plane \
         that was never tried with them until every pod is created again",
        minors(distance)
    );
    about(ctx, way, message)
        .remedy(remedy)
        .tie(Tie::Cluster)
        .parameter(super::SKIPS)
        .fact(format!("{from} to {to}"))
}

/// Before 2.12 there was one chart.
fn one_chart(ctx: &Context<'_>, way: &Way<'_>) -> Finding {
    let release = |one: &&CustomResourceDefinition| one.metadata.annotations.contains_key(HELM_RELEASE);
    let owned = ctx.hints::<CustomResourceDefinition>().iter().filter(release);
    let owned: Vec<&str> = owned
        .map(|one| one.metadata.name.as_str())
        .filter(|name| name.ends_with("linkerd.io") || name.ends_with("split.smi-spec.io"))
        .collect();
    let seen = (!owned.is_empty()).then(|| Evidence::other("CRDs of a Helm release", owned.join(", ")));
    about(
        ctx,
        way,
        "until 2.11 one chart, linkerd2, held everything; since 2.12 there are linkerd-crds and linkerd-control-plane, SMI's \
         TrafficSplit is an extension's, and the CRDs of the old Helm release go with it, with every policy and profile",
    )
    .parameter("one chart")
    .evidences(seen)
    .remedy(
        Remedy::new()
            .step(
                StepKind::Note,
                "Before the upgrade to 2.12, save every ServiceProfile, Server, ServerAuthorization and TrafficSplit: kubectl get -A -o yaml",
            )
            .step(
                StepKind::Note,
                "Move to the new charts as the notes of stable-2.12.0 say, and install the SMI extension first where TrafficSplits are \
                 used: https://linkerd.io/2/tasks/upgrade/",
            ),
    )
}

fn back(ctx: &Context<'_>, way: &Way<'_>) -> Finding {
    about(
        ctx,
        way,
        "this is a downgrade, for which Linkerd has no procedure: proxies that are newer than the control plane are not supported, \
         and what newer CRDs store stays",
    )
    .severity(Severity::Warning)
    .parameter("back")
    .remedy(Remedy::new().step(
        StepKind::Note,
        "Keep the CRDs of the newer release, take the data plane back with the control plane, and try it on another cluster first",
    ))
}

fn same(ctx: &Context<'_>, way: &Way<'_>) -> Finding {
    about(
        ctx,
        way,
        "this release is installed already: to apply it again changes what its values say and no more",
    )
    .severity(Severity::Info)
    .parameter("same")
    .remedy(Remedy::new().step(StepKind::Note, "Name a later release with --to"))
}

fn not_comparable(ctx: &Context<'_>, way: &Way<'_>) -> Finding {
    about(ctx, way, "the two releases cannot be compared: which minors lie between them is not known")
        .severity(Severity::Warning)
        .parameter("not comparable")
        .remedy(
            Remedy::new().step(StepKind::Note, "Name the release that the build was made from with --from"),
        )
}

fn sideways(ctx: &Context<'_>, way: &Way<'_>) -> Finding {
    let message = format!(
        "the target is released by {}, what is installed by {}: charts, repositories and images have other names, and values may \
         mean something else",
        family(way.to.channel()),
        family(way.from.channel())
    );
    about(ctx, way, message)
        .severity(Severity::Warning)
        .parameter("sideways")
        .remedy(Remedy::new().step(
            StepKind::Note,
            "Follow the guide of whoever releases the target; what public sources say of the minor is judged here",
        ))
        .likely()
}
