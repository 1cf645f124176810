//! Plans while running proxies lack the trust anchor of the current issuer: a restart of the control plane cuts them
//! off, so that repair is decided first, and others wait for it.

use super::remedy;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::trust_roots::{ControlPlane, foreign_pods, strands_proxies};
use crate::checks::upgrade::{self, Options};
use crate::command::{meshdoctor, program};
use crate::model::managed_by::Installer;
use crate::objects::Secret;
use crate::objects::container::TRUST_ANCHORS;
use crate::redact::STORED_VALUES;

/// The check with that repair.
const FIRST: &str = "data-plane-anchors-disjoint";

/// The remedy of a finding that can wait, which would restart the control plane: its steps follow that repair. `None`
/// if no proxy would be cut off. The steps of an info are printed only on request.
pub(in crate::checks) fn later(ctx: &Context<'_>, check: &'static str, severity: Severity) -> Option<Remedy> {
    let act = format!("After the steps of {FIRST}, check again: this prints the steps for this finding");
    let print = meshdoctor().words("check --only").arg(format!("{FIRST},{check}"));
    let print = if severity == Severity::Info { print.words("-v") } else { print };
    strands_proxies(ctx).then(|| Remedy::new().run(StepKind::Note, act, print))
}

/// The remedy of an identity that still issues under the anchor of such proxies.
pub(super) fn no_restart(ctx: &Context<'_>) -> Option<Remedy> {
    let act =
        format!("Do not restart identity: running proxies trust only the issuer that it has in memory. Follow {FIRST}");
    strands_proxies(ctx).then(|| Remedy::new().note(act))
}

/// The restart of control-plane pods, unless it cuts off running proxies; then another check has all steps.
pub(super) fn restarted(ctx: &Context<'_>, owner: &Owner, names: &[String]) -> Remedy {
    if strands_proxies(ctx) {
        let act = "Do not restart it now: some proxies lack the current trust anchors and could not reach it. The \
                   steps of data-plane-anchors-disjoint restart it";
        return Remedy::new().note(act);
    }
    Remedy::new().with(renew(ctx, owner, names, Needs::NewPods, "new pods read the current bundle"))
}

/// The steps that keep calls working: the old trust anchor next to the current ones, and the old issuer under it, until
/// every proxy has both. Empty if no proxy would be cut off, or the restart already happened.
pub(super) fn kept(ctx: &Context<'_>) -> Remedy {
    const OLD_ROOT: &str = "ca-old.crt";
    const CERTIFICATE: &str = "issuer-old.crt";
    const KEY: &str = "issuer-old.key";
    const BOTH: &str = "bundle-both.crt";
    let Some(pod) = foreign_pods(ctx).next().filter(|_| ControlPlane::from_pods(ctx) == ControlPlane::Older) else {
        return Remedy::new();
    };
    let is_external = remedy::is_issuer_external(ctx);
    let anchor = kubectl().namespace(&pod.metadata.namespace).words("get pod").operand(pod.metadata.name.as_str());
    let anchor = anchor.words("-o").arg(format!("jsonpath={{..env[?(@.name==\"{TRUST_ANCHORS}\")].value}}"));
    let verified = program("step").words("certificate verify").arg(CERTIFICATE).words("--roots").arg(OLD_ROOT);
    let remedy =
        Remedy::new().command("Write the old trust anchor of a running proxy to a file", anchor.to_file(OLD_ROOT));
    // Helm and other tools write no such Secret.
    let is_stored =
        upgrade::managed_by(ctx).installer == Some(Installer::Cli) && !ctx.is_absent_for_steps::<Secret>(STORED_VALUES);
    let remedy = match is_stored && !is_external {
        true => remedy.command(
            "Write the old issuer and its key to files, from the values that the installation stores",
            Command::lines(upgrade::stored_issuer_to_files(ctx, CERTIFICATE, KEY)).whole(),
        ),
        false => remedy.note(format!("Take the old issuer and its key from a backup, as {CERTIFICATE} and {KEY}")),
    };
    let remedy = remedy.command(
        "Check that this issuer is under the old anchor. If the command prints an error, take both files from a \
         backup",
        verified,
    );
    let act = "Write the current bundle to a file, and add the old anchor";
    let remedy = remedy::add_to_bundle(ctx, remedy, act, BOTH, OLD_ROOT);
    let remedy = if is_external {
        // First, because a change of the trust anchors may restart identity.
        let act = "Stop the tool that renews the issuer, and put the old one in place: every running proxy trusts it";
        let remedy = remedy::by_owner_of(ctx, remedy, act, [CERTIFICATE, KEY, OLD_ROOT]);
        remedy::put_known_bundle(ctx, remedy, "Put both trust anchors in place", BOTH)
    } else {
        let both = Options::none().after_restarts().anchors(BOTH).pair(CERTIFICATE, KEY);
        let act = "Put both trust anchors and the old issuer in place: every running proxy trusts it";
        upgrade::step(ctx, remedy, StepKind::Command, act, both)
    };
    let remedy = remedy::restart_trusted_control_plane(ctx, remedy)
        .command("Delete the files with the key", program("rm").words("-f").arg(upgrade::OVERRIDES_FILE).arg(KEY));
    remedy::restart_meshed(ctx, remedy).run(
        StepKind::Note,
        "Then replace the issuer and remove the old anchor, one step at a time",
        meshdoctor().words("rotate"),
    )
}
