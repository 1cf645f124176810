//! `trace-collector-unreachable`: proxies send traces to a Service that is missing, has no endpoint, or
//! whose pods lack the identity that the proxies expect.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::reported::confirming;
use crate::checks::restart::{self, Needs};
use crate::checks::rewrite;
use crate::checks::upgrade::{self, Options};
use crate::model::endpoints::{NoEndpoint, selected};
use crate::model::injection::INJECT;
use crate::model::service_address::{Lookup, ServiceAddress, Services};
use crate::model::skipped::{IN, skipped};
use crate::objects::container::{COLLECTOR_ADDRESS, COLLECTOR_NAME};
use crate::objects::{EndpointSlice, ServicePort};

/// Chart value with the address of the collector.
const ENDPOINT: &str = "proxy.tracing.collector.endpoint";
/// Chart values with the identity of the collector.
const ACCOUNT: &str = "proxy.tracing.collector.meshIdentity.serviceAccountName";
const NAMESPACE: &str = "proxy.tracing.collector.meshIdentity.namespace";
/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// A collector that proxies use: its address, and the identity that they expect.
type Collector = (String, Option<String>);

/// The first source of a setting, and the pods with it.
struct Source<'a> {
    evidence: Vec<Evidence>,
    proxies: Vec<&'a Pod>,
}

/// The collector's Service, and its port if the address has one.
type CollectorService<'a> = (&'a Service, Option<&'a ServicePort>);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let collectors = collectors(ctx)?;
    if collectors.is_empty() {
        return Ok(Vec::new().into());
    }
    let services = ctx.complete_list::<Service>()?;
    let slices = ctx.or_note(ctx.complete_list::<EndpointSlice>());
    let among = Services { services, slices, pods: ctx.optional_list::<Pod>() };
    let mut findings = Vec::new();
    for ((address, identity), source) in &collectors {
        let Some(parsed) = ServiceAddress::parse(address) else { continue };
        match parsed.lookup(among, ctx.optional_workloads()) {
            Lookup::Outside => {}
            Lookup::NoService => findings.push(no_service(ctx, parsed, source)),
            Lookup::NoPort(service) => findings.push(no_port(ctx, parsed, service, source)),
            Lookup::NoEndpoint(service, cause) => {
                if !is_starting(ctx, &cause) {
                    findings.push(no_endpoint(ctx, service, &cause, source));
                }
            }
            Lookup::Found(service, port) => {
                let identity = identity.as_deref().and_then(account_of);
                findings.extend(identity.and_then(|expected| wrong(ctx, (service, port), expected, source)));
            }
        }
    }
    Ok(findings.into())
}

fn is_starting(ctx: &Context<'_>, cause: &NoEndpoint<'_>) -> bool {
    matches!(cause, NoEndpoint::NotReady(pod, _) if ctx.is_starting(pod))
}

/// The collectors that running proxies use, and the one that new proxies will use.
fn collectors<'a>(ctx: &Context<'a>) -> Result<BTreeMap<Collector, Source<'a>>, crate::missing::Missing> {
    let mut found: BTreeMap<Collector, Source<'a>> = BTreeMap::new();
    for pod in ctx.partial_list::<Pod>()? {
        if !ctx.has_injected(pod) {
            continue;
        }
        let Some(proxy) = pod.spec.proxy() else { continue };
        let Some(address) = proxy.env_value(COLLECTOR_ADDRESS) else { continue };
        let identity = proxy.env_value(COLLECTOR_NAME);
        let object = pod.described();
        let env =
            |name: &str, said: &str| Evidence::field(&object, format!("containers[linkerd-proxy].env[{name}]"), said);
        let evidence = || {
            let identity = identity.map(|said| env(COLLECTOR_NAME, said));
            std::iter::once(env(COLLECTOR_ADDRESS, address)).chain(identity).collect()
        };
        let key = (address.to_owned(), identity.map(str::to_owned));
        found.entry(key).or_insert_with(|| Source { evidence: evidence(), proxies: Vec::new() }).proxies.push(pod);
    }
    if let Some((key, source)) = in_values(ctx) {
        // Running proxies have the same identity with the trust domain.
        let is_used =
            |one: &Collector| one.0 == key.0 && one.1.as_deref().map(account_of) == key.1.as_deref().map(account_of);
        if !found.keys().any(is_used) {
            found.insert(key, source);
        }
    }
    Ok(found)
}

/// The collector in the chart values of the control plane.
fn in_values<'a>(ctx: &Context<'a>) -> Option<(Collector, Source<'a>)> {
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten()?;
    let values = config.chart_values()?;
    let is_on = values.bool("proxy.tracing.enabled") == Some(true);
    let address = values.written(ENDPOINT).filter(|address| is_on && !address.is_empty())?;
    let account = values.written(ACCOUNT).zip(values.written(NAMESPACE));
    let identity = account.filter(|(account, namespace)| !account.is_empty() && !namespace.is_empty());
    let identity = identity.map(|(account, namespace)| format!("{account}.{namespace}.serviceaccount.identity."));
    let object = format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane);
    let evidence = vec![Evidence::field(object, format!("data.values: {ENDPOINT}"), &*address)];
    Some(((address, identity), Source { evidence, proxies: Vec::new() }))
}

/// Service account and namespace of a mesh identity.
fn account_of(identity: &str) -> Option<(&str, &str)> {
    identity.split_once(".serviceaccount.identity.").and_then(|(name, _)| name.rsplit_once('.'))
}

fn finding(ctx: &Context<'_>, (namespace, name): (&str, &str), source: &Source<'_>, message: String) -> Finding {
    let finding = ctx
        .finding(Subject::object(Kind::Service, namespace, name), message)
        .evidences(source.evidence.iter().cloned());
    match source.proxies.len() {
        0 => finding,
        pods => finding.evidence(Evidence::other("Pods with this collector", pods.to_string())),
    }
}

fn no_service(ctx: &Context<'_>, address: ServiceAddress<'_>, source: &Source<'_>) -> Finding {
    let ServiceAddress { namespace, name, .. } = address;
    let message = "No trace arrives: proxies send traces to a Service that does not exist".to_owned();
    let remedy = corrected(ctx, "Set the collector's address to an existing Service", ENDPOINT, "ADDRESS");
    finding(ctx, (namespace, name), source, message)
        .parameter("missing")
        .proofs([Evidence::other(format!("Service {namespace}/{name}"), "does not exist")])
        .remedy(restarted(ctx, remedy))
}

fn no_port(ctx: &Context<'_>, address: ServiceAddress<'_>, service: &Service, source: &Source<'_>) -> Finding {
    let declared: Vec<String> = service.spec.ports.iter().map(|port| port.port.to_string()).collect();
    let port = address.port.unwrap_or_default();
    let message = format!("No trace arrives: proxies send traces to port {port}, which the Service does not declare");
    let declared = declared.join(", ");
    let act = format!("Set the collector's address to a port of the Service ({declared})");
    let remedy = corrected(ctx, &act, ENDPOINT, "ADDRESS");
    finding(ctx, service.metadata.key(), source, message)
        .parameter("port")
        .proofs([Evidence::field(object(service), "spec.ports", declared)])
        .remedy(restarted(ctx, remedy))
}

fn no_endpoint(ctx: &Context<'_>, service: &Service, cause: &NoEndpoint<'_>, source: &Source<'_>) -> Finding {
    let (namespace, name) = service.metadata.key();
    let message = format!("No trace arrives: the collector's Service has no ready endpoint, because {cause}");
    let slices = kubectl().namespace(namespace).words("get endpointslices");
    finding(ctx, (namespace, name), source, message).parameter("endpoints").proofs(cause.evidence()).remedy(
        Remedy::new().command(
            "Find out why the Service has no ready endpoint",
            slices.option("-l", format!("kubernetes.io/service-name={name}")),
        ),
    )
}

/// A collector whose pods cannot present the expected identity.
fn wrong<'a>(
    ctx: &Context<'a>,
    (service, port): CollectorService<'_>,
    expected: (&str, &str),
    source: &Source<'a>,
) -> Option<Finding> {
    let pods: Vec<&Pod> = selected(service, ctx.optional_list::<Pod>())
        .filter(|pod| pod.metadata.deletion_timestamp.is_none() && !ctx.is_starting(pod))
        .collect();
    let bare: Vec<&Pod> = pods.iter().copied().filter(|pod| pod.spec.proxy().is_none()).collect();
    if !bare.is_empty() {
        return Some(unmeshed(ctx, service, &bare, expected, source));
    }
    let is_skipped = |pod: &&Pod| {
        let number = port.and_then(|port| port.leads_to(pod));
        number.is_some_and(|number| skipped(pod, IN, ctx.cni_skips()).is_some_and(|list| list.holds(number)))
    };
    if let Some(pod) = pods.iter().copied().find(is_skipped) {
        return Some(bypassed(ctx, service, pod, source));
    }
    let others = |pod: &&Pod| (pod.spec.account(), pod.metadata.namespace.as_str()) != expected;
    let others: Vec<&Pod> = pods.into_iter().filter(others).collect();
    (!others.is_empty()).then(|| other_account(ctx, service, &others, expected, source))
}

fn unmeshed<'a>(
    ctx: &Context<'a>,
    service: &Service,
    pods: &[&Pod],
    (account, namespace): (&str, &str),
    source: &Source<'a>,
) -> Finding {
    let message = "No trace arrives: proxies expect the collector's mesh identity, but its pods have no \
                   proxy and so no identity";
    let mut owners: Vec<_> = pods.iter().map(|pod| ctx.owners().owner(pod)).collect();
    owners.dedup();
    let act = format!("Mesh the collector: set {INJECT}: enabled");
    let remedy = owners.iter().fold(Remedy::new(), |remedy, owner| rewrite::meshed(ctx, remedy, &act, owner, pods));
    let is_other = |pod: &&Pod| (pod.spec.account(), pod.metadata.namespace.as_str()) != (account, namespace);
    let remedy = match pods.iter().copied().find(is_other) {
        Some(pod) => remedy.note(format!(
            "Run its pods with ServiceAccount {namespace}/{account}, which the proxies expect, instead of {}/{}",
            pod.metadata.namespace,
            pod.spec.account(),
        )),
        None => remedy,
    };
    let bare = |pod: &&Pod| of_pod(pod, "spec.containers", "no linkerd-proxy");
    let clients = source.proxies.iter().copied();
    // The expectation of one proxy and the lack of one collector decide; the others follow.
    finding(ctx, service.metadata.key(), source, message.to_owned())
        .parameter("unmeshed")
        .evidences(pods.iter().skip(1).take(QUOTED - 1).map(bare))
        .evidences(confirming(ctx, "trace-collector-without-tls", clients))
        .proofs(pods.iter().take(1).map(bare).chain(source.evidence.iter().rev().take(1).cloned()))
        .remedy(remedy)
}

fn bypassed(ctx: &Context<'_>, service: &Service, pod: &Pod, source: &Source<'_>) -> Finding {
    let message = "proxies send traces to this collector and expect its mesh identity, but its pods skip the port, \
                   so that its proxy does not answer. No trace arrives";
    finding(ctx, service.metadata.key(), source, message.to_owned())
        .parameter("skipped")
        .proofs(skipped(pod, IN, ctx.cni_skips()).map(|list| list.by()))
        .remedy(Remedy::new().step(
            StepKind::Annotation,
            "Remove the port from config.linkerd.io/skip-inbound-ports of the collector's pod template",
        ))
}

fn other_account(
    ctx: &Context<'_>,
    service: &Service,
    pods: &[&Pod],
    (expected, in_namespace): (&str, &str),
    source: &Source<'_>,
) -> Finding {
    let message = format!(
        "proxies expect the identity of ServiceAccount {in_namespace}/{expected} from this collector, but its pods \
         use another ServiceAccount. Proxies reject its certificate, so no trace arrives"
    );
    let said = pods.iter().take(QUOTED).map(|pod| {
        let said = format!("{} (namespace {})", pod.spec.account(), pod.metadata.namespace);
        of_pod(pod, "spec.serviceAccountName", &said)
    });
    let remedy = Remedy::new();
    let remedy = match (pods.first(), in_values(ctx)) {
        (Some(pod), Some(_)) => upgrade::with_values(
            ctx,
            remedy,
            "Expect the ServiceAccount that the collector uses",
            Options::none().set(ACCOUNT, pod.spec.account()).set(NAMESPACE, pod.metadata.namespace.to_string()),
        ),
        _ => remedy.note(
            "Set the ServiceAccount of the collector where tracing is configured, or run the collector with the \
             expected ServiceAccount",
        ),
    };
    finding(ctx, service.metadata.key(), source, message)
        .parameter("account")
        .proofs(said)
        .remedy(restarted(ctx, remedy))
}

/// Corrects a chart value if tracing is configured there; otherwise states what to correct.
fn corrected(ctx: &Context<'_>, act: &str, path: &'static str, variable: &'static str) -> Remedy {
    match in_values(ctx) {
        Some(_) => {
            upgrade::with_values(ctx, Remedy::new(), act, Options::none().set_with(path, String::new(), variable))
        }
        None => Remedy::new().note(format!("{act}, where tracing is configured")),
    }
}

fn restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    restart::all_meshed(ctx, remedy, Needs::NewProxy, "Then restart the meshed workloads")
}

fn object(service: &Service) -> String {
    let (namespace, name) = service.metadata.key();
    format!("Service {namespace}/{name}")
}

fn of_pod(pod: &Pod, path: &str, said: &str) -> Evidence {
    Evidence::field(pod.described(), path, said)
}
