//! `monitor-not-selected`: no Prometheus of the Prometheus operator reads a monitor of Linkerd.

use std::collections::BTreeMap;

use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::words::and_more;
use crate::command::Call;
use crate::objects::{
    CustomResourceDefinition, LabelSelector, Monitor, PodMonitor, Prometheus, PrometheusAgent, PrometheusServer,
    ServiceMonitor,
};

/// Definitions of operators that read the same monitors for servers of their own.
const OTHER_READERS: [&str; 2] = ["vmagents.operator.victoriametrics.com", "opentelemetrycollectors.opentelemetry.io"];
/// The PodMonitors of the control plane's chart.
const OF_CHART: [&str; 3] = ["linkerd-controller", "linkerd-proxy", "linkerd-service-mirror"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let is_of_chart = |one: &Monitor| one.metadata.namespace == home && OF_CHART.contains(&one.metadata.name.as_str());
    let of_pods = defined::<PodMonitor>(ctx)?.iter().filter(|one| one.asks_proxies() || is_of_chart(one));
    let of_services = defined::<ServiceMonitor>(ctx)?.iter().filter(|one| one.asks_proxies());
    let monitors: Vec<(Kind, &Monitor)> =
        of_pods.map(|one| (Kind::PodMonitor, one)).chain(of_services.map(|one| (Kind::ServiceMonitor, one))).collect();
    if monitors.is_empty() {
        return Err(Unjudged::not_applicable("no PodMonitor or ServiceMonitor is for proxies"));
    }
    let agents = defined::<PrometheusAgent>(ctx);
    let known = agents.as_ref().copied().unwrap_or_default();
    let servers: Vec<&PrometheusServer> = defined::<Prometheus>(ctx)?.iter().chain(known).collect();
    match agents {
        Err(missing) if servers.is_empty() => return Err(missing.into()),
        agents => _ = ctx.or_note(agents),
    }
    let definitions = ctx.or_note(ctx.complete_list::<CustomResourceDefinition>()).unwrap_or_default();
    if servers.is_empty() || definitions.iter().any(|one| OTHER_READERS.contains(&one.metadata.name.as_str())) {
        return Err(Unjudged::not_applicable("monitors may be for others than Prometheus objects"));
    }
    let namespaces = ctx.complete_list::<Namespace>()?;
    let mut unread: BTreeMap<(&str, Kind), Vec<&Monitor>> = BTreeMap::new();
    for (kind, monitor) in monitors {
        let namespace = namespaces.iter().find(|one| one.metadata.name == monitor.metadata.namespace);
        let Some(namespace) = namespace else { continue };
        let is_unread = |server: &&PrometheusServer| {
            let (selector, homes) = server.selectors(kind);
            let is_redacted = selector.into_iter().chain(homes).any(LabelSelector::is_redacted);
            let is_read = server.selects(kind, monitor) && looks_into(server, kind, namespace);
            !(is_redacted || is_read)
        };
        if servers.iter().all(is_unread) {
            unread.entry((&namespace.metadata.name, kind)).or_default().push(monitor);
        }
    }
    let findings = unread.into_iter().filter_map(|((namespace, kind), monitors)| {
        let namespace = namespaces.iter().find(|one| one.metadata.name == namespace)?;
        // The one that lacks the least.
        let selecting = servers.iter().filter(|one| one.selectors(kind).0.is_some());
        let server = selecting.max_by_key(|one| (looks_into(one, kind, namespace), one.selects(kind, monitors[0])));
        Some(finding(ctx, kind, namespace, &monitors, server?))
    });
    Ok(findings.collect())
}

fn looks_into(server: &PrometheusServer, kind: Kind, namespace: &Namespace) -> bool {
    server.looks_into(kind, &namespace.metadata.name, &namespace.metadata.labels)
}

/// The finding for the monitors of a namespace, with the steps that make one Prometheus read them.
fn finding(
    ctx: &Context<'_>,
    kind: Kind,
    namespace: &Namespace,
    monitors: &[&Monitor],
    server: &PrometheusServer,
) -> Finding {
    let home = namespace.metadata.name.as_str();
    let names: Vec<&str> = monitors.iter().map(|one| one.metadata.name.as_str()).collect();
    let (selector, homes) = server.selectors(kind);
    let (at, of) = server.metadata.key();
    let prefix = if kind == Kind::PodMonitor { "podMonitor" } else { "serviceMonitor" };
    let source = format!("Prometheus {at}/{of}");
    let others = and_more(names.len() - 1);
    let message = format!("no Prometheus reads this {kind}{others}: the metrics of proxies are not collected");
    let mut remedy = Remedy::new();
    if !monitors.iter().all(|one| server.selects(kind, one)) {
        remedy = labelled(remedy, kind, home, &names, selector);
    }
    if !looks_into(server, kind, namespace) {
        remedy = match homes.and_then(LabelSelector::only_labels_of_namespace) {
            Some(labels) => remedy.run(
                StepKind::Command,
                "Add the label of selected namespaces (also in its source manifest)",
                with_labels(kubectl().words("label --overwrite namespace").operand(home), &labels),
            ),
            None => remedy
                .note(format!("In the source of {source}, set {prefix}NamespaceSelector so that it selects {home}")),
        };
    }
    let shown = |selector: Option<&LabelSelector>, none: &str| match selector.map(LabelSelector::only_labels) {
        Some(Some(labels)) if labels.is_empty() => "all".to_owned(),
        Some(Some(labels)) => labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", "),
        Some(None) => "with expressions".to_owned(),
        None => none.to_owned(),
    };
    let subject = Subject::object(kind, home, names.iter().find(|name| name.ends_with("-proxy")).unwrap_or(&names[0]));
    ctx.finding(subject, message)
        .likely()
        .evidence(Evidence::other(format!("{kind} in {home}"), names.join(", ")))
        .evidence(Evidence::field(source.as_str(), format!("spec.{prefix}Selector"), shown(selector, "none")))
        .evidence(Evidence::field(
            source.as_str(),
            format!("spec.{prefix}NamespaceSelector"),
            shown(homes, "its own namespace"),
        ))
        .remedy(remedy)
}

/// The step that adds the labels that Prometheus selects.
fn labelled(remedy: Remedy, kind: Kind, home: &str, names: &[&str], selector: Option<&LabelSelector>) -> Remedy {
    let Some(labels) = selector.and_then(LabelSelector::only_labels) else {
        return remedy.note(
            "Add labels to the monitor that the selector of Prometheus matches (in Linkerd's chart: \
             podMonitor.labels)",
        );
    };
    let resource = if kind == Kind::PodMonitor { "podmonitors" } else { "servicemonitors" };
    let call = kubectl().namespace(home).words("label --overwrite").arg(resource).operands(names.iter().copied());
    remedy.command(
        "Add the label that Prometheus selects. Set it in the source too (in Linkerd's chart: podMonitor.labels)",
        with_labels(call, &labels),
    )
}

/// A call of `kubectl label` with its labels.
fn with_labels(call: Call, labels: &[(&str, &str)]) -> Call {
    labels.iter().fold(call, |call, (key, value)| call.arg(format!("{key}={value}")))
}
