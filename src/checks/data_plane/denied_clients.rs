//! Clients that a proxy denies: the pods of the addresses in its log, and the Servers.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::connect_failures::text_after;
use crate::checks::policy::survey;
use crate::checks::reported::Reported;
use crate::checks::words::sentence;
use crate::checks::{Context, Unjudged};
use crate::finding::{Evidence, Finding, Severity, StepKind};
use crate::model::injection::WEBHOOKS_LABEL;
use crate::model::policy::TakenBy;
use crate::objects::{Namespace, Pod};

/// The row of `mesh-logs.yaml` about denied clients.
const DENIED: &str = "inbound-denied";
/// Minimum number of lines about a client.
const ENOUGH: usize = 3;
/// Maximum number of named clients.
const NAMED: usize = 3;

/// A pod of this cluster that a proxy denied.
struct Client<'a> {
    pod: &'a Pod,
    address: IpAddr,
    server: &'a str,
    lines: usize,
}

impl Client<'_> {
    /// `Deployment shop/web (not meshed)`.
    fn describe(&self, ctx: &Context<'_>) -> String {
        let state = if self.is_meshed() { "meshed" } else { "not meshed" };
        format!("{} ({state})", self.name(ctx))
    }

    fn name(&self, ctx: &Context<'_>) -> String {
        let owner = ctx.owners().owner(self.pod);
        format!("{} {}/{}", owner.kind, owner.namespace, owner.name)
    }

    fn is_meshed(&self) -> bool {
        self.pod.spec.proxy().is_some()
    }

    /// The step that authorizes it. The injector passes over some namespaces.
    fn remedy(&self, ctx: &Context<'_>) -> String {
        let namespace = &self.pod.metadata.namespace;
        let account = format!("{namespace}/{}", self.pod.spec.account());
        let policy = match (self.is_meshed(), is_exempt(ctx, namespace)) {
            (true, _) => format!("authorize its ServiceAccount {account} in an AuthorizationPolicy, or"),
            (false, false) => {
                format!("mesh it and authorize its ServiceAccount {account} in an AuthorizationPolicy, or")
            }
            (false, true) => format!(
                "move it to another namespace and mesh it there (namespace {namespace} is exempt from injection), or"
            ),
        };
        let (client, server) = (self.name(ctx), self.server);
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
pub(super) fn name_clients(
    ctx: &Context<'_>,
    finding: Finding,
    denying: &Pod,
    reported: &Reported<'_>,
) -> Finding {
    if reported.id() != DENIED {
        return finding;
    }
    let mut counts: BTreeMap<(IpAddr, &str), usize> = BTreeMap::new();
    for key in reported.lines().filter_map(denied) {
        *counts.entry(key).or_default() += 1;
    }
    let enough = counts.into_iter().filter(|(_, count)| *count >= ENOUGH);
    let known = enough.filter_map(|((address, server), lines)| {
        Some(Client { pod: pod_at(ctx, address)?, address, server, lines })
    });
    let known: Vec<Client<'_>> = known.collect();
    let finding = known.iter().take(NAMED).fold(finding, |finding, client| {
        let said = format!("{}, by {}, {} lines", client.describe(ctx), client.server, client.lines);
        let mut finding = finding.evidence(Evidence::other("Denied client", said));
        finding.remedy = finding.remedy.step(StepKind::Note, client.remedy(ctx));
        finding
    });
    let mut failing = known
        .iter()
        .filter(|client| !client.is_meshed() && is_authorized(ctx, denying, client) == Some(false));
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

/// Whether the policies authorize a client without an identity by now; `None`, and a gap, if they are unknown.
fn is_authorized(ctx: &Context<'_>, denying: &Pod, client: &Client<'_>) -> Option<bool> {
    let survey = match survey(ctx) {
        Ok(survey) => survey,
        Err(Unjudged::Missing(missing)) => {
            ctx.gap(missing);
            return None;
        }
        Err(Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => return Some(false),
    };
    let mut pods = survey.pods.iter();
    let Some((_, workload)) = pods.find(|(pod, _)| std::ptr::eq(*pod, denying)) else { return Some(false) };
    let is_authorized = survey.index.inbound_taken(workload).any(|(_, inbound)| {
        let TakenBy::Server(server) = inbound.taken_by else { return false };
        let mut all = inbound.authorizations.iter();
        server.metadata.name == client.server && all.any(|one| one.admits(None, Some(client.address)))
    });
    Some(is_authorized)
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
