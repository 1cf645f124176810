//! `crd-stored-version-gone`: objects may be stored in a version that their CRD does not have any more, or is
//! about to lose.

use super::gateway_api::stored_versions;
use crate::checks::prelude::*;
use crate::objects::CustomResourceDefinition;

/// The groups whose objects Linkerd reads.
const GROUPS: [&str; 4] =
    ["gateway.networking.k8s.io", "policy.linkerd.io", "multicluster.linkerd.io", "workload.linkerd.io"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let definitions = ctx.partial_list::<CustomResourceDefinition>()?;
    let mut own = definitions.iter().filter(|d| GROUPS.contains(&d.spec.group.as_str())).peekable();
    if own.peek().is_none() {
        return Err(Unjudged::not_applicable("no CRDs of Linkerd or the Gateway API are installed"));
    }
    Ok(own.filter_map(|definition| finding(ctx, definition)).collect())
}

fn finding(ctx: &Context<'_>, definition: &CustomResourceDefinition) -> Option<Finding> {
    let name = &definition.metadata.name;
    let versions = &definition.spec.versions;
    let is_there = |stored: &str| versions.iter().any(|version| version.name == stored);
    let gone: Vec<&str> =
        definition.status.stored_versions.iter().map(String::as_str).filter(|s| !is_there(s)).collect();
    if gone.is_empty() {
        return None;
    }
    let storage = versions.iter().find(|version| version.storage).map(|version| version.name.as_str())?;
    let object = format!("CustomResourceDefinition {name}");
    let known: Vec<&str> = versions.iter().map(|version| version.name.as_str()).collect();
    let mut left: Vec<&str> = definition.status.stored_versions.iter().map(String::as_str).collect();
    left.retain(|stored| is_there(stored));
    if !left.contains(&storage) {
        left.push(storage);
    }
    let lost = gone.join(", ");
    let correct = stored_versions(name, &left);
    let all = kubectl().words("get").arg(name.clone()).words("-A -o name").to_file("/dev/null");
    let remedy = Remedy::new()
        .command(
            format!("Remove {lost} from status.storedVersions. The command does so only if every object can be read"),
            all.and(correct),
        )
        .note(format!("If an object cannot be read, install a release of the CRDs that has {lost}"))
        .step(StepKind::Note, "Then rewrite the objects, before you remove the version");
    Some(
        ctx.finding(
            Subject::object("CustomResourceDefinition", "", name),
            "a CRD lists a stored version that it no longer has: the API server rejects every other change \
             to it, and cannot read objects stored in that version",
        )
        .severity(Severity::Warning)
        .evidence(Evidence::field(&object, "status.storedVersions", definition.status.stored_versions.join(", ")))
        .evidence(Evidence::field(&object, "spec.versions", known.join(", ")))
        .remedy(remedy),
    )
}
