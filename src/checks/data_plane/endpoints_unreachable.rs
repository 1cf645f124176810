//! `endpoints-unreachable`: a proxy's load balancer for a Service is in fail-fast: it reaches no endpoint, or a circuit
//! breaker keeps it from them. Or it reaches only some of the endpoints.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::diagnosed::{by_number, grown, name_of, proxies, quoted, releasing, within};
use crate::checks::prelude::*;
use crate::command::{Call, meshdoctor};
use crate::item::proxy_metrics::ProxyMetrics;
use crate::knowledge::MetricMeaning::{BalancerEndpoints, BalancerGateOpenedAt, BalancerGateShuts};
use crate::model::fail_fast::{self, BREAKER, FailFastBalancer, PartialBalancer};
use crate::objects::EndpointSlice;

/// The number of quoted clients per Service.
const QUOTED: usize = 3;
/// The annotation with the number of failures that opens a circuit breaker.
const FAILURES: &str = "balancer.linkerd.io/failure-accrual-consecutive-max-failures";

/// The load balancers of a client for a port of a Service that are in fail-fast.
struct FailingClient<'a> {
    client: &'a Pod,
    metrics: &'a ProxyMetrics,
    shut: FailFastBalancer<'a>,
}

impl<'a> FailingClient<'a> {
    /// Adds a load balancer.
    fn add(all: &mut Vec<FailingClient<'a>>, client: &'a Pod, metrics: &'a ProxyMetrics, shut: FailFastBalancer<'a>) {
        let key = client.metadata.key();
        let known = all.iter_mut().find(|one| one.client.metadata.key() == key && one.shut.port() == shut.port());
        match known {
            Some(one) => one.shut.merge(shut),
            None => all.push(FailingClient { client, metrics, shut }),
        }
    }

    fn quoted(&self) -> Evidence {
        let state = match self.shut.pending > 0.0 {
            true => format!("endpoints pending: {}, ready: 0", self.shut.pending),
            false => "no endpoint ready".to_owned(),
        };
        let when = match (self.shut.has_entered, self.shut.is_shut) {
            (true, true) => format!("entered fail-fast {}", within(self.metrics)),
            (true, false) => format!("entered fail-fast {}, and left it", within(self.metrics)),
            (false, true) => "was in fail-fast at both reads".to_owned(),
            (false, false) => format!("failed requests {}", within(self.metrics)),
        };
        let failed = match self.shut.failed {
            0 => String::new(),
            failed => format!("; failed requests: {failed}"),
        };
        let port = self.shut.port();
        let state = if self.shut.is_shut { format!(": {state}") } else { String::new() };
        quoted(self.client, format!("port {port} of the Service {when}{state}{failed}"))
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = releasing(ctx, proxies(ctx)?, BalancerGateOpenedAt, "the gates of load balancers");
    let all = grown(ctx, all, &[BalancerGateShuts, BalancerEndpoints, BalancerGateOpenedAt])?;
    let (services, slices) = (ctx.complete_list::<Service>()?, ctx.complete_list::<EndpointSlice>()?);
    let mut by_service: BTreeMap<(&str, &str), Vec<FailingClient<'_>>> = BTreeMap::new();
    let mut partial: BTreeMap<(&str, &str), Vec<(&Pod, PartialBalancer<'_>)>> = BTreeMap::new();
    for (client, metrics) in all {
        let (failing, some) = fail_fast::failing_and_partial(metrics);
        for one in some {
            partial.entry(one.service()).or_default().push((client, one));
        }
        for shut in failing {
            FailingClient::add(by_service.entry(shut.service()).or_default(), client, metrics, shut);
        }
    }
    let mut findings = Vec::new();
    for (key, mut shut) in by_service {
        // A Service that was deleted since has no endpoint to reach.
        let Some(service) = services.iter().find(|service| service.metadata.key() == key) else { continue };
        let (ready, all) = EndpointSlice::counted(slices, service);
        let breaker = BREAKER.into_iter().find(|key| service.metadata.annotation(key).is_some());
        let breaker = breaker.filter(|_| ready > 0);
        if breaker.is_none() {
            shut.retain(|one| one.shut.is_shut);
        }
        if shut.is_empty() {
            continue;
        }
        partial.remove(&key);
        let finding = match breaker {
            Some(key) => broken(ctx, service, &shut, key),
            None => finding(ctx, service, &shut, (ready, all)),
        };
        let clients = shut.iter().map(|one| one.client.metadata.key());
        let endpoints = EndpointSlice::for_service(slices, service).flat_map(|slice| &slice.endpoints);
        let servers = endpoints.filter_map(|endpoint| Some((key.0, endpoint.pod()?)));
        let pods: BTreeSet<(&str, &str)> = clients.chain(servers).collect();
        findings.push(
            pods.into_iter().fold(finding, |finding, (namespace, name)| {
                finding.tie(Tie::Pod(namespace.to_owned(), name.to_owned()))
            }),
        );
    }
    for (key, clients) in partial {
        let Some(service) = services.iter().find(|service| service.metadata.key() == key) else { continue };
        let (ready, _) = EndpointSlice::counted(slices, service);
        // More endpoints than are ready are of an older state: some have ended since.
        let clients = clients.into_iter().filter(|(_, one)| one.ready + one.pending <= ready as f64);
        findings.extend(some_unreachable(ctx, service, &clients.collect::<Vec<_>>()));
    }
    Ok(findings.into())
}

/// The finding for a Service some of whose ready endpoints take no requests of these clients.
fn some_unreachable(ctx: &Context<'_>, service: &Service, clients: &[(&Pod, PartialBalancer<'_>)]) -> Option<Finding> {
    let (client, worst) = clients.iter().max_by(|one, other| one.1.pending.total_cmp(&other.1.pending))?;
    let (namespace, name) = service.metadata.key();
    let (ready, all) = (worst.ready, worst.ready + worst.pending);
    let breaker = BREAKER.into_iter().find(|key| service.metadata.annotation(key).is_some());
    let cause = match breaker {
        Some(_) => "The circuit breaker of the others opened, or the proxy cannot connect to them",
        None => "Port 4143 of the others is blocked, or their proxies do not answer",
    };
    let said = clients.iter().take(QUOTED).map(|(client, one)| {
        let (port, ready, pending) = (one.port(), one.ready, one.pending);
        let when = if one.stays { "at both reads" } else { "at the later read" };
        quoted(client, format!("port {port} of the Service: endpoints ready: {ready}, pending: {pending} ({when})"))
    });
    let stays = clients.iter().any(|(_, one)| one.stays);
    let finding = ctx
        .finding(
            Subject::object(Kind::Service, namespace, name),
            format!("requests of a meshed client reach only {ready} of {all} ready endpoints. {cause}"),
        )
        .parameter("some-endpoints")
        .severity(if stays { Severity::Warning } else { Severity::Info })
        .likely()
        .evidences(said)
        .remedy(
            Remedy::new()
                .run(
                    StepKind::Command,
                    "List the endpoints and their nodes, to compare pods that get requests with those that get none",
                    slices_of(namespace, name),
                )
                .command(
                    "Check the path from the client to the Service",
                    traced(name_of(client), service, worst.port()),
                ),
        );
    Some(finding.evidences(breaker.map(|key| setting(service, key))))
}

/// The annotation of a Service that configures its circuit breakers.
fn setting(service: &Service, key: &str) -> Evidence {
    let (namespace, name) = service.metadata.key();
    let value = service.metadata.annotation(key).unwrap_or_default();
    Evidence::field(format!("Service {namespace}/{name}"), format!("metadata.annotations[{key}]"), value)
}

/// The command that traces the path from a client to a port of a Service.
fn traced(client: String, service: &Service, port: &str) -> Call {
    let (namespace, name) = service.metadata.key();
    meshdoctor().words("reach --proxies").operand(client).operand(format!("{name}.{namespace}:{port}"))
}

/// The finding for a Service with circuit breakers. An open one looks like an endpoint that accepts no connection.
fn broken(ctx: &Context<'_>, service: &Service, shut: &[FailingClient<'_>], key: &str) -> Finding {
    let (namespace, name) = service.metadata.key();
    let is_shut = shut.iter().any(|one| one.shut.is_shut);
    let failed: u64 = shut.iter().map(|one| one.shut.failed.max(u64::from(one.shut.has_entered))).sum();
    let subject = Subject::object(Kind::Service, namespace, name);
    let finding = ctx
        .finding(
            subject,
            "requests of meshed clients fail at once: the Service's circuit breaker opened, as it does after failed \
             responses, or the proxy cannot connect to the endpoints",
        )
        .parameter("circuit-breaker")
        .severity(Severity::Warning)
        .likely()
        .evidences(shut.iter().take(QUOTED).map(FailingClient::quoted))
        .evidence(setting(service, key))
        .remedy(
            Remedy::new()
                .command(
                    "Check the pods behind the Service, and their logs for failed requests",
                    slices_of(namespace, name),
                )
                .step(StepKind::Note, "Repair the application")
                .step(StepKind::Annotation, format!("If the breaker opens too early, raise {FAILURES} (default 7)")),
        );
    if is_shut { finding } else { by_number(finding, failed) }
}

/// The command that prints the EndpointSlices of a Service.
fn slices_of(namespace: &str, name: &str) -> Call {
    let label = format!("kubernetes.io/service-name={name}");
    kubectl().namespace(namespace).words("get endpointslices -l").operand(label)
}

fn finding(ctx: &Context<'_>, service: &Service, shut: &[FailingClient<'_>], (ready, all): (usize, usize)) -> Finding {
    let (namespace, name) = service.metadata.key();
    let is_pending = shut.iter().any(|one| one.shut.pending > 0.0);
    let said = shut.iter().take(QUOTED).map(FailingClient::quoted);
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
                    .command(
                        "Check the endpoints of the Service, and the pods that it selects",
                        slices_of(namespace, name),
                    )
                    .note("Repair or scale up the workload; the proxies recover automatically"),
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
                .command(
                    "Check the path from a client to the Service",
                    traced(from, service, shut.first().map_or("", |one| one.shut.port())),
                )
                .step(StepKind::Note, "Allow port 4143 of the endpoints in NetworkPolicies and firewalls")
                .step(
                    StepKind::Note,
                    "Check that the proxy of each endpoint runs, and that it trusts the same \
                        anchors",
                ),
        );
    if is_pending { finding } else { finding.severity(Severity::Warning).likely() }
}
