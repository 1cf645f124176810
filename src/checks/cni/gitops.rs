//! Steps that pause a GitOps controller before a temporary patch, which it would revert, and resume it
//! afterwards.

use super::target::target;
use crate::checks::prelude::*;
use crate::command::Line;
use crate::model::managed_by::GitOps;

/// Adds the step that pauses the controller of the DaemonSet, if one manages it. Reads `daemonsets.apps`.
pub(super) fn paused(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let Some(owner) = target(ctx).managed_by.and_then(|by| by.gitops) else { return remedy };
    let text = format!(
        "Pause {owner}, which would revert the next step. If {owner} is itself managed from Git, pause it \
         there"
    );
    match command(owner, false) {
        Some(command) => remedy.command(text, command),
        None => remedy.note(text),
    }
}

/// Adds the step that resumes the controller.
pub(super) fn resumed(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let Some(owner) = target(ctx).managed_by.and_then(|by| by.gitops) else { return remedy };
    let text = format!("Resume {owner} in the same shell");
    match command(owner, true) {
        Some(command) => remedy.command(text, command),
        None => remedy.note(text),
    }
}

fn command(owner: GitOps<'_>, resume: bool) -> Option<Command> {
    match owner {
        GitOps::ArgoCd(name) => Some(argo_cd(name, resume)),
        GitOps::Kustomization(namespace, name) => {
            Some(flux("kustomizations.kustomize.toolkit.fluxcd.io", namespace?, name, resume))
        }
        GitOps::HelmRelease(namespace, name) => {
            Some(flux("helmreleases.helm.toolkit.fluxcd.io", namespace?, name, resume))
        }
    }
}

fn flux(kind: &'static str, namespace: &str, name: &str, resume: bool) -> Command {
    let spec = serde_json::json!({"spec": {"suspend": !resume}}).to_string();
    kubectl().namespace(namespace).words("patch").words(kind).operand(name).words("--type merge -p").arg(spec).into()
}

/// Finds the namespace of the Application in the cluster, and keeps its sync policy in a variable to restore
/// it, even if it had none.
fn argo_cd(name: &str, resume: bool) -> Command {
    const APPLICATIONS: &str = "applications.argoproj.io";
    let found = kubectl()
        .words("get")
        .words(APPLICATIONS)
        .words("-A --field-selector")
        .arg(format!("metadata.name={name}"))
        .words("-o")
        .arg("jsonpath={.items[0].metadata.namespace}");
    let of = |verb: &'static str| {
        kubectl().option("-n", Arg::variable("ARGO")).words(verb).words(APPLICATIONS).operand(name)
    };
    let patch = of("patch").words("--type merge -p");
    let lines: Vec<Line> = if resume {
        let policy = "\"{\\\"spec\\\":{\\\"syncPolicy\\\":{\\\"automated\\\":${SYNC:-null}}}}\"";
        vec![Line::from(patch).and_shell(policy)]
    } else {
        let policy = of("get").words("-o").arg("jsonpath={.spec.syncPolicy.automated}");
        let none = serde_json::json!({"spec": {"syncPolicy": {"automated": null}}}).to_string();
        vec![Line::set("ARGO", Arg::output(found)), Line::set("SYNC", Arg::output(policy)), patch.arg(none).into()]
    };
    Command::lines(lines).whole()
}
