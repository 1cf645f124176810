//! How a chart is brought to another version where a GitOps controller manages it: the change in Git, then the commands that have
//! the controller take it and that wait until it has.

use crate::command::{Call, Command, Line, kubectl, program};
use crate::finding::{Remedy, StepKind};
use crate::model::managed_by::GitOps;

/// Adds the steps that bring a chart to a version; `act` says what for.
pub(super) fn bring(
    remedy: Remedy,
    owner: GitOps<'_>,
    act: &str,
    chart: &str,
    version: Option<&str>,
) -> Remedy {
    let wanted = version.unwrap_or("the version that is released with it");
    let field = match owner {
        GitOps::ArgoCd(_) => {
            "targetRevision of its source (or, where it renders a folder of Git, the version there)"
        }
        GitOps::HelmRelease(..) => "spec.chart.spec.version, or the version in its OCIRepository",
        GitOps::Kustomization(..) => "the HelmRelease or the manifests that it applies",
    };
    let text = format!(
        "{act}: in Git, chart {chart} {wanted} of {owner}: {field}; look at what changes before you let it go ahead"
    );
    let remedy = match owner {
        GitOps::ArgoCd(name) => {
            remedy.run(StepKind::Upgrade, text, argo_cd().words("app diff").operand(name).words("--refresh"))
        }
        GitOps::HelmRelease(..) | GitOps::Kustomization(..) => remedy.step(StepKind::Upgrade, text),
    };
    remedy.run(StepKind::Command, format!("Have {owner} take it, and wait until it has"), taken(owner))
}

/// What has a controller take what is in Git, and waits.
fn taken(owner: GitOps<'_>) -> Command {
    match owner {
        GitOps::ArgoCd(name) => Command::lines([
            Line::from(argo_cd().words("app sync").operand(name)),
            Line::from(argo_cd().words("app wait").operand(name).words("--sync --health --timeout 900")),
        ]),
        GitOps::HelmRelease(namespace, name) => {
            flux("helmrelease", "helmreleases.helm.toolkit.fluxcd.io", namespace, name)
        }
        GitOps::Kustomization(namespace, name) => {
            flux("kustomization", "kustomizations.kustomize.toolkit.fluxcd.io", namespace, name)
        }
    }
}

fn argo_cd() -> Call {
    program("argocd")
}

fn flux(short: &'static str, kind: &'static str, namespace: Option<&str>, name: &str) -> Command {
    let within = |call: Call| match namespace {
        Some(namespace) => call.option("-n", namespace),
        None => call,
    };
    let reconcile =
        within(program("flux").words("reconcile").words(short).operand(name)).words("--with-source");
    let wait = within(kubectl().words("wait").words(kind).operand(name))
        .words("--for=condition=Ready --timeout=15m");
    Command::lines([Line::from(reconcile), Line::from(wait)])
}
