//! `upgrade-path`: the target is not the next minor of the same channel.

use super::Upgrade;
use super::one_chart::{TRAFFIC_SPLITS, traffic_splits};
use super::plan::{OLDEST, minor_of, oldest_proxy, stop};
use crate::annotations::HELM_RELEASE;
use crate::checks::control_plane::installation::minors;
use crate::checks::prelude::*;
use crate::checks::upgrade::managed_by;
use crate::command::{Call, meshdoctor};
use crate::knowledge::{Origin, ReleaseRow};
use crate::objects::CustomResourceDefinition;
use crate::version::{Channel, Minor};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let mut findings = Vec::new();
    let minor = |version: &LinkerdVersion| minor_of(ctx, version);
    match minor(&way.from).zip(minor(way.to)) {
        _ if way.from.same_release(way.to) => findings.push(same(ctx, &way)),
        Some((from, to)) => match to.ahead_of(from) {
            // It describes the first of the steps.
            Some(ahead) if ahead > 0 && from < OLDEST => findings.push(too_old(ctx, &way)),
            Some(ahead) if ahead > 0 && from < Minor::new(2, 12) => {
                findings.extend(one_chart(ctx, &way));
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
    findings.extend(beyond(ctx, &way));
    let family = |version: &LinkerdVersion| family(version.channel(), minor(version));
    if family(&way.from) != family(way.to) {
        findings.push(sideways(ctx, &way));
    } else if way.from.channel() != way.to.channel() {
        let known = |version| ctx.knowledge.channels().origin(version).is_some();
        if known(&way.from) && known(way.to) {
            findings.push(channel(ctx, &way));
        }
    }
    Ok(findings.into())
}

/// The target is newer than the release data.
fn beyond(ctx: &Context<'_>, way: &Upgrade<'_>) -> Option<Finding> {
    let releases = ctx.knowledge.releases();
    let newest = releases.newest_edge();
    let message = format!(
        "the release data ends with {newest}: changes of later releases are not known, so this report covers the \
         upgrade only up to {newest}"
    );
    let remedy = Remedy::new()
        .note(format!("Read the notes of each release after {newest}: https://github.com/linkerd/linkerd2/releases"))
        .note("Use a newer meshdoctor, or give newer release data with --knowledge");
    releases
        .is_beyond(way.to)
        .then(|| about(ctx, way, message).severity(Severity::Warning).parameter("beyond").remedy(remedy))
}

/// The vendor of a channel. Releases without a channel are of the open-source project until its last stable minor.
fn family(channel: Channel, minor: Option<Minor>) -> &'static str {
    match channel {
        Channel::Unmarked if minor.is_some_and(|minor| minor <= Minor::new(2, 14)) => OPEN_SOURCE,
        Channel::Stable | Channel::Edge => OPEN_SOURCE,
        Channel::Enterprise | Channel::Preview | Channel::Unmarked => "a vendor",
        Channel::Dev | Channel::Git => "a custom build",
    }
}

/// The vendor of stable and edge releases.
const OPEN_SOURCE: &str = "the open-source project";

fn about(ctx: &Context<'_>, way: &Upgrade<'_>, message: impl Into<String>) -> Finding {
    ctx.finding(Subject::thing("upgrade"), message).evidence(way.seen.clone()).evidence(way.target.clone())
}

fn skips(ctx: &Context<'_>, way: &Upgrade<'_>, from: Minor, to: Minor, distance: u32) -> Finding {
    let rows = ctx.knowledge.releases().rows();
    let between: Vec<&ReleaseRow> = rows.iter().filter(|row| row.minor > from && row.minor <= to).collect();
    let minors_of = |row: &&ReleaseRow| match row.minor == to {
        true => format!("{} ({})", row.minor, way.to),
        false => format!("{} ({})", row.minor, stop(row, &way.from, way.to)),
    };
    let hops = between.iter().map(minors_of).collect::<Vec<_>>().join(", ");
    let remedy = Remedy::new().command(
        format!("Follow the plan, which upgrades to one minor after the other, each with its data plane: {hops}"),
        meshdoctor().words("check --to").arg(way.to.to_string()).words("-o plan"),
    );
    let message = format!(
        "the target is {} ahead, and Linkerd supports upgrading one minor at a time. Until every pod is \
         created again, proxies of the older minor use a control plane that was not tested with them",
        minors(distance)
    );
    about(ctx, way, message).remedy(remedy).tie(Tie::Cluster).parameter(super::SKIPS).fact(format!("{from} to {to}"))
}

/// The installed release is older than the first one from which a plan goes.
fn too_old(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    let message = format!(
        "The changes up to {OLDEST} are not in the release data, so this report covers none of them. Linkerd supports \
         upgrading one minor at a time"
    );
    about(ctx, way, message).parameter("too old").remedy(
        Remedy::new()
            .note(format!(
                "First upgrade one minor after the other to {OLDEST}, as its notes describe: \
                 https://linkerd.io/2.11/tasks/upgrade/"
            ))
            .note(format!("Then repeat this check for the way from {OLDEST}")),
    )
}

/// Before 2.12 there was one chart. The CLI replaces it like any other release, except for TrafficSplits.
fn one_chart(ctx: &Context<'_>, way: &Upgrade<'_>) -> Option<Finding> {
    if managed_by(ctx).is_by_cli() && owned(ctx).is_empty() {
        let definitions = ctx.or_note(ctx.partial_list::<CustomResourceDefinition>()).unwrap_or_default();
        let splits = definitions.iter().find(|one| one.metadata.name == TRAFFIC_SPLITS)?;
        let message = "Since 2.12 TrafficSplits belong to the SMI extension: without it, they have no effect after the \
                       upgrade. Without TrafficSplits nothing changes";
        let evidence = Evidence::other("CRD", splits.metadata.name.as_str());
        let remedy = traffic_splits(Remedy::new()).note("Do not apply the CRDs with --prune: it deletes TrafficSplits");
        let finding = about(ctx, way, message).severity(Severity::Warning).parameter("traffic splits");
        return Some(finding.evidence(evidence).remedy(remedy));
    }
    Some(two_charts(ctx, way))
}

/// The CRDs of the chart linkerd2 that belong to a Helm release.
fn owned<'a>(ctx: &Context<'a>) -> Vec<&'a str> {
    let release = |one: &&CustomResourceDefinition| one.metadata.annotations.contains_key(HELM_RELEASE);
    let owned = ctx.optional_list::<CustomResourceDefinition>().iter().filter(release);
    owned
        .map(|one| one.metadata.name.as_str())
        .filter(|name| name.ends_with("linkerd.io") || name.ends_with("split.smi-spec.io"))
        .collect()
}

/// The chart linkerd2 has to be replaced by two.
fn two_charts(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    let owned = owned(ctx);
    let seen = (!owned.is_empty()).then(|| Evidence::other("CRDs of a Helm release", owned.join(", ")));
    about(
        ctx,
        way,
        "until 2.11 one chart, linkerd2, held everything. Since 2.12 there are linkerd-crds and \
         linkerd-control-plane, and TrafficSplit belongs to the SMI extension. Removing the old Helm \
         release deletes its CRDs, with every policy and profile",
    )
    .parameter("one chart")
    .evidences(seen)
    .remedy(
        Remedy::new()
            .note(
                "Before the upgrade to 2.12, save every ServiceProfile, Server, ServerAuthorization and \
                 TrafficSplit: kubectl get -A -o yaml",
            )
            .note(
                "Move the objects to the two new charts, as the plan (-o plan) and the notes of 2.12 describe. If \
                 TrafficSplits are used, install the SMI extension first: https://linkerd.io/2.14/tasks/upgrade/",
            ),
    )
}

fn back(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    let (installed, earlier) = (&way.from, way.to);
    let keep = Remedy::new().note(format!("Keep {installed}, or upgrade to a later release"));
    // The plan of the upgrade that would be undone.
    let is_planned = crate::checks::Upgrade::target(installed.as_str(), ctx.knowledge.releases()).is_ok();
    let remedy = match is_planned {
        true => keep.command(
            format!(
                "To undo an upgrade from {earlier} whose proxies are not yet in use, follow Rollback, the last part \
                 of its plan"
            ),
            meshdoctor()
                .words("check --from")
                .arg(earlier.to_string())
                .words("--to")
                .arg(installed.to_string())
                .words("-o plan"),
        ),
        false => keep,
    };
    about(
        ctx,
        way,
        "The target is a downgrade, for which Linkerd has no procedure. Proxies newer than the control plane are \
         not supported, and objects stored by newer CRDs remain",
    )
    .parameter(super::BACK)
    .remedy(remedy)
}

fn same(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    let Some(earlier) = oldest_proxy(ctx, &way.from) else {
        return about(ctx, way, "This release is already installed. Applying it again changes only the values")
            .severity(Severity::Info)
            .parameter("same")
            .remedy(Remedy::new().note("Name a later release with --to"));
    };
    let message = format!(
        "The control plane already runs this release, but the upgrade has not ended: proxies still run {earlier}"
    );
    let to = |call: Call| call.words("--to").arg(way.to.to_string()).words("-o plan");
    let remedy = Remedy::new()
        .command("Follow the plan, which restarts the workloads", to(meshdoctor().words("check")))
        .command(
            format!("Or, to return to {earlier}, follow Rollback, the last part of the plan of the whole upgrade"),
            to(meshdoctor().words("check --from").arg(earlier.to_string())),
        );
    about(ctx, way, message).severity(Severity::Warning).parameter("same").remedy(remedy)
}

fn not_comparable(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    about(ctx, way, "the two releases cannot be compared: the minors between them are not known")
        .severity(Severity::Warning)
        .parameter("not comparable")
        .remedy(Remedy::new().note("Name the release that the build is based on with --from"))
}

fn sideways(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    let message = format!(
        "the target is released by {}, the installed release by {}: charts, repositories and images have \
         different names, and values may have a different meaning",
        family(way.to.channel(), minor_of(ctx, way.to)),
        family(way.from.channel(), minor_of(ctx, &way.from))
    );
    let remedy = Remedy::new()
        .note("Follow the guide of the target's vendor; this plan uses only public sources about the minor");
    let finding = about(ctx, way, message).severity(Severity::Warning).parameter("sideways").likely();
    finding.remedy(origins(ctx, way, remedy))
}

/// The target is in another channel of the same vendor.
fn channel(ctx: &Context<'_>, way: &Upgrade<'_>) -> Finding {
    let prefix = |version: &LinkerdVersion| version.channel().prefix();
    let message = format!(
        "the target is of the channel {}, the installed release of the channel {}: charts come from \
         another repository and use another numbering",
        prefix(way.to),
        prefix(&way.from)
    );
    let finding = about(ctx, way, message).severity(Severity::Info).parameter("channel");
    finding.remedy(origins(ctx, way, Remedy::new()))
}

/// Adds the differences of the target's distribution: charts, images, values, and features that only the
/// current build has.
fn origins(ctx: &Context<'_>, way: &Upgrade<'_>, remedy: Remedy) -> Remedy {
    let channels = ctx.knowledge.channels();
    let (Some(from), Some(to)) = (channels.origin(&way.from), channels.origin(way.to)) else { return remedy };
    let named = |origin: &Origin| {
        let charts =
            ["linkerd-crds", "linkerd-control-plane"].map(|chart| origin.chart(chart).unwrap_or(chart).to_owned());
        format!("{} of {}", charts.join(" and "), origin.address)
    };
    let remedy =
        remedy.note(format!("Charts: {}, replacing {}; the plan (-o plan) has the commands", named(to), named(from)));
    let remedy = match from.images == to.images {
        true => remedy,
        false => remedy.note(format!(
            "Images: {} instead of {}; mirrors, pull secrets and admission policies have to allow it \
                 before",
            to.images, from.images
        )),
    };
    let within = |origin: &Origin| origin.within("linkerd-control-plane").map(ToOwned::to_owned);
    let remedy = match (within(from), within(to)) {
        (None, Some(within)) => remedy.step(
            StepKind::ChartValue,
            format!(
                "Control-plane values belong under {within} in that chart: it ignores them at the top \
             level"
            ),
        ),
        (Some(within), None) => remedy.step(
            StepKind::ChartValue,
            format!(
                "Control-plane values belong at the top level in that chart: it ignores them under \
             {within}"
            ),
        ),
        _ => remedy,
    };
    let remedy = match &to.license {
        Some(variable) => {
            remedy.note(format!("A license key is required: {variable} for its CLI, license in the values"))
        }
        None => remedy,
    };
    let remedy = match &to.guide {
        Some(guide) => remedy.note(format!("Its guide: {guide}")),
        None => remedy,
    };
    match family(way.from.channel(), minor_of(ctx, &way.from)) {
        "a vendor" => remedy.note(
            "Parts that only the vendor's build has are lost: its operator, its own resources and values, \
             and fixes backported from later releases",
        ),
        _ => match &from.last {
            Some(last) => remedy.note(format!(
                "That channel ends with {last}: it has no \
             later release"
            )),
            None => remedy,
        },
    }
}
