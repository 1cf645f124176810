//! `gateway-probe-failing`: the gateway of a linked cluster has no mirror, no address, or does not answer its probes.

use super::links::{
    CLUSTER, ask_controller, chart_makes_controllers, gateways, is_found_over_there, links, mirrors, mirrors_of,
    other_cluster, subject, with_endpoints, with_single_controller,
};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::item::Program;
use crate::item::answer::runs;
use crate::knowledge::MirrorKind;
use crate::objects::{EndpointSlice, Link};
use crate::version::Contains;

/// Maximum number of quoted mirrors.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let pods = ctx.partial_list::<Pod>()?;
    let links = links(ctx)?;
    let links: Vec<&Link> = links.iter().filter(|link| link.has_gateway()).collect();
    if links.is_empty() {
        return Err(Unjudged::not_applicable("no Link uses a gateway"));
    }
    let slices = ctx.complete_list::<EndpointSlice>()?;
    let served = with_endpoints(slices);
    let mut findings = Vec::new();
    let mut silent = false;
    for link in &links {
        let cluster = link.spec.target_cluster_name.as_str();
        let probed = gateways(services, cluster);
        let [mirror] = probed.as_slice() else {
            ctx.complete_list::<Service>()?;
            findings.push(no_mirror(ctx, link, &probed));
            continue;
        };
        let place = (mirror.metadata.namespace.as_str(), mirror.metadata.name.as_str());
        if !served.contains(&place) {
            findings.push(no_address(ctx, link, place));
            continue;
        }
        let controllers: Vec<&Pod> = pods
            .iter()
            .filter(|pod| pod.metadata.label(CLUSTER) == Some(cluster))
            .filter(|pod| runs(Program::ServiceMirror, pod))
            .collect();
        silent |= controllers.is_empty();
        let reported = probe_finding(ctx, link, &controllers);
        findings.extend(match reported {
            Reported::Alive => None,
            Reported::Fault(finding) => Some(*finding),
            Reported::Nothing => marked_dead(services, slices, cluster).map(|mirrors| dead(ctx, link, &mirrors)),
        });
    }
    if findings.is_empty() && silent {
        return Err(Unjudged::blocked("service-mirror-not-running", "no pod of a Link's controller is running"));
    }
    Ok(findings.into())
}

/// The mirrors of a cluster, if they have endpoints and none is ready. The controller marks the endpoints of all
/// mirrors as not ready while the gateway does not answer its probes, and those of new mirrors if its name does not
/// resolve.
fn marked_dead<'a>(services: &'a [Service], slices: &[EndpointSlice], cluster: &str) -> Option<Vec<&'a Service>> {
    let of_cluster =
        |service: &&Service| service.metadata.label(CLUSTER) == Some(cluster) && !is_found_over_there(service);
    let mut found = Vec::new();
    for mirror in mirrors(services).filter(of_cluster) {
        let of_mirror = |slice: &&EndpointSlice| {
            slice.metadata.namespace == mirror.metadata.namespace
                && slice.service() == Some(mirror.metadata.name.as_str())
        };
        let mut endpoints = slices.iter().filter(of_mirror).flat_map(|slice| &slice.endpoints).peekable();
        // The exported Service is empty.
        if endpoints.peek().is_none() {
            continue;
        }
        if endpoints.any(|endpoint| endpoint.conditions.ready != Some(false)) {
            return None;
        }
        found.push(mirror);
    }
    (!found.is_empty()).then_some(found)
}

/// The finding for a gateway that the controller considers down, by the endpoints of the mirrors.
fn dead(ctx: &Context<'_>, link: &Link, mirrors: &[&Service]) -> Finding {
    let names = mirrors.iter().map(|one| format!("{}/{}", one.metadata.namespace, one.metadata.name));
    finding(
        ctx,
        link,
        "no mirror service of the linked cluster has a ready endpoint: its gateway does not answer probes, or its name \
         does not resolve. Calls to that cluster fail",
        "dead",
        Evidence::other("Mirror services whose endpoints are not ready", some(names, QUOTED)),
    )
}

fn finding(ctx: &Context<'_>, link: &Link, message: &str, parameter: &str, evidence: Evidence) -> Finding {
    let remedy = ask_controller(Remedy::new(), &link.metadata.namespace, &link.spec.target_cluster_name, "");
    let tie = mirrors_of(&link.spec.target_cluster_name);
    let finding = ctx.finding(subject(link), message).parameter(parameter).tie(tie).evidence(evidence);
    spared(finding, ctx.within_grace(link.metadata.creation_timestamp)).remedy(remedy.command(
        "Check in the other cluster that the gateway is running and has an address that is reachable from \
         here",
        kubectl().in_context(other_cluster()).words("get pods,services --all-namespaces -l app=linkerd-gateway"),
    ))
}

fn no_mirror(ctx: &Context<'_>, link: &Link, mirrors: &[&Service]) -> Finding {
    let cluster = &link.spec.target_cluster_name;
    let selected = format!("Services with mirror.linkerd.io/mirrored-gateway and {CLUSTER}={cluster}");
    if mirrors.is_empty() {
        return finding(
            ctx,
            link,
            "the gateway of the linked cluster has no mirror service here: its state is unknown",
            "mirrors",
            Evidence::other(selected, "none"),
        );
    }
    let names: Vec<&str> = mirrors.iter().map(|service| service.metadata.name.as_str()).collect();
    let known = ctx.knowledge.extensions().service_mirrors().iter();
    let mut legacy = known.filter(|mirror| mirror.kind == MirrorKind::Legacy);
    let created_by_cli = legacy.find_map(|kind| {
        let name = kind.probe_service.replace("{cluster}", cluster);
        mirrors.iter().find(|service| service.metadata.name.as_str() == name)
    });
    let remedy = match created_by_cli.filter(|_| chart_makes_controllers(ctx) != Contains::No) {
        Some(service) => with_single_controller(ctx, Remedy::new(), &service.metadata.namespace, cluster),
        None => Remedy::new().command(
            "List them, and delete those that do not belong to the link's controller",
            kubectl()
                .words("get services --all-namespaces")
                .option("-l", format!("mirror.linkerd.io/mirrored-gateway,{CLUSTER}={cluster}")),
        ),
    };
    ctx.finding(
        subject(link),
        "the gateway of the linked cluster has several mirror services here, such as one of a removed \
         controller: its state is unknown",
    )
    .parameter("several")
    .tie(mirrors_of(cluster))
    .evidence(Evidence::other(selected, names.join(", ")))
    .remedy(remedy)
}

fn no_address(ctx: &Context<'_>, link: &Link, (namespace, name): (&str, &str)) -> Finding {
    finding(
        ctx,
        link,
        "the mirror service of the linked cluster's gateway has no endpoints: no mirror service can reach that cluster",
        "endpoints",
        Evidence::other(format!("EndpointSlices of {namespace}/{name}"), "no endpoint in any"),
    )
}

/// What the controllers of a link report about its gateway.
enum Reported {
    Alive,
    Fault(Box<Finding>),
    /// None of them was read.
    Nothing,
}

/// The state of a gateway that the controllers of a link report. Only the controller that holds the lease probes.
fn probe_finding(ctx: &Context<'_>, link: &Link, controllers: &[&Pod]) -> Reported {
    let cluster = &link.spec.target_cluster_name;
    let mut reported = None;
    let mut unanswered = Vec::new();
    let mut wrong = Vec::new();
    for pod in controllers {
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        let place = format!("Pod {namespace}/{name} port {}", Program::ServiceMirror.port());
        match ctx.probe(Program::ServiceMirror, namespace, name) {
            Err(missing) => unanswered.push(missing),
            Ok(answer) if !answer.is_well() => wrong.push(Evidence::other(place, answer.describe())),
            Ok(answer) => match answer.gateways.get(cluster) {
                Some(alive) => reported = Some((*alive, place)),
                None => wrong.push(Evidence::other(place, "no gateway_alive of this cluster")),
            },
        }
    }
    match reported {
        Some((true, _)) => Reported::Alive,
        Some((false, place)) => Reported::Fault(Box::new(finding(
            ctx,
            link,
            "the gateway of the linked cluster does not answer its probes: traffic to its mirror services \
             fails",
            "dead",
            Evidence::other(place, format!("gateway_alive{{target_cluster_name={cluster}}} 0")),
        ))),
        None => {
            let unknown = !unanswered.is_empty();
            unanswered.into_iter().for_each(|missing| ctx.gap(missing));
            // A controller without an answer may be the one that probes.
            let Some(evidence) = wrong.into_iter().next().filter(|_| !unknown) else {
                return Reported::Nothing;
            };
            Reported::Fault(Box::new(finding(
                ctx,
                link,
                "no controller of the link reports probes of the gateway: its state is unknown",
                "unprobed",
                evidence,
            )))
        }
    }
}
