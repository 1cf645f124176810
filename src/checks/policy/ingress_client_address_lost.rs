//! `ingress-client-address-lost`: an ingress controller admits or denies clients by address, but its proxy opens the
//! connections that it sees.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::ingress::{Caller, Classes, meshed_callers};
use super::ingress_header::{has_argument, is_configured_by_arguments};
use super::ingress_upstream::{arguments, settings};
use super::survey::{defined, field};
use crate::annotations::{ALLOWLIST, DENYLIST, MIDDLEWARES, WHITELIST};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::words::some;
use crate::model::networks::Network;
use crate::model::skipped::{IN, skipped};
use crate::objects::container::boolean;
use crate::objects::{AdmittedClients, Ingress, IngressRoute, Middleware};
use crate::redact::{is_marked, is_placeholder};

/// The controllers whose lists are known.
const INGRESS_NGINX: &str = "ingress-nginx";
const TRAEFIK: &str = "traefik";
/// The provider that the annotation of Ingresses names for Middlewares in the cluster.
const PROVIDER: &str = "@kubernetescrd";
/// The arguments of Traefik with the PROXY protocol of entry points, as they are kept.
const PROXY_PROTOCOL: &str = "--entrypoints.proxyprotocol";
/// Keys of its ConfigMap that make it use the client's address from a header or from the PROXY protocol.
const KEYS: [&str; 3] = ["use-proxy-protocol", "use-forwarded-headers", "enable-real-ip"];
/// The ports for clients by default, and the names of these ports, of ingress-nginx and of Traefik.
const PORTS: [(&str, u16); 2] = [("http", 80), ("https", 443)];
const ENTRY_POINTS: [(&str, u16); 2] = [("web", 8000), ("websecure", 8443)];
/// Maximum number of quoted ranges of a Middleware.
const RANGES: usize = 4;
/// Maximum number of quoted lists.
const QUOTED: usize = 3;

/// The effect of a list of ranges if all clients have the address of the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ListEffect {
    /// It denies every client.
    DeniesAll,
    /// It admits every client.
    AdmitsAll,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.complete_list::<Pod>()?;
    let is_known = |caller: &Caller<'_>| [INGRESS_NGINX, TRAEFIK].contains(&caller.of.name);
    let callers: Vec<Caller<'_>> = meshed_callers(pods).filter(is_known).collect();
    if callers.is_empty() {
        return Err(Unjudged::not_applicable("no ingress-nginx or Traefik has a proxy"));
    }
    let ingresses = ctx.complete_list::<Ingress>()?;
    let classes = Classes::new(ctx);
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, ListEffect), (&Caller<'_>, Vec<Evidence>)> = BTreeMap::new();
    for caller in callers.iter().filter(|caller| !is_skipped(ctx, caller)) {
        let Some(own) = caller.pod.status.pod_ip else { continue };
        let served: Vec<&Ingress> = ingresses
            .iter()
            .filter(|ingress| ctx.judges(&ingress.metadata.namespace) && classes.serves(caller, ingress))
            .collect();
        let lists = match caller.of.name {
            INGRESS_NGINX => annotated_lists(ctx, &served, own),
            _ => ctx.or_note(middleware_lists(ctx, &served, own)).unwrap_or_default(),
        };
        if lists.is_empty() {
            continue;
        }
        let is_taken = match caller.of.name {
            INGRESS_NGINX => uses_header(ctx, caller.pod),
            _ => uses_proxy_protocol(ctx, caller.pod),
        };
        match is_taken {
            Ok(false) => {}
            Ok(true) => continue,
            Err(missing) => {
                ctx.gap(missing);
                continue;
            }
        }
        for (effect, evidence) in lists {
            let key = (owners.owner(caller.pod), effect);
            let (_, group) = groups.entry(key).or_insert((caller, Vec::new()));
            if !group.contains(&evidence) {
                group.push(evidence);
            }
        }
    }
    let findings =
        groups.into_iter().map(|((owner, effect), (caller, lists))| finding(ctx, &owner, effect, caller, lists));
    Ok(findings.collect())
}

/// The lists in annotations of Ingresses, with their effect if every client has the address `own`.
fn annotated_lists(ctx: &Context<'_>, served: &[&Ingress], own: IpAddr) -> Vec<(ListEffect, Evidence)> {
    let mut lists = Vec::new();
    for ingress in served {
        for (key, value) in annotated(ingress) {
            if is_marked(value) || is_placeholder(value) {
                ctx.gap(redacted(ctx, format!("Ingress annotation {key} is redacted")));
                continue;
            }
            let Some(effect) = effect(key == DENYLIST, value.split(','), own) else { continue };
            let path = format!("metadata.annotations[{key}]");
            lists.push((effect, field(Kind::Ingress, &ingress.metadata, &path, value)));
        }
    }
    lists
}

/// The lists in Middlewares of Traefik that an IngressRoute or one of these Ingresses uses, with their effect if every
/// client has the address `own`.
///
/// # Errors
/// The Middlewares or IngressRoutes are not known.
fn middleware_lists(
    ctx: &Context<'_>,
    served: &[&Ingress],
    own: IpAddr,
) -> Result<Vec<(ListEffect, Evidence)>, Missing> {
    let middlewares = defined::<Middleware>(ctx)?;
    let routes = defined::<IngressRoute>(ctx)?.iter().filter(|route| ctx.judges(&route.metadata.namespace));
    let mut used: BTreeSet<(&str, &str)> = BTreeSet::new();
    for route in routes {
        used.extend(route.middlewares().map(|one| one.key(&route.metadata.namespace)));
    }
    for ingress in served {
        let Some(value) = ingress.metadata.annotation(MIDDLEWARES) else { continue };
        if is_marked(value) || is_placeholder(value) {
            ctx.gap(redacted(ctx, format!("Ingress annotation {MIDDLEWARES} is redacted")));
            continue;
        }
        let names: Vec<&str> = value.split(',').filter_map(|name| name.trim().strip_suffix(PROVIDER)).collect();
        let is_named = |one: &&Middleware| {
            let (namespace, name) = one.metadata.key();
            let rest = |full: &&str| full.strip_prefix(namespace)?.strip_prefix('-').map(|rest| rest == name);
            names.iter().any(|full| rest(full) == Some(true))
        };
        used.extend(middlewares.iter().filter(is_named).map(|one| one.metadata.key()));
    }
    let chains: Vec<&Middleware> = middlewares.iter().filter(|one| used.contains(&one.metadata.key())).collect();
    for one in chains {
        used.extend(one.spec.chain.middlewares.iter().map(|next| next.key(&one.metadata.namespace)));
    }
    let mut lists = Vec::new();
    for one in middlewares.iter().filter(|one| used.contains(&one.metadata.key())) {
        let both = [("ipAllowList", &one.spec.ip_allow_list), ("ipWhiteList", &one.spec.ip_white_list)];
        let set = both.into_iter().filter_map(|(key, list)| Some((key, list.as_ref()?)));
        for (key, AdmittedClients { source_range, .. }) in set.filter(|(_, list)| list.ip_strategy.is_none()) {
            let Some(effect) = effect(false, source_range.iter().map(String::as_str), own) else { continue };
            let path = format!("spec.{key}.sourceRange");
            let value = some(source_range, RANGES);
            lists.push((effect, field(Kind::Middleware, &one.metadata, &path, &value)));
        }
    }
    Ok(lists)
}

/// The lists of an Ingress that apply, with their keys. ingress-nginx reads the older key of allowed ranges only
/// without the newer one.
fn annotated(ingress: &Ingress) -> impl Iterator<Item = (&'static str, &str)> {
    let value = |key: &'static str| {
        let value = ingress.metadata.annotation(key).filter(|value| !value.trim().is_empty())?;
        Some((key, value))
    };
    value(ALLOWLIST).or_else(|| value(WHITELIST)).into_iter().chain(value(DENYLIST))
}

/// The effect of a list if every client has one address; `None` if it contains all addresses, and if a range cannot
/// be read.
fn effect<'a>(denies: bool, ranges: impl Iterator<Item = &'a str>, own: IpAddr) -> Option<ListEffect> {
    let ranges = ranges.map(str::trim).filter(|range| !range.is_empty());
    let networks: Option<Vec<Network>> =
        ranges.map(|range| range.parse().map(Network::of_address).or_else(|_| range.parse()).ok()).collect();
    let networks = networks.filter(|networks| !networks.is_empty())?;
    if networks.iter().any(Network::is_everything) {
        return None;
    }
    let contains = networks.iter().any(|network| network.contains(own));
    match (denies, contains) {
        (false, false) | (true, true) => Some(ListEffect::DeniesAll),
        (false, true) | (true, false) => Some(ListEffect::AdmitsAll),
    }
}

/// Whether connections to one of the controller's ports for clients bypass its proxy.
fn is_skipped(ctx: &Context<'_>, caller: &Caller<'_>) -> bool {
    let Some(skipped) = skipped(caller.pod, IN, ctx.cni_skips()) else { return false };
    ports(caller).into_iter().any(|port| skipped.holds(port))
}

/// The ports of the controller for clients.
fn ports(caller: &Caller<'_>) -> [u16; 2] {
    let known = if caller.of.name == INGRESS_NGINX { PORTS } else { ENTRY_POINTS };
    known.map(|(name, default)| {
        let mut declared = caller.pod.spec.containers.iter().flat_map(|container| &container.ports);
        declared.find(|port| port.name == name).map_or(default, |port| port.container_port)
    })
}

/// Whether Traefik takes the address of the client from the PROXY protocol.
fn uses_proxy_protocol(ctx: &Context<'_>, pod: &Pod) -> Result<bool, Missing> {
    match () {
        () if has_argument(pod, |arg| arg == PROXY_PROTOCOL) => Ok(true),
        () if is_configured_by_arguments(pod) => Ok(false),
        () => Err(arguments(ctx, pod)),
    }
}

/// Whether the controller takes the address of the client from a header or the PROXY protocol.
fn uses_header(ctx: &Context<'_>, pod: &Pod) -> Result<bool, Missing> {
    let Some((of, Some(config))) = settings(ctx, pod)? else { return Ok(false) };
    for key in KEYS {
        match config.data.get(key) {
            Some(value) if is_marked(value) || is_placeholder(value) => {
                return Err(redacted(ctx, format!("{of}: data[{key}] is redacted")));
            }
            Some(value) if boolean(value).unwrap_or_default() => return Ok(true),
            Some(_) | None => {}
        }
    }
    Ok(false)
}

fn redacted(ctx: &Context<'_>, message: String) -> Missing {
    ctx.missing(Item::List(Kind::Pod), Why::NotJudged { message }, "a setting of an ingress controller")
}

fn finding(ctx: &Context<'_>, owner: &Owner, effect: ListEffect, caller: &Caller<'_>, lists: Vec<Evidence>) -> Finding {
    let pod = caller.pod;
    let (said, severity, parameter) = match effect {
        ListEffect::DeniesAll => ("The lists deny every client", Severity::Error, "denies"),
        ListEffect::AdmitsAll => ("The lists deny no client", Severity::Warning, "admits"),
    };
    let message = format!(
        "Client addresses are listed, but {} sees its own address as that of every client, because its proxy opens \
         the connections. {said}",
        caller.of.name
    );
    let object = || pod.described();
    let own = pod.status.pod_ip.map(|address| Evidence::field(object(), "status.podIP", address.to_string()));
    let earlier = pod.metadata.annotation(IN.annotation()).filter(|list| !list.trim().is_empty());
    let set =
        Evidence::field(object(), format!("metadata.annotations[{}]", IN.annotation()), earlier.unwrap_or("not set"));
    let more = lists.len().saturating_sub(QUOTED);
    let more = (more > 0).then(|| Evidence::other("objects with such lists", format!("and {more} more")));
    let [http, https] = ports(caller);
    let list = match earlier {
        Some(earlier) => format!("{earlier},{http},{https}"),
        None => format!("{http},{https}"),
    };
    let key = IN.annotation();
    let act = format!(
        "Let clients bypass the controller's proxy, which stays in the mesh for its own calls: set {key}: {list:?}"
    );
    let remedy = rewrite::of_owner(ctx, Remedy::new(), &act, owner, &[(key, Some(&list))]);
    ctx.finding(owner.subject(vec![pod.metadata.name.clone()]), message)
        .severity(severity)
        .parameter(parameter)
        .likely()
        .evidences(lists.into_iter().take(QUOTED))
        .evidences(more)
        .evidences(own)
        .evidence(set)
        .remedy(remedy)
}
