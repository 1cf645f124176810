//! `control-plane-domains-differ`: a component of the control plane runs with another trust domain, cluster domain or
//! namespace than the installation.

use crate::checks::control_plane::installation::values;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject, Tie};
use crate::item::Kind;
use crate::objects::{Deployment, Workload};

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
        let Some(said) = value(deployment, container, argument) else { continue };
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

/// The value of an argument, which Go reads with one or two dashes.
fn value<'a>(deployment: &'a Workload, container: &str, argument: &str) -> Option<&'a str> {
    let args = &deployment.spec.template.spec.container(container)?.args;
    args.iter().find_map(|arg| arg.trim_start_matches('-').strip_prefix(argument)?.strip_prefix('='))
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
    let steps = Remedy::new().run(
        StepKind::Command,
        "Compare the arguments with the installation, and find out what changed them",
        kubectl().namespace(home).words("get").operand(format!("deployment/{deployment}")).words("-o yaml"),
    );
    let again = "Reapply the control plane";
    let steps = upgrade::step(ctx, steps, StepKind::Command, again, Options::none());
    ctx.finding(Subject::object(Kind::Deployment, home, deployment), message)
        .tie(Tie::Workload(Kind::Deployment.to_string(), home.to_owned(), deployment.to_owned()))
        .remedy(steps)
}
