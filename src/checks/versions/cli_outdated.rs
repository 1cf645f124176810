//! `cli-outdated`: the operator's CLI is not of the expected release, or not the newest.

use super::cli_install::install;
use super::newest::behind;
use crate::checks::control_plane::installation::installed;
use crate::checks::prelude::*;
use crate::version::Channel;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let cli = ctx.cli_version()?;
    let Some(behind) = behind(ctx, cli) else { return Ok(Verdict::fine()) };
    // A CLI with the control plane's version is not outdated unless a release is expected.
    let mut is_first = false;
    if !behind.expected {
        let installed = ctx.or_note(installed(ctx));
        is_first = matches!(installed, Some(None));
        if installed.flatten().is_some_and(|(version, _)| version.same_build(cli)) {
            return Ok(Verdict::fine());
        }
    }
    let message = match (behind.expected, is_first) {
        (true, _) => "the linkerd CLI is not of the release that is expected",
        (false, true) => {
            "a newer linkerd CLI is known, and no control plane is installed. The CLI installs its own release"
        }
        (false, false) => "a newer linkerd CLI is known, but it is more important that the CLI fits the control plane",
    };
    let remedy = Remedy::new();
    let remedy = match (behind.expected, behind.target.channel()) {
        (true, Channel::Edge) => {
            remedy.command("Install the CLI of that release", install(ctx.knowledge, &behind.target))
        }
        (true, _) => remedy.step(StepKind::Command, format!("Install the CLI of {}, from its vendor", behind.target)),
        (false, _) if is_first => remedy.command(
            "Install the newest CLI before it installs Linkerd, unless you want the older release",
            install(ctx.knowledge, &behind.target),
        ),
        (false, _) => remedy.note(
            "Upgrade the CLI together with the control plane, not before: it belongs to the installed \
             release",
        ),
    };
    let finding = ctx
        .finding(Subject::thing("linkerd CLI"), message)
        .severity(behind.severity)
        .fact(behind.fact(cli))
        .evidence(Evidence::other("linkerd CLI", cli.as_str()))
        .evidence(behind.evidence)
        .fails_rows(["cli is up-to-date"])
        .remedy(remedy);
    Ok(finding.into())
}
