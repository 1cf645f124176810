//! The rollback of a plan: the steps that return the control plane to the previous release, with the tool
//! that installed it, and the time limit.

use super::gitops::taken;
use super::one_chart;
use super::phases::Phase;
use crate::card::Part;
use crate::checks::prelude::*;
use crate::checks::upgrade::{CONTROL_PLANE, RenderedTo, chart_number, managed_by, own_chart, to_release};
use crate::checks::versions::cli_install::install;
use crate::command::{Line, helm, linkerd, meshdoctor, program};
use crate::knowledge::{Between, RetypedValue};
use crate::model::managed_by::{Installer, Release};

/// The Secret in which the CLI stores the values, and its key.
const OVERRIDES: &str = "linkerd-config-overrides";

/// The rollback phase: `from` is the installed release, `hops` the target releases in order. Reads
/// `deployments.apps`.
pub(super) fn phase(ctx: &Context<'_>, from: &LinkerdVersion, hops: &[LinkerdVersion], moves_plugin: bool) -> Phase {
    let remedy = Remedy::new().note(
        "Until the data plane restarts, only the control plane can be rolled back, by one release: proxies \
         of that release still run",
    );
    let by = managed_by(ctx);
    let remedy = match (by.gitops, by.installer) {
        (Some(owner), _) => remedy
            .note(format!(
                "In Git, revert only the change of the control plane that \
             {owner} applied"
            ))
            .command(format!("Sync it with {owner}, and wait until the sync is complete"), taken(owner)),
        (None, Some(Installer::Release(release))) => {
            let before = match hops {
                [.., before, _] => before,
                _ => from,
            };
            match (one_chart::old_release(ctx), hops) {
                (Some(_), [_]) => remedy.command(
                    "Helm cannot roll this upgrade back, as the old release no longer owns the objects. Remove the \
                     CRDs from its saved manifest, and apply the rest. Delete the file once no rollback is needed: it \
                     can hold the issuer's key",
                    kubectl().words("apply --server-side --force-conflicts -f").arg(one_chart::MANIFEST),
                ),
                (Some(_), _) => with_helm(ctx, remedy, one_chart::new_release(ctx, CONTROL_PLANE), before),
                (None, _) => with_helm(ctx, remedy, release, before),
            }
        }
        (None, Some(Installer::Cli)) => {
            let before = std::iter::once(from).chain(hops);
            before.zip(hops).fold(remedy, |remedy, (before, at)| {
                let remedy = with_readable_values(ctx, remedy, before, at);
                let text = format!("From {at} to {before}, with its own CLI");
                remedy.command(text, by_cli(ctx, before))
            })
        }
        (None, Some(Installer::Chart) | None) => {
            remedy.note("Then apply the control plane of the previous release again, with the tool that installed it")
        }
    };
    let home = ctx.namespaces().control_plane.as_str();
    let checked = Line::from(linkerd().control_plane(home).words("check"));
    let rolled = kubectl().namespace(home).words("rollout status deployment --timeout=10m");
    let remedy =
        remedy.command("Wait until the control plane runs, and check it", Command::lines([rolled.into(), checked]));
    let newer = meshdoctor().words("check --only data-plane-skew --fail-on info");
    let remedy = remedy.command(
        "Apply the extensions of the previous release again, if they were upgraded. Restart the workloads that this \
         lists as newer: pods that were created since the upgrade have the newer proxy",
        newer,
    );
    let remedy = match moves_plugin {
        true => remedy.note(
            "Keep the newer linkerd-cni: the previous control plane already ran with it between two phases of this \
             plan",
        ),
        false => remedy,
    };
    let remedy = remedy.note("Keep the CRDs of the newer release: deleting a CRD deletes its objects");
    let remedy = remedy.note(lost(by.gitops.is_none() && by.release().is_some()));
    let remedy = remedy.note(
        "Once pods run the newer proxy, Linkerd supports no rollback: no release supports proxies that are \
         newer than its control plane. Repair the installed release, or upgrade to one with the fix",
    );
    Phase { title: "Rollback".to_owned(), part: Part::WayBack, release: None, remedy }
}

/// Adds the steps that return a Helm release of the control plane to the release before.
fn with_helm(ctx: &Context<'_>, remedy: Remedy, release: Release<'_>, before: &LinkerdVersion) -> Remedy {
    if let Some(own) = own_chart(ctx, release) {
        let act = format!("Roll the release back to the revision before. {}", own.all_go_back());
        return remedy.command(act, rolled_back(release));
    }
    let number = chart_number(ctx.knowledge, CONTROL_PLANE.0, before);
    let chart = number.map_or_else(String::new, |number| {
        format!(", the newest with CHART {}-{number} for {before}", CONTROL_PLANE.0)
    });
    let act = format!(
        "Find the previous revision{chart}, and roll the control plane back to it, chart and values. Keep the \
         release of the CRDs"
    );
    let remedy = remedy.command(act, rolled_back(release));
    match ctx.knowledge.channels().origin(before) {
        Some(_) => {
            let act = format!("Install the linkerd CLI {before} again");
            remedy.command(act, install(ctx.knowledge, before))
        }
        None => remedy,
    }
}

/// What a rollback loses in addition to its time; Helm also restores the earlier values.
fn lost(by_helm: bool) -> String {
    let ignored = "Expect these losses: the previous release ignores chart values, annotations and fields of policies \
         and routes that only the newer one knows";
    match by_helm {
        true => format!(
            "{ignored}, and Helm restores the values of its revision, trust anchors and issuer included. Set later \
             changes of values again"
        ),
        false => ignored.to_owned(),
    }
}

/// Adds the steps that make stored values of a release readable for the CLI of the previous one, which
/// otherwise fails before it reads any option. Reads `linkerd-config`.
fn with_readable_values(ctx: &Context<'_>, remedy: Remedy, before: &LinkerdVersion, at: &LinkerdVersion) -> Remedy {
    let Some(values) = ctx.values_for_steps() else {
        return remedy;
    };
    let between = Between { from: before, to: at, minors: ctx.knowledge.minors() };
    ctx.knowledge.upgrades().retyped(between).fold(remedy, |remedy, row| {
        let path = format!("{}.{}", row.within, row.key);
        let Some(written) = values.written(&path).filter(|written| *written != row.default.to_string()) else {
            return remedy;
        };
        let number = written.parse().unwrap_or(row.default);
        remedy.command(
            format!(
                "Store {path} as the number {number}: the CLI of {before} fails on the text that the CLI of \
                 {at} stores"
            ),
            stored_as_number(ctx, row, number),
        )
    })
}

/// Rewrites one stored value of the CLI. The Secret also holds the issuer's key, so it is not printed.
fn stored_as_number(ctx: &Context<'_>, row: &RetypedValue, number: i64) -> Command {
    let home = ctx.namespaces().control_plane.as_str();
    let parent = row.within.rsplit('.').next().unwrap_or(&row.within);
    let edit = format!(
        ".data.\"{OVERRIDES}\" |= (@base64d | sub(\"(?<start>{parent}:\\\\s+{key}: )\\\\S+\"; .start + \"{number}\") | \
         @base64)",
        key = row.key
    );
    let read = kubectl().namespace(home).words("get secret").operand(OVERRIDES).words("-o json");
    let written = read.pipe(program("jq").arg(edit)).pipe(kubectl().words("replace -f -"));
    Command::lines([written])
}

fn rolled_back(release: Release<'_>) -> Command {
    let history = helm().words("history").operand(release.name).namespace(release.namespace);
    let rollback = helm().words("rollback").operand(release.name).arg(Arg::placeholder("REVISION"));
    Command::lines([history, rollback.namespace(release.namespace).words("--wait")])
}

fn by_cli(ctx: &Context<'_>, to: &LinkerdVersion) -> Command {
    let (upgrade, ..) = to_release(ctx, to, &[], RenderedTo::Cluster);
    match ctx.knowledge.channels().origin(to) {
        Some(_) => {
            let mut command = install(ctx.knowledge, to);
            command.join([&upgrade]);
            command
        }
        None => upgrade,
    }
}
