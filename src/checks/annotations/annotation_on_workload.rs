//! `annotation-on-workload`: a key that Linkerd reads from the pod template is on the workload itself.

use super::fault::Fault;
use super::said;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    said::judge(ctx, |_, found| {
        let Fault::OnWorkload(row) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "{key} is on the workload itself, and Linkerd reads it from the pod template: it is silently ignored"
        );
        let act = format!("Put {key}: {:?}", found.value);
        Some((message, said::replace(ctx, said::remedy(), &act, found, row, found.value)))
    })
}
