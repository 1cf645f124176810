//! `trust-anchors-mixed`: the bundle of trust anchors holds a PEM block of another type, such as a private key.

use super::identity::{BUNDLE, IN_FORCE, TRUST_ROOTS};
use super::remedy;
use crate::certificates::foreign_block;
use crate::checks::{Context, Judgement, Verdict};
use crate::command::meshdoctor;
use crate::finding::{Evidence, Remedy, StepKind, Subject, Tie};
use crate::item::Scope;
use crate::objects::ConfigMap;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let text = roots.and_then(|roots| roots.data.get(BUNDLE));
    let Some((label, ignored)) = text.and_then(|text| foreign_block(text)) else {
        return Ok(Verdict::fine());
    };
    let is_key = label.ends_with("KEY");
    if !is_key && ignored.is_empty() {
        return Ok(Verdict::fine());
    }
    let holds = if is_key { "a private key" } else { "a block of another type" };
    let leak = "Every user who can read the ConfigMap can read the key";
    let message = match (ignored.is_empty(), is_key) {
        (true, _) => format!("The trust anchors contain {holds}. {leak}"),
        (false, true) => {
            format!("Identity ignores the trust anchors after {holds}, but proxies use them. {leak}")
        }
        (false, false) => {
            format!(
                "Identity ignores the trust anchors after {holds}, but proxies use them: the issuer may be rejected"
            )
        }
    };
    let namespace = ctx.namespaces().control_plane.as_str();
    let object = format!("ConfigMap {namespace}/{TRUST_ROOTS}");
    let summaries: Vec<String> = ignored.iter().map(|anchor| anchor.summary()).collect();
    let said = match summaries.is_empty() {
        true => format!("{holds} after the certificates"),
        false => format!("{holds}, and after it {}", summaries.join(", ")),
    };
    let steps = remedy::read_bundle_once(ctx, Remedy::new(), "Write the certificates of the bundle to a file");
    let steps = remedy::put_bundle(ctx, steps, "Put this bundle in place", remedy::EDITED);
    let steps = match is_key {
        true => steps.run(
            StepKind::Note,
            "Replace the trust anchor or issuer of this key, since others may have read it",
            meshdoctor().words("rotate"),
        ),
        false => steps,
    };
    let finding = ctx
        .finding(Subject::object("ConfigMap", namespace, TRUST_ROOTS), message)
        .evidence(Evidence::field(object, IN_FORCE, said))
        .remedy(steps);
    // A key at the end breaks nothing.
    Ok(vec![if ignored.is_empty() { finding.explains_nothing() } else { finding.tie(Tie::Cluster) }].into())
}
