//! `cni-repair-misrendered`: the repair controller's container starts the installer instead.

use super::installers::{REPAIR, installers, none_seen, shown, subject};
use super::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    if sets.is_empty() {
        return Ok(none_seen(ctx));
    }
    let target = remedy::target(ctx);
    let remedy = Remedy::verified_by(format!(
        "kubectl -n {} rollout status daemonset/{}",
        target.namespace, target.name
    ))
    .run(
        StepKind::ChartValue,
        "Let the chart render the container's security context: it writes command, arguments and ports only together with it",
        target.set_values(None, &["enableSecurityContext=true".to_owned()]),
    )
    .run(
        StepKind::ChartValue,
        "Where that is not allowed, turn the repair controller off instead",
        target.set_values(None, &["repairController.enabled=false".to_owned()]),
    );
    let broken = sets.into_iter().filter(|set| {
        let repair = set.spec.template.spec.container(REPAIR);
        repair.is_some_and(|container| container.command.is_empty())
    });
    let message = "the container repair-controller has no command, so it starts the image's installer, without the node's directories: it keeps failing, and no pod is repaired";
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
        .collect::<Vec<_>>()
        .into())
}
