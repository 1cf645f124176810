//! `proxy-cut-off`: a proxy's own clients of the control plane cannot connect.

use crate::checks::diagnosed::{by_workload, exporting, proxies, quoted};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Finding, Remedy, StepKind, Tie};
use crate::knowledge::MetricMeaning::ControlEndpoints;
use crate::model::control_clients::ClientState;

/// The number of quoted proxies per workload.
const QUOTED: usize = 3;
/// A proxy's clients of the control plane: the label, the component, and its Deployment.
const CLIENTS: [(&str, &str, &str); 3] = [
    ("destination", "destination", "linkerd-destination"),
    ("identity", "identity", "linkerd-identity"),
    ("policy", "the policy controller", "linkerd-destination"),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = exporting(ctx, proxies(ctx)?, ControlEndpoints, "the connections to the control plane");
    let cut = all.into_iter().filter_map(|(pod, metrics)| {
        let clients: Vec<usize> = (0..CLIENTS.len())
            .filter(|at| ClientState::from_metrics(metrics, CLIENTS[*at].0) == ClientState::CutOff)
            .collect();
        (!clients.is_empty()).then_some((pod, clients))
    });
    let namespace = ctx.namespaces().control_plane.as_str();
    let findings = by_workload(ctx, cut).into_iter().map(|(subject, cut)| {
        let said = cut.iter().take(QUOTED).map(|(pod, clients)| {
            let names: Vec<&str> = clients.iter().map(|at| CLIENTS[*at].1).collect();
            quoted(pod, format!("no connection to {}", names.join(", ")))
        });
        let clients = cut.iter().flat_map(|(_, clients)| clients);
        let ties = clients.map(|at| {
            Tie::Workload("Deployment".to_owned(), namespace.to_owned(), CLIENTS[*at].2.to_owned())
        });
        let finding = ctx
            .finding(
                subject,
                "the proxy cannot connect to the control plane: it keeps old endpoints, policies or \
                 certificates, and a new proxy gets none",
            )
            .evidences(said)
            .remedy(
                Remedy::new()
                    .run(
                        StepKind::Command,
                        "Check that the pods of the control plane are ready",
                        kubectl().namespace(namespace).words("get pods -o wide"),
                    )
                    .step(
                        StepKind::Note,
                        "If they are, check NetworkPolicies and trust anchors between the proxy and the \
                         control plane",
                    ),
            );
        ties.fold(finding, Finding::tie)
    });
    Ok(findings.collect::<Vec<_>>().into())
}
