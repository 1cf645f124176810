//! `outbound-connection-forbidden`: proxies close outbound connections that policy forbids, or to ports that
//! a Service does not declare, or deny HTTP requests to outside destinations.

use std::collections::BTreeMap;

use crate::checks::diagnosed::{Growth, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::words::counted;
use crate::item::proxy_metrics::Series;
use crate::knowledge::MetricMeaning::{DeniedEgress, RouteCloses};
use crate::objects::EgressNetwork;

/// The number of quoted clients per target.
const QUOTED: usize = 3;
/// Name of the route for a port that the Service does not declare.
const UNDECLARED: &str = "undefined-port";

/// The kind of an EgressNetwork.
const EGRESS_NETWORK: &str = "EgressNetwork";

/// The default of the namespace whose EgressNetworks apply to all clients.
const GLOBAL: &str = "linkerd-egress";

/// The namespace of an EgressNetwork. For one of the global namespace, the policy controller states the namespace of
/// the client.
fn network_namespace<'s, 'a: 's>(ctx: &Context<'a>, kind: &str, written: &'s str, name: &str) -> &'s str {
    if kind != EGRESS_NETWORK {
        return written;
    }
    let named = ctx.optional_list::<EgressNetwork>().iter().filter(|one| one.metadata.name == name);
    let namespaces: Vec<&str> = named.map(|one| one.metadata.namespace.as_str()).collect();
    match namespaces.as_slice() {
        all if all.contains(&written) => written,
        all if all.contains(&GLOBAL) => GLOBAL,
        [global] => global,
        _ => written,
    }
}

/// A forbidden target: kind, namespace, name, and whether the Service does not declare the port.
type ForbiddenTarget<'a> = (&'a str, &'a str, &'a str, bool);

/// Requests of a proxy that an EgressNetwork denied.
type DeniedBy<'g, 'a> = (&'g Growth<'a>, &'g Series, u64);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let all = growing(ctx, RouteCloses, |series| series.label("error") == "forbidden")?;
    let denied = growing(ctx, DeniedEgress, |_| true)?;
    let mut targets: BTreeMap<ForbiddenTarget<'_>, Vec<(&Growth<'_>, &Series, u64)>> = BTreeMap::new();
    for growth in &all {
        for (series, count) in &growth.grown {
            let label = |name| series.label(name);
            let undeclared = label("route_name") == UNDECLARED;
            let kind = label("parent_kind");
            let namespace = network_namespace(ctx, kind, label("parent_namespace"), label("parent_name"));
            let key = (kind, namespace, label("parent_name"), undeclared);
            targets.entry(key).or_default().push((growth, series, *count));
        }
    }
    let named = targets.into_iter().filter(|((kind, ..), _)| !kind.is_empty());
    let findings = named.map(|((kind, namespace, name, undeclared), clients)| {
        let said = clients.iter().take(QUOTED).map(|(growth, series, count)| -> Evidence {
            let port = series.label("parent_port");
            quoted(
                growth.pod,
                format!("{} to port {port} closed {}", counted(*count, "connection"), within(growth.metrics)),
            )
        });
        let (message, step) = match undeclared {
            true => (
                "proxies close connections to a port that the Service does not declare",
                "Add the port to the Service, or correct the port that the clients use",
            ),
            false => (
                "proxies close outbound connections that policy forbids",
                "If the connections should be allowed, add a route or change the traffic policy",
            ),
        };
        ctx.finding(Subject::object(kind, namespace, name), message)
            .parameter(if undeclared { "undeclared" } else { "forbidden" })
            .evidences(said)
            .remedy(Remedy::new().note(step))
    });
    let mut networks: BTreeMap<(&str, &str), Vec<DeniedBy<'_, '_>>> = BTreeMap::new();
    for growth in &denied {
        for (series, count) in &growth.grown {
            let (written, name) = (series.label("parent_namespace"), series.label("parent_name"));
            let key = (network_namespace(ctx, EGRESS_NETWORK, written, name), name);
            networks.entry(key).or_default().push((growth, series, *count));
        }
    }
    let requests =
        networks.into_iter().map(|((namespace, name), clients)| {
            let said = clients.iter().take(QUOTED).map(|(growth, series, count)| {
                let port = series.label("parent_port");
                quoted(
                    growth.pod,
                    format!("{} to port {port} denied {}", counted(*count, "request"), within(growth.metrics)),
                )
            });
            ctx.finding(
            Subject::object(EGRESS_NETWORK, namespace, name),
            "proxies deny HTTP requests to outside destinations: the EgressNetwork denies them (trafficPolicy Deny), \
             and no route allows them",
        )
        .parameter("denied")
        .evidences(said)
        .remedy(Remedy::new().note(
            "If the requests should be allowed, attach an HTTPRoute or GRPCRoute for them to the EgressNetwork",
        ))
        });
    Ok(findings.chain(requests).collect())
}
