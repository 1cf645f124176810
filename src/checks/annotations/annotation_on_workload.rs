//! `annotation-on-workload`: an annotation that Linkerd reads on the pod template is on the workload itself.

use super::fault::Fault;
use super::wording;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    wording::judge(ctx, |_, found| {
        let Fault::OnWorkload(row) = &found.fault else { return None };
        let key = found.key;
        let message =
            format!("{key} is on the workload itself and has no effect: Linkerd reads it on the pod template");
        let act = format!("Set {key}: {:?}", found.value);
        Some((message, wording::replace(ctx, wording::remedy(), &act, found, row, found.value)))
    })
}
