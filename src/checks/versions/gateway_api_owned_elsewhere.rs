//! `gateway-api-owned-elsewhere`: the CRDs chart would install Gateway API, but another tool manages it in
//! this cluster.

use super::gateway_api::{GRPC, HTTP, definition, installing_value};
use crate::checks::control_plane::installation::{installed, note_presumed, note_release, release};
use crate::checks::prelude::*;
use crate::model::control_plane::CREATED_BY;
use crate::model::managed_by::{Installer, ManagedBy};
use crate::objects::CustomResourceDefinition;

/// The chart that installs Gateway API.
const CHART: &str = "linkerd-crds";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (http, grpc) = (definition(ctx, HTTP), definition(ctx, GRPC));
    let (version, seen) = release(ctx)?;
    let (http, grpc) = (http?, grpc?);
    if http.is_none() && grpc.is_none() {
        return Err(Unjudged::not_applicable("the Gateway API CRDs are not installed"));
    }
    let found = || [http, grpc].into_iter().flatten();
    let Some(value) = installing_value(ctx, &version) else {
        // Older charts install it. An upgrade does not go back to them.
        let is_first = installed(ctx).is_ok_and(|installed| installed.is_none());
        let is_foreign = |one: &CustomResourceDefinition| !one.metadata.annotations.contains_key(CREATED_BY);
        if is_first && found().any(is_foreign) {
            note_release(ctx);
        }
        return Ok(Verdict::fine());
    };
    let leaves_it = ctx.knowledge.releases().cli_needs_gateway_api(&version);
    let findings: Vec<Finding> = found().filter_map(|found| foreign(ctx, found, value, leaves_it, &seen)).collect();
    note_presumed(ctx, &findings);
    Ok(findings.into())
}

fn foreign(
    ctx: &Context<'_>,
    definition: &CustomResourceDefinition,
    value: &str,
    leaves_it: bool,
    seen: &Evidence,
) -> Option<Finding> {
    let meta = &definition.metadata;
    if meta.annotations.contains_key(CREATED_BY) {
        return None;
    }
    let managed = ManagedBy::from_labels(&meta.labels, &meta.annotations);
    let keys = meta.labels.keys().chain(meta.annotations.keys());
    let marked = ctx.knowledge.releases().gateway_api_manager(keys.map(|key| key.as_str()));
    let who = match (managed.installer, managed.gitops, marked) {
        (Some(Installer::Release(release)), _, _) => {
            format!("the Helm release {}/{}", release.namespace, release.name)
        }
        (_, Some(gitops), _) => gitops.to_string(),
        (_, _, Some((who, mark))) => format!("{who} ({mark})"),
        (_, None, None) => "no tool (they were applied by hand)".to_owned(),
    };
    let name = &meta.name;
    Some(
        ctx.finding(
            Subject::object("CustomResourceDefinition", "", name),
            match leaves_it {
                true => {
                    "the chart of Linkerd's CRDs installs the Gateway API unless disabled, and another tool has \
                     already installed it here: Helm refuses to take it over. The CLI of this release leaves it alone"
                }
                false => {
                    "the chart of Linkerd's CRDs installs the Gateway API unless disabled, and another tool has \
                     already installed it here: Helm refuses to take it over, and the CLI would replace it"
                }
            },
        )
        .severity(Severity::Warning)
        .evidence(Evidence::other(format!("CustomResourceDefinition {name}"), format!("managed by {who}")))
        .evidence(Evidence::other(format!("chart {CHART}"), format!("{value} defaults to true")))
        .evidence(seen.clone())
        .remedy(Remedy::new().step(
            StepKind::ChartValue,
            format!(
                "Install Linkerd's CRDs with {value}=false, and keep managing the Gateway API with its \
             current tool"
            ),
        )),
    )
}
