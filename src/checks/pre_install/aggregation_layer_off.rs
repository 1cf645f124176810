//! `aggregation-layer-off`: the API server was started without the certificate by which extension API servers
//! authenticate it.

use crate::checks::prelude::*;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const KEY: &str = "requestheader-client-ca-file";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.object::<ConfigMap>(Scope::Fixed(NAMESPACE.to_owned()), NAME)?;
    let object = format!("ConfigMap {NAMESPACE}/{NAME}");
    let seen = match config {
        None => Evidence::other(&object, "does not exist"),
        Some(config) if config.data.get(KEY).is_none_or(String::is_empty) => {
            Evidence::field(&object, format!("data[{KEY}]"), "not set")
        }
        Some(_) => return Ok(Verdict::fine()),
    };
    let remedy = Remedy::new()
        .step(
            StepKind::Note,
            "Start kube-apiserver with --requestheader-client-ca-file and the other flags of the aggregation layer",
        )
        .step(StepKind::Note, "On a managed cluster, contact the provider instead")
        .run(
            StepKind::Command,
            "Check that the API server has published it",
            kubectl()
                .namespace(NAMESPACE)
                .words("get configmap")
                .arg(NAME)
                .option("-o", format!("jsonpath={{.data.{KEY}}}")),
        );
    let finding = ctx
        .finding(
            Subject::object(Kind::ConfigMap, NAMESPACE, NAME),
            "the API server's aggregation layer is disabled: extension API servers, such as linkerd-viz's \
             tap, cannot authenticate requests and do not start",
        )
        .evidence(seen)
        .remedy(remedy);
    Ok(finding.into())
}
