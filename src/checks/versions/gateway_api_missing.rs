//! `gateway-api-missing`: the definitions of Gateway API are not there, or do not serve the version that the release asks for.

use crate::checks::control_plane::installation::{about_to_be, installed, none_installed, release};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, Severity, StepKind, Subject};
use crate::item::{Kind, Scope};
use crate::model::control_plane::CREATED_BY;
use crate::model::objects::CustomResourceDefinition;
use crate::version::Contains;

const CATEGORY: &str = "gateway-api-crd";
const ROW: &str = "Gateway API CRDs are installed";
const HTTP: &str = "httproutes.gateway.networking.k8s.io";
const GRPC: &str = "grpcroutes.gateway.networking.k8s.io";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let named =
        |name| ctx.named::<CustomResourceDefinition>(Kind::CustomResourceDefinition, Scope::Cluster, name);
    let (http, grpc) = (named(HTTP), named(GRPC));
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
    let install = |remedy: Remedy| {
        remedy.run(
            StepKind::Command,
            "Install the standard channel of a Gateway API release that this Linkerd supports; first make sure that no other \
             controller of the cluster needs another one",
            format!(
                "kubectl apply --server-side -f https://github.com/kubernetes-sigs/gateway-api/releases/download/v{}/standard-install.yaml",
                wanted.maximum
            ),
        )
    };
    let range = format!("Gateway API {} to {}", wanted.minimum, wanted.maximum);
    if http.is_none() && grpc.is_none() {
        if !required {
            return Ok(Verdict::fine());
        }
        let remedy = install(Remedy::verified_by(format!("kubectl get crd {HTTP} {GRPC}")));
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
        let versions = &definition.spec.versions;
        if versions.iter().any(|version| version.name == *wanted_version && version.served) {
            continue;
        }
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
            .remedy(install(Remedy::verified_by(format!("kubectl get crd {name} -o jsonpath='{{.spec.versions[*].name}}'"))));
        findings.push(finding);
    }
    Ok(findings.into())
}
