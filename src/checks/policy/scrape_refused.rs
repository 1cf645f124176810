//! `scrape-refused`: the policy of the proxies' metrics port denies every Prometheus that scrapes them.

use std::collections::BTreeMap;

use super::authorize;
use super::survey::{Survey, defined, rule_of, survey};
use crate::checks::prelude::*;
use crate::checks::viz::{allowing, denies};
use crate::command::linkerd;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::policy::{Client, Entry, Inbound, TakenBy};
use crate::objects::{Monitor, PodMonitor};

/// The metrics port: the name that the injector gives it, and its default number.
const ADMIN: (&str, u16) = ("linkerd-admin", 4191);
/// The path of the metrics.
const METRICS: &str = "/metrics";
/// The label by which charts and operators mark a Prometheus.
const PROMETHEUS: (&str, &str) = ("app.kubernetes.io/name", "prometheus");

/// A Prometheus that scrapes proxies.
struct Scraper<'a> {
    pod: &'a Pod,
    /// Its mesh identity, if it has a proxy.
    identity: Option<String>,
    /// Whether it is viz's own.
    of_viz: bool,
    /// Whether it is known to scrape proxies.
    told: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    // Labels of namespaces show where viz is installed.
    let namespaces = ctx.complete_list::<Namespace>();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config");
    let survey = survey(ctx)?;
    let pods = ctx.complete_list::<Pod>()?;
    namespaces?;
    let monitors = ctx.or_note(defined::<PodMonitor>(ctx)).unwrap_or_default();
    let scrapers = scrapers(ctx, survey, config?, monitors, pods);
    if scrapers.is_empty() {
        return Err(Unjudged::not_applicable("there is no known Prometheus"));
    }
    let with_viz = scrapers.iter().any(|scraper| scraper.of_viz);
    // Pods with deny as default policy in other namespaces belong to viz's own check.
    let allowing = allowing(survey.objects.authorization_policies);
    let owners = ctx.owners();
    let mut refused: BTreeMap<(Owner, u16), (Inbound<'_>, Vec<&Pod>)> = BTreeMap::new();
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        if with_viz && denies(pod) && !allowing.contains(pod.metadata.namespace.as_str()) {
            continue;
        }
        let port = admin_port(pod);
        let inbound = survey.index.inbound(workload, port);
        let admitted = scrapers.iter().any(|scraper| {
            let client = Client { identity: scraper.identity.as_deref(), address: scraper.pod.status.pod_ip };
            inbound.get(METRICS, client) == Entry::Admitted
        });
        if !admitted {
            refused.entry((owners.owner(pod), port)).or_insert_with(|| (inbound, Vec::new())).1.push(pod);
        }
    }
    let findings =
        refused.iter().map(|((owner, port), (inbound, pods))| finding(ctx, owner, *port, (inbound, pods), &scrapers));
    Ok(findings.collect())
}

/// Viz's Prometheus and, if PodMonitors select proxies, every other Prometheus.
fn scrapers<'a>(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    config: Option<&ConfigMap>,
    monitors: &[Monitor],
    pods: &'a [Pod],
) -> Vec<Scraper<'a>> {
    let home = ctx.namespaces().control_plane.as_str();
    let viz = ctx.namespaces().extensions.get(&Extension::Viz).map(String::as_str);
    let values = config.and_then(ConfigMap::chart_values);
    let said = |path: &str| values.as_ref().and_then(|values| values.bool(path));
    let by_chart = said("podMonitor.enabled") == Some(true) && said("podMonitor.proxy.enabled") != Some(false);
    let monitored = by_chart || monitors.iter().any(Monitor::asks_proxies);
    let alive = pods.iter().filter(|pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none());
    let found: Vec<Scraper<'_>> = alive
        .filter_map(|pod| {
            let meta = &pod.metadata;
            let of_viz = viz == Some(meta.namespace.as_str()) && meta.label("component") == Some("prometheus");
            let told = of_viz || monitored;
            if !of_viz && meta.label(PROMETHEUS.0) != Some(PROMETHEUS.1) {
                return None;
            }
            let meshed = meta.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
            let account = pod.spec.account();
            let identity = meshed.then(|| survey.index.controller.identity(&meta.namespace, account));
            Some(Scraper { pod, identity, of_viz, told })
        })
        .collect();
    // Another Prometheus may scrape proxies by its own configuration, which is not read. It counts only if
    // no other is known to.
    let any_told = found.iter().any(|scraper| scraper.told);
    found.into_iter().filter(|scraper| scraper.told || !any_told).collect()
}

/// The metrics port of a pod's proxy.
pub(in crate::checks) fn admin_port(pod: &Pod) -> u16 {
    let ports = pod.spec.proxy().into_iter().flat_map(|proxy| &proxy.ports);
    ports.filter(|port| port.name == ADMIN.0).map(|port| port.container_port).next().unwrap_or(ADMIN.1)
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    port: u16,
    (inbound, pods): (&Inbound<'_>, &[&Pod]),
    scrapers: &[Scraper<'_>],
) -> Finding {
    let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let by = rule_of(inbound, port);
    let asking = scrapers.iter().take(3).map(|scraper| {
        let said = scraper.identity.clone().unwrap_or_else(|| "no proxy, so no identity".to_owned());
        let meta = &scraper.pod.metadata;
        Evidence::field(meta.described("Pod"), "identity in the mesh", said)
    });
    let told = scrapers.iter().any(|scraper| scraper.told);
    let (severity, message) = if told {
        (
            Severity::Warning,
            "the policy of the proxies' metrics port denies every Prometheus that scrapes them. Dashboards \
             and autoscaling by metrics have no data of these pods",
        )
    } else {
        (
            Severity::Info,
            "the policy of the proxies' metrics port denies the cluster's Prometheus. If its own \
             configuration scrapes proxies, it gets a 403 from these pods",
        )
    };
    ctx.finding(owner.subject(names), message)
        .severity(severity)
        .parameter(port.to_string())
        .likely()
        .evidence(by)
        .evidences(asking)
        .remedy(remedy(owner, inbound, scrapers))
}

fn remedy(owner: &Owner, inbound: &Inbound<'_>, scrapers: &[Scraper<'_>]) -> Remedy {
    let namespace = &owner.namespace;
    let mut remedy = Remedy::new();
    let taken = matches!(inbound.taken_by, TakenBy::Server(_));
    if scrapers.iter().any(|scraper| scraper.of_viz) && !taken {
        remedy = remedy.command(
            "Authorize viz's Prometheus in the namespace of the pods",
            linkerd().words("viz allow-scrapes").option("--namespace", namespace).pipe(kubectl().words("apply -f -")),
        );
    }
    if let TakenBy::Server(server) = inbound.taken_by {
        let act = "Add an AuthorizationPolicy for the Server that requires the service account of Prometheus";
        let known = scrapers.iter().find(|scraper| scraper.identity.is_some());
        remedy = match known.map(|scraper| scraper.pod) {
            Some(pod) => {
                remedy.command(act, authorize::account(&server.metadata, (&pod.metadata.namespace, pod.spec.account())))
            }
            None => remedy.note(act),
        };
    }
    if let Some(other) = scrapers.iter().find(|scraper| !scraper.of_viz) {
        let step = match &other.identity {
            Some(_) => {
                "Authorize the other Prometheus: create a Server for the port linkerd-admin of the pods, \
                 and an AuthorizationPolicy for it that requires its service account"
            }
            None => {
                "Authorize the other Prometheus, which has no proxy: create a Server for the pods' port \
                 linkerd-admin, and an AuthorizationPolicy that requires a NetworkAuthentication of its \
                 addresses. Or mesh it, and require its service account"
            }
        };
        remedy = remedy.note(step);
    }
    remedy
}
