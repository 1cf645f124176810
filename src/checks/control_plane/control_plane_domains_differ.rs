//! `control-plane-domains-differ`: a component of the control plane runs with another trust domain, cluster domain or
//! namespace than the installation.

use crate::checks::control_plane::installation::{of_control_plane, values};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, REAPPLY};
use crate::version::Contains;

/// The charts' default domain.
const DOMAIN: &str = "cluster.local";

/// A setting of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DomainSetting {
    TrustDomain,
    ClusterDomain,
    Namespace,
}

/// The arguments that must agree with the installation: Deployment, container, argument and setting.
const ARGUMENTS: [(&str, &str, &str, DomainSetting); 8] = [
    ("linkerd-identity", "identity", "identity-trust-domain", DomainSetting::TrustDomain),
    ("linkerd-identity", "identity", "controller-namespace", DomainSetting::Namespace),
    ("linkerd-destination", "destination", "identity-trust-domain", DomainSetting::TrustDomain),
    ("linkerd-destination", "destination", "cluster-domain", DomainSetting::ClusterDomain),
    ("linkerd-destination", "destination", "controller-namespace", DomainSetting::Namespace),
    ("linkerd-destination", "policy", "identity-domain", DomainSetting::TrustDomain),
    ("linkerd-destination", "policy", "cluster-domain", DomainSetting::ClusterDomain),
    ("linkerd-destination", "policy", "control-plane-namespace", DomainSetting::Namespace),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let values = values(ctx)?;
    let home = ctx.namespaces().control_plane.as_str();
    let cluster_domain = values.text("clusterDomain").unwrap_or(DOMAIN);
    let trust_domain = values.text("identityTrustDomain").unwrap_or(cluster_domain);
    let mut findings = Vec::new();
    for (name, container, argument, setting) in ARGUMENTS {
        let Some(deployment) = deployments.iter().find(|one| one.metadata.key() == (home, name)) else {
            continue;
        };
        let Some(said) = value(deployment, container, argument) else {
            if (container, setting) == ("policy", DomainSetting::ClusterDomain) && cluster_domain != DOMAIN {
                findings.extend(without_domain(ctx, deployment, cluster_domain)?);
            }
            continue;
        };
        let (wanted, by) = match setting {
            DomainSetting::TrustDomain => (trust_domain, "data.values: identityTrustDomain"),
            DomainSetting::ClusterDomain => (cluster_domain, "data.values: clusterDomain"),
            DomainSetting::Namespace => (home, ""),
        };
        if said == wanted {
            continue;
        }
        let expected = match by {
            "" => Evidence::other("namespace of the control plane", wanted),
            path => Evidence::field(format!("ConfigMap {home}/linkerd-config"), path, wanted),
        };
        let field = Evidence::field(
            Subject::object(Kind::Deployment, home, name),
            format!("spec.template.spec.containers[{container}].args: {argument}"),
            said,
        );
        findings.push(
            finding(ctx, (name, container), setting)
                .parameter(format!("{container}:{argument}"))
                .evidence(field)
                .evidence(expected),
        );
    }
    Ok(findings.into())
}

/// The defect of releases whose chart does not pass the cluster domain to the policy controller.
const NOT_PASSED: &str = "cluster-domain-not-passed";

/// A policy controller without the argument: it assumes the charts' default domain. Releases before the argument do not
/// use the domain.
fn without_domain(ctx: &Context<'_>, deployment: &Workload, wanted: &str) -> Result<Option<Finding>, Unjudged> {
    let home = ctx.namespaces().control_plane.as_str();
    let containers = &deployment.spec.template.spec.containers;
    let at = containers.iter().position(|one| one.name == "policy" && !one.args.is_empty());
    let (Some(at), Some(row)) = (at, ctx.knowledge.known_defects().row(NOT_PASSED)) else { return Ok(None) };
    let (version, release) = of_control_plane(ctx)?;
    let minors = ctx.knowledge.minors();
    if row.has_begun(&version, minors) != Contains::Yes {
        return Ok(None);
    }
    let name = deployment.metadata.name.as_str();
    let remedy = match row.affects(&version, minors) {
        Some(_) => {
            let path = format!("/spec/template/spec/containers/{at}/args/-");
            let argument = format!("--cluster-domain={wanted}");
            let patch = serde_json::json!([{"op": "add", "path": path, "value": argument}]).to_string();
            let patched = kubectl().namespace(home).words("patch deployment").operand(name);
            let remedy = Remedy::new().command(
                "Pass the cluster domain to the policy controller",
                patched.words("--type json -p").arg(patch),
            );
            let fixed = row.fixed_for(&version, ctx.knowledge.releases()).unwrap_or_default();
            let lasting = format!("Upgrade the control plane to {fixed} or newer, whose chart passes it");
            remedy.step(StepKind::Upgrade, lasting)
        }
        None => reapplied(ctx, name),
    };
    let message = "the policy controller runs without the cluster domain and assumes cluster.local: proxies request \
         names of Services that do not exist, so their requests fail";
    let path = "spec.template.spec.containers[policy].args: cluster-domain";
    Ok(Some(
        ctx.finding(Subject::object(Kind::Deployment, home, name), message)
            .tie(Tie::Workload(Kind::Deployment.to_string(), home.to_owned(), name.to_owned()))
            .parameter("policy:cluster-domain")
            .evidence(Evidence::field(Subject::object(Kind::Deployment, home, name), path, "not set"))
            .evidence(Evidence::field(format!("ConfigMap {home}/linkerd-config"), "data.values: clusterDomain", wanted))
            .evidence(release)
            .remedy(remedy),
    ))
}

/// The value of an argument, which Go reads with one or two dashes.
fn value<'a>(deployment: &'a Workload, container: &str, argument: &str) -> Option<&'a str> {
    let container = deployment.spec.template.spec.container(container)?;
    ["--", "-"].iter().find_map(|dashes| container.argument(&format!("{dashes}{argument}")))
}

fn finding(ctx: &Context<'_>, (deployment, container): (&str, &str), setting: DomainSetting) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let message = match (container, setting) {
        ("identity", _) => {
            "identity runs with another trust domain or namespace than the installation: it rejects the names that \
             proxies request, so no certificate is issued or renewed"
        }
        ("policy", DomainSetting::ClusterDomain) | ("destination", DomainSetting::ClusterDomain) => {
            "a component runs with another cluster domain than the installation: it does not recognize the names of \
             Services, so ServiceProfiles and routes do not apply"
        }
        ("policy", _) => {
            "the policy controller runs with another trust domain or namespace than the proxies: it authorizes \
             identities that no proxy has, so policies deny their clients"
        }
        _ => {
            "destination runs with another trust domain or namespace than the proxies: clients expect \
             identities that no server has, and reject its certificate"
        }
    };
    let steps = reapplied(ctx, deployment);
    ctx.finding(Subject::object(Kind::Deployment, home, deployment), message)
        .tie(Tie::Workload(Kind::Deployment.to_string(), home.to_owned(), deployment.to_owned()))
        .remedy(steps)
}

/// Shows the arguments, and applies the control plane again.
fn reapplied(ctx: &Context<'_>, deployment: &str) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let steps = Remedy::new().command(
        "Compare the arguments with the installation, and find out what changed them",
        kubectl().namespace(home).words("get").operand(format!("deployment/{deployment}")).words("-o yaml"),
    );
    upgrade::reapply(ctx, steps, REAPPLY)
}
