//! `upgrade-deletes-gateway-api`: Helm owns the CRDs of Gateway API through Linkerd's chart, and the target's chart leaves them out.

use super::Way;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::objects::CustomResourceDefinition;

const GROUP: &str = ".gateway.networking.k8s.io";
const RELEASE: &str = "meta.helm.sh/release-name";
const POLICY: &str = "helm.sh/resource-policy";
/// The chart's name as its label begins.
const CHART: &str = "linkerd-crds";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Way::of(ctx)?;
    let definitions = ctx.seen::<CustomResourceDefinition>()?;
    let releases = ctx.knowledge.releases();
    let brings = |version| releases.default_of(CHART, "installGatewayAPI", version);
    // Before there was a value, the chart brought them always.
    if brings(way.to) != Some("false") || brings(&way.from) == Some("false") {
        return Ok(Vec::new().into());
    }
    // The release that holds Linkerd's own definitions.
    let own = |definition: &&CustomResourceDefinition| definition.metadata.name.ends_with(".linkerd.io");
    let charts: Vec<&String> =
        definitions.iter().filter(own).filter_map(|one| one.metadata.annotations.get(RELEASE)).collect();
    let findings: Vec<Finding> = definitions
        .iter()
        .filter(|definition| definition.metadata.name.ends_with(GROUP))
        .filter_map(|definition| {
            let meta = &definition.metadata;
            let release = meta.annotations.get(RELEASE).filter(|release| charts.contains(release))?;
            if meta.annotations.get(POLICY).is_some_and(|policy| policy == "keep") {
                return None;
            }
            let object = format!("CustomResourceDefinition {}", meta.name);
            Some(
                ctx.finding(
                    Subject::object(Kind::CustomResourceDefinition, "", &meta.name),
                    "the chart linkerd-crds of the target leaves the Gateway API out, so Helm deletes this definition with the \
                     upgrade, and with it every object of its kind in the cluster",
                )
                .evidence(Evidence::field(&object, format!("metadata.annotations[{RELEASE}]"), release))
                .evidence(Evidence::field(&object, format!("metadata.annotations[{POLICY}]"), "absent"))
                .evidence(way.target.clone())
                .remedy(
                    Remedy::new()
                        .run(
                            StepKind::Command,
                            "Have Helm keep it, before the upgrade",
                            kubectl()
                                .words("annotate crd")
                                .operand(&meta.name)
                                .arg(format!("{POLICY}=keep")),
                        )
                        .step(
                            StepKind::Note,
                            "Then it belongs to nobody: bring the Gateway API by its own manifests from now on",
                        ),
                ),
            )
        })
        .collect();
    Ok(findings.into())
}
