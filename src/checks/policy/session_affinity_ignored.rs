//! `session-affinity-ignored`: sessions that should stay at one pod, and proxies or a setting for the mesh that
//! distribute them over all pods.

use std::collections::BTreeMap;

use super::ingress::{Caller, Classes, callers, identity, running};
use super::ingress_bypasses_routes::{is_ordinary, mode};
use super::ingress_entry::{Entry, entries};
use super::ingress_upstream::Upstream;
use super::survey::{Survey, field, survey};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::words::some;
use crate::item::EXTENSION_LABEL;
use crate::model::endpoints::selects;
use crate::model::injection::INJECT;
use crate::model::skipped::{OUT, skipped};

/// The annotation with ports that the proxy does not receive.
const SKIP: &str = OUT.annotation();
/// Maximum number of quoted clients, and of clients with a step of their own.
const QUOTED: usize = 3;
/// The annotations that make ingress controllers send the requests of a session to one pod: the controller's chart, the
/// kind that has the annotation, and its key.
const STICKY: [(&str, Kind, &str); 3] = [
    ("ingress-nginx", Kind::Ingress, "nginx.ingress.kubernetes.io/affinity"),
    ("haproxy-ingress", Kind::Ingress, "haproxy-ingress.github.io/affinity"),
    ("traefik", Kind::Service, "traefik.ingress.kubernetes.io/service.sticky.cookie"),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let services = ctx.complete_list::<Service>()?;
    let pods = ctx.complete_list::<Pod>()?;
    let judged = services.iter().filter(|service| ctx.judges(&service.metadata.namespace));
    let mut findings: Vec<Finding> = judged.filter_map(|service| of_service(ctx, survey, pods, service)).collect();
    match entries(ctx) {
        Ok(entries) => findings.extend(of_entries(ctx, survey, (pods, services), entries)),
        Err(missing) if findings.is_empty() => return Err(missing.into()),
        Err(missing) => ctx.gap(missing),
    }
    Ok(findings.into())
}

/// The number of ready pods that a Service selects.
fn ready(pods: &[Pod], service: &Service) -> usize {
    running(pods).filter(|pod| selects(service, &pod.metadata) && pod.is_ready()).count()
}

/// A finding about a Service with `sessionAffinity: ClientIP` and pods that may call it through their proxy.
fn of_service(ctx: &Context<'_>, survey: &Survey<'_>, pods: &[Pod], service: &Service) -> Option<Finding> {
    let (meta, spec) = (&service.metadata, &service.spec);
    let is_sticky = spec.session_affinity == "ClientIP" && spec.cluster_ip.is_some();
    let ready = if is_sticky { ready(pods, service) } else { 0 };
    if ready < 2 || spec.tcp_ports().next().is_none() {
        return None;
    }
    let home = ctx.namespaces().control_plane.as_str();
    let skips = |pod: &Pod| {
        let skipped = skipped(pod, OUT, ctx.cni_skips());
        skipped.is_some_and(|skipped| spec.tcp_ports().all(|port| skipped.holds(port.port)))
    };
    let is_client = |pod: &&Pod| {
        let is_own = pod.metadata.namespace == home || pod.metadata.label(EXTENSION_LABEL).is_some();
        !is_own && identity(survey, home, pod).is_some() && !selects(service, &pod.metadata) && !skips(pod)
    };
    let mut clients: BTreeMap<Owner, &Pod> = BTreeMap::new();
    for pod in running(pods).filter(is_client) {
        clients.entry(ctx.owners().owner(pod)).or_insert(pod);
    }
    if clients.is_empty() {
        return None;
    }
    let near: Vec<(&Owner, &Pod)> = clients
        .iter()
        .filter(|(owner, _)| owner.namespace == meta.namespace)
        .map(|(owner, pod)| (owner, *pod))
        .collect();
    let names: Vec<String> = match near.is_empty() {
        true => clients.keys().map(|owner| format!("{} {}/{}", owner.kind, owner.namespace, owner.name)).collect(),
        false => near.iter().map(|(owner, _)| format!("{} {}", owner.kind, owner.name)).collect(),
    };
    let message = format!(
        "Proxies ignore sessionAffinity: if meshed pods call Service {}, their proxy selects one of its pods for each \
         request or connection, so a session does not stay at one pod",
        meta.name
    );
    let remedy = Remedy::new()
        .note("Let the application share its sessions among its pods, in a common store: then it needs no affinity");
    let remedy = near
        .iter()
        .take(QUOTED)
        .fold(remedy, |remedy, (owner, pod)| through_kube_proxy(ctx, remedy, (owner, pod), service));
    let remedy = match near.is_empty() {
        false => remedy,
        true => remedy.step(
            StepKind::Annotation,
            format!(
                "Or let kube-proxy select the pod, without mTLS and identity: set {SKIP}: {:?} on the clients",
                ports(service)
            ),
        ),
    };
    Some(
        ctx.finding(Subject::object(Kind::Service, &meta.namespace, &meta.name), message)
            // Objects show no call of the Service.
            .severity(Severity::Info)
            .likely()
            .evidence(field(Kind::Service, meta, "spec.sessionAffinity", "ClientIP"))
            .evidence(Evidence::other("ready pods of the Service", ready.to_string()))
            .evidence(Evidence::other("meshed pods that may call it", some(&names, QUOTED)))
            .remedy(remedy),
    )
}

/// The TCP ports of a Service as a list.
fn ports(service: &Service) -> String {
    let ports: Vec<String> = service.spec.tcp_ports().map(|port| port.port.to_string()).collect();
    ports.join(",")
}

/// The step that excludes the ports of the Service from the proxy of a client.
fn through_kube_proxy(ctx: &Context<'_>, remedy: Remedy, (owner, pod): (&Owner, &Pod), service: &Service) -> Remedy {
    rewrite::extend_list(ctx, remedy, owner, (SKIP, Some(pod)), &ports(service), |list| {
        format!(
            "Or, if {} calls the Service, let kube-proxy select the pod, without mTLS and identity: set {SKIP}: \
             {list:?}",
            owner.name
        )
    })
}

/// The findings about ingress controllers that should send the requests of a session to one pod.
fn of_entries<'a>(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    (pods, services): (&'a [Pod], &'a [Service]),
    entries: Vec<Entry<'a>>,
) -> Vec<Finding> {
    let callers = callers(ctx, survey, pods);
    let classes = Classes::new(ctx);
    let mut found = BTreeMap::new();
    for entry in entries {
        let mut serving = callers.iter().filter(|one| one.identity.is_some() && entry.is_served(&classes, one));
        let Some(caller) = serving.next() else { continue };
        let Some((service, _)) = entry.service(services) else { continue };
        let Some(cookie) = sticky(&entry, caller, service) else { continue };
        if ready(pods, service) < 2 {
            continue;
        }
        let Some(upstream) = caller.of.upstream else { continue };
        let setting = match Upstream::new(ctx, &classes, (&entry, caller), &service.metadata) {
            Upstream::Service => Some(None),
            Upstream::ServiceByDefault(setting) => Some(Some(setting)),
            Upstream::Pods(_) if is_ordinary(caller) => continue,
            Upstream::Unknown(missing) if is_ordinary(caller) => {
                ctx.gap(missing);
                continue;
            }
            Upstream::Pods(_) | Upstream::Unknown(_) => None,
        };
        found.entry((entry.subject(), service.metadata.name.as_str())).or_insert_with(|| match setting {
            Some(setting) => to_service(ctx, &entry, service, cookie, (upstream, setting)),
            None => in_ingress_mode(ctx, &entry, service, cookie, caller),
        });
    }
    found.into_values().collect()
}

/// The setting that keeps sessions at one pod.
fn sticky(entry: &Entry<'_>, caller: &Caller<'_>, service: &Service) -> Option<Evidence> {
    let Entry::Path(ingress, ..) = entry else { return None };
    let (_, kind, key) = STICKY.iter().find(|(controller, ..)| *controller == caller.of.name)?;
    let meta = if *kind == Kind::Ingress { &ingress.metadata } else { &service.metadata };
    let said = meta.annotation(key).filter(|said| !said.is_empty() && *said != "false")?;
    Some(field(*kind, meta, &format!("metadata.annotations[{key}]"), said))
}

/// A finding about a controller that sends requests to the address of the Service. `setting`: the setting of the
/// controller for all, if the annotation is not set.
fn to_service(
    ctx: &Context<'_>,
    entry: &Entry<'_>,
    service: &Service,
    cookie: Evidence,
    ((kind, key), setting): ((&str, &str), Option<Evidence>),
) -> Finding {
    let name = service.metadata.name.as_str();
    let message = format!(
        "The ingress controller sends requests to the address of Service {name}, so a proxy selects the pod for each \
         request. The cookie for sticky sessions has no effect"
    );
    let (kind, meta, resource) = match kind {
        "Ingress" => (Kind::Ingress, entry.meta(), "annotate ingress"),
        _ => (Kind::Service, &service.metadata, "annotate service"),
    };
    let (act, value) = match setting {
        Some(_) => (format!("Set {key}: \"false\""), format!("{key}=false")),
        None => (format!("Remove {key}"), format!("{key}-")),
    };
    let evidence = setting.unwrap_or_else(|| {
        let said = meta.annotation(key).unwrap_or_default();
        field(kind, meta, &format!("metadata.annotations[{key}]"), said)
    });
    let remedy = Remedy::new()
        .run(
            StepKind::Annotation,
            format!("{act} (also in its source manifest): the controller then selects the pod"),
            kubectl().namespace(&meta.namespace).words(resource).operand(&meta.name).arg(value),
        )
        .note(
            "Routes and profiles of the Service then have no effect on requests of the controller; those of other \
             clients are not affected",
        );
    ctx.finding(entry.subject(), message).parameter(name).evidence(cookie).evidence(evidence).remedy(remedy)
}

/// A finding about a controller whose proxy may select the pod by a header.
fn in_ingress_mode(
    ctx: &Context<'_>,
    entry: &Entry<'_>,
    service: &Service,
    cookie: Evidence,
    caller: &Caller<'_>,
) -> Finding {
    let name = service.metadata.name.as_str();
    let message = format!(
        "The proxy of the ingress controller is in ingress mode: for requests with the header l5d-dst-override it \
         selects a pod of Service {name} itself, and the cookie for sticky sessions has no effect"
    );
    let remedy = Remedy::new()
        .note("Remove the header l5d-dst-override from the configuration of this Ingress")
        .note(format!("Or mesh the controller in the ordinary mode ({INJECT}: enabled), without that header"));
    // The configuration of the header is not read.
    ctx.finding(entry.subject(), message)
        .severity(Severity::Info)
        .parameter(name)
        .likely()
        .evidence(cookie)
        .evidence(mode(caller))
        .remedy(remedy)
}
