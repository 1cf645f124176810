//! The counters of the proxies at both ends of a call, if their metrics were read twice: denials and errors
//! that contradict a step that objects allow, or confirm one that stops.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Caller, Mesh, subject};
use crate::command::{Arg, kubectl, linkerd};
use crate::finding::Evidence;
use crate::inspect::steps::{Outcome, Part, Step, Walk};
use crate::item::proxy_metrics::{ProxyMetrics, Series};
use crate::knowledge::MetricMeaning::{BalancerGateShuts, OutboundErrors};
use crate::model::Cluster;
use crate::model::control_clients::{self, ClientState, SERVED, Served};
use crate::model::fail_fast;
use crate::model::owners::{Owner, Owners};
use crate::model::read_metrics::ReadMetrics;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Pod, Service};

/// Errors of outbound connections that end a call.
const ERRORS: [&str; 3] = ["failfast", "i/o", "loadshed"];

/// Metrics of proxies that were read twice, by workload.
pub(super) struct Counters<'a> {
    by_owner: HashMap<Owner, Vec<ProxyCounters<'a>>>,
}

/// Metrics of a proxy.
struct ProxyCounters<'a> {
    pod: &'a Pod,
    metrics: &'a ProxyMetrics,
    /// Seconds between the two reads.
    period: i64,
}

impl<'a> Counters<'a> {
    pub(super) fn new(cluster: &'a Cluster, pods: &'a [Pod], owners: &Owners<'_>) -> Counters<'a> {
        let meshed = || pods.iter().filter(|pod| !pod.is_finished() && pod.spec.proxy().is_some());
        let metrics = ReadMetrics::new(cluster.diagnostics().iter().filter_map(|one| one.said.of_proxy()), meshed());
        let mut by_owner: HashMap<Owner, Vec<ProxyCounters<'a>>> = HashMap::new();
        for pod in meshed() {
            let Ok(metrics) = metrics.container(pod, PROXY_CONTAINER) else { continue };
            let Some(period) = metrics.period else { continue };
            by_owner.entry(owners.owner(pod)).or_default().push(ProxyCounters { pod, metrics, period });
        }
        Counters { by_owner }
    }

    /// The proxies of the workload of a pod.
    fn of_workload(&self, owner: &Owner) -> &[ProxyCounters<'a>] {
        self.by_owner.get(owner).map_or(&[], Vec::as_slice)
    }
}

impl Mesh<'_> {
    /// Records that the client's proxy gets no answer from the control plane, as its own metrics show.
    pub(super) fn is_cut_off(&self, walk: &mut Walk, client: &Pod) -> bool {
        let proxies = self.counters.of_workload(&self.owners.owner(client)).iter();
        let needed = || SERVED.iter().filter(|served| served.is_for_discovery());
        let mut each = proxies.flat_map(|proxy| needed().map(move |served| (proxy, served)));
        let found = each.find_map(|(proxy, served)| {
            let is_cut = ClientState::from_metrics(proxy.metrics, served.client) == ClientState::CutOff;
            let failed = control_clients::unanswered(proxy.metrics, served.client);
            (is_cut || failed.is_some()).then_some((proxy, served, failed))
        });
        let Some((proxy, Served { name, deployment, container, .. }, failed)) = found else { return false };
        let (says, counted) = match failed {
            Some(failed) => (
                format!("{name} answers no request of the client's proxy"),
                format!("{failed} requests to {name} failed within {} seconds, none succeeded", proxy.period),
            ),
            None => (format!("the client's proxy cannot connect to {name}"), format!("no connection to {name}")),
        };
        let says = format!("{says}: calls fail or hang, unless the proxy already knows this target");
        let home = self.policy.index.controller.namespace.as_str();
        let log = kubectl().namespace(home).words("logs").operand(format!("deployment/{deployment}"));
        let step = walk
            .step(Part::ControlPlane, Outcome::Partly, says)
            .evidence(Evidence::other(format!("proxy metrics, {}", subject(proxy.pod)), counted));
        step.fix(format!("Read the log of {name}, and restart {deployment} if it shows no cause"));
        step.paste(self.command(log.option("-c", *container).words("--tail=100")));
        step.counted = true;
        true
    }

    /// Adds the denials of a client by the proxies of the called workload to the step of policy.
    pub(super) fn denials(&self, walk: &mut Walk, identity: &str, (pod, port): (&Pod, u16)) {
        let mut counted: Vec<(&Pod, u64, i64)> = Vec::new();
        for one in self.counters.of_workload(&self.owners.owner(pod)) {
            let of_client = one.metrics.denied.iter().filter(|one| one.port == port && one.client == identity);
            let denied: u64 = of_client.filter_map(|one| one.grown).sum();
            if denied > 0 {
                counted.push((one.pod, denied, one.period));
            }
        }
        let is_policy = |step: &&mut Step| step.part == Part::Policy && step.outcome != Outcome::NotJudged;
        let (Some((first, ..)), Some(step)) = (counted.first(), walk.steps.iter_mut().find(is_policy)) else {
            return;
        };
        let total: u64 = counted.iter().map(|(_, denied, _)| denied).sum();
        let period = counted.iter().map(|(.., period)| *period).max().unwrap_or_default();
        for (pod, denied, period) in &counted {
            step.evidence.push(Evidence::other(
                format!("proxy metrics, {}", subject(pod)),
                format!("{denied} denials of {identity} on port {port} within {period} seconds"),
            ));
        }
        if step.outcome == Outcome::Passes {
            step.contradict(&format!("but proxies denied {total} calls of this client within {period} seconds"));
            let (namespace, name) = first.metadata.key();
            step.fix(
                "compare the objects with the answer of the policy controller; if it differs, restart \
                 linkerd-destination, else the denials are of other routes",
            );
            let shown = linkerd().words("diagnostics policy").option("-n", namespace);
            step.paste(self.command(shown.arg(Arg::known("po/").then(name)).arg(port.to_string())));
        }
    }

    /// Adds the errors that the client's proxies counted for a Service to the step of endpoints.
    pub(super) fn errors(&self, walk: &mut Walk, caller: Caller<'_>, service: &Service, port: u16) {
        if !caller.meshed {
            return;
        }
        let (namespace, name) = service.metadata.key();
        let clients = self.counters.of_workload(&self.owners.owner(caller.pod)).iter();
        let counted: Vec<(&Pod, BTreeMap<String, u64>, i64)> = clients
            .map(|client| (client.pod, errors_of(client.metrics, service, port), client.period))
            .filter(|(_, errors, _)| !errors.is_empty())
            .collect();
        let Some((_, _, period)) = counted.first() else { return };
        let period = *period;
        let said = counted.iter().flat_map(|(_, errors, _)| errors.keys()).cloned();
        let kinds: Vec<String> = said.collect::<BTreeSet<String>>().into_iter().collect();
        let stops = walk.outcome() >= Outcome::Partly;
        let is_concerned = |step: &&mut Step| match stops {
            true => step.outcome >= Outcome::Partly,
            false => matches!(step.part, Part::Endpoints | Part::Service | Part::Destination),
        };
        let Some(step) = walk.steps.iter_mut().rev().find(is_concerned) else { return };
        for (client, errors, period) in &counted {
            let each: Vec<String> = errors.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
            step.evidence.push(Evidence::other(
                format!("proxy metrics, {}", subject(client)),
                format!("{}, for Service {namespace}/{name}:{port} within {period} seconds", each.join(", ")),
            ));
        }
        if !stops {
            step.contradict(&format!(
                "but the client's proxy counted failures of these calls within {period} seconds: {}",
                kinds.join(", ")
            ));
            let breaker = fail_fast::BREAKER.into_iter().find(|key| service.metadata.annotation(key).is_some());
            match breaker {
                Some(key) => step.fix(format!(
                    "check whether the application answers with errors: the Service breaks circuits \
                     (annotation {key}), so failed responses end further requests"
                )),
                None => step.fix(
                    "check that port 4143 of the endpoints is reachable from the client, and that the application \
                     answers",
                ),
            };
            step.paste(self.proxy_log(caller.pod));
        }
    }
}

/// The errors of calls to a port of a Service, by kind.
fn errors_of(metrics: &ProxyMetrics, service: &Service, port: u16) -> BTreeMap<String, u64> {
    let (namespace, name) = service.metadata.key();
    let port = port.to_string();
    let is_connection = |series: &Series| {
        let address = series.label("target_ip").parse();
        series.label("target_port") == port
            && address.is_ok_and(|address| service.spec.has_address(address))
            && ERRORS.contains(&series.label("error"))
    };
    let is_balancer = |series: &Series| {
        series.label("backend_kind") == "Service"
            && series.label("backend_namespace") == namespace
            && series.label("backend_name") == name
            && series.label("backend_port") == port
    };
    let shuts = metrics.grown(BalancerGateShuts).filter(|(series, _)| is_balancer(series));
    // A load balancer that was in fail-fast at both reads does not enter it again, and an open circuit breaker may fail
    // requests before that.
    let lasting = fail_fast::failing(metrics).into_iter().filter(|one| !one.has_entered);
    let lasting = lasting.filter(|one| one.service() == (namespace, name) && one.port() == port);
    let shuts = shuts.map(|(_, count)| count).chain(lasting.map(|one| one.failed.max(1)));
    let shuts = shuts.map(|count| ("fail-fast of the load balancer".to_owned(), count));
    let failed = metrics.grown(OutboundErrors).filter(|(series, _)| is_connection(series));
    let failed = failed.map(|(series, count)| (format!("connection errors ({})", series.label("error")), count));
    shuts.chain(failed).fold(BTreeMap::new(), |mut errors, (kind, count)| {
        *errors.entry(kind).or_default() += count;
        errors
    })
}
