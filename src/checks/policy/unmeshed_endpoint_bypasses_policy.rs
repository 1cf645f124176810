//! `unmeshed-endpoint-bypasses-policy`: a Service has meshed pods whose policy denies clients without an identity, and
//! pods without a proxy, which accept them.

use std::collections::{BTreeMap, BTreeSet};

use super::backend_policy::behind;
use super::survey::{field, survey};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::injection::INJECT;
use crate::model::policy::{Client, Entry, TakenBy, Workload};
use crate::objects::{Server, ServicePort};

/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// A Service port with endpoints of both kinds.
struct Mixed<'a> {
    port: u16,
    server: Option<&'a Server>,
    /// A meshed pod whose policy denies clients without an identity.
    meshed: &'a Pod,
    bare: Vec<&'a Pod>,
    all: usize,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.partial_list::<Service>()?;
    let mut findings = Vec::new();
    for service in services.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        let bare: Vec<&Pod> = ctx.selected().by(service).filter(|pod| is_bare(pod)).collect();
        if bare.is_empty() {
            continue;
        }
        let mixed = service.spec.ports.iter().find_map(|port| {
            let mut meshed = behind(survey, service, port).peekable();
            meshed.peek()?;
            mixed(ctx, survey, &bare, meshed.collect(), port)
        });
        findings.extend(mixed.map(|mixed| finding(ctx, service, &mixed)));
    }
    Ok(findings.into())
}

/// Whether a pod serves traffic without a proxy.
fn is_bare(pod: &Pod) -> bool {
    pod.spec.proxy().is_none() && !pod.is_finished() && pod.metadata.deletion_timestamp.get().is_none()
}

/// The endpoints of a port, if a meshed one denies the clients that a bare one accepts.
fn mixed<'a>(
    ctx: &Context<'a>,
    survey: &super::Survey<'a>,
    bare: &[&'a Pod],
    meshed: Vec<(&'a Pod, &Workload<'a>, u16)>,
    port: &ServicePort,
) -> Option<Mixed<'a>> {
    let owners = ctx.owners();
    // Pods of one workload differ during a rollout; otherwise workload-half-meshed reports them.
    let own: BTreeSet<Owner> = meshed.iter().map(|(pod, _, _)| owners.owner(pod)).collect();
    let bare: Vec<&Pod> =
        bare.iter().copied().filter(|pod| port.leads_to(pod).is_some() && !own.contains(&owners.owner(pod))).collect();
    let first = bare.first()?;
    let all = meshed.len() + bare.len();
    meshed.into_iter().find_map(|(pod, workload, number)| {
        let inbound = survey.index.inbound(workload, number);
        // A client of the cluster without a proxy.
        let client = Client { identity: None, address: first.status.pod_ip };
        let server = match inbound.taken_by {
            TakenBy::Server(server) => Some(server),
            TakenBy::Default(_) => None,
        };
        let denies = inbound.connect(client) != Entry::Admitted;
        denies.then(|| Mixed { port: number, server, meshed: pod, bare: bare.clone(), all })
    })
}

fn finding(ctx: &Context<'_>, service: &Service, mixed: &Mixed<'_>) -> Finding {
    let policy = match mixed.server {
        Some(server) => format!("Server {}", server.metadata.name),
        None => "the default policy".to_owned(),
    };
    let (count, all, port) = (mixed.bare.len(), mixed.all, mixed.port);
    let (have, them) = if count == 1 { ("has", "it") } else { ("have", "them") };
    let message = format!(
        "{count} of {all} pods of the Service {have} no proxy, so {policy} does not protect port {port} there: \
         every client that reaches {them} is allowed"
    );
    let pod = |pod: &Pod, said: String| {
        let object = Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name);
        Evidence::field(object, "spec.containers", said)
    };
    let bare = mixed.bare.iter().take(QUOTED).map(|one| pod(one, "no linkerd-proxy".to_owned()));
    let mut workloads: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for bare in &mixed.bare {
        workloads.entry(ctx.owners().owner(bare)).or_default().push(bare.metadata.name.clone());
    }
    let remedy = workloads.keys().fold(Remedy::new(), |remedy, owner| {
        let act = format!("If these pods should serve its clients, set {INJECT}: enabled");
        rewrite::meshed(ctx, remedy, &act, owner, &mixed.bare)
    });
    ctx.finding(Subject::object(Kind::Service, &service.metadata.namespace, &service.metadata.name), message)
        .parameter(mixed.port.to_string())
        .evidences(
            mixed
                .server
                .map(|server| field(Kind::Server, &server.metadata, "selects the port", mixed.port.to_string())),
        )
        .evidences(bare)
        .evidence(pod(mixed.meshed, "has linkerd-proxy".to_owned()))
        .remedy(remedy.note("Otherwise change the Service's selector, so that it does not select them"))
}
