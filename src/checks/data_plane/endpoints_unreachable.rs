//! `endpoints-unreachable`: a proxy's load balancer for a Service is in fail-fast: it reaches no endpoint.

use std::collections::BTreeMap;

use crate::checks::diagnosed::{grown, lacking, name_of, proxies, quoted, within};
use crate::checks::{Context, Judgement};
use crate::command::{kubectl, meshdoctor};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{BalancerEndpoints, BalancerGateOpenedAt, BalancerGateShuts};
use crate::objects::{EndpointSlice, Kind, Pod, Service};

/// The number of quoted clients per Service.
const QUOTED: usize = 3;
/// The annotations that let a load balancer shut although its endpoints accept connections.
const ACCRUAL: [&str; 2] =
    ["balancer.linkerd.io/failure-accrual", "balancer.alpha.linkerd.io/failure-accrual-success-rate"];

/// A load balancer that entered fail-fast between two reads and is still in it.
struct FailFastBalancer<'a> {
    client: &'a Pod,
    metrics: &'a ProxyMetrics,
    port: &'a str,
    /// Endpoints to which it is connecting; 0 also if it was dropped since, because no request came.
    pending: f64,
}

impl FailFastBalancer<'_> {
    fn is_same(&self, other: &FailFastBalancer<'_>) -> bool {
        self.client.metadata.key() == other.client.metadata.key() && self.port == other.port
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = grown(ctx, proxies(ctx)?, &[BalancerGateShuts, BalancerEndpoints, BalancerGateOpenedAt])?;
    let (services, slices) = (ctx.every::<Service>()?, ctx.every::<EndpointSlice>()?);
    let mut by_service: BTreeMap<(&str, &str), Vec<FailFastBalancer<'_>>> = BTreeMap::new();
    for (client, metrics) in all {
        for (series, _) in metrics.grown(BalancerGateShuts) {
            if let Some(pending) = pending(metrics, series) {
                let key = (series.label("backend_namespace"), series.label("backend_name"));
                let shut = FailFastBalancer { client, metrics, port: series.label("backend_port"), pending };
                let known = by_service.entry(key).or_default();
                // HTTP and TCP connections to one port have load balancers of their own.
                match known.iter_mut().find(|one| one.is_same(&shut)) {
                    Some(one) => one.pending = one.pending.max(pending),
                    None => known.push(shut),
                }
            }
        }
    }
    let mut findings = Vec::new();
    for (key, shut) in by_service {
        // A Service that was deleted since has no endpoint to reach.
        let Some(service) = services.iter().find(|service| service.metadata.key() == key) else { continue };
        let (ready, all) = EndpointSlice::counted(slices, service);
        let breaks = ACCRUAL.iter().any(|key| service.metadata.annotation(key).is_some());
        let is_pending = shut.iter().any(|one| one.pending > 0.0);
        if ready > 0 && breaks && !is_pending {
            let name = format!("{}/{}", key.0, key.1);
            ctx.gap(lacking(
                ctx,
                format!("whether the circuit breaker of Service {name} ended its requests"),
            ));
            continue;
        }
        findings.push(finding(ctx, service, &shut, (ready, all)));
    }
    Ok(findings.into())
}

/// The endpoints to which a load balancer of a Service is connecting; `None` if it is not in fail-fast or has
/// a ready one.
fn pending(metrics: &ProxyMetrics, shut: &Series) -> Option<f64> {
    let is_same = |series: &&Series| shut.labels.iter().all(|(name, value)| series.label(name) == value);
    let is_open = metrics.of(BalancerGateOpenedAt).any(|series| is_same(&series) && series.value > 0.0);
    let count = |state: &str| -> f64 {
        let of_state = |series: &&Series| series.label("endpoint_state") == state;
        metrics.of(BalancerEndpoints).filter(is_same).filter(of_state).map(|series| series.value).sum()
    };
    let is_service = shut.label("backend_kind") == "Service";
    (is_service && !is_open && count("ready") == 0.0).then(|| count("pending"))
}

fn finding(
    ctx: &Context<'_>,
    service: &Service,
    shut: &[FailFastBalancer<'_>],
    (ready, all): (usize, usize),
) -> Finding {
    let (namespace, name) = service.metadata.key();
    let is_pending = shut.iter().any(|one| one.pending > 0.0);
    let said = shut.iter().take(QUOTED).map(|one| {
        let state = match one.pending > 0.0 {
            true => format!("{} endpoints pending, none ready", one.pending),
            false => "no endpoint ready".to_owned(),
        };
        let port = one.port;
        quoted(
            one.client,
            format!("port {port} of the Service entered fail-fast {}: {state}", within(one.metrics)),
        )
    });
    let listed = Evidence::other(
        format!("EndpointSlices of Service {namespace}/{name}"),
        format!("{ready} of {all} endpoints ready"),
    );
    let subject = Subject::object(Kind::Service, namespace, name);
    if ready == 0 {
        return ctx
            .finding(subject, "requests of meshed clients fail: the Service has no ready endpoint")
            .severity(Severity::Warning)
            .parameter("no-endpoint")
            .evidences(said)
            .evidence(listed)
            .remedy(
                Remedy::new()
                    .run(
                        StepKind::Command,
                        "Check the endpoints of the Service, and the pods that it selects",
                        kubectl()
                            .namespace(namespace)
                            .words("get endpointslices -l")
                            .operand(format!("kubernetes.io/service-name={name}")),
                    )
                    .step(
                        StepKind::Note,
                        "Repair or scale up the workload; the proxies recover automatically",
                    ),
            );
    }
    let clients: Vec<String> = shut.iter().map(|one| name_of(one.client)).collect();
    let from = clients.first().cloned().unwrap_or_default();
    let finding = ctx
        .finding(
            subject,
            "requests of meshed clients fail: the proxy connects to none of the ready endpoints. Port 4143 is \
             blocked, or the proxies reject each other's certificates",
        )
        .evidences(said)
        .evidence(listed)
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    "Check the path from a client to the Service",
                    meshdoctor()
                        .words("reach")
                        .operand(from)
                        .operand(format!("{name}.{namespace}:{}", shut.first().map_or("", |one| one.port))),
                )
                .step(
                    StepKind::Note,
                    "Allow port 4143 of the endpoints in NetworkPolicies and firewalls; check that the proxy of \
                     each endpoint runs and trusts the same anchors",
                ),
        );
    if is_pending { finding } else { finding.severity(Severity::Warning).likely() }
}
