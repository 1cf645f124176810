//! `link-crd-missing`: the CRD of links is missing, or of another release.

use super::links::LINK_CRD;
use crate::checks::extensions::reinstall;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, Subject};
use crate::item::{Extension, Kind};
use crate::missing::Missing;
use crate::model::control_plane::installed;
use crate::objects::{CustomResourceDefinition, Deployment};
use crate::version::LinkerdVersion;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let definitions = ctx.every::<CustomResourceDefinition>()?;
    let subject = Subject::object(Kind::CustomResourceDefinition, "", LINK_CRD);
    let object = subject.to_string();
    let again = reinstall(ctx, Remedy::new(), Extension::Multicluster, ", which brings the CRD");
    let Some(definition) = definitions.iter().find(|definition| definition.metadata.name == LINK_CRD) else {
        let finding = ctx
            .finding(
                subject,
                "the Link CRD is missing: no cluster can be linked, and the controllers of earlier links mirror nothing any more",
            )
            .evidence(Evidence::other(object, "missing"))
            .remedy(again);
        return Ok(vec![finding].into());
    };
    let Some((release, seen)) = release(ctx)? else { return Ok(Verdict::fine()) };
    let Some(wanted) = ctx.knowledge.extensions().link_version(&release, ctx.knowledge.minors()) else {
        return Ok(Verdict::fine());
    };
    let served: Vec<&str> =
        definition.spec.versions.iter().filter(|v| v.served).map(|v| v.name.as_str()).collect();
    if served.contains(&wanted) {
        return Ok(Verdict::fine());
    }
    let finding = ctx
        .finding(
            subject,
            "the Link CRD is of another release: the linkerd CLI and the controllers of this one ask for a version of links that is \
             not served",
        )
        .parameter("version")
        .evidence(Evidence::field(object, "spec.versions", format!("{}; needed: {wanted}", served.join(", "))))
        .evidence(seen)
        .remedy(again);
    Ok(vec![finding].into())
}

/// The release that asks for links: the linkerd CLI's, or else the one that is installed; `None` when none is.
fn release(ctx: &Context<'_>) -> Result<Option<(LinkerdVersion, Evidence)>, Missing> {
    if let Ok(version) = ctx.cli_version() {
        return Ok(Some((version.clone(), Evidence::other("linkerd CLI", version.as_str()))));
    }
    let deployments = ctx.every::<Deployment>()?;
    Ok(installed(deployments, None, &ctx.namespaces().control_plane))
}
