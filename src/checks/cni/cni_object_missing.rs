//! `cni-object-missing`: an object of linkerd-cni is missing, although the control plane relies on it.

use super::absent::meshed_restarted;
use super::chart;
use super::installers::{installers, no_daemon_set, not_redirected};
use super::nodes::{expected, runs_pods_on_linux};
use super::remedy::changed_rolled_out;
use crate::checks::prelude::*;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::rbac::{ClusterRole, ClusterRoleBinding};
use crate::objects::{DaemonSet, ServiceAccount};

/// The name of the account, its role and its binding in the chart and in `linkerd install-cni`.
const NAME: &str = "linkerd-cni";
const CONFIG: &str = "linkerd-cni-config";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(because) = expected(ctx)? else {
        return Err(Unjudged::not_applicable("the control plane does not rely on linkerd-cni"));
    };
    let Some(set) = installers(ctx)?.into_iter().next() else {
        ctx.complete_list::<DaemonSet>()?;
        return Ok(uninstalled(ctx, because).into());
    };
    let findings = missing(ctx, Some(set)).into_iter().map(|lost| {
        let rows = lost.rows;
        let finding = ctx
            .finding(lost.subject, lost.message)
            .evidence(because.clone())
            .evidence(lost.seen)
            .fails_rows(rows)
            .remedy(install_again(ctx));
        // The consequences show on the DaemonSet.
        finding.tie(Tie::Workload(
            Kind::DaemonSet.to_string(),
            set.metadata.namespace.to_string(),
            set.metadata.name.clone(),
        ))
    });
    Ok(findings.collect())
}

/// The DaemonSet is missing: one finding, even if other objects are missing too.
fn uninstalled(ctx: &Context<'_>, because: Evidence) -> Finding {
    let others = missing(ctx, None);
    let message = "the control plane relies on linkerd-cni, but no DaemonSet installs it. On a node without \
                   the plugin the traffic of new pods is not redirected: they fail in \
                   linkerd-network-validator or run outside the mesh";
    let subject = Subject::object(Kind::DaemonSet, &ctx.namespaces().cni, NAME);
    let rows = others.iter().flat_map(|lost| lost.rows.iter().copied());
    let rows: Vec<&'static str> = std::iter::once("cni plugin DaemonSet exists").chain(rows).collect();
    let of_mesh = |act: &'static str| {
        let label = format!("{CONTROL_PLANE_NS}={}", ctx.namespaces().control_plane);
        kubectl().words(act).arg(label)
    };
    let started = of_mesh("get pods -A -l");
    let pending = "--field-selector status.phase=Pending";
    let remedy = meshed_restarted(ctx, install_again(ctx))
        .command(
            "List the meshed pods that are pending: they could not start meanwhile",
            started.clone().words(pending),
        )
        .run(
            StepKind::Command,
            "If linkerd-cni is the cause for all of them, delete them: a pod keeps the network that it started with \
             (pods without an owner do not return)",
            of_mesh("delete pods -A -l").words(pending),
        );
    let remedy = remedy
        .run(
            StepKind::Command,
            "List the meshed pods by age",
            started.words("--field-selector status.phase=Running --sort-by=.metadata.creationTimestamp"),
        )
        .step(
            StepKind::Note,
            "Restart the workloads of those that started after linkerd-cni was lost, since they may bypass their proxy \
             (kubectl -n NAMESPACE rollout restart KIND/NAME)",
        );
    let finding = ctx
        .finding(subject, message)
        .evidence(because)
        .evidence(no_daemon_set())
        .evidences(others.into_iter().map(|lost| lost.seen))
        .fails_rows(rows)
        .remedy(remedy);
    let nodes = ctx.optional_list::<Node>().iter().filter(|node| runs_pods_on_linux(node));
    nodes.fold(finding, |finding, node| {
        let name = &node.metadata.name;
        finding.tie(not_redirected(name)).tie(Tie::Node(name.clone()))
    })
}

struct MissingObject {
    subject: Subject,
    message: &'static str,
    seen: Evidence,
    rows: Vec<&'static str>,
}

/// The missing objects other than the DaemonSet; an object that could not be read is a gap.
fn missing(ctx: &Context<'_>, set: Option<&Workload>) -> Vec<MissingObject> {
    let found = [config(ctx), account(ctx, set), rights(ctx)];
    let mut lost = Vec::new();
    for found in found {
        match found {
            Ok(found) => lost.extend(found),
            Err(missing) => ctx.gap(missing),
        }
    }
    lost
}

fn config(ctx: &Context<'_>) -> Result<Option<MissingObject>, Missing> {
    let namespace = &ctx.namespaces().cni;
    let config = ctx.object::<ConfigMap>(Scope::Cni, CONFIG)?;
    Ok(config.is_none().then(|| MissingObject {
        subject: Subject::object(Kind::ConfigMap, namespace, CONFIG),
        message: "linkerd-cni's ConfigMap is missing: its pods read their settings from it, so none of them \
                  can start again, and a new node gets no plugin",
        seen: Evidence::other(format!("ConfigMap {namespace}/{CONFIG}"), "does not exist"),
        rows: vec!["cni plugin ConfigMap exists"],
    }))
}

fn account(ctx: &Context<'_>, set: Option<&Workload>) -> Result<Option<MissingObject>, Missing> {
    let accounts = ctx.complete_list::<ServiceAccount>()?;
    let namespace = set.map_or(ctx.namespaces().cni.as_str(), |set| &set.metadata.namespace);
    let name = set.map_or(NAME, |set| set.spec.template.spec.service_account_name.as_str());
    let is_it = |account: &&ServiceAccount| account.metadata.namespace == *namespace && account.metadata.name == name;
    // A pod without a named account uses the default account.
    let there = name.is_empty() || accounts.iter().any(|account| is_it(&account));
    Ok((!there).then(|| MissingObject {
        subject: Subject::object(Kind::ServiceAccount, namespace, name),
        message: "linkerd-cni's service account is missing: the API server rejects its tokens, so the plugin \
                  fails for each pod that starts, and no pod of linkerd-cni can be created",
        seen: Evidence::other(format!("ServiceAccounts in {namespace}"), format!("none is named {name}")),
        rows: vec!["cni plugin ServiceAccount exists"],
    }))
}

fn rights(ctx: &Context<'_>) -> Result<Option<MissingObject>, Missing> {
    let roles = ctx.complete_list::<ClusterRole>()?;
    let bindings = ctx.complete_list::<ClusterRoleBinding>()?;
    let role = roles.iter().any(|role| role.metadata.name == NAME);
    let binding = bindings.iter().any(|binding| binding.metadata.name == NAME);
    let (kind, seen, rows) = match (role, binding) {
        (true, true) => return Ok(None),
        (false, true) => (Kind::ClusterRole, "ClusterRoles", vec!["cni plugin ClusterRole exists"]),
        (true, false) => {
            (Kind::ClusterRoleBinding, "ClusterRoleBindings", vec!["cni plugin ClusterRoleBinding exists"])
        }
        (false, false) => (
            Kind::ClusterRole,
            "ClusterRoles, ClusterRoleBindings",
            vec!["cni plugin ClusterRole exists", "cni plugin ClusterRoleBinding exists"],
        ),
    };
    Ok(Some(MissingObject {
        subject: Subject::object(kind, "", NAME),
        message: "linkerd-cni's service account has lost its permissions: unless other bindings grant them, \
                  the plugin may not get pods from the API server, and fails for each pod that starts",
        seen: Evidence::other(seen, format!("none is named {NAME}")),
        rows,
    }))
}

fn install_again(ctx: &Context<'_>) -> Remedy {
    let words = "Apply linkerd-cni's manifests again, with the same values";
    chart::install_again(ctx, Remedy::new(), words).command("Wait until it runs on every node", changed_rolled_out(ctx))
}
