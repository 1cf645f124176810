//! `upgrade-deletes-gateway-api`: Helm or a GitOps controller manages the CRDs of Gateway API through
//! Linkerd's chart, and the target's chart omits them.

use super::Upgrade;
use crate::annotations::HELM_RELEASE;
use crate::checks::prelude::*;
use crate::model::managed_by::{GitOps, ManagedBy};
use crate::objects::{CrdMeta, CustomResourceDefinition};

const GROUP: &str = ".gateway.networking.k8s.io";
/// Annotations that keep an object that is no longer rendered: for Helm and Argo CD, for Argo CD, and for
/// Flux.
const POLICY: &str = "helm.sh/resource-policy";
const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
const FLUX_PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
/// The prefix of the chart label.
const CHART: &str = "linkerd-crds";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let definitions = ctx.partial_list::<CustomResourceDefinition>()?;
    let releases = ctx.knowledge.releases();
    let brings = |version| releases.default_of(CHART, "installGatewayAPI", version);
    // Before the value existed, the chart always included them.
    if brings(way.to) != Some("false") || brings(&way.from) == Some("false") {
        return Ok(Vec::new().into());
    }
    // `linkerd upgrade --crds` keeps definitions that Linkerd created.
    let is_rendered = |one: &&CustomResourceDefinition| {
        ManagedBy::from_labels(&one.metadata.labels, &one.metadata.annotations).is_rendered_by_cli()
    };
    // The managers of Linkerd's own definitions.
    let own = |definition: &&CustomResourceDefinition| definition.metadata.name.ends_with(".linkerd.io");
    let owners: Vec<Owner<'_>> =
        definitions.iter().filter(own).filter_map(|one| Owner::from_metadata(&one.metadata)).collect();
    let findings: Vec<Finding> = definitions
        .iter()
        .filter(|definition| definition.metadata.name.ends_with(GROUP) && !is_rendered(definition))
        .filter_map(|definition| {
            let meta = &definition.metadata;
            let owner = Owner::from_metadata(meta).filter(|owner| owners.contains(owner))?;
            (!owner.keeps(meta)).then(|| finding(ctx, &way, meta, owner))
        })
        .collect();
    Ok(findings.into())
}

/// The tool that deletes objects that a chart no longer contains.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Owner<'a> {
    /// Helm, with this release.
    Helm(&'a str),
    /// A controller that applies from Git, if it prunes.
    GitOps(GitOps<'a>),
}

impl<'a> Owner<'a> {
    /// The tool that deletes the definition with this metadata.
    pub(super) fn from_metadata(meta: &'a CrdMeta) -> Option<Owner<'a>> {
        let by = ManagedBy::from_labels(&meta.labels, &meta.annotations);
        // Helm deletes the objects of a HelmRelease of Flux.
        let release = by.release().map(|release| Owner::Helm(release.name));
        release.or_else(|| by.gitops.map(Owner::GitOps))
    }

    /// Whether an annotation of the definition prevents its deletion.
    fn keeps(self, meta: &CrdMeta) -> bool {
        let says = |key: &str, word: &str| {
            meta.annotations.get(key).is_some_and(|said| said.split(',').any(|one| one.trim() == word))
        };
        match self {
            Owner::Helm(_) => says(POLICY, "keep"),
            Owner::GitOps(GitOps::ArgoCd(_)) => says(POLICY, "keep") || says(SYNC_OPTIONS, "Prune=false"),
            Owner::GitOps(GitOps::Kustomization(..) | GitOps::HelmRelease(..)) => {
                says(FLUX_PRUNE, "disabled") || meta.labels.get(FLUX_PRUNE).is_some_and(|said| said == "disabled")
            }
        }
    }

    /// The annotation that keeps it.
    pub(super) fn mark(self) -> (&'static str, &'static str) {
        match self {
            Owner::Helm(_) => (POLICY, "keep"),
            Owner::GitOps(GitOps::ArgoCd(_)) => (SYNC_OPTIONS, "Prune=false"),
            Owner::GitOps(GitOps::Kustomization(..) | GitOps::HelmRelease(..)) => (FLUX_PRUNE, "disabled"),
        }
    }
}

fn finding(ctx: &Context<'_>, way: &Upgrade<'_>, meta: &CrdMeta, owner: Owner<'_>) -> Finding {
    let object = format!("CustomResourceDefinition {}", meta.name);
    let (mark, keep) = owner.mark();
    let (message, seen) = match owner {
        Owner::Helm(release) => (
            "the target's chart linkerd-crds no longer contains this CRD. Helm deletes it during the \
             upgrade, with every object of its kind in the cluster"
                .to_owned(),
            Evidence::field(&object, format!("metadata.annotations[{HELM_RELEASE}]"), release),
        ),
        Owner::GitOps(owner) => (
            format!(
                "the target's chart linkerd-crds no longer contains this CRD. If {owner} prunes, it \
                 deletes the CRD, with every object of its kind in the cluster"
            ),
            Evidence::other(&*object, format!("applied by {owner}, like Linkerd's own CRDs")),
        ),
    };
    let annotate = kubectl().words("annotate crd").operand(&meta.name).arg(format!("{mark}={keep}"));
    let finding = ctx
        .finding(Subject::object(Kind::CustomResourceDefinition, "", &meta.name), message)
        .evidence(seen)
        .evidence(Evidence::field(&object, format!("metadata.annotations[{mark}]"), "absent"))
        .evidence(way.target.clone());
    let remedy = match owner {
        Owner::Helm(_) => Remedy::new().command(
            "Mark it as kept for Helm, before the \
         upgrade",
            annotate,
        ),
        Owner::GitOps(owner) => Remedy::new()
            .run(StepKind::Command, format!("Mark it as kept for {owner}, before the upgrade"), annotate)
            .step(
                StepKind::Note,
                "Check that the annotation still exists when the upgrade is synced: a sync from Git may remove it",
            )
            .step(StepKind::Note, "Or set installGatewayAPI=true in the values of linkerd-crds, in Git"),
    };
    let finding = finding
        .remedy(remedy.note("Then no tool manages it: install the Gateway API from its own manifests from now on"));
    match owner {
        Owner::Helm(_) => finding,
        // Whether it prunes, and the values that it renders with, are set in its own objects.
        Owner::GitOps(_) => finding.likely(),
    }
}
