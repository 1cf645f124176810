//! `cli-control-plane-skew`: the operator's CLI and the control plane are not of one version.

use super::cli_install::install;
use super::compared::all_failed;
use crate::checks::control_plane::installation::{minors, of_control_plane};
use crate::checks::prelude::*;
use crate::checks::upgrades::plan::hops;
use crate::command::meshdoctor;
use crate::knowledge::Knowledge;
use crate::version::Channel;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let installed = of_control_plane(ctx);
    let cli = ctx.cli_version()?;
    let (control_plane, seen) = installed?;
    // The CLI of a release on the way is ready for the upgrade.
    let is_ahead = ctx.settings.upgrade.as_ref().is_some_and(|upgrade| {
        let mut hops = hops(ctx, &control_plane, &upgrade.to).into_iter().flatten();
        cli.same_build(&upgrade.to) || hops.any(|release| cli.same_build(&release))
    });
    if cli.same_build(&control_plane) || is_ahead {
        return Ok(Verdict::fine());
    }
    let table = ctx.knowledge.minors();
    let ahead = match (cli.minor(table), control_plane.minor(table)) {
        (Some(cli), Some(control_plane)) => cli.ahead_of(control_plane),
        _ => None,
    };
    let difference = match ahead {
        Some(0) if cli.channel() != control_plane.channel() => {
            "from another channel than the control plane, though of its minor".to_owned()
        }
        Some(0) => "another build of the control plane's minor".to_owned(),
        Some(ahead) if ahead < 0 => format!("{} older than the control plane", minors(ahead.unsigned_abs())),
        Some(ahead) => format!("{} newer than the control plane", minors(ahead.unsigned_abs())),
        None => "of a version that cannot be compared with the control plane's".to_owned(),
    };
    let finding = ctx
        .finding(
            Subject::thing("linkerd CLI"),
            format!(
                "the linkerd CLI is {difference}: its checks, manifests and injected proxies are for another release"
            ),
        )
        .evidence(Evidence::other("linkerd CLI", cli.as_str()))
        .evidence(seen)
        .fails_rows(all_failed(ctx, ctx.optional_list::<Pod>(), cli, LinkerdVersion::same_build, |rows| rows.cli))
        .remedy(remedy(ctx.knowledge, &control_plane, ahead.is_some_and(|ahead| ahead > 0).then_some(cli)));
    Ok(finding.into())
}

/// The steps; `newer`: the version of a CLI of a later minor.
fn remedy(knowledge: &Knowledge, control_plane: &LinkerdVersion, newer: Option<&LinkerdVersion>) -> Remedy {
    let remedy = Remedy::new();
    let text = "Use the CLI of the installed version against this cluster";
    let remedy = match control_plane.channel() {
        _ if knowledge.channels().origin(control_plane).is_some() => {
            remedy.command(text, install(knowledge, control_plane))
        }
        Channel::Dev | Channel::Git => {
            remedy.step(StepKind::Command, format!("{text}: {control_plane}, built from the same sources"))
        }
        _ => remedy.step(StepKind::Command, format!("{text}: {control_plane}, from its vendor")),
    };
    match newer {
        Some(cli) => remedy.run(
            StepKind::Upgrade,
            "Or, if you began an upgrade with it, finish the upgrade. This command prints its plan",
            meshdoctor().words("check --to").arg(cli.to_string()).words("-o plan"),
        ),
        None => remedy,
    }
}
