//! Pods and templates that request a proxy but get none by the injector's own rules: its webhook's
//! selectors exclude them, or the injector skips such pods. Shared by several checks.

use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers};
use crate::checks::prelude::*;
use crate::model::injection::{Decision, INJECT, Level, Skip};
use crate::model::installed::COMPONENT;

/// The label of linkerd-cni's pods, which never get a proxy.
const CNI_RESOURCE: &str = "linkerd.io/cni-resource";

/// A pod or template that requests a proxy and gets none.
pub(super) struct PassedOver<'a> {
    /// The source of the pods.
    pub maker: &'a Maker<'a>,
    /// The level of the request.
    pub level: Level,
    /// `enabled` or `ingress`.
    pub value: &'a str,
    /// The reason why it gets none.
    pub skip: Skip<'a>,
}

impl PassedOver<'_> {
    /// Evidence of the request.
    pub(super) fn request_evidence(&self) -> Evidence {
        let field = format!("metadata.annotations[{INJECT}]");
        match self.level {
            Level::Pod => self.maker.field(&field, self.value),
            Level::Namespace => Evidence::field(format!("Namespace {}", self.maker.namespace()), field, self.value),
        }
    }
}

/// The pods and templates that request a proxy and are skipped, in order. Excludes the pods of the control
/// plane and of linkerd-cni.
///
/// # Errors
/// As [`Rules::from_context`], or if pods are missing.
pub(super) fn passed_over<'a>(ctx: &Context<'a>, rules: &Rules<'a>) -> Result<Vec<PassedOver<'a>>, Missing> {
    let makers = makers(ctx)?;
    let own = |maker: &Maker<'_>| {
        maker.namespace() == ctx.namespaces().control_plane
            || maker.meta.label(COMPONENT).is_some()
            || maker.meta.label(CNI_RESOURCE).is_some()
    };
    let judged =
        makers.iter().filter(|maker| ctx.judges(maker.namespace()) && !own(maker) && maker.spec.proxy().is_none());
    Ok(judged
        .filter_map(|maker| {
            match rules.admission.decide(maker.namespace(), maker.meta, maker.spec) {
                Decision::Skip(skip) => {
                    let (level, value) = rules.admission.request(maker.namespace(), maker.meta)?;
                    Some(PassedOver { maker, level, value, skip })
                }
                // No namespace puts a proxy into a pod on the node's network.
                Decision::Unknown if maker.spec.host_network => {
                    let value = Rules::asked_by_template(maker)?;
                    Some(PassedOver { maker, level: Level::Pod, value, skip: Skip::HostNetwork })
                }
                Decision::Inject { .. } | Decision::Unknown => None,
            }
        })
        .collect())
}
