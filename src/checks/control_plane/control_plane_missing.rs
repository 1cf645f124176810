//! `control-plane-missing`: one or all of the control plane's Deployments do not exist.

use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::checks::serving::{component_missing, silent_injector};
use crate::checks::upgrade;
use crate::checks::versions::gateway_api::{NeededFirst, install_bundle, needed_first};
use crate::command::{Call, linkerd, meshdoctor};
use crate::model::cni;
use crate::model::control_plane::{CORE, serving};
use crate::model::installed::COMPONENT;
use crate::objects::{DaemonSet, ServiceAccount};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let deployments = ctx.complete_list::<Deployment>()?;
    let there: Vec<&str> = deployments
        .iter()
        .filter(|deployment| deployment.metadata.namespace == *namespace)
        .filter_map(|deployment| deployment.metadata.label(COMPONENT))
        .collect();
    let missing: Vec<&str> = CORE.into_iter().filter(|component| !there.contains(component)).collect();
    if missing.is_empty() {
        return Ok(Verdict::fine());
    }
    let seen = match there.as_slice() {
        [] => format!("no Deployment in {namespace} has the label linkerd.io/control-plane-component"),
        some => format!("{namespace} has {}, but no {}", some.join(", "), missing.join(", ")),
    };
    let message = if missing.len() == CORE.len() {
        "no Linkerd control plane is installed: no pod can be injected, get an identity or discover services"
    } else {
        "a component of the control plane is missing: proxies that need it fail when they next start"
    };
    let remedy = other_namespace(ctx, deployments);
    // The CLI refuses to install while the values of an installation exist.
    let has_values = config(ctx).is_ok_and(|config| config.is_some());
    let remedy = if there.is_empty() && !has_values {
        installed(ctx, remedy)
    } else {
        let act = match remedy.steps.is_empty() {
            true => "Restore the deleted objects",
            false => "Otherwise, restore the deleted objects",
        };
        upgrade::reapply(ctx, remedy, act)
    };
    let finding = ctx
        .finding(Subject::object("Namespace", "", namespace), message)
        .evidence(Evidence::other("Deployments", seen))
        .remedy(remedy);
    // A dump may contain no namespaces, or the user may not list them.
    let namespaces = ctx.complete_list::<Namespace>();
    let homeless = namespaces.is_ok_and(|all| !all.iter().any(|known| known.metadata.name == *namespace));
    let nothing = missing.len() == CORE.len();
    let unconfigured = nothing && config(ctx).is_ok_and(|config| config.is_none());
    // Pods may still run for a while after their Deployment was deleted.
    let pods = ctx.optional_list::<Pod>();
    let unserved = missing.iter().any(|component| serving(pods, namespace, component) == 0);
    let rows = [
        (unserved, "control plane pods are ready"),
        (homeless, "control plane Namespace exists"),
        (unconfigured, "'linkerd-config' config map exists"),
        (nothing && lacks_heartbeat(ctx), "heartbeat ServiceAccount exist"),
    ];
    let finding = finding.fails_rows(rows.into_iter().filter(|(fails, _)| *fails).map(|(_, row)| row));
    let finding = missing.iter().map(|component| component_missing(component)).fold(finding, Finding::tie);
    // Without an injector the API server's webhook calls fail, which also explains pods without a proxy.
    let finding = if missing.contains(&"proxy-injector") { finding.tie(silent_injector()) } else { finding };
    Ok(finding.into())
}

/// The step if the control plane is, or may be, in another namespace.
fn other_namespace(ctx: &Context<'_>, deployments: &[Workload]) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let is_other = |one: &&Workload| one.metadata.namespace != home && one.metadata.label(COMPONENT).is_some();
    let check = |namespace: Arg| meshdoctor().words("check -L").arg(namespace);
    match deployments.iter().find(is_other) {
        Some(other) => {
            let namespace = other.metadata.namespace.as_str();
            let act = format!("If the control plane in namespace {namespace} is meant, check that one");
            Remedy::new().command(act, check(Arg::from(namespace)))
        }
        // Deployments of unselected namespaces are not known.
        None if !ctx.settings.namespaces.is_empty() => Remedy::new()
            .command("If the control plane is in another namespace, name it", check(Arg::placeholder("NAMESPACE"))),
        None => Remedy::new(),
    }
}

/// Adds the steps that install the control plane. Without cniEnabled it would add linkerd-init to pods that linkerd-cni
/// redirects.
fn installed(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let with_cni = ctx.optional_list::<DaemonSet>().iter().any(cni::is_installer);
    let relying = |call: Call| if with_cni { call.words("--linkerd-cni-enabled") } else { call };
    let values = if with_cni { " (cniEnabled=true, since linkerd-cni runs)" } else { "" };
    let install = || linkerd().control_plane(&ctx.namespaces().control_plane).words("install");
    let apply = || kubectl().words("apply -f -");
    let needed = needed_first(ctx);
    let act = match (remedy.steps.is_empty(), &needed) {
        (true, NeededFirst::Unknown) => {
            "Check whether the cluster meets the requirements. From 2.18 on, it also needs the Gateway API"
        }
        (true, NeededFirst::Missing(_) | NeededFirst::Nothing) => "Check whether the cluster meets the requirements",
        (false, _) => "Otherwise, check whether the cluster meets the requirements",
    };
    let remedy = remedy.command(act, relying(meshdoctor().words("check --pre")));
    let remedy = match needed {
        NeededFirst::Missing(wanted) => install_bundle(remedy, None, wanted),
        NeededFirst::Nothing | NeededFirst::Unknown => remedy,
    };
    remedy.command(
        format!("Then install Linkerd with the tool and values that will manage it{values}, for example with the CLI"),
        Command::lines([install().words("--crds").pipe(apply()), relying(install()).pipe(apply())]),
    )
}

/// Whether leftover chart values enable a heartbeat whose ServiceAccount is missing. With such values, the
/// `linkerd-config` row of `linkerd check` passes, and it stops at this one.
fn lacks_heartbeat(ctx: &Context<'_>) -> bool {
    let values = config(ctx).ok().flatten().and_then(ConfigMap::chart_values);
    let wanted = values.is_some_and(|values| values.bool("disableHeartBeat") != Some(true));
    let account = || ctx.object::<ServiceAccount>(Scope::ControlPlane, "linkerd-heartbeat");
    wanted && account().is_ok_and(|account| account.is_none())
}
