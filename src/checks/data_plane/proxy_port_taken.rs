//! `proxy-port-taken`: a container of a meshed pod declares a port on which the proxy listens.

use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers, running_pods};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::refusal::LINKERDS;
use crate::objects::container::PROXY_CONTAINER;

/// The proxy's ports: purpose, annotation and chart value that change them, and default.
const PORTS: [(&str, &str, &str, u16); 4] = [
    ("outbound", "config.linkerd.io/outbound-port", "proxy.ports.outbound", 4140),
    ("inbound", "config.linkerd.io/inbound-port", "proxy.ports.inbound", 4143),
    ("control", "config.linkerd.io/control-port", "proxy.ports.control", 4190),
    ("admin", "config.linkerd.io/admin-port", "proxy.ports.admin", 4191),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let makers = makers(ctx)?;
    let rules = rules?;
    let mut findings = Vec::new();
    let mut pods = running_pods(ctx, makers);
    for maker in makers.iter().filter(|maker| ctx.judges(maker.namespace())) {
        let named = |maker: &Maker<'_>| maker.spec.containers.iter().any(|container| !container.ports.is_empty());
        let of_template = (named(maker) && rules.is_meshed(maker)).then(|| judge_one(ctx, &rules, maker)).flatten();
        // Other webhooks change pods, not templates.
        findings.extend(of_template.or_else(|| {
            let pods = pods.remove(&maker.owner)?;
            let finding = pods.iter().filter(|pod| named(pod)).find_map(|pod| judge_one(ctx, &rules, pod))?;
            Some(finding.evidence(Evidence::other("The pod template", "does not declare it")))
        }));
    }
    Ok(findings.into())
}

fn judge_one(ctx: &Context<'_>, rules: &Rules<'_>, maker: &Maker<'_>) -> Option<Finding> {
    let ports: Vec<(&str, &str, u16)> = PORTS
        .iter()
        .map(|(name, key, path, default)| {
            let set = rules.setting(maker, key, path).and_then(|setting| setting.value.parse().ok());
            (*name, *key, set.unwrap_or(*default))
        })
        .collect();
    let own = maker.spec.all_containers().filter(|container| !LINKERDS.contains(&container.name.as_str()));
    let taken: Vec<_> = own
        .flat_map(|container| container.ports.iter().map(move |port| (container, port)))
        .filter(|(_, port)| matches!(port.protocol.as_str(), "" | "TCP"))
        .filter_map(|(container, port)| {
            let (name, key, _) = ports.iter().find(|(_, _, number)| *number == port.container_port)?;
            Some((container, port.container_port, *name, *key))
        })
        .collect();
    let (first, number, _, key) = taken.first()?;
    let owners = ctx.owners();
    let mut pods = ctx.optional_list::<Pod>().iter().filter(|pod| {
        pod.metadata.namespace == maker.namespace() && pod.spec.proxy().is_some() && owners.owner(pod) == maker.owner
    });
    // Both are ready, so one of them listens on another port than declared.
    let ready = pods.any(|pod| {
        let ready = |name: &str| pod.container_status(name).is_some_and(|status| status.ready);
        ready(PROXY_CONTAINER) && ready(&first.name)
    });
    let mut finding = ctx
        .finding(
            maker.subject(),
            "a container declares a port on which its pod's proxy listens. Whichever starts later cannot \
             listen there and does not become ready",
        )
        .likely()
        .evidences(taken.iter().map(|(container, number, name, _)| {
            maker.field(
                &format!("spec.containers[{}].ports", container.name),
                format!("{number}, the proxy's {name} port"),
            )
        }))
        .remedy(Remedy::new().note(format!(
            "Configure the application to listen on another port than \
                    {number}"
        )));
    let free = unused(maker, &ports).to_string();
    let act = format!("Or move the proxy's port to one that the pod does not use, {key}: {free:?},");
    let remedy = rewrite::of_owner(ctx, std::mem::take(&mut finding.remedy), &act, &maker.owner, &[(key, Some(&free))]);
    let finding = finding.remedy(remedy);
    Some(match ready {
        true => finding.severity(Severity::Info).evidence(Evidence::other(
            "Pods of the workload",
            "proxy and container are ready, so one of them listens elsewhere",
        )),
        false => finding,
    })
}

/// The first port after the proxy's that no container of the pod declares.
fn unused(maker: &Maker<'_>, of_proxy: &[(&str, &str, u16)]) -> u16 {
    let is_taken = |port: &u16| {
        of_proxy.iter().any(|(.., number)| number == port)
            || maker.spec.all_containers().flat_map(|one| &one.ports).any(|one| one.container_port == *port)
    };
    (4192..).find(|port| !is_taken(port)).unwrap_or(4192)
}
