//! `annotation-not-inherited`: an annotation of a namespace that the injector does not copy to the pods in it.

use super::fault::Fault;
use super::wording;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    wording::judge(ctx, |_, found| {
        let Fault::NotInherited(_) = &found.fault else { return None };
        let key = found.key;
        let message = format!("{key} on a namespace has no effect: the injector does not copy it to the pods");
        let remedy = wording::remedy()
            .step(StepKind::Annotation, format!("Set {key} in the pod templates of the namespace instead"));
        Some((message, wording::remove_it(ctx, remedy, found)))
    })
}
