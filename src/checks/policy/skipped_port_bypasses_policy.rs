//! `skipped-port-bypasses-policy`: a Server selects a port that skips the proxy.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::survey::{Survey, field, survey};
use super::workload_without_authorization::admits_any;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::{port_list, rewrite};
use crate::model::policy::{Inbound, TakenBy};
use crate::model::skipped::{IN, ListSource, SkipDirection, SkippedSubnets, skipped, skipped_subnets};
use crate::objects::Server;

/// The annotation with the list.
const KEY: &str = IN.annotation();

/// A port with a Server that has no effect.
struct Bypassed<'a> {
    server: &'a Server,
    by: Evidence,
    /// The list of skipped ports.
    list: String,
    source: ListSource,
    /// Whether the policy of the port authorizes no client.
    is_closed: bool,
    pods: Vec<String>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let owners = ctx.owners();
    let mut bypassed: BTreeMap<(Owner, u16), Bypassed<'_>> = BTreeMap::new();
    for group in survey.replicas() {
        let mut taken: Option<Vec<(u16, Inbound<'_>)>> = None;
        for (pod, workload) in group.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
            let Some(skipped) = skipped(pod, IN, ctx.cni_skips()) else { continue };
            let taken = taken.get_or_insert_with(|| survey.index.inbound_taken(workload).collect());
            for (port, inbound) in taken.iter().filter(|(port, _)| skipped.holds(*port)) {
                let TakenBy::Server(server) = inbound.taken_by else { continue };
                let (by, source) = (skipped.by(), skipped.source());
                let one = bypassed.entry((owners.owner(pod), *port)).or_insert(Bypassed {
                    server,
                    by,
                    list: skipped.list().to_owned(),
                    source,
                    is_closed: !admits_any(inbound),
                    pods: Vec::new(),
                });
                one.pods.push(pod.metadata.name.clone());
            }
        }
    }
    let findings = bypassed.into_iter().map(|((owner, port), one)| finding(ctx, &owner, port, one));
    Ok(findings.chain(by_address(ctx, survey)).collect())
}

/// The findings about ranges of addresses whose connections skip the proxy, if pods have such addresses.
fn by_address(ctx: &Context<'_>, survey: &Survey<'_>) -> Vec<Finding> {
    let owners = ctx.owners();
    let addresses: Vec<IpAddr> =
        ctx.optional_list::<Pod>().iter().filter(|pod| !pod.spec.host_network).flat_map(Pod::addresses).collect();
    let mut skipping: BTreeMap<Owner, (SkippedSubnets, &Server, Vec<String>)> = BTreeMap::new();
    for group in survey.replicas() {
        for (pod, workload) in group.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
            let Some(subnets) = skipped_subnets(pod, 0, ctx.cni_skips()) else { continue };
            let others = || addresses.iter().filter(|address| !pod.has_address(**address));
            let mut taken = survey.index.inbound_taken(workload);
            let server = taken.find_map(|(_, inbound)| match inbound.taken_by {
                TakenBy::Server(server) => Some(server),
                TakenBy::Default(_) => None,
            });
            let Some(server) = server.filter(|_| others().any(|one| subnets.contain(Some(*one)) == Some(true))) else {
                continue;
            };
            let entry = skipping.entry(owners.owner(pod)).or_insert_with(|| (subnets, server, Vec::new()));
            entry.2.push(pod.metadata.name.clone());
        }
    }
    let of_owner = |(owner, (subnets, server, pods)): (Owner, (SkippedSubnets, &Server, Vec<String>))| {
        let act = format!(
            "Remove ranges with addresses of pods from {}, or authorize these clients in the policy instead",
            SkipDirection::Subnets.annotation()
        );
        ctx.finding(
            owner.subject(pods),
            format!(
                "Connections from {} skip the proxy, so no policy applies to them: these clients are allowed, \
                 regardless of Server {}",
                subnets.list(),
                server.metadata.name
            ),
        )
        .parameter("subnets")
        .evidences(subnets.by())
        .evidence(field(Kind::Server, &server.metadata, "spec.port", "selects a port of the pods"))
        .remedy(Remedy::new().step(StepKind::Annotation, act))
    };
    skipping.into_iter().map(of_owner).collect()
}

fn finding(ctx: &Context<'_>, owner: &Owner, port: u16, one: Bypassed<'_>) -> Finding {
    let remedy = remedy(ctx, owner, port, &one);
    ctx.finding(
        owner.subject(one.pods),
        format!(
            "port {port} skips the proxy, so no policy applies to it: every client that reaches the pod \
             is allowed, regardless of Server {}",
            one.server.metadata.name
        ),
    )
    .parameter(port.to_string())
    .evidence(one.by)
    .evidence(field(Kind::Server, &one.server.metadata, "spec.port", format!("selects port {port}")))
    .remedy(remedy)
}

/// The steps that let the proxy handle the port.
fn remedy(ctx: &Context<'_>, owner: &Owner, port: u16, one: &Bypassed<'_>) -> Remedy {
    let annotated = one.source == ListSource::Annotation;
    // The injector adds the proxy's own ports to each list.
    let own = [4190, 4191, port].iter().try_fold(one.list.clone(), |list, port| port_list::without(&list, *port));
    let others = if annotated { port_list::without(&one.list, port) } else { own };
    let act = match annotated {
        true => format!("Remove port {port} from {KEY}"),
        false => {
            let list = others.as_deref().unwrap_or("");
            format!("Give the workload a list without port {port}, {KEY}: {list:?},")
        }
    };
    let set = match annotated {
        // An empty list of its own hides that of the namespace.
        true => others.as_deref().or(rewrite::is_inherited(ctx, owner, KEY).then_some("")),
        false => Some(others.as_deref().unwrap_or("")),
    };
    let first = match one.is_closed {
        true => Remedy::new().note(format!(
            "First authorize the clients of port {port}: no policy does, so the proxy denies all of them \
                 once it handles the port"
        )),
        false => Remedy::new(),
    };
    let of_owner = |first| {
        let remedy = rewrite::of_owner(ctx, first, &act, owner, &[(KEY, set)]);
        rewrite::of_owners_list(remedy, owner, (KEY, set), &one.list)
    };
    let remedy = match one.source {
        ListSource::Cni => without_cni_port(ctx, first, owner, &one.pods, port),
        ListSource::Annotation => of_owner(first),
        ListSource::LinkerdInit => of_owner(first).step(
            StepKind::ChartValue,
            format!(
                "Or remove port {port} from the chart's proxyInit.ignoreInboundPorts, and restart the \
                 workload"
            ),
        ),
    };
    remedy.step(
        StepKind::Annotation,
        "If the protocol of the port requires it, list the port under config.linkerd.io/opaque-ports, which keeps \
         policy and identity",
    )
}

/// The steps that remove a port from linkerd-cni's list, which applies to all pods that it redirects.
fn without_cni_port(ctx: &Context<'_>, first: Remedy, owner: &Owner, pods: &[String], port: u16) -> Remedy {
    let namespace = &ctx.namespaces().cni;
    let act = format!("Remove port {port} from ignoreInboundPorts of linkerd-cni's chart");
    let restart = kubectl().namespace(namespace).words("rollout restart daemonset/linkerd-cni");
    let remedy = first
        .step(StepKind::ChartValue, act)
        .command("Restart the DaemonSet, which writes the new list to the nodes", restart);
    remedy.with(renew(ctx, owner, pods, Needs::NewProxy, "only new pods get the new list"))
}
