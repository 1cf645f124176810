//! Gateway API definitions that the chart linkerd-crds manages, and the steps that transfer them without
//! losing an object. The chart has no version that newer releases of Linkerd require, and would restore its
//! own with each upgrade.

use super::gitops;
use super::upgrade_deletes_gateway_api::Owner;
use crate::annotations::{HELM_NAMESPACE, HELM_RELEASE};
use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::checks::upgrade::{
    CRDS_CHART, chart_of, crds_managed_in_git, if_chart_known, installed_chart, own_chart, release_of_crds,
    version_script,
};
use crate::checks::versions::gateway_api::GROUP;
use crate::command::helm;
use crate::model::control_plane::CREATED_BY;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::managed_by::{ManagedBy, Release};
use crate::objects::CustomResourceDefinition;

/// Values with which any release of the chart omits them.
const LEFT_OUT: [&str; 4] =
    ["installGatewayAPI=false", "enableHttpRoutes=false", "enableTlsRoutes=false", "enableTcpRoutes=false"];

/// Labels of objects that Linkerd's charts install.
const OF_LINKERD: [&str; 3] = [CONTROL_PLANE_NS, "helm.sh/chart", "app.kubernetes.io/managed-by"];

/// Definitions that one owner manages.
pub(super) struct HeldDefinitions<'a> {
    owner: Owner<'a>,
    names: Vec<&'a str>,
    /// Whether the linkerd CLI rendered them.
    is_rendered: bool,
}

impl<'a> HeldDefinitions<'a> {
    /// The definitions of the same owner, if it also manages Linkerd's own. Reads CRDs.
    pub(super) fn find(ctx: &Context<'a>, definition: &'a CustomResourceDefinition) -> Option<HeldDefinitions<'a>> {
        let owner = Owner::from_metadata(&definition.metadata)?;
        let all = ctx.optional_list::<CustomResourceDefinition>();
        let of_it = |one: &&CustomResourceDefinition| Owner::from_metadata(&one.metadata) == Some(owner);
        let name = |one: &'a CustomResourceDefinition| one.metadata.name.as_str();
        let held: Vec<&str> = all.iter().filter(of_it).map(name).collect();
        held.iter().any(|name| name.ends_with(".linkerd.io")).then(|| HeldDefinitions {
            owner,
            names: held.into_iter().filter(|name| name.ends_with(GROUP)).collect(),
            is_rendered: ManagedBy::from_labels(&definition.metadata.labels, &definition.metadata.annotations)
                .is_rendered_by_cli(),
        })
    }

    /// Whether Helm manages them.
    pub(super) fn by_helm(&self) -> bool {
        matches!(self.owner, Owner::Helm(_))
    }

    /// Adds the steps that transfer them.
    pub(super) fn handed_over(&self, ctx: &Context<'_>, remedy: Remedy) -> Remedy {
        let (mark, keep) = self.owner.mark();
        let annotate = || kubectl().words("annotate --overwrite crd").operands(self.names.iter().copied());
        let remedy = remedy.command(
            "Keep the Gateway API CRDs when the chart linkerd-crds stops managing them: none of its \
             releases is new enough",
            annotate().arg(format!("{mark}={keep}")),
        );
        // Flux has Helm install the chart, and restores what its HelmRelease states.
        let in_git = match self.owner {
            Owner::Helm(_) => crds_managed_in_git(ctx).and_then(|by| by.gitops),
            Owner::GitOps(owner) => Some(owner),
        };
        let remedy = match in_git {
            None => match release_of_crds(ctx) {
                Some(release) => {
                    let act = "Set the chart to leave them out, at the installed version";
                    match own_chart(ctx, release) {
                        Some(own) => {
                            let set = format!(" ({})", LEFT_OUT.join(", "));
                            remedy.step(StepKind::ChartValue, own.set_text(act, CRDS_CHART.0, &set))
                        }
                        None => remedy.command(act, left_out(ctx, release)),
                    }
                }
                None => remedy,
            },
            Some(owner) => {
                let text = match self.is_rendered {
                    true => format!(
                        "In Git, remove the Gateway API CRDs from the manifests that {owner} applies; they have to \
                         be marked as kept before"
                    ),
                    false => format!(
                        "In Git, set {} in the values of linkerd-crds of {owner}; the CRDs have to be marked \
                         as kept before",
                        LEFT_OUT.join(", ")
                    ),
                };
                remedy
                    .step(StepKind::ChartValue, text)
                    .command(format!("Sync it with {owner}, and wait until the sync is complete"), gitops::taken(owner))
            }
        };
        let gone = [HELM_RELEASE, HELM_NAMESPACE, CREATED_BY].map(|key| format!("{key}-"));
        let labels = OF_LINKERD.map(|key| format!("{key}-"));
        let label = kubectl().words("label crd").operands(self.names.iter().copied());
        remedy.command(
            "Mark them as no longer managed by Linkerd: otherwise `linkerd uninstall` lists them",
            Command::lines([
                annotate().operands(gone.iter().map(String::as_str).map(Arg::from)),
                label.operands(labels.iter().map(String::as_str).map(Arg::from)),
            ]),
        )
    }
}

fn left_out(ctx: &Context<'_>, release: Release<'_>) -> Command {
    let mut lines = Vec::new();
    let installed = of_control_plane(ctx).ok();
    let version = installed.as_ref().map(|(version, _)| version);
    let reference = chart_of(ctx.knowledge, &mut lines, version, CRDS_CHART);
    lines.push(installed_chart(release, version_script(ctx.knowledge, CRDS_CHART.0, version)));
    let upgrade = helm()
        .words("upgrade")
        .operand(release.name)
        .operand(reference)
        .namespace(release.namespace)
        .option("--version", Arg::variable("CHART"))
        .words("--reuse-values");
    let upgrade = LEFT_OUT.iter().fold(upgrade, |upgrade, value| upgrade.option("--set", *value));
    lines.push(if_chart_known(upgrade));
    Command::lines(lines).whole()
}
