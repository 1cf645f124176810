//! `control-plane-namespace-exists`: the namespace that the control plane is to be installed into is there already.

use crate::checks::{Context, Judgement, Verdict};
use crate::command::{Command, kubectl, linkerd};
use crate::finding::{Evidence, Remedy, Severity, StepKind, Subject};
use crate::item::{Kind, Scope};
use crate::model::control_plane::components;
use crate::objects::{ConfigMap, Deployment, Namespace};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let name = ctx.namespaces().control_plane.as_str();
    let namespaces = ctx.every::<Namespace>()?;
    let Some(namespace) = namespaces.iter().find(|namespace| namespace.metadata.name == name) else {
        return Ok(Verdict::fine());
    };
    let object = format!("Namespace {name}");
    let finding = |message: &str| ctx.finding(Subject::object(Kind::Namespace, "", name), message);
    if let Some(since) = namespace.metadata.deletion_timestamp.get() {
        let remedy = Remedy::new().run(
            StepKind::Command,
            "Wait until it is gone; its conditions say what blocks it",
            kubectl().words("get namespace").operand(name).words("-o").arg("jsonpath={.status.conditions}"),
        );
        let finding =
            finding("the namespace is being deleted: nothing can be created in it until it is gone")
                .parameter("terminating")
                .evidence(Evidence::field(object, "metadata.deletionTimestamp", since.to_string()))
                .remedy(remedy);
        return Ok(vec![finding].into());
    }
    let deployments = ctx.every::<Deployment>()?;
    let running = components(deployments, name);
    if !running.is_empty() {
        let names: Vec<&str> = running.iter().map(|c| c.deployment.metadata.name.as_str()).collect();
        let remedy = Remedy::new()
            .step(
                StepKind::Note,
                "To go to another release, upgrade what is there instead of installing it again",
            )
            .run(
                StepKind::Command,
                "Or remove it first, once no workload has a proxy left",
                linkerd().control_plane(name).words("uninstall").pipe(kubectl().words("delete -f -")),
            );
        let finding = finding(
            "a Linkerd control plane is installed here already: what an installation creates is there, and is refused",
        )
        .parameter("installed")
        .evidence(Evidence::other(format!("Deployments in {name}"), names.join(", ")))
        .remedy(remedy);
        return Ok(vec![finding].into());
    }
    let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    if config.is_some() {
        let remedy = Remedy::new().run(
            StepKind::Command,
            "Look at what else is in it, then remove it",
            Command::lines([
                kubectl().namespace(name).words("get all,configmaps,secrets"),
                kubectl().words("delete namespace").operand(name),
            ]),
        );
        let finding =
            finding("the namespace holds the configuration of an earlier installation, and no control plane")
                .parameter("leftover")
                .evidence(Evidence::other(format!("ConfigMap {name}/linkerd-config"), "it is there"))
                .remedy(remedy);
        return Ok(vec![finding].into());
    }
    let finding = finding(
        "the namespace exists, without a control plane in it: fine if it was made for this installation",
    )
    .severity(Severity::Info)
    // That command refuses any namespace that exists.
    .rows_as(Severity::Error)
    .parameter("empty")
    .evidence(Evidence::other(
        object,
        format!("no Deployment of a control plane, no ConfigMap linkerd-config in {name}"),
    ))
    .remedy(Remedy::new().step(
        StepKind::Note,
        "Nothing, if you made it, for Helm or for the issuer's certificate; otherwise find out whose it is",
    ));
    Ok(vec![finding].into())
}
