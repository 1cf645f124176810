//! `stale-endpoints-release`: proxies of the control plane's release may keep addresses of deleted pods.

use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::version::Contains;

/// The row of the releases table with the affected range.
const DEFECT: &str = "stale-endpoints";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (version, seen) = of_control_plane(ctx)?;
    let Some(defect) = ctx.knowledge.releases().defect(DEFECT) else { return Ok(Verdict::fine()) };
    if defect.affects(&version, ctx.knowledge.minors()) != Contains::Yes {
        return Ok(Verdict::fine());
    }
    let home = &ctx.namespaces().control_plane;
    let remedy = Remedy::new()
        .step(
            StepKind::Upgrade,
            "Upgrade the control plane and then the proxies; releases from \
         edge-23.10.3 on have the fix",
        )
        .command(
            "Until then, if a client keeps connecting to stale addresses: restart destination, then that \
             client",
            kubectl().namespace(home).words("rollout restart deployment/linkerd-destination"),
        );
    let finding = ctx
        .finding(
            Subject::object("Namespace", "", home),
            "destination of this release may miss endpoint updates: clients then keep connecting to \
             addresses of deleted pods until they are restarted",
        )
        .likely()
        .evidence(seen)
        .evidence(Evidence::other("Release data", defect.what.clone()))
        .remedy(remedy);
    Ok(finding.into())
}
