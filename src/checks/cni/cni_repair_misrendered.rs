//! `cni-repair-misrendered`: the repair controller's container starts the installer instead.

use super::chart::{self, ChartValue};
use super::installers::{REPAIR, installers, shown, subject};
use super::remedy::rolled_out;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    if sets.is_empty() {
        return Ok(Verdict::fine());
    }
    let remedy = chart::set(
        ctx,
        Remedy::verified_by(rolled_out(ctx)),
        "Let the chart render the container's security context, without which it also omits command, \
         arguments and ports",
        None,
        &[ChartValue::new("repairController.enableSecurityContext", "true")],
    );
    let remedy = chart::set(
        ctx,
        remedy,
        "If that is not allowed, disable the repair controller instead",
        None,
        &[ChartValue::new("repairController.enabled", "false")],
    );
    let broken = sets.into_iter().filter(|set| {
        let repair = set.spec.template.spec.container(REPAIR);
        repair.is_some_and(|container| container.command.is_empty())
    });
    let message = "the container repair-controller has no command, so it starts the image's installer, \
                   without the node's directories: it keeps failing, and no pod is repaired";
    Ok(broken
        .map(|set| {
            ctx.finding(subject(set), message)
                .evidence(Evidence::field(
                    shown(set),
                    "spec.template.spec.containers[repair-controller].command",
                    "not set",
                ))
                .remedy(remedy.clone())
        })
        .collect())
}
