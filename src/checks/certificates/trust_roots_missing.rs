//! `trust-roots-missing`: the ConfigMap with the trust anchors is missing or holds none.

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS, identity_deployment, need_control_plane};
use crate::certificates::from_bundle;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Scope;
use crate::objects::ConfigMap;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roots = ctx.named::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let pem = roots.map(|roots| roots.data.get(BUNDLE));
    let (message, path, said) = match pem.map(|pem| pem.map(|pem| from_bundle(pem))) {
        None => (
            "the ConfigMap with the trust anchors is missing: no control-plane pod starts without it, \
                and the injector has no anchors for new proxies",
            "metadata.name",
            "the ConfigMap does not exist".to_owned(),
        ),
        Some(Some(Ok(anchors))) if !anchors.is_empty() => return Ok(Verdict::fine()),
        Some(Some(Err(error))) => (
            "the trust anchors are unreadable: identity does not start with them, and neither does any \
                proxy",
            IN_FORCE,
            error,
        ),
        Some(pem) => (
            "the ConfigMap with the trust anchors holds none: identity does not start without one, and \
                neither does any proxy",
            IN_FORCE,
            match (pem, roots.map(|roots| roots.data.keys().map(String::as_str).collect::<Vec<_>>())) {
                (None, Some(keys)) if !keys.is_empty() => {
                    format!("missing; existing keys: {}", keys.join(", "))
                }
                _ => "no certificate".to_owned(),
            },
        ),
    };
    need_control_plane(ctx)?;
    let namespace = ctx.namespaces().control_plane.as_str();
    let remedy = upgrade::step(
        ctx,
        Remedy::new(),
        StepKind::Command,
        "Have it written again (if identity.externalCA is set, trust-manager or a similar tool writes \
            it, as a ConfigMap with the key ca-bundle.crt, not as a Secret: find out why it does not)",
        Options::none(),
    );
    let finding = ctx
        .finding(Subject::object("ConfigMap", namespace, TRUST_ROOTS), message)
        .evidence(Evidence::field(format!("ConfigMap {namespace}/{TRUST_ROOTS}"), path, said))
        .remedy(remedy)
        .tie(identity_deployment(ctx));
    Ok(vec![finding].into())
}
