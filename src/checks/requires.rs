//! Evaluates the requirements of a card (`requires`) once before its rule, so that rules can rely on them.

use super::cni::nodes;
use super::control_plane::installation::{about_to_be, none_installed, present};
use super::extensions::{absent, extension_namespace, runs};
use super::multicluster::links::{links, no_links};
use super::{Context, Unjudged};
use crate::card::{Mode, Requirement};
use crate::fetched::Why;
use crate::item::Extension;

/// Whether all requirements of the card are met.
///
/// # Errors
/// A requirement is not met, or this is unknown. The presence of linkerd-cni may be unknown: findings on
/// nodes are valid anyway, and the rules report their own gaps.
pub(super) fn judge(ctx: &Context<'_>, requirements: &[Requirement]) -> Result<(), Unjudged> {
    requirements.iter().try_for_each(|requirement| holds(ctx, *requirement))
}

fn holds(ctx: &Context<'_>, requirement: Requirement) -> Result<(), Unjudged> {
    match requirement {
        Requirement::BeforeInstallation => match ctx.settings.mode {
            Mode::Pre => Ok(()),
            // An installed mesh does not conflict with itself.
            Mode::Installed | Mode::Crds | Mode::Upgrade => {
                Err(Unjudged::not_applicable("checked only before an installation, with --pre"))
            }
        },
        Requirement::ControlPlane => {
            if about_to_be(ctx) {
                return Ok(());
            }
            match present(ctx) {
                Ok(true) => Ok(()),
                Ok(false) => Err(none_installed()),
                // Manifests for a mesh rarely hold the mesh itself.
                Err(missing) if missing.why == Why::NotInManifests => Ok(()),
                Err(missing) => Err(missing.into()),
            }
        }
        Requirement::Viz => extension(ctx, Extension::Viz),
        Requirement::Jaeger => extension(ctx, Extension::Jaeger),
        Requirement::Multicluster => extension(ctx, Extension::Multicluster),
        Requirement::Links => {
            match extension(ctx, Extension::Multicluster) {
                // Manifests of a Link rarely contain the extension.
                Err(Unjudged::Missing(missing)) if missing.why == Why::NotInManifests => {}
                known => known?,
            }
            if links(ctx)?.is_empty() { Err(no_links()) } else { Ok(()) }
        }
        Requirement::LinkerdCni => nodes::perhaps_installed(ctx),
        Requirement::LinkerdCniDaemonset => nodes::perhaps_runs(ctx),
        Requirement::LinkerdCniInUse => nodes::perhaps_used(ctx),
        Requirement::LinkerdCniReliedOn => nodes::perhaps_relied_on(ctx),
    }
}

fn extension(ctx: &Context<'_>, extension: Extension) -> Result<(), Unjudged> {
    match extension_namespace(ctx, extension)? {
        None => Err(absent(extension)),
        Some(_) => runs(ctx, extension),
    }
}
