//! `cni-plugin-defect`: the version of linkerd-cni has a defect that affects this cluster.

use semver::Version;

use super::chart::{self, image_version};
use super::installers::{installers, shown, subject};
use crate::checks::prelude::*;
use crate::model::cni::{self, INSTALLER};
use crate::model::policy::listed_ports;
use crate::model::skipped::IN;
use crate::objects::DaemonSet;
use crate::version::CniVersion;

/// The annotation with the inbound ports that skip the proxy.
const SKIP: &str = IN.annotation();
/// The proxy's control and metrics ports, which the annotation removes from the list unless it names them.
const OWN: [u16; 2] = [4190, 4191];
/// DaemonSets of other networks that sometimes rewrite their configuration, which can race with old
/// installers.
const OTHERS: [&str; 4] = ["cilium", "aws-node", "calico-node", "kube-multus-ds"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = ctx.partial_list::<DaemonSet>()?;
    let sets = installers(ctx)?;
    let pods = ctx.partial_list::<Pod>()?;
    if sets.is_empty() {
        return Err(Unjudged::not_applicable("linkerd-cni is not installed"));
    }
    let other =
        all.iter().find(|set| OTHERS.contains(&set.metadata.name.as_str()) && set.metadata.namespace == "kube-system");
    let skips = pods.iter().find(|pod| {
        let asked = pod.metadata.annotation(SKIP).filter(|ports| !ports.trim().is_empty());
        let asked = asked.map(listed_ports).is_some_and(|ports| OWN.iter().any(|own| !ports.contains(*own)));
        asked && super::pods::relies_on_plugin(pod) && ctx.judges(&pod.metadata.namespace)
    });
    let mut findings = Vec::new();
    for set in sets {
        let version = cni::version_of(&set.spec.template);
        // Vendor tags do not show which fixes are included.
        let Some(CniVersion::Plugin(version)) = version else { continue };
        for defect in ctx.knowledge.cni_plugin().defects().iter().filter(|defect| defect.holds(&version)) {
            let met = match defect.meets.as_str() {
                "skip-inbound-ports" => skips.map(|pod| {
                    let object = pod.described();
                    let said = pod.metadata.annotation(SKIP).unwrap_or_default();
                    Evidence::field(object, format!("metadata.annotations[{SKIP}]"), said)
                }),
                "other-network" => {
                    other.map(|other| Evidence::other(shown(other), "writes its configuration to the same directory"))
                }
                _ => Some(Evidence::other("since", "independent of the cluster")),
            };
            let Some(met) = met else { continue };
            findings.push(finding(ctx, set, &version, defect, met));
        }
    }
    Ok(findings.into())
}

fn finding(
    ctx: &Context<'_>,
    set: &Workload,
    version: &Version,
    defect: &crate::knowledge::PluginDefect,
    met: Evidence,
) -> Finding {
    let image = set.spec.template.spec.container(INSTALLER).map(|container| container.image.clone());
    let clean = ctx.knowledge.cni_plugin().last_release();
    let words = format!("Run a plugin without the defect: v{} or newer, preferably the newest", defect.until);
    ctx.finding(subject(set), format!("the installed linkerd-cni has a known defect: {}", defect.what))
        .severity(if defect.meets == "other-network" { Severity::Info } else { Severity::Warning })
        .likely()
        .parameter(defect.id.clone())
        .evidences(
            image.map(|image| Evidence::field(shown(set), "spec.template.spec.containers[install-cni].image", image)),
        )
        .evidence(Evidence::other("affected versions", format!("before v{}; v{version} is installed", defect.until)))
        .evidence(met)
        .remedy(chart::set(ctx, Remedy::new(), words, None, &[image_version(format!("v{clean}"))]))
}
