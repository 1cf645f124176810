//! Plans while running proxies lack the trust anchor of the current issuer: a restart of the control plane cuts them
//! off, so that repair is decided first, and others wait for it.

use crate::checks::Context;
use crate::checks::trust_roots::strands_proxies;
use crate::command::meshdoctor;
use crate::finding::{Remedy, StepKind};

/// The check with that repair.
const FIRST: &str = "data-plane-anchors-disjoint";

/// The decision whether to interrupt traffic that works, as the first step.
pub(super) fn decided() -> Remedy {
    let act = "Decide first: do your applications' calls still work? If not, go on. If they do, stop: the next steps \
               interrupt them. Follow this page instead";
    Remedy::new().run(StepKind::Note, act, meshdoctor().words("explain").arg(FIRST))
}

/// The remedy of a finding that can wait, which would restart the control plane: its steps follow that repair. `None`
/// if no proxy would be cut off.
pub(super) fn later(ctx: &Context<'_>, check: &'static str) -> Option<Remedy> {
    let act = format!("Repair {FIRST} first. Then this command prints the steps for this finding");
    let print = meshdoctor().words("check --only").arg(format!("{FIRST},{check}"));
    strands_proxies(ctx).then(|| Remedy::new().run(StepKind::Note, act, print))
}

/// The remedy of an identity that still issues under the anchor of such proxies.
pub(super) fn no_restart(ctx: &Context<'_>) -> Option<Remedy> {
    let act = format!(
        "Do not restart identity: running proxies trust only the issuer that it has in memory. Follow {FIRST}"
    );
    strands_proxies(ctx).then(|| Remedy::new().step(StepKind::Note, act))
}
