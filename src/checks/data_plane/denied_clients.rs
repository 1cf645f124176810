//! Clients that a proxy denies: the pods of the addresses in its log, and the Servers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use jiff::Timestamp;

use super::connect_failures::{text_after, written_by};
use crate::checks::policy::{survey, through_proxy};
use crate::checks::prelude::*;
use crate::checks::reported::Reported;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::sentence;
use crate::model::endpoints::selects;
use crate::model::injection::WEBHOOKS_LABEL;
use crate::model::policy::TakenBy;
use crate::model::skipped::{OUT, Skipped, skipped};
use crate::objects::ServicePort;

/// The row of `mesh-logs.yaml` about denied clients.
const DENIED: &str = "inbound-denied";
/// Minimum number of lines about a client.
const ENOUGH: usize = 3;
/// Maximum number of named clients.
const NAMED: usize = 3;

/// A pod of this cluster that a proxy denied.
struct DeniedClient<'a> {
    pod: &'a Pod,
    address: IpAddr,
    server: String,
    /// The port that was called, if the line names it.
    port: Option<u16>,
    lines: usize,
    /// Whether all of its calls were without mTLS.
    is_plain: bool,
    /// When the first of its calls without mTLS was denied, if all of them were without.
    without_tls: Option<Timestamp>,
}

impl DeniedClient<'_> {
    /// `Deployment shop/web (not meshed)`.
    fn describe(&self, ctx: &Context<'_>) -> String {
        let state = if self.is_meshed() { "meshed" } else { "not meshed" };
        format!("{} ({state})", self.name(ctx))
    }

    fn name(&self, ctx: &Context<'_>) -> String {
        ctx.owners().owner(self.pod).to_string()
    }

    fn evidence(&self, ctx: &Context<'_>) -> Evidence {
        let said = format!("{}, by {}, {} lines", self.describe(ctx), self.server, self.lines);
        Evidence::other("Denied client", said)
    }

    fn is_meshed(&self) -> bool {
        self.pod.spec.proxy().is_some()
    }

    /// The step that authorizes it. The injector passes over some namespaces.
    fn remedy(&self, ctx: &Context<'_>, denying: &Pod) -> String {
        let is_authorized = || matches!(authorizing(ctx, denying, self, Some(self.pod)), Some(Some(_)));
        if self.is_plain && self.is_meshed() && is_authorized() {
            return format!(
                "The identity of {} is authorized by {} already, but its calls arrive without mTLS: find out why they \
                 bypass its proxy",
                self.name(ctx),
                self.server
            );
        }
        let namespace = &self.pod.metadata.namespace;
        let account = format!("{namespace}/{}", self.pod.spec.account());
        let policy = match (self.is_meshed(), is_exempt(ctx, namespace)) {
            (true, _) => format!("authorize its ServiceAccount {account} in an AuthorizationPolicy, or"),
            (false, _) if self.pod.spec.host_network => {
                "move it off its node's network (hostNetwork: false) and mesh it, or".to_owned()
            }
            (false, false) => {
                format!("mesh it and authorize its ServiceAccount {account} in an AuthorizationPolicy, or")
            }
            (false, true) => format!(
                "move it to another namespace and mesh it there (namespace {namespace} is exempt from injection), or"
            ),
        };
        let (client, server) = (self.name(ctx), &self.server);
        format!(
            "If {client} should be authorized by {server}, {policy} authorize its address with a NetworkAuthentication"
        )
    }
}

/// Whether the injector passes over a namespace: that of the control plane, or one with the label that exempts it.
fn is_exempt(ctx: &Context<'_>, namespace: &str) -> bool {
    let mut all = ctx.optional_list::<Namespace>().iter();
    let meta = all.find(|one| one.metadata.name == namespace).map(|one| &one.metadata);
    namespace == ctx.namespaces().control_plane
        || meta.is_some_and(|meta| meta.label(WEBHOOKS_LABEL) == Some("disabled"))
}

/// Names the clients of a finding about the denied clients of a pod, if they are pods of this cluster. Without a proxy,
/// such a client fails until it or the policy is changed.
pub(super) fn name_clients<'a>(ctx: &Context<'a>, finding: Finding, denying: &Pod, reported: &Reported<'_>) -> Finding {
    if reported.id() != DENIED {
        return finding;
    }
    let mut of_clients: BTreeMap<(IpAddr, &str), Vec<&str>> = BTreeMap::new();
    for (line, key) in reported.lines().filter_map(|line| Some((line, denied(line)?))) {
        of_clients.entry(key).or_default().push(line);
    }
    let enough = of_clients.into_iter().filter(|(_, lines)| lines.len() >= ENOUGH);
    let known = enough.filter_map(|((address, server), lines)| {
        let is_plain = lines.iter().all(|line| line.contains("tls=None("));
        let without_tls = is_plain.then(|| written_by(denying, lines[0])).flatten();
        let port = text_after(lines[0], "server{port=", &['}', ' ']).and_then(|port| port.parse().ok());
        let pod = pod_at(ctx, address)?;
        let server = server.to_owned();
        Some(DeniedClient { pod, address, server, port, lines: lines.len(), is_plain, without_tls })
    });
    let known: Vec<DeniedClient<'a>> = known.collect();
    if let Some(bypassing) = bypassing(ctx, denying, &known) {
        return bypassing.reported(ctx, finding, denying, reported);
    }
    let finding = known.iter().take(NAMED).fold(finding, |finding, client| {
        let mut finding = finding.evidence(client.evidence(ctx));
        finding.remedy = finding.remedy.note(client.remedy(ctx, denying));
        finding
    });
    if let Some(client) = known.iter().find(|client| is_shut_out_of_viz(ctx, denying, client)) {
        return of_viz(ctx, finding, denying, client, reported);
    }
    let mut failing =
        known.iter().filter(|client| !client.is_meshed() && authorizing(ctx, denying, client, None) == Some(None));
    let Some(first) = failing.next() else { return finding };
    let more = match failing.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "the proxy denies {}{more} by policy {}, according to the {}",
        first.describe(ctx),
        first.server,
        reported.source()
    );
    Finding { message: sentence(&message), ..finding }.severity(Severity::Warning)
}

/// The Server of the chart of viz, whose policy authorizes only viz's own metrics-api.
pub(in crate::checks) const VIZ_SERVER: &str = "prometheus-admin";

/// Whether a pod is the Prometheus of viz.
pub(in crate::checks) fn is_viz_prometheus(pod: &Pod) -> bool {
    let meta = &pod.metadata;
    meta.label("linkerd.io/extension") == Some("viz") && meta.label("component") == Some("prometheus")
}

/// The policy that authorizes an account to query the Prometheus of viz.
pub(in crate::checks) fn viz_policy(home: &str, (namespace, account): (&str, &str)) -> String {
    format!(
        "Add an AuthorizationPolicy to namespace {home}, with targetRef {{group: policy.linkerd.io, kind: Server, \
         name: {VIZ_SERVER}}} and requiredAuthenticationRefs [{{kind: ServiceAccount, namespace: {namespace}, name: \
         {account}}}]"
    )
}

/// Whether a client is a meshed pod outside of viz that no policy authorizes to query the Prometheus of viz.
fn is_shut_out_of_viz(ctx: &Context<'_>, denying: &Pod, client: &DeniedClient<'_>) -> bool {
    is_viz_prometheus(denying)
        && client.server == VIZ_SERVER
        && client.is_meshed()
        && client.pod.metadata.namespace != denying.metadata.namespace
        && authorizing(ctx, denying, client, Some(client.pod)) == Some(None)
}

fn of_viz(
    ctx: &Context<'_>,
    mut finding: Finding,
    denying: &Pod,
    client: &DeniedClient<'_>,
    reported: &Reported<'_>,
) -> Finding {
    let message = format!(
        "the Prometheus of viz denies {}, because the policy of its chart authorizes only viz itself: its queries \
         fail with status 403, according to the {}",
        client.name(ctx),
        reported.source()
    );
    let account = (&*client.pod.metadata.namespace, client.pod.spec.account());
    finding.remedy.steps.truncate(1);
    finding.remedy = finding.remedy.note(viz_policy(&denying.metadata.namespace, account));
    Finding { message: sentence(&message), ..finding }.severity(Severity::Warning)
}

/// A meshed client whose calls reach a port without mTLS, although policy authorizes its identity there.
struct Bypassing<'c, 'a> {
    client: &'c DeniedClient<'a>,
    port: u16,
}

/// The first meshed client whose calls arrive without mTLS on a port that its identity may use. Addresses are used
/// again, so its pod must be older than the calls.
fn bypassing<'c, 'a>(ctx: &Context<'_>, denying: &Pod, known: &'c [DeniedClient<'a>]) -> Option<Bypassing<'c, 'a>> {
    known.iter().find_map(|client| {
        let created = client.pod.metadata.creation_timestamp.get()?;
        if !client.is_meshed() || client.without_tls? < created {
            return None;
        }
        let port = authorizing(ctx, denying, client, Some(client.pod))??;
        Some(Bypassing { client, port })
    })
}

impl<'a> Bypassing<'_, 'a> {
    fn reported(&self, ctx: &Context<'a>, finding: Finding, denying: &Pod, reported: &Reported<'_>) -> Finding {
        let client = self.client;
        let message = format!(
            "the proxy denies {}, whose calls arrive without mTLS: policy {} authorizes only its identity, according \
             to the {}",
            client.describe(ctx),
            client.server,
            reported.source()
        );
        let mut finding = finding.evidence(client.evidence(ctx)).likely();
        finding.remedy.steps.truncate(1);
        let owner = ctx.owners().owner(client.pod);
        match self.skipped(ctx, denying) {
            Some((port, skipped)) => {
                let remedy = through_proxy(ctx, port, owner, &skipped);
                finding = finding.evidence(skipped.by());
                finding.remedy.steps.extend(remedy.steps);
            }
            None => finding.remedy.steps.push(renew(
                ctx,
                &owner,
                std::slice::from_ref(&client.pod.metadata.name),
                Needs::NewPods,
                "its proxy most likely keeps connections from before it knew the pod",
            )),
        }
        Finding { message: sentence(&message), ..finding }.severity(Severity::Warning)
    }

    /// The port by which the client's calls bypass its proxy, of the pod or of a Service that leads to it, and the list
    /// that contains it.
    fn skipped(&self, ctx: &Context<'a>, denying: &Pod) -> Option<(u16, Skipped<'a>)> {
        let skipped = skipped(self.client.pod, OUT, ctx.cni_skips())?;
        let leading =
            service_ports(ctx, denying).filter(|port| port.leads_to(denying) == Some(self.port)).map(|port| port.port);
        let port = leading.chain([self.port]).find(|port| skipped.holds(*port))?;
        Some((port, skipped))
    }
}

/// The port of a client's Server or default policy on which it is authorized by now, by the identity of a pod if given;
/// `Some(None)` if there is none. `None`, and a gap, if they are unknown.
fn authorizing(
    ctx: &Context<'_>,
    denying: &Pod,
    client: &DeniedClient<'_>,
    identity: Option<&Pod>,
) -> Option<Option<u16>> {
    let survey = match survey(ctx) {
        Ok(survey) => survey,
        Err(Unjudged::Missing(missing)) => {
            ctx.gap(missing);
            return None;
        }
        Err(Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => return Some(None),
    };
    let controller = &survey.index.controller;
    let identity = identity.map(|pod| controller.identity(&pod.metadata.namespace, pod.spec.account()));
    let mut pods = survey.pods.iter();
    let Some((_, workload)) = pods.find(|(pod, _)| std::ptr::eq(*pod, denying)) else { return Some(None) };
    let taken = survey.index.inbound_taken(workload).map(|(port, _)| port);
    let ports: BTreeSet<u16> = match client.port {
        Some(port) => BTreeSet::from([port]),
        None => taken.chain(called(ctx, denying)).collect(),
    };
    let port = ports.into_iter().find(|port| {
        let inbound = survey.index.inbound(workload, *port);
        let name = match inbound.taken_by {
            TakenBy::Server(server) => server.metadata.name.as_str(),
            TakenBy::Default(policy) => policy.as_str(),
        };
        let mut all = inbound.authorizations.iter();
        name == client.server && all.any(|one| one.admits(identity.as_deref(), Some(client.address)))
    });
    Some(port)
}

/// The ports of the Services that select a pod.
fn service_ports<'a>(ctx: &Context<'a>, pod: &Pod) -> impl Iterator<Item = &'a ServicePort> {
    let services = ctx.optional_list::<Service>().iter();
    services.filter(|service| selects(service, &pod.metadata)).flat_map(|service| &service.spec.ports)
}

/// The ports of a pod that Services lead to, or that it declares.
fn called(ctx: &Context<'_>, pod: &Pod) -> impl Iterator<Item = u16> {
    let leading = service_ports(ctx, pod).filter_map(|port| port.leads_to(pod));
    let declared = pod.spec.containers.iter().flat_map(|container| &container.ports);
    leading.chain(declared.map(|port| port.container_port))
}

/// The client and the Server of a line.
fn denied(line: &str) -> Option<(IpAddr, &str)> {
    let address = text_after(line, "client.ip=", &[' ']).or_else(|| text_after(line, " client=", &[' ']))?;
    let address = match address.parse() {
        Ok(address) => address,
        Err(_) => address.parse::<std::net::SocketAddr>().ok()?.ip(),
    };
    Some((address, text_after(line, "server.name=", &[' '])?))
}

/// The only pod with an address.
pub(super) fn pod_at<'a>(ctx: &Context<'a>, address: IpAddr) -> Option<&'a Pod> {
    let mut pods = ctx.optional_list::<Pod>().iter().filter(|pod| pod.is_at(address));
    pods.next().filter(|_| pods.next().is_none())
}
