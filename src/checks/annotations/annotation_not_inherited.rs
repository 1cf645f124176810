//! `annotation-not-inherited`: a key on a namespace that the injector does not copy to the pods in it.

use super::fault::Fault;
use super::said;
use crate::checks::{Context, Judgement};
use crate::finding::StepKind;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    said::judge(ctx, |_, found| {
        let Fault::NotInherited(_) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "the injector copies some keys of a namespace to its pods, and {key} is none of them: it is silently ignored"
        );
        let remedy = said::remedy()
            .step(StepKind::Annotation, format!("Write {key} in the pod templates of the namespace instead"));
        Some((message, said::remove(remedy, "Remove it", found)))
    })
}
