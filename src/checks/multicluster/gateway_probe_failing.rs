//! `gateway-probe-failing`: the gateway of a linked cluster has no mirror, no address, or does not answer its probes.

use super::links::{
    CLUSTER, ask_controller, chart_makes_controllers, gateways, links, mirrors_of, other_cluster, subject,
    with_endpoints, with_single_controller,
};
use crate::checks::grace::spared;
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::item::Program;
use crate::item::answer::runs;
use crate::knowledge::MirrorKind;
use crate::objects::{EndpointSlice, Link, Pod, Service};
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>()?;
    let pods = ctx.partial_list::<Pod>()?;
    let links = links(ctx)?;
    let links: Vec<&Link> = links.iter().filter(|link| link.has_gateway()).collect();
    if links.is_empty() {
        return Err(Unjudged::not_applicable("no Link uses a gateway"));
    }
    let served = with_endpoints(ctx.complete_list::<EndpointSlice>()?);
    let mut findings = Vec::new();
    let mut silent = false;
    for link in &links {
        let cluster = link.spec.target_cluster_name.as_str();
        let mirrors = gateways(services, cluster);
        let [mirror] = mirrors.as_slice() else {
            ctx.complete_list::<Service>()?;
            findings.push(no_mirror(ctx, link, &mirrors));
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
        findings.extend(probe_finding(ctx, link, &controllers));
    }
    if findings.is_empty() && silent {
        return Err(Unjudged::blocked(
            "service-mirror-not-running",
            "no pod of a Link's controller is running",
        ));
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, link: &Link, message: &str, parameter: &str, evidence: Evidence) -> Finding {
    let remedy = ask_controller(Remedy::new(), &link.metadata.namespace, &link.spec.target_cluster_name, "");
    let tie = mirrors_of(&link.spec.target_cluster_name);
    let finding = ctx.finding(subject(link), message).parameter(parameter).tie(tie).evidence(evidence);
    spared(finding, ctx.within_grace(link.metadata.creation_timestamp)).remedy(remedy.run(
        StepKind::Command,
        "Check in the other cluster that the gateway is running and has an address that is reachable from \
         here",
        kubectl()
            .in_context(other_cluster())
            .words("get pods,services --all-namespaces -l app=linkerd-gateway"),
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
        None => Remedy::new().run(
            StepKind::Command,
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

/// The finding for the state of a gateway that the controllers of a link report. Only the controller that
/// holds the lease probes.
fn probe_finding(ctx: &Context<'_>, link: &Link, controllers: &[&Pod]) -> Option<Finding> {
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
        Some((true, _)) => None,
        Some((false, place)) => Some(finding(
            ctx,
            link,
            "the gateway of the linked cluster does not answer its probes: traffic to its mirror services \
             fails",
            "dead",
            Evidence::other(place, format!("gateway_alive{{target_cluster_name={cluster}}} 0")),
        )),
        None => {
            let unknown = !unanswered.is_empty();
            unanswered.into_iter().for_each(|missing| ctx.gap(missing));
            // A controller without an answer may be the one that probes.
            let evidence = wrong.into_iter().next().filter(|_| !unknown)?;
            Some(finding(
                ctx,
                link,
                "no controller of the link reports probes of the gateway: its state is unknown",
                "unprobed",
                evidence,
            ))
        }
    }
}
