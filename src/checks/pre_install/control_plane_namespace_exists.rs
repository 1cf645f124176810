//! `control-plane-namespace-exists`: the namespace for the control plane already exists.

use crate::checks::prelude::*;
use crate::command::linkerd;
use crate::model::control_plane::components;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let name = ctx.namespaces().control_plane.as_str();
    let namespaces = ctx.complete_list::<Namespace>()?;
    let Some(namespace) = namespaces.iter().find(|namespace| namespace.metadata.name == name) else {
        return Ok(Verdict::fine());
    };
    let object = format!("Namespace {name}");
    let finding = |message: &str| ctx.finding(Subject::object(Kind::Namespace, "", name), message);
    if let Some(since) = namespace.metadata.deletion_timestamp.get() {
        let remedy = Remedy::new().command(
            "Wait until it is deleted; its conditions show what blocks the deletion",
            kubectl().words("get namespace").operand(name).words("-o").arg("jsonpath={.status.conditions}"),
        );
        let finding = finding("the namespace is being deleted: nothing can be created in it until the deletion ends")
            .parameter("terminating")
            .evidence(Evidence::field(object, "metadata.deletionTimestamp", since.to_string()))
            .remedy(remedy);
        return Ok(finding.into());
    }
    let deployments = ctx.complete_list::<Deployment>()?;
    let running = components(deployments, name);
    if !running.is_empty() {
        let names: Vec<&str> = running.iter().map(|c| c.deployment.metadata.name.as_str()).collect();
        let remedy = Remedy::new()
            .note("To change the release, upgrade the control plane instead of installing it again")
            .command(
                "Or uninstall it first, once no workload has a proxy",
                linkerd().control_plane(name).words("uninstall").pipe(kubectl().words("delete -f -")),
            );
        let finding = finding(
            "a Linkerd control plane is already installed in this namespace: an installation fails, because \
             its objects exist",
        )
        .parameter("installed")
        .evidence(Evidence::other(format!("Deployments in {name}"), names.join(", ")))
        .remedy(remedy);
        return Ok(finding.into());
    }
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    if config.is_some() {
        let remedy = Remedy::new()
            .run(
                StepKind::Command,
                "List the other objects in it",
                Command::lines([
                    kubectl().namespace(name).words("get all,configmaps,secrets"),
                    kubectl().words("delete namespace").operand(name),
                ]),
            )
            .step(StepKind::Note, "Delete the namespace");
        let finding =
            finding("the namespace contains the configuration of an earlier installation, but no control plane")
                .parameter("leftover")
                .evidence(Evidence::other(format!("ConfigMap {name}/linkerd-config"), "it exists"))
                .remedy(remedy);
        return Ok(finding.into());
    }
    let finding = finding("the namespace exists without a control plane: fine if it was created for this installation")
        .severity(Severity::Info)
        // `linkerd check --pre` fails on any existing namespace.
        .rows_as(Severity::Error)
        .parameter("empty")
        .evidence(Evidence::other(
            object,
            format!("no Deployment of a control plane, no ConfigMap linkerd-config in {name}"),
        ))
        .remedy(
            Remedy::new().note("If you did not create it for Helm or for the issuer certificate, find out its owner"),
        );
    Ok(finding.into())
}
