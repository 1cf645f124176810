//! `skipped-port-hides-identity`: clients skip an outbound port whose Service authorizes only clients with
//! an identity.

use std::collections::{BTreeMap, BTreeSet};

use super::backend_policy::behind;
use super::survey::{field, survey};
use crate::checks::prelude::*;
use crate::checks::{port_list, rewrite};
use crate::model::policy::{Client, Entry, TakenBy};
use crate::model::skipped::{ListSource, OUT, Skipped, skipped};
use crate::objects::Server;

/// A name that no service account has.
const NO_ACCOUNT: &str = "meshdoctor-no-such-account";
/// Maximum number of changed clients.
const CHANGED: usize = 12;
/// Maximum number of quoted clients.
const QUOTED: usize = 3;

/// The annotation with the list.
const KEY: &str = OUT.annotation();

/// A client that skips the port: the source of its list, and the list of its own annotation.
struct Skipper {
    source: ListSource,
    by: Evidence,
    own: Option<String>,
}

impl Skipper {
    fn new(skipped: &Skipped<'_>) -> Skipper {
        let own = skipped.is_annotated().then(|| skipped.list().to_owned());
        Skipper { by: skipped.by(), source: skipped.source(), own }
    }
}

/// A Service port, with the clients that connect to it without an identity.
struct Hidden<'a> {
    service: &'a Meta,
    server: Option<&'a Server>,
    /// The port of the pods.
    target: u16,
    clients: BTreeMap<Owner, Skipper>,
    /// Whether a policy names the service account of a client that skips the port by its own annotation.
    is_named: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.partial_list::<Service>()?;
    let owners = ctx.owners();
    let controller = &survey.index.controller;
    let declared: BTreeSet<u16> =
        services.iter().flat_map(|service| &service.spec.ports).map(|port| port.port).collect();
    // Components of the control plane call no Services of applications.
    let home = ctx.namespaces().control_plane.as_str();
    // The chart's list is in every pod, and mostly contains no port that a Service declares.
    let clients: Vec<(&Pod, Skipped<'_>)> = survey
        .pods
        .iter()
        .filter(|(pod, _)| ctx.judges(&pod.metadata.namespace) && pod.spec.proxy().is_some())
        .filter(|(pod, _)| pod.metadata.namespace != home)
        .filter_map(|(pod, _)| Some((*pod, skipped(pod, OUT, ctx.cni_skips())?)))
        .filter(|(_, skipped)| declared.iter().any(|port| skipped.holds(*port)))
        .collect();
    let mut hidden: BTreeMap<(&str, &str, u16), Hidden<'_>> = BTreeMap::new();
    let ports = services.iter().flat_map(|service| service.spec.ports.iter().map(move |port| (service, port)));
    for (service, port) in ports {
        let skipping: Vec<&(&Pod, Skipped<'_>)> =
            clients.iter().filter(|(_, skipped)| skipped.holds(port.port)).collect();
        if skipping.is_empty() {
            continue;
        }
        let served: BTreeSet<&str> =
            behind(survey, service, port).map(|(pod, _, _)| pod.metadata.name.as_str()).collect();
        let Some((_, workload, number)) = behind(survey, service, port).next() else { continue };
        let inbound = survey.index.inbound(workload, number);
        for (pod, skipped) in skipping {
            let meta = &pod.metadata;
            let itself = meta.namespace == service.metadata.namespace && served.contains(meta.name.as_str());
            let account = pod.spec.account();
            let identity = controller.identity(&meta.namespace, account);
            let address = pod.status.pod_ip;
            let let_in = |identity| inbound.connect(Client { identity, address }) == Entry::Admitted;
            if itself || let_in(None) || !let_in(Some(identity.as_str())) {
                continue;
            }
            let server = match inbound.taken_by {
                TakenBy::Server(server) => Some(server),
                TakenBy::Default(_) => None,
            };
            let (namespace, name) = service.metadata.key();
            let one = hidden.entry((namespace, name, port.port)).or_insert_with(|| Hidden {
                service: &service.metadata,
                server,
                target: number,
                clients: BTreeMap::new(),
                is_named: false,
            });
            // A policy for one service account was written for its calls.
            let other = controller.identity(&meta.namespace, NO_ACCOUNT);
            one.is_named |= skipped.is_annotated() && !let_in(Some(other.as_str()));
            one.clients.entry(owners.owner(pod)).or_insert_with(|| Skipper::new(skipped));
        }
    }
    let findings = hidden
        .into_iter()
        .map(|((namespace, name, port), one)| finding(ctx, Subject::object(Kind::Service, namespace, name), port, one));
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, subject: Subject, port: u16, one: Hidden<'_>) -> Finding {
    let mut owners = one.clients.keys();
    let who = match (owners.next(), owners.len()) {
        (Some(only), 0) => format!("{} {}/{} skips", only.kind, only.namespace, only.name),
        (_, others) => format!("{} clients skip", others + 1),
    };
    let more = one.clients.len().saturating_sub(QUOTED);
    let message = match one.is_named {
        true => format!(
            "{who} outbound port {port}, so the connection has no identity, but the policy authorizes the \
             client by its service account. Its calls to this port are denied"
        ),
        false => format!(
            "{who} outbound port {port}, so the connection has no identity, but the policy requires one. If \
             the clients call this port, they are denied"
        ),
    };
    let remedy = remedy(ctx, port, &one.clients);
    ctx.finding(subject, message)
        .severity(if one.is_named { Severity::Warning } else { Severity::Info })
        .parameter(port.to_string())
        .likely()
        .evidences(one.clients.into_values().map(|client| client.by).take(QUOTED))
        .evidences((more > 0).then(|| Evidence::other("and more clients", more.to_string())))
        .evidences(
            one.server.map(|server| field(Kind::Server, &server.metadata, "selects the port", one.target.to_string())),
        )
        .evidence(field(Kind::Service, one.service, "spec.ports", port.to_string()))
        .remedy(remedy)
}

/// The steps that let a client use its proxy for a port that a list skips.
pub(in crate::checks) fn through_proxy(ctx: &Context<'_>, port: u16, client: Owner, skipped: &Skipped<'_>) -> Remedy {
    remedy(ctx, port, &BTreeMap::from([(client, Skipper::new(skipped))]))
}

/// The steps that let the clients use their proxy for the port.
fn remedy(ctx: &Context<'_>, port: u16, clients: &BTreeMap<Owner, Skipper>) -> Remedy {
    let own = clients.iter().filter_map(|(owner, client)| Some((owner, client.own.as_ref()?)));
    let remedy = own.take(CHANGED).fold(Remedy::new(), |remedy, (owner, list)| {
        let others = port_list::without(list, port);
        let act = format!("Remove port {port} from {KEY} of {}", owner.name);
        // An empty list of its own hides that of the namespace.
        let left = others.as_deref().or(rewrite::is_inherited(ctx, owner, KEY).then_some(""));
        let remedy = rewrite::of_owner(ctx, remedy, &act, owner, &[(KEY, left)]);
        rewrite::of_owners_list(remedy, owner, (KEY, left), list)
    });
    let has = |source| clients.values().any(|client| client.source == source);
    let remedy = match has(ListSource::LinkerdInit) {
        true => remedy.step(
            StepKind::ChartValue,
            format!("Remove port {port} from the chart's proxyInit.ignoreOutboundPorts, and restart the clients"),
        ),
        false => remedy,
    };
    let remedy = match has(ListSource::Cni) {
        true => remedy.step(
            StepKind::ChartValue,
            format!(
                "Remove port {port} from ignoreOutboundPorts of linkerd-cni's chart, and restart DaemonSet \
                 linkerd-cni, then the clients"
            ),
        ),
        false => remedy,
    };
    remedy.step(
        StepKind::Annotation,
        "If the protocol of the port requires it, mark the port as opaque on the Service and its pods instead \
         (config.linkerd.io/opaque-ports)",
    )
}
