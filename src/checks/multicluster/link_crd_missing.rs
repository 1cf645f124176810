//! `link-crd-missing`: the CRD of links is missing, or of another release.

use super::links::{LINK_CRD, deleted_again};
use crate::checks::extensions::{created_by, installed_in, label_or_install, reinstall};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::checks::upgrades::release;
use crate::item::EXTENSION_LABEL;
use crate::model::control_plane::installed;
use crate::objects::{CustomResourceDefinition, Unserved};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let definitions = ctx.complete_list::<CustomResourceDefinition>()?;
    let subject = Subject::object(Kind::CustomResourceDefinition, "", LINK_CRD);
    let object = subject.to_string();
    let known = definitions.iter().find(|definition| definition.metadata.name == LINK_CRD);
    if known.is_none() && ctx.namespaces().empty_extensions.contains(&Extension::Multicluster) {
        let namespace = installed_in(ctx, Extension::Multicluster)?;
        return Ok(not_installed(ctx, namespace).evidence(Evidence::other(object, "does not exist")).into());
    }
    if known.is_none() {
        // Deployments are needed to detect whether the extension is installed at all.
        ctx.or_note(ctx.complete_list::<Deployment>());
    }
    let Some(definition) = known else {
        let finding = ctx
            .finding(
                subject,
                "the Link CRD is missing: no cluster can be linked, and the controllers of earlier links \
                 no longer mirror anything",
            )
            .evidence(Evidence::other(object, "does not exist"))
            .remedy(deleted_again(ctx, with_definition(ctx)));
        return Ok(finding.into());
    };
    if let Some(unserved) = definition.unserved() {
        return Ok(not_served(ctx, subject, &unserved).into());
    }
    let Some((release, seen)) = needed_release(ctx)? else { return Ok(Verdict::fine()) };
    let Some(wanted) = ctx.knowledge.extensions().link_version(&release, ctx.knowledge.minors()) else {
        return Ok(Verdict::fine());
    };
    let served: Vec<&str> = definition.spec.versions.iter().filter(|v| v.served).map(|v| v.name.as_str()).collect();
    if served.contains(&wanted) {
        return Ok(Verdict::fine());
    }
    let finding = ctx
        .finding(
            subject,
            "the Link CRD is of another release: it does not serve the version of links that this \
             release's CLI and controllers require",
        )
        .parameter("version")
        .evidence(Evidence::field(object, "spec.versions", format!("{}; needed: {wanted}", served.join(", "))))
        .evidence(seen)
        .remedy(upgraded_extension(ctx, &release));
    Ok(finding.into())
}

/// The finding about a definition that is being deleted or was not accepted.
fn not_served(ctx: &Context<'_>, subject: Subject, unserved: &Unserved) -> Finding {
    let object = subject.to_string();
    let (message, evidence, act) = match unserved {
        Unserved::Deleted => (
            "the Link CRD is being deleted: the API server deletes all links, and their controllers no longer \
             mirror anything",
            Evidence::field(object, "metadata.deletionTimestamp", "set"),
            "Find out what started and what blocks its deletion",
        ),
        Unserved::NotEstablished(reason) => (
            "the API server does not serve the Link CRD: links cannot be read, and their controllers no longer \
             mirror anything",
            Evidence::field(object, "status.conditions[type=Established].status", format!("False {reason}").trim()),
            "Find out why it is not accepted: usually another CRD has the same names",
        ),
    };
    let show = kubectl().words("describe customresourcedefinition").operand(LINK_CRD);
    let again = |remedy| reinstall(ctx, remedy, Extension::Multicluster, ", which installs the CRD");
    let remedy = match unserved {
        Unserved::Deleted => {
            let saved = kubectl().words("get").arg(LINK_CRD).words("-A -o yaml");
            let gone = kubectl().words("wait --for=delete --timeout=5m").arg(format!("crd/{LINK_CRD}"));
            let remedy = Remedy::new()
                .command("Save the remaining links, which have their options", saved.to_file("links.yaml"))
                .command(act, show)
                .command("Wait until the CRD is gone: its deletion cannot be stopped", gone);
            deleted_again(ctx, again(remedy))
        }
        Unserved::NotEstablished(_) => again(Remedy::new().command(act, show)),
    };
    ctx.finding(subject, message).parameter("unserved").evidence(evidence).remedy(remedy)
}

/// The remedy if the definition is missing: the extension at the release that needs links of a version, which
/// may be newer than the extension's own.
fn with_definition(ctx: &Context<'_>) -> Remedy {
    let minors = ctx.knowledge.minors();
    let version = |release: &LinkerdVersion| ctx.knowledge.extensions().link_version(release, minors);
    let needed = needed_release(ctx).ok().flatten().map(|(release, _)| release);
    match (needed, created_by(ctx, Extension::Multicluster)) {
        (Some(needed), Some(own)) if version(&needed) != version(&own) => upgraded_extension(ctx, &needed),
        _ => reinstall(ctx, Remedy::new(), Extension::Multicluster, ", which installs the CRD"),
    }
}

/// The step that upgrades the extension to a release.
fn upgraded_extension(ctx: &Context<'_>, to: &LinkerdVersion) -> Remedy {
    let own = created_by(ctx, Extension::Multicluster);
    let from = own.as_ref().unwrap_or(to);
    release::extension(ctx, Remedy::new(), Extension::Multicluster.name(), (from, to))
}

/// The namespace of an extension that is not installed: nothing depends on its CRD.
fn not_installed(ctx: &Context<'_>, namespace: &Namespace) -> Finding {
    let name = namespace.metadata.name.as_str();
    let finding = ctx
        .finding(
            Subject::object("Namespace", "", name),
            "the namespace has the label of multicluster, but multicluster is not installed: `linkerd \
             check` expects it there and reports failures",
        )
        .severity(Severity::Warning)
        .rows_as(Severity::Error)
        .parameter("not-installed")
        .evidence(Evidence::field(
            format!("Namespace {name}"),
            format!("metadata.labels[{EXTENSION_LABEL}]"),
            Extension::Multicluster.name(),
        ))
        .remedy(label_or_install(ctx, Remedy::new(), Extension::Multicluster, &[name]));
    spared(finding, ctx.within_grace(namespace.metadata.creation_timestamp))
}

/// The release that requires links: the linkerd CLI's, or else the installed one; `None` if there is neither.
fn needed_release(ctx: &Context<'_>) -> Result<Option<(LinkerdVersion, Evidence)>, Missing> {
    if let Ok(version) = ctx.cli_version() {
        return Ok(Some((version.clone(), Evidence::other("linkerd CLI", version.as_str()))));
    }
    let deployments = ctx.complete_list::<Deployment>()?;
    Ok(installed(deployments, None, &ctx.namespaces().control_plane))
}
