//! `ingress-client-address-lost`: Ingresses admit or deny clients by address, but the proxy of ingress-nginx opens the
//! connections that the controller sees.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::ingress::{Caller, Classes, meshed_callers};
use super::ingress_upstream::settings;
use super::survey::field;
use crate::annotations::{ALLOWLIST, DENYLIST, WHITELIST};
use crate::checks::{Context, Judgement, Unjudged, rewrite};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, Severity};
use crate::item::Item;
use crate::missing::Missing;
use crate::model::networks::Network;
use crate::model::owners::Owner;
use crate::model::skipped::{IN, skipped};
use crate::objects::container::boolean;
use crate::objects::{Ingress, Kind, Pod};
use crate::redact::{is_marked, is_placeholder};

/// The name of the controller whose annotations are known.
const INGRESS_NGINX: &str = "ingress-nginx";
/// Keys of its ConfigMap that make it use the client's address from a header or from the PROXY protocol.
const KEYS: [&str; 3] = ["use-proxy-protocol", "use-forwarded-headers", "enable-real-ip"];
/// The ports that it listens on by default, and the names of its ports.
const PORTS: [(&str, u16); 2] = [("http", 80), ("https", 443)];
/// Maximum number of quoted Ingresses.
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
    let callers: Vec<Caller<'_>> =
        meshed_callers(pods).filter(|caller| caller.of.name == INGRESS_NGINX).collect();
    if callers.is_empty() {
        return Err(Unjudged::not_applicable("ingress-nginx has no proxy"));
    }
    let ingresses = ctx.complete_list::<Ingress>()?;
    let classes = Classes::new(ctx);
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, ListEffect), (&Caller<'_>, Vec<Evidence>)> = BTreeMap::new();
    for caller in callers.iter().filter(|caller| !is_skipped(ctx, caller.pod)) {
        let Some(own) = caller.pod.status.pod_ip else { continue };
        let served = ingresses
            .iter()
            .filter(|ingress| ctx.judges(&ingress.metadata.namespace) && classes.serves(caller, ingress));
        let mut lists: Vec<(ListEffect, Evidence)> = Vec::new();
        for ingress in served {
            for (key, value) in annotated(ingress) {
                if is_marked(value) || is_placeholder(value) {
                    ctx.gap(redacted(ctx, format!("Ingress annotation {key} is redacted")));
                    continue;
                }
                let Some(effect) = effect(key, value, own) else { continue };
                let path = format!("metadata.annotations[{key}]");
                lists.push((effect, field(Kind::Ingress, &ingress.metadata, &path, value)));
            }
        }
        if lists.is_empty() {
            continue;
        }
        match uses_header(ctx, caller.pod) {
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
    let findings = groups
        .into_iter()
        .map(|((owner, effect), (caller, lists))| finding(ctx, &owner, effect, caller.pod, lists));
    Ok(findings.collect::<Vec<_>>().into())
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
fn effect(key: &str, list: &str, own: IpAddr) -> Option<ListEffect> {
    let ranges = list.split(',').map(str::trim).filter(|range| !range.is_empty());
    let networks: Option<Vec<Network>> =
        ranges.map(|range| range.parse().map(Network::of_address).or_else(|_| range.parse()).ok()).collect();
    let networks = networks.filter(|networks| !networks.is_empty())?;
    if networks.iter().any(Network::is_everything) {
        return None;
    }
    let contains = networks.iter().any(|network| network.contains(own));
    match (key == DENYLIST, contains) {
        (false, false) | (true, true) => Some(ListEffect::DeniesAll),
        (false, true) | (true, false) => Some(ListEffect::AdmitsAll),
    }
}

/// Whether connections to one of the controller's ports for clients bypass its proxy.
fn is_skipped(ctx: &Context<'_>, pod: &Pod) -> bool {
    let Some(skipped) = skipped(pod, IN, ctx.cni_skips()) else { return false };
    ports(pod).into_iter().any(|port| skipped.holds(port))
}

/// The ports of the controller for clients.
fn ports(pod: &Pod) -> [u16; 2] {
    PORTS.map(|(name, default)| {
        let mut declared = pod.spec.containers.iter().flat_map(|container| &container.ports);
        declared.find(|port| port.name == name).map_or(default, |port| port.container_port)
    })
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

fn finding(ctx: &Context<'_>, owner: &Owner, effect: ListEffect, pod: &Pod, lists: Vec<Evidence>) -> Finding {
    let (said, severity, parameter) = match effect {
        ListEffect::DeniesAll => ("It answers every client with 403", Severity::Error, "denies"),
        ListEffect::AdmitsAll => ("The lists deny no client", Severity::Warning, "admits"),
    };
    let message = format!(
        "Ingresses list client addresses, but the controller sees its own address as that of every client, because \
         its proxy opens the connections. {said}"
    );
    let object = || format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    let own = pod.status.pod_ip.map(|address| Evidence::field(object(), "status.podIP", address.to_string()));
    let earlier = pod.metadata.annotation(IN.annotation()).filter(|list| !list.trim().is_empty());
    let set = Evidence::field(
        object(),
        format!("metadata.annotations[{}]", IN.annotation()),
        earlier.unwrap_or("not set"),
    );
    let more = lists.len().saturating_sub(QUOTED);
    let more = (more > 0).then(|| Evidence::other("Ingresses with such lists", format!("and {more} more")));
    let [http, https] = ports(pod);
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
