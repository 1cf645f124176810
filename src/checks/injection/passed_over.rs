//! What asks for a proxy and gets none, by the injector's own rules: the selectors of its webhook leave it out, or the injector
//! does not touch such pods. Shared by the checks that say so.

use crate::checks::Context;
use crate::checks::admission::Rules;
use crate::checks::makers::{Maker, makers};
use crate::finding::Evidence;
use crate::missing::Missing;
use crate::model::injection::{Decision, INJECT, Level, Skip};
use crate::model::installed::COMPONENT;

/// Pods of linkerd-cni, which no proxy is for.
const CNI_RESOURCE: &str = "linkerd.io/cni-resource";

/// Something that asks for a proxy and gets none.
pub(super) struct PassedOver<'a> {
    /// What makes the pods.
    pub maker: &'a Maker<'a>,
    /// Who asks.
    pub level: Level,
    /// `enabled` or `ingress`.
    pub value: &'a str,
    /// Why it gets none.
    pub skip: Skip<'a>,
}

impl PassedOver<'_> {
    /// Who asks, as evidence.
    pub(super) fn asks(&self) -> Evidence {
        let field = format!("metadata.annotations[{INJECT}]");
        match self.level {
            Level::Pod => self.maker.field(&field, self.value),
            Level::Namespace => {
                Evidence::field(format!("Namespace {}", self.maker.namespace()), field, self.value)
            }
        }
    }
}

/// What asks for a proxy and is passed over, in order; the control plane's own pods and those of linkerd-cni aside.
///
/// # Errors
/// As [`Rules::of`], or pods could not be had.
pub(super) fn passed_over<'a>(ctx: &Context<'a>, rules: &Rules<'a>) -> Result<Vec<PassedOver<'a>>, Missing> {
    let makers = makers(ctx)?;
    let own = |maker: &Maker<'_>| {
        maker.namespace() == ctx.namespaces().control_plane
            || maker.meta.label(COMPONENT).is_some()
            || maker.meta.label(CNI_RESOURCE).is_some()
    };
    let judged = makers
        .iter()
        .filter(|maker| ctx.judges(maker.namespace()) && !own(maker) && maker.spec.proxy().is_none());
    Ok(judged
        .filter_map(|maker| {
            let (level, value) = rules.admission.asks(maker.namespace(), maker.meta)?;
            match rules.admission.decide(maker.namespace(), maker.meta, maker.spec) {
                Decision::Skip(skip) => Some(PassedOver { maker, level, value, skip }),
                Decision::Inject { .. } | Decision::Unknown => None,
            }
        })
        .collect())
}
