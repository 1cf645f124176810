//! Message parts and remedy steps shared by the native-sidecar checks.

use super::family::{SidecarFault, Survey, Switch};
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act};
use crate::checks::written::{go_bool, values};
use crate::knowledge::{KeyScope, KeyStatus, NativeSidecar};
use crate::version::K8sVersion;

/// An empty remedy of this family.
pub(super) fn remedy() -> Remedy {
    Remedy::new()
}

/// The consequence of an ineffective key, as a second sentence of the message.
pub(super) fn outcome(found: &SidecarFault<'_>) -> &'static str {
    match (found.native, found.object.kind) {
        (Some(false), Kind::Job | Kind::CronJob | Kind::Pod | Kind::Namespace) => {
            ". The proxy stays an ordinary container and keeps Job pods running"
        }
        (Some(false), _) => ". The proxy stays an ordinary container",
        (Some(true), _) => ". The proxy is a native sidecar anyway",
        (None, _) => "",
    }
}

/// Links findings about pods of a namespace to a key on the namespace.
pub(super) fn namespace_tie(namespace: &str) -> Tie {
    Tie::Fact(format!("native-sidecar keys of {namespace}"))
}

/// A finding about a key.
pub(super) fn finding(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    found: &SidecarFault<'_>,
    message: String,
    remedy: Remedy,
) -> Finding {
    let finding = ctx
        .finding(found.object.subject(), message)
        .evidence(found.evidence.clone())
        .evidences(survey.switch.reader.evidence())
        .remedy(remedy)
        .parameter(found.key);
    match found.object.kind {
        Kind::Namespace => finding.tie(namespace_tie(found.object.namespace_name())),
        _ => finding,
    }
}

/// The steps that set the intended value with the key, and in the place, that the installed injector reads.
pub(super) fn with_right_key(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    found: &SidecarFault<'_>,
    remedy: Remedy,
) -> Remedy {
    let scope = if found.object.kind == Kind::Namespace { KeyScope::Namespace } else { KeyScope::PodTemplate };
    let Some(right) = survey.switch.right_key(scope) else { return without(ctx, &survey.switch, remedy) };
    let is_set = found.object.sites.iter().any(|site| site.meta.annotation(right).is_some());
    if is_set && right != found.key {
        let act = format!("Remove {}, which has no effect: {right} is set, too", found.key);
        return rewrite::template(ctx, remedy, Act::Remove(&act), &found.object, &[(found.key, None)]);
    }
    let value = if go_bool(found.value).is_some() { found.value } else { wish(found.value) };
    let mut changes = vec![(right, Some(value))];
    if right != found.key {
        changes.push((found.key, None));
    }
    let is_met = go_bool(value) != Some(false) && is_floor_met(ctx);
    let free = ctx.knowledge.native_sidecar().kubernetes_on_by_default();
    let met = if is_met { format!(" (this cluster has Kubernetes {free} or newer)") } else { String::new() };
    let act = match right == found.key {
        true => format!("Set {right}: {value:?}{met}"),
        false => format!("Use {right}: {value:?}{met} instead"),
    };
    let mut remedy = rewrite::template(ctx, remedy, Act::Put(&act), &found.object, &changes);
    if found.scope == KeyScope::Workload {
        remedy = rewrite::own(remedy, Act::Remove("Remove the annotation"), &found.object, &[(found.key, None)]);
    }
    let remedy = rewrite::restart(ctx, remedy, &found.object);
    match go_bool(value) {
        Some(false) => remedy,
        _ if is_floor_met(ctx) => remedy,
        _ => floor(remedy, ctx.knowledge.native_sidecar()),
    }
}

/// Whether the API server and every node are known to support native sidecars without a feature gate.
pub(super) fn is_floor_met(ctx: &Context<'_>) -> bool {
    let enough = ctx.knowledge.native_sidecar().kubernetes_on_by_default();
    let nodes = ctx.complete_list::<Node>().unwrap_or_default();
    let mut kubelets = nodes.iter().filter(|node| node.status.node_info.operating_system != "windows").map(|node| {
        let version = node.status.node_info.kubelet_version.parse::<K8sVersion>();
        version.is_ok_and(|version| version.minor() >= enough)
    });
    ctx.server_version().is_ok_and(|server| server.minor() >= enough)
        && !nodes.is_empty()
        && kubelets.all(|is_new| is_new)
}

/// The remedy if the installed release does not support native sidecars.
pub(super) fn without(ctx: &Context<'_>, switch: &Switch<'_>, remedy: Remedy) -> Remedy {
    let first = ctx.knowledge.releases().rows().iter().find(|row| {
        let opened = row.opened_by.to_string().parse();
        let reads = |version| ctx.knowledge.native_sidecar().keys_read_by(&version, ctx.knowledge);
        opened.is_ok_and(|version| !reads(version).known().is_empty())
    });
    let installed = switch.reader.version().map_or("this release".to_owned(), |version| format!("Linkerd {version}"));
    let upgrade = match first {
        Some(row) => {
            format!("Upgrade Linkerd: {installed} does not support native sidecars; {} and later do", row.minor)
        }
        None => format!("Upgrade Linkerd: {installed} does not support native sidecars"),
    };
    shutdown(ctx, switch, remedy.step(StepKind::Upgrade, upgrade), "Until then")
}

/// The annotation that enables the proxy's shutdown endpoint. Releases that read it refuse shutdown without it.
const ADMIN_SHUTDOWN: &str = "config.linkerd.io/proxy-admin-shutdown";

/// Adds the step that stops a proxy in an ordinary container.
pub(super) fn shutdown(ctx: &Context<'_>, switch: &Switch<'_>, remedy: Remedy, when: &str) -> Remedy {
    let way = format!("{when}, start the application with linkerd-await --shutdown, which stops the proxy");
    let row = ctx.knowledge.annotations().get(ADMIN_SHUTDOWN);
    let since = row.and_then(|row| row.works.first()?.from);
    let effect = row.zip(switch.reader.version()).and_then(|(row, version)| {
        row.status_in(version, ctx.knowledge).likely().map(|status| *status == KeyStatus::Effective)
    });
    let always = values(ctx).and_then(|values| values.bool("proxy.enableShutdownEndpoint")) == Some(true);
    let needs = match (effect, since) {
        _ if always => String::new(),
        (Some(false), _) | (None, None) => String::new(),
        (Some(true), _) => {
            format!(
                ". Annotate its pod template with {ADMIN_SHUTDOWN}: enabled. The proxy refuses to stop \
                without it"
            )
        }
        (None, Some(edge)) => format!(
            ". From {edge} on, annotate its pod template with {ADMIN_SHUTDOWN}: enabled. The proxy \
            refuses to stop without it"
        ),
    };
    remedy.note(way + &needs)
}

/// Adds the Kubernetes version that native sidecars require.
pub(super) fn floor(remedy: Remedy, knowledge: &NativeSidecar) -> Remedy {
    let (gated, free) = (knowledge.kubernetes_minimum(), knowledge.kubernetes_on_by_default());
    remedy.note(format!(
        "Native sidecars need Kubernetes {free} or newer on the API server and on every node. \
            {gated} supports them with the feature gate SidecarContainers, off by default"
    ))
}

/// The boolean that a value probably means.
fn wish(value: &str) -> &'static str {
    let off = ["false", "no", "off", "disable", "disabled", "n", "0"];
    if off.contains(&value.trim().trim_matches('"').to_ascii_lowercase().as_str()) { "false" } else { "true" }
}
