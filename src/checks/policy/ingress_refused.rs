//! `ingress-refused`: the policy of a port behind an Ingress, a Gateway's route or an exported Service denies the pods
//! through which outside requests arrive.

use std::collections::BTreeMap;

use super::authorize;
use super::backend_policy::behind;
use super::gateways;
use super::ingress::{Classes, callers};
use super::ingress_entry::{Entry, entries};
use super::survey::{Survey, field, rule_of, survey};
use crate::checks::multicluster::{is_gateway, through_gateway};
use crate::checks::prelude::*;
use crate::command::meshdoctor;
use crate::model::policy::{Client, Entry as Allowed, Inbound, TakenBy};
use crate::objects::service::EXPORTED;
use crate::objects::{Ingress, ServicePort};

/// The kind of entry point for outside traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Door {
    Ingress,
    /// An Ingress that a load balancer outside of the cluster serves.
    Balancer,
    Gateway,
    /// The multicluster gateway, for an exported Service.
    Export,
}

/// A port behind an entry point whose policy denies the callers.
struct DeniedPort<'a> {
    /// The Ingress or route, and the path or rule for this port.
    from: Evidence,
    inbound: Inbound<'a>,
    callers: Vec<Asking<'a>>,
    pods: Vec<&'a Pod>,
}

/// A caller.
#[derive(Clone)]
enum Asking<'a> {
    /// A pod, with its mesh identity.
    Pod(&'a Pod, Option<String>),
    /// A load balancer outside of the cluster, by its display name. It has no identity, and its addresses
    /// are unknown.
    Balancer(&'static str),
}

/// All denied ports, by workload, port and entry point.
type AllRefused<'a> = BTreeMap<(Owner, u16, Door), DeniedPort<'a>>;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let pods = ctx.complete_list::<Pod>()?;
    let mut refused = AllRefused::new();
    let by_ingresses = ingresses(ctx, survey, pods, &mut refused)?;
    let by_gateways = gateways(ctx, survey, pods, &mut refused)? | exports(ctx, survey, pods, &mut refused)?;
    if by_gateways && !by_ingresses {
        // Unavailable Ingresses may contain one that is denied; a pass covers both kinds.
        ctx.or_note(ctx.complete_list::<Ingress>());
    }
    if !by_ingresses && !by_gateways {
        // Only the complete list proves that no Ingress uses a load balancer.
        ctx.complete_list::<Ingress>()?;
        return Err(Unjudged::not_applicable(
            "there is no ingress controller, no Ingress of a load balancer, no Gateway with pods of its own and no \
             multicluster gateway with exported Services",
        ));
    }
    Ok(refused.iter().map(|(key, one)| finding(ctx, key, one)).collect())
}

/// Checks the ports behind Ingresses. Returns whether a known ingress controller exists.
fn ingresses<'a>(
    ctx: &Context<'a>,
    survey: &'a Survey<'a>,
    pods: &'a [Pod],
    refused: &mut AllRefused<'a>,
) -> Result<bool, Unjudged> {
    let callers = callers(ctx, survey, pods);
    let classes = Classes::new(ctx);
    let balanced = |ingress: &Ingress| classes.balancer(ingress).is_some();
    if callers.is_empty() && !ctx.optional_list::<Ingress>().iter().any(balanced) {
        return Ok(false);
    }
    let (entries, services) = (entries(ctx)?, ctx.complete_list::<Service>()?);
    for entry in entries {
        let serving = callers.iter().filter(|one| entry.is_served(&classes, one));
        let mut serving: Vec<Asking<'_>> = serving.map(|one| Asking::Pod(one.pod, one.identity.clone())).collect();
        let balancer = match entry {
            Entry::Path(ingress, ..) => classes.balancer(ingress),
            Entry::Rule(..) => None,
        };
        serving.extend(balancer.map(|of| Asking::Balancer(of.name)));
        let door = if balancer.is_some() { Door::Balancer } else { Door::Ingress };
        let Some(to) = entry.service(services) else { continue };
        refuse(ctx, survey, (door, &|| entry.evidence()), &serving, to, refused);
    }
    Ok(true)
}

/// Checks the ports behind routes of Gateways. Returns whether a Gateway with pods of its own exists.
fn gateways<'a>(
    ctx: &Context<'a>,
    survey: &'a Survey<'a>,
    pods: &'a [Pod],
    refused: &mut AllRefused<'a>,
) -> Result<bool, Unjudged> {
    let mut any = false;
    for (kind, route) in gateways::routes(ctx, survey) {
        for gateway in gateways::of_route(route) {
            let asking = gateways::pods_of(ctx, survey, pods, gateway);
            let asking: Vec<Asking<'_>> =
                asking.into_iter().map(|(pod, identity)| Asking::Pod(pod, identity)).collect();
            if asking.is_empty() {
                continue;
            }
            any = true;
            let from =
                || field(kind, &route.metadata, "spec.parentRefs", format!("Gateway {}/{}", gateway.0, gateway.1));
            for to in gateways::services_of(ctx.complete_list::<Service>()?, route) {
                refuse(ctx, survey, (Door::Gateway, &from), &asking, to, refused);
            }
        }
    }
    Ok(any)
}

/// Checks the ports of exported Services, which the multicluster gateway calls for other clusters. Returns whether both
/// exist.
fn exports<'a>(
    ctx: &Context<'a>,
    survey: &'a Survey<'a>,
    pods: &'a [Pod],
    refused: &mut AllRefused<'a>,
) -> Result<bool, Unjudged> {
    let services = ctx.complete_list::<Service>()?;
    let exported = through_gateway(services);
    let asking: Vec<Asking<'_>> = match exported.is_empty() {
        true => Vec::new(),
        false => {
            let of_gateways = services.iter().filter(|service| is_gateway(service));
            let pods = of_gateways.flat_map(|service| gateways::pods_behind(ctx, survey, pods, service));
            // Without an identity the gateway does not work at all, which is a matter of its own.
            let meshed = pods.filter(|(_, identity)| identity.is_some());
            meshed.map(|(pod, identity)| Asking::Pod(pod, identity)).collect()
        }
    };
    for service in exported.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        let from = || field(Kind::Service, &service.metadata, &format!("metadata.labels[{EXPORTED}]"), "true");
        // An export covers all ports, and some may be closed on purpose.
        if service.spec.tcp_ports().any(|port| is_open(survey, &asking, service, port)) {
            continue;
        }
        for port in service.spec.tcp_ports() {
            refuse(ctx, survey, (Door::Export, &from), &asking, (service, port), refused);
        }
    }
    Ok(!asking.is_empty())
}

/// Whether any pod behind a port admits one of the callers.
fn is_open(survey: &Survey<'_>, asking: &[Asking<'_>], service: &Service, port: &ServicePort) -> bool {
    let mut all = behind(survey, service, port);
    all.any(|(_, workload, number)| {
        let inbound = survey.index.inbound(workload, number);
        asking.iter().any(|asking| admitted(&inbound, asking))
    })
}

/// Records the pods behind a Service port that authorize none of the callers.
fn refuse<'a>(
    ctx: &Context<'a>,
    survey: &'a Survey<'a>,
    (door, from): (Door, &dyn Fn() -> Evidence),
    asking: &[Asking<'a>],
    (service, port): (&'a Service, &'a ServicePort),
    refused: &mut AllRefused<'a>,
) {
    if asking.is_empty() {
        return;
    }
    let owners = ctx.owners();
    for (pod, workload, number) in behind(survey, service, port) {
        let inbound = survey.index.inbound(workload, number);
        if asking.iter().any(|asking| admitted(&inbound, asking)) {
            continue;
        }
        let one = refused.entry((owners.owner(pod), number, door)).or_insert_with(|| DeniedPort {
            from: from(),
            inbound,
            callers: asking.to_vec(),
            pods: Vec::new(),
        });
        if !one.pods.iter().any(|known| known.metadata.name == pod.metadata.name) {
            one.pods.push(pod);
        }
    }
}

/// Whether any authorization allows the caller, whatever it requests.
fn admitted(inbound: &Inbound<'_>, asking: &Asking<'_>) -> bool {
    let client = match asking {
        Asking::Pod(pod, identity) => Client { identity: identity.as_deref(), address: pod.status.pod_ip },
        Asking::Balancer(_) => Client::default(),
    };
    inbound.connect(client) == Allowed::Admitted
}

fn finding(ctx: &Context<'_>, (owner, port, door): &(Owner, u16, Door), one: &DeniedPort<'_>) -> Finding {
    let names = one.pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let by = rule_of(&one.inbound, *port);
    let asking = one.callers.iter().take(2).map(|asking| match asking {
        Asking::Pod(pod, identity) => {
            let said = identity.clone().unwrap_or_else(|| "no proxy, so no identity".to_owned());
            let meta = &pod.metadata;
            Evidence::field(meta.described("Pod"), "identity in the mesh", said)
        }
        Asking::Balancer(name) => Evidence::field(*name, "identity in the mesh", "none: it is outside of the cluster"),
    });
    let meshed = one.callers.iter().any(|asking| matches!(asking, Asking::Pod(_, Some(_))));
    let (message, who, parameter) = match door {
        Door::Ingress => (
            "the policy of a port behind an Ingress denies the ingress controller, so clients from outside \
             get a 403",
            "the ingress controller",
            port.to_string(),
        ),
        Door::Balancer => (
            "the policy of a port behind an Ingress requires a mesh identity, which the load balancer \
             outside of the cluster does not have. Clients from outside get a 403, and its health checks \
             fail",
            "the load balancer",
            format!("{port} of a load balancer"),
        ),
        Door::Gateway => (
            "the policy of a port behind a Gateway's route denies the pods of the Gateway, so clients from \
             outside get a 403",
            "the Gateway",
            format!("{port} of a Gateway"),
        ),
        Door::Export => (
            "the policy of a port of an exported Service denies the multicluster gateway: calls from other clusters \
             get a 403, or a closed connection",
            "the multicluster gateway",
            format!("{port} of an exported Service"),
        ),
    };
    let act = if *door == Door::Balancer {
        "Authorize its addresses (its subnets, or those of the nodes if it sends to node ports) with an \
         AuthorizationPolicy that requires a NetworkAuthentication. Or put a meshed ingress controller \
         behind it"
            .to_owned()
    } else if meshed {
        format!("Add an AuthorizationPolicy for the port that requires the service account of {who}")
    } else {
        format!(
            "Mesh {who} and authorize its service account, or authorize its addresses with an \
             AuthorizationPolicy that requires a NetworkAuthentication"
        )
    };
    let target = one.pods.first().map_or_else(String::new, |pod| pod.metadata.name.clone());
    let remedy = Remedy::new().command(
        "Check which clients are authorized",
        meshdoctor().words("policy").operand(format!("{}/{target}:{port}", owner.namespace)),
    );
    let caller = one.callers.iter().find_map(|asking| match asking {
        Asking::Pod(pod, Some(_)) => Some((pod.metadata.namespace.as_str(), pod.spec.account())),
        _ => None,
    });
    let authorizing = match (one.inbound.taken_by, caller) {
        (TakenBy::Server(server), Some(caller)) => Some(authorize::account(&server.metadata, caller)),
        _ => None,
    };
    ctx.finding(owner.subject(names), message)
        .parameter(parameter)
        .likely()
        .evidence(one.from.clone())
        .evidence(by)
        .evidences(asking)
        .remedy(match authorizing {
            Some(command) => remedy.command(act, command),
            None => remedy.note(act),
        })
}
