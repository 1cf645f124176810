//! `proxy-cut-off`: a proxy's own clients of the control plane cannot connect, or get no answer.

use crate::checks::diagnosed::{by_workload, exporting, metrics_missing, name_of, proxies, quoted, within};
use crate::checks::prelude::*;
use crate::finding::Restarts;
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning::ControlEndpoints;
use crate::model::control_clients::{self, ClientState, SERVED, Served};
use crate::model::installed::COMPONENT;

/// The number of quoted proxies per workload.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting(ctx, proxies(ctx)?, ControlEndpoints, "the connections to the control plane");
    let mut silent: [Vec<(&Pod, (&ProxyMetrics, u64))>; SERVED.len()] = Default::default();
    for (pod, metrics) in &all {
        for (at, Served { client, name, component, .. }) in SERVED.iter().enumerate() {
            let Some(failed) = control_clients::unanswered(metrics, client) else { continue };
            if is_settled(ctx, metrics, component) {
                silent[at].push((*pod, (*metrics, failed)));
            } else {
                ctx.gap(metrics_missing(
                    ctx,
                    format!("whether {name} answers {}: its pods changed between the reads", name_of(pod)),
                ));
            }
        }
    }
    let silent: Vec<Finding> = silent
        .into_iter()
        .zip(SERVED)
        .flat_map(|(pods, served)| by_workload(ctx, pods).into_iter().map(move |one| (served, one)))
        .map(|(served, (subject, pods))| unanswered(ctx, served, subject, &pods))
        .collect();
    let cut = all.into_iter().filter_map(|(pod, metrics)| {
        let is_cut = |served: &Served| ClientState::from_metrics(metrics, served.client) == ClientState::CutOff;
        let clients: Vec<Served> = SERVED.into_iter().filter(is_cut).collect();
        (!clients.is_empty()).then_some((pod, clients))
    });
    let namespace = ctx.namespaces().control_plane.as_str();
    let findings = by_workload(ctx, cut).into_iter().map(|(subject, cut)| {
        let said = cut.iter().take(QUOTED).map(|(pod, clients)| {
            let names: Vec<&str> = clients.iter().map(|served| served.name).collect();
            quoted(pod, format!("no connection to {}", names.join(", ")))
        });
        let clients = cut.iter().flat_map(|(_, clients)| clients);
        let ties = clients
            .map(|served| Tie::Workload("Deployment".to_owned(), namespace.to_owned(), served.deployment.to_owned()));
        let finding = ctx
            .finding(
                subject,
                "the proxy cannot connect to the control plane: it keeps old endpoints, policies or \
                 certificates, and a new proxy gets none",
            )
            .evidences(said)
            .remedy(
                Remedy::new()
                    .command(
                        "Check that the pods of the control plane are ready",
                        kubectl().namespace(namespace).words("get pods -o wide"),
                    )
                    .note(
                        "If they are, check NetworkPolicies and trust anchors between the proxy and the \
                         control plane",
                    ),
            );
        ties.fold(finding, Finding::tie)
    });
    Ok(findings.chain(silent).collect())
}

/// Whether the pods of a component were ready during both reads. A restart ends open streams once each, and the new
/// ones are not counted until they end.
fn is_settled(ctx: &Context<'_>, metrics: &ProxyMetrics, component: &str) -> bool {
    let Some(first) = metrics.read_at.zip(metrics.period).map(|(read, period)| read.saturating_sub(period)) else {
        return false;
    };
    let home = ctx.namespaces().control_plane.as_str();
    let mut pods = ctx
        .optional_list::<Pod>()
        .iter()
        .filter(|pod| pod.metadata.namespace == home && pod.metadata.label(COMPONENT) == Some(component))
        .filter(|pod| !pod.is_finished())
        .peekable();
    pods.peek().is_some()
        && pods.all(|pod| {
            let ready = pod.condition("Ready").filter(|condition| condition.status == "True");
            let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
            let starts = statuses.filter_map(|status| status.state.running()?.started_at.get());
            let ready_at = ready.and_then(|condition| condition.last_transition_time.get());
            let changes = starts.chain(ready_at).chain(pod.metadata.creation_timestamp.get());
            ready.is_some() && changes.map(|at| at.as_second()).all(|at| at < first)
        })
}

/// The finding about requests to a component that are not answered.
fn unanswered(ctx: &Context<'_>, served: Served, subject: Subject, pods: &[(&Pod, (&ProxyMetrics, u64))]) -> Finding {
    let Served { client, name, deployment, container, .. } = served;
    let namespace = ctx.namespaces().control_plane.as_str();
    let said = pods.iter().take(QUOTED).map(|(pod, (metrics, failed))| {
        quoted(pod, format!("{failed} requests to {name} failed {}, none succeeded", within(metrics)))
    });
    let effect = match client {
        "destination" => "it keeps old endpoints, and finds none of new Services",
        "policy" => "it keeps old policies, and gets none for new ports and Services",
        _ => "it keeps its certificate, which is not renewed",
    };
    let kubectl = || kubectl().namespace(namespace);
    ctx.finding(subject, format!("{name} answers no request of the proxy, although both are connected: {effect}"))
        .parameter(client)
        .likely()
        .evidences(said)
        .remedy(
            Remedy::new()
                .command(
                    format!("Read the log of {name}, and of the proxy in its pod"),
                    kubectl()
                        .words("logs")
                        .operand(format!("deployment/{deployment}"))
                        .option("-c", container)
                        .words("--tail=100"),
                )
                .command(
                    format!("If the log shows no cause, restart {name}"),
                    kubectl().words("rollout restart").operand(format!("deployment/{deployment}")),
                )
                .restarting(Restarts::ControlPlane),
        )
        .tie(Tie::Workload("Deployment".to_owned(), namespace.to_owned(), deployment.to_owned()))
}
