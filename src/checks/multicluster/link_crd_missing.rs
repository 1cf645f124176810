//! `link-crd-missing`: links cannot be written or read.

use super::links::DEFINITION;
use crate::checks::extensions::{absent, extension_namespace, reinstall, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::missing::Missing;
use crate::model::control_plane::installed;
use crate::model::objects::{CustomResourceDefinition, Workload};
use crate::version::LinkerdVersion;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let definitions = ctx.every::<CustomResourceDefinition>(Kind::CustomResourceDefinition)?;
    if extension_namespace(ctx, Extension::Multicluster)?.is_none() {
        return Ok(absent(Extension::Multicluster));
    }
    let subject = Subject::object(Kind::CustomResourceDefinition, "", DEFINITION);
    let object = subject.to_string();
    let again = remedy(Extension::Multicluster).run(
        StepKind::Command,
        "Lay the extension down again, with the command or the chart of the installed release",
        reinstall(Extension::Multicluster),
    );
    let Some(definition) = definitions.iter().find(|definition| definition.metadata.name == DEFINITION)
    else {
        let finding = ctx
            .finding(
                subject,
                "the definition of links is not there: no other cluster can be linked, and controllers of links that \
                 there were mirror nothing any more",
            )
            .evidence(Evidence::other(object, "not there"))
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
            "the definition of links is that of another release: the command and the controllers of this one ask for a \
             version of links that is not served",
        )
        .parameter("version")
        .evidence(Evidence::field(object, "spec.versions", format!("{}; needed: {wanted}", served.join(", "))))
        .evidence(seen)
        .remedy(again);
    Ok(vec![finding].into())
}

/// The release that asks for links: the command's, or else the one that is installed; `None` when none is.
fn release(ctx: &Context<'_>) -> Result<Option<(LinkerdVersion, Evidence)>, Missing> {
    if let Ok(version) = ctx.cli_version() {
        return Ok(Some((version.clone(), Evidence::other("linkerd CLI", version.as_str()))));
    }
    let deployments = ctx.every::<Workload>(Kind::Deployment)?;
    Ok(installed(deployments, None, &ctx.namespaces().control_plane))
}
