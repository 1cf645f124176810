//! `gateway-api-missing`: the definitions of Gateway API are not there, or do not serve the version that the release asks for.

use super::gateway_api::{GRPC, HTTP, bring, definition, serves};
use crate::checks::control_plane::installation::{about_to_be, installed, none_installed, release};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, Severity, Subject};
use crate::model::control_plane::CREATED_BY;
use crate::version::Contains;

const CATEGORY: &str = "gateway-api-crd";
const ROW: &str = "Gateway API CRDs are installed";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (http, grpc) = (definition(ctx, HTTP), definition(ctx, GRPC));
    if installed(ctx)?.is_none() && !about_to_be(ctx) {
        return Ok(none_installed());
    }
    let (version, seen) = release(ctx)?;
    let releases = ctx.knowledge.releases();
    let Some(wanted) = releases.for_version(&version).and_then(|row| row.gateway_api.as_ref()) else {
        return Ok(Verdict::not_applicable(format!("which Gateway API {version} speaks is not known here")));
    };
    let (http, grpc) = (http?, grpc?);
    // The release whose own command began to ask is the first that does not go without.
    let row = ctx.knowledge.linkerd_check().row(CATEGORY, ROW);
    let required =
        row.is_some_and(|row| row.releases.covers(&version, ctx.knowledge.minors()) == Contains::Yes);
    let range = format!("Gateway API {} to {}", wanted.minimum, wanted.maximum);
    if http.is_none() && grpc.is_none() {
        if !required {
            return Ok(Verdict::fine());
        }
        let remedy = bring(ctx, Remedy::verified_by(format!("kubectl get crd {HTTP} {GRPC}")), None, wanted);
        let finding = ctx
            .finding(
                Subject::thing("Gateway API"),
                "the definitions of Gateway API are not there: this release of Linkerd needs them before it is installed or \
                 upgraded",
            )
            .evidence(Evidence::other("CustomResourceDefinitions", format!("neither {HTTP} nor {GRPC} exists")))
            .evidence(Evidence::other(format!("Linkerd {version}"), range))
            .evidence(seen)
            .remedy(remedy);
        return Ok(vec![finding].into());
    }
    let mut findings = Vec::new();
    for (definition, wanted_version) in [(http, &wanted.http_route), (grpc, &wanted.grpc_route)] {
        let Some(definition) = definition else { continue };
        if serves(definition, wanted_version) {
            continue;
        }
        let versions = &definition.spec.versions;
        let name = &definition.metadata.name;
        let served: Vec<&str> =
            versions.iter().filter(|version| version.served).map(|version| version.name.as_str()).collect();
        let of_linkerd = definition.metadata.annotations.contains_key(CREATED_BY);
        let (severity, rows) = match required && !of_linkerd {
            true => (Severity::Error, vec![ROW]),
            false => (Severity::Warning, vec![]),
        };
        let finding = ctx
            .finding(
                Subject::object("CustomResourceDefinition", "", name),
                "a definition of Gateway API does not serve the version that this release of Linkerd asks for: routes of that \
                 kind have no effect, or the policy controller does not get ready",
            )
            .severity(severity)
            .likely()
            .evidence(Evidence::field(
                format!("CustomResourceDefinition {name}"),
                "spec.versions",
                format!("{} served, and not {wanted_version}", served.join(", ")),
            ))
            .evidence(Evidence::other(format!("Linkerd {version}"), range.clone()))
            .fails_rows(rows)
            .remedy(bring(
                ctx,
                Remedy::verified_by(format!("kubectl get crd {name} -o jsonpath='{{.spec.versions[*].name}}'")),
                Some(definition),
                wanted,
            ));
        findings.push(finding);
    }
    Ok(findings.into())
}
