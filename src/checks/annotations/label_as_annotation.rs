//! `label-as-annotation`: a label that Linkerd reads was written as an annotation.

use super::fault::{Fault, Found};
use super::wording;
use crate::checks::prelude::*;
use crate::knowledge::Key;
use crate::model::injection::{INJECT, WEBHOOKS_LABEL};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    wording::judge(ctx, |_, found| {
        let Fault::AsAnnotation(row) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "the annotation {key} has no effect: Linkerd reads it only as a label, on {}",
            wording::places(row)
        );
        Some((message, remedy(ctx, found, row)))
    })
}

fn remedy(ctx: &Context<'_>, found: &Found<'_>, row: &Key) -> Remedy {
    let key = found.key;
    // As a label it would take effect and remove meshed pods from the mesh.
    if key == WEBHOOKS_LABEL && found.object.kind == Kind::Namespace && found.injected {
        return wording::remove(ctx, wording::remedy(), "If the namespace should stay in the mesh, remove it", found)
            .note(format!(
                "If the namespace should leave the mesh, remove {INJECT} from it: new pods then get no proxy"
            ));
    }
    wording::replace(ctx, wording::remedy(), &format!("Set {key} as a label"), found, row, found.value)
}
