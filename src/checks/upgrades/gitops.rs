//! Upgrades what a GitOps controller manages: the change in Git, of a chart's version or of rendered manifests, then
//! the commands that sync it and wait for the sync.

use crate::checks::prelude::*;
use crate::command::{Call, Line, program};
use crate::model::managed_by::GitOps;

/// Adds the steps that set a chart's version; `act` describes the purpose.
pub(super) fn bring(remedy: Remedy, owner: GitOps<'_>, act: &str, chart: &str, version: Option<&str>) -> Remedy {
    let wanted = version.unwrap_or("the version that is released with it");
    let field = match owner {
        GitOps::ArgoCd(_) => "targetRevision of its source (or, if it renders a folder of Git, the version there)",
        GitOps::HelmRelease(..) => "spec.chart.spec.version, or the version in its OCIRepository",
        GitOps::Kustomization(..) => "the HelmRelease or the manifests that it applies",
    };
    let text = format!("{act}: in Git, chart {chart} {wanted} of {owner}: {field}; review the changes before you sync");
    synced(reviewed(remedy, StepKind::Upgrade, text, owner), owner)
}

/// Files to which the linkerd CLI renders manifests that are in Git.
pub(in crate::checks) const CRDS_FILE: &str = "linkerd-crds.yaml";
pub(in crate::checks) const CONTROL_PLANE_FILE: &str = "linkerd.yaml";

/// Adds the steps that put a file of rendered manifests into Git, and sync them.
pub(in crate::checks) fn committed(remedy: Remedy, owner: GitOps<'_>, file: &str) -> Remedy {
    let text = format!(
        "In Git, replace the manifests that {owner} applies with those of {file}. Keep your own changes, such as \
         Secrets that are not in Git, and review the differences before you sync"
    );
    synced(reviewed(remedy, StepKind::Upgrade, text, owner), owner)
}

/// Adds the step of a change in Git, with the command that compares it with the cluster.
fn reviewed(remedy: Remedy, kind: StepKind, text: String, owner: GitOps<'_>) -> Remedy {
    match owner {
        GitOps::ArgoCd(name) => remedy.run(kind, text, argo_cd().words("app diff").operand(name).words("--refresh")),
        GitOps::HelmRelease(..) | GitOps::Kustomization(..) => remedy.step(kind, text),
    }
}

/// Adds the step that syncs a change in Git.
pub(in crate::checks) fn synced(remedy: Remedy, owner: GitOps<'_>) -> Remedy {
    let text = format!("Sync it with {owner}, and wait until the sync is complete");
    remedy.command(text, taken(owner))
}

/// The command that syncs from Git and waits.
pub(in crate::checks) fn taken(owner: GitOps<'_>) -> Command {
    match owner {
        GitOps::ArgoCd(name) => Command::lines([
            Line::from(argo_cd().words("app sync").operand(name)),
            Line::from(argo_cd().words("app wait").operand(name).words("--sync --health --timeout 900")),
        ]),
        GitOps::HelmRelease(namespace, name) => {
            // A Kustomization applies the HelmRelease from Git; the labels of the HelmRelease name it.
            let get = || within(kubectl().words("get").words(HELM_RELEASES).operand(name), namespace);
            let of_it = |call: Call| Arg::output(call);
            let kustomization = of_it(get().words("-o").arg(label("name")));
            let home = of_it(get().words("-o").arg(label("namespace")));
            let apply = program("flux").words("reconcile kustomization").operand(kustomization);
            let mut lines = vec![Line::from(apply.option("-n", home).words("--with-source"))];
            lines.extend(flux("helmrelease", HELM_RELEASES, namespace, name));
            Command::lines(lines)
        }
        GitOps::Kustomization(namespace, name) => {
            Command::lines(flux("kustomization", "kustomizations.kustomize.toolkit.fluxcd.io", namespace, name))
        }
    }
}

/// As [`taken`] for an object of a GitOps tool that is known: a HelmRelease that no Kustomization applies is only
/// reconciled itself.
pub(in crate::checks) fn taken_of(owner: GitOps<'_>, meta: &Meta) -> Command {
    match owner {
        GitOps::HelmRelease(namespace, name) if meta.label(KUSTOMIZATION).is_none() => {
            Command::lines(flux("helmrelease", HELM_RELEASES, namespace, name))
        }
        owner => taken(owner),
    }
}

/// The label in which Flux names the Kustomization that applies an object.
const KUSTOMIZATION: &str = "kustomize.toolkit.fluxcd.io/name";

/// The kind, unambiguous for kubectl.
const HELM_RELEASES: &str = "helmreleases.helm.toolkit.fluxcd.io";

/// The JSONPath of a label that Flux sets on the objects of a Kustomization.
fn label(of: &str) -> String {
    format!("jsonpath={{.metadata.labels.kustomize\\.toolkit\\.fluxcd\\.io/{of}}}")
}

fn within(call: Call, namespace: Option<&str>) -> Call {
    match namespace {
        Some(namespace) => call.option("-n", namespace),
        None => call,
    }
}

fn argo_cd() -> Call {
    program("argocd")
}

fn flux(short: &'static str, kind: &'static str, namespace: Option<&str>, name: &str) -> [Line; 2] {
    let reconcile = program("flux").words("reconcile").words(short).operand(name);
    let reconcile = within(reconcile, namespace).words("--with-source");
    let wait = within(kubectl().words("wait").words(kind).operand(name), namespace)
        .words("--for=condition=Ready --timeout=15m");
    [Line::from(reconcile), Line::from(wait)]
}
