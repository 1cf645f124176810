//! `crds-overwritten-by-cli`: the linkerd CLI of a newer release overwrote CRDs that belong to a Helm release.

use std::collections::BTreeMap;

use crate::annotations::{HELM_NAMESPACE, HELM_RELEASE};
use crate::checks::control_plane::installation::installed;
use crate::checks::prelude::*;
use crate::checks::upgrade::crds_by_helm;
use crate::checks::words::some;
use crate::model::control_plane::CREATED_BY;
use crate::model::managed_by::Release;
use crate::objects::CustomResourceDefinition;

/// The tool in the annotation of objects that the CLI rendered.
const CLI: &str = "linkerd/cli ";
/// Number of named CRDs.
const NAMED: usize = 5;

/// CRDs of one Helm release that the CLI of one release overwrote.
type Overwritten<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a CustomResourceDefinition>>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let definitions = ctx.partial_list::<CustomResourceDefinition>()?;
    let Some((version, evidence)) = installed(ctx)? else {
        return Err(Unjudged::not_applicable("no control plane is installed"));
    };
    let mut overwritten = Overwritten::new();
    for definition in definitions {
        let annotation = |key: &str| definition.metadata.annotations.get(key).map(String::as_str);
        let Some(created) = annotation(CREATED_BY).filter(|text| text.starts_with(CLI)) else { continue };
        let Some(release) = annotation(HELM_RELEASE) else { continue };
        overwritten.entry((release, created)).or_default().push(definition);
    }
    let findings = overwritten.iter().filter_map(|((release, created), all)| {
        let cli = LinkerdVersion::from_created_by(created).ok()?;
        is_newer(ctx, &cli, &version).then(|| finding(ctx, (release, &cli), all).evidence(evidence.clone()))
    });
    Ok(findings.collect())
}

/// Whether the CLI's release is newer than the control plane's.
fn is_newer(ctx: &Context<'_>, cli: &LinkerdVersion, installed: &LinkerdVersion) -> bool {
    let minors = ctx.knowledge.minors();
    match cli.cmp_same_channel(installed) {
        Some(order) => order.is_gt(),
        None => cli.minor(minors).zip(installed.minor(minors)).is_some_and(|(cli, now)| cli > now),
    }
}

fn finding(ctx: &Context<'_>, (release, cli): (&str, &LinkerdVersion), all: &[&CustomResourceDefinition]) -> Finding {
    let names = all.iter().map(|one| one.metadata.name.as_str());
    let first = all.first().map_or("", |one| one.metadata.name.as_str());
    let namespace = all.first().and_then(|one| one.metadata.annotations.get(HELM_NAMESPACE));
    let namespace = namespace.map_or("linkerd", String::as_str);
    let stored = all.iter().filter(|one| one.status.stored_versions.len() > 1).map(|one| {
        let object = format!("CustomResourceDefinition {}", one.metadata.name);
        Evidence::field(object, "status.storedVersions", one.status.stored_versions.join(", "))
    });
    let object = format!("CustomResourceDefinition {first}");
    ctx.finding(
        Subject::object("CustomResourceDefinition", "", first),
        "the linkerd CLI of a newer release overwrote CRDs of a Helm release. The next upgrade of that release with \
         an older chart fails: stored versions of a CRD cannot be removed",
    )
    .parameter(release)
    .evidence(Evidence::field(&object, format!("metadata.annotations[{CREATED_BY}]"), format!("{CLI}{cli}")))
    .evidence(Evidence::field(&object, format!("metadata.annotations[{HELM_RELEASE}]"), release))
    .evidence(Evidence::other("CRDs of both", some(names, NAMED)))
    .evidences(stored.take(2))
    .remedy(
        Remedy::new()
            .run(
                StepKind::Upgrade,
                format!(
                    "Upgrade the Helm release {release} in namespace {namespace} to the chart linkerd-crds of {cli} \
                     or \
                     newer before any other change of it"
                ),
                crds_by_helm(ctx.knowledge, Some(Release { name: release, namespace }), cli),
            )
            .step(
                StepKind::Note,
                "Leave the CRDs to Helm: stop the job that runs `linkerd install --crds` or `linkerd upgrade --crds`",
            ),
    )
}
