//! `link-probe-port-undeclared`: the probe Service of a gateway does not declare the port that the Link probes.

use super::links::{field, gateways, links, subject};
use crate::checks::control_plane::installation::installed;
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::version::Contains;

/// Number of quoted ports.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let services = ctx.complete_list::<Service>()?;
    let findings = links.iter().filter(|link| link.has_gateway()).filter_map(|link| {
        let port: u16 = link.spec.probe_spec.port.parse().ok()?;
        let cluster = link.spec.target_cluster_name.as_str();
        let found = gateways(services, cluster);
        let [service] = found.as_slice() else { return None };
        let ports = &service.spec.ports;
        if ports.is_empty() || ports.iter().any(|declared| declared.port == port) {
            return None;
        }
        let (namespace, name) = service.metadata.key();
        let refuses = refuses_undeclared_ports(ctx);
        let effect = match refuses {
            true => "The proxy refuses such connections, so the gateway counts as not alive",
            false => "From edge-25.7.1 on, the proxy refuses such connections, and the gateway counts as not alive",
        };
        let declared = some(ports.iter().map(|declared| declared.port), QUOTED);
        let finding = ctx
            .finding(
                subject(link),
                format!(
                    "the Link probes port {port} of the gateway, which the probe Service does not declare. {effect}"
                ),
            )
            .severity(if refuses { Severity::Error } else { Severity::Warning })
            .evidence(field(link, "spec.probeSpec.port", port.to_string()))
            .evidence(Evidence::field(format!("Service {namespace}/{name}"), "spec.ports[].port", declared))
            .remedy(
                Remedy::new()
                    .step(
                        StepKind::ChartValue,
                        format!(
                            "Set gateway.probe.port: {port} for this Link in controllers of the multicluster \
                             chart, and upgrade it"
                        ),
                    )
                    .command(
                        "Check that the probe Service declares the port",
                        kubectl().namespace(namespace).words("get service").operand(name),
                    ),
            );
        Some(finding)
    });
    Ok(findings.collect())
}

/// Whether proxies of the installed release refuse ports that a Service does not declare.
fn refuses_undeclared_ports(ctx: &Context<'_>) -> bool {
    let Some((version, _)) = ctx.or_note(installed(ctx)).flatten() else { return false };
    ctx.knowledge.upgrades().refuses_undeclared_ports(&version, ctx.knowledge.minors()) == Contains::Yes
}
