//! `viz-scrape-mismatch`: a scrape job of viz's Prometheus keeps no container port of the components that
//! it is for.

use regex::Regex;

use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::extensions::{installed_in, preview_text};
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::checks::versions::cli_install;
use crate::command::{Line, linkerd};
use crate::item::EXTENSION_LABEL;
use crate::model::control_plane::components;
use crate::objects::Container;
use crate::objects::container::PROXY_CONTAINER;
use crate::redact::{ScrapeConfig, ScrapeJob, ScrapeRule};
use crate::version::Contains;

/// ConfigMap with the configuration, and its entry.
const CONFIG: &str = "prometheus-config";
const FILE: &str = "prometheus.yml";
/// The id of the defect: releases whose jobs do not fit their own control plane.
const DEFECT: &str = "viz-admin-ports";
/// Maximum number of quoted Deployments.
const QUOTED: usize = 3;
/// Jobs of the chart, and the components that each is for.
const JOBS: [(&str, ScrapedComponents); 3] = [
    ("linkerd-controller", ScrapedComponents::Controllers),
    ("linkerd-multicluster-controller", ScrapedComponents::Mirrors),
    ("linkerd-proxy", ScrapedComponents::Proxies),
];

/// Values of the label `component` of service mirrors that the chart scrapes.
const MIRRORS: [&str; 2] = ["linkerd-service-mirror", "controller"];

/// The components that a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScrapedComponents {
    /// The programs of the control plane and of viz.
    Controllers,
    /// The service mirrors of the multicluster extension.
    Mirrors,
    /// The proxies, of which those of the control plane are compared.
    Proxies,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Viz)?.metadata.name.as_str();
    let Some(config) = ctx.object::<ConfigMap>(Scope::Extension(Extension::Viz), CONFIG)? else {
        return Ok(Vec::new().into());
    };
    let deployments = ctx.partial_list::<Deployment>()?;
    let config = ScrapeConfig::parse(config.data.get(FILE).map_or("", String::as_str));
    let mut findings = Vec::new();
    let mut has_other_rules = false;
    for (name, target) in JOBS {
        let Some(job) = config.jobs.iter().find(|job| job.name == name) else {
            // Jobs with other names may scrape the same pods.
            let is_lost = target == ScrapedComponents::Proxies && !config.jobs.is_empty();
            if is_lost && !config.has_others {
                findings.push(lost(ctx, namespace, name, &config));
            }
            continue;
        };
        if job.is_partial {
            has_other_rules = true;
            continue;
        }
        let Some(rules) = job.rules.iter().map(Matcher::new).collect::<Option<Vec<_>>>() else { continue };
        let unscraped: Vec<(&Workload, Vec<&Container>)> = target
            .workloads(ctx, deployments, namespace)
            .into_iter()
            .filter_map(|workload| {
                let containers = target.containers(workload);
                let is_kept = |container: &&Container| keeps_port(job, &rules, workload, container) != Some(false);
                (!containers.is_empty() && !containers.iter().any(is_kept)).then_some((workload, containers))
            })
            .collect();
        if !unscraped.is_empty() {
            findings.push(finding(ctx, namespace, job, &unscraped));
        }
    }
    if findings.is_empty() && has_other_rules {
        return Err(Unjudged::not_applicable("scrape jobs of viz have other rules than those of its chart"));
    }
    Ok(findings.into())
}

impl ScrapedComponents {
    fn workloads<'a>(self, ctx: &Context<'_>, deployments: &'a [Workload], viz: &str) -> Vec<&'a Workload> {
        let home = &ctx.namespaces().control_plane;
        let own = || components(deployments, home).into_iter().map(|component| component.deployment);
        let of = |extension: Extension| {
            deployments.iter().filter(move |one| one.metadata.label(EXTENSION_LABEL) == Some(extension.name()))
        };
        match self {
            ScrapedComponents::Proxies => own().collect(),
            ScrapedComponents::Controllers => {
                let of_viz = of(Extension::Viz).filter(|one| one.metadata.namespace == viz);
                own().chain(of_viz).collect()
            }
            ScrapedComponents::Mirrors => {
                let is_meant = |one: &&Workload| {
                    one.spec.template.metadata.label("component").is_some_and(|name| MIRRORS.contains(&name))
                };
                of(Extension::Multicluster).filter(is_meant).collect()
            }
        }
    }

    /// The containers with metrics.
    fn containers(self, workload: &Workload) -> Vec<&Container> {
        let spec = &workload.spec.template.spec;
        let has_metrics = |container: &&Container| container.ports.iter().any(|port| port.name.contains("admin"));
        let is_proxy = |container: &Container| container.name.as_str() == PROXY_CONTAINER;
        // Prometheus scrapes itself by another job, and the gateway has nothing but a proxy.
        let is_own = |container: &&Container| {
            is_proxy(container) == (self == ScrapedComponents::Proxies)
                && container.name.as_str() != "prometheus"
                && container.name.as_str() != "pause"
        };
        let init = spec.init_containers.iter();
        spec.containers.iter().chain(init).filter(has_metrics).filter(is_own).collect()
    }
}

/// A rule with its compiled expression.
struct Matcher<'a> {
    rule: &'a ScrapeRule,
    regex: Regex,
}

impl<'a> Matcher<'a> {
    /// As Prometheus, it matches whole texts.
    fn new(rule: &'a ScrapeRule) -> Option<Matcher<'a>> {
        let regex = Regex::new(&format!("^(?s:{})$", rule.regex)).ok()?;
        Some(Matcher { rule, regex })
    }
}

/// Whether the job keeps a port of a container; `None` if a rule reads a label whose value is unknown.
fn keeps_port(job: &ScrapeJob, rules: &[Matcher<'_>], workload: &Workload, container: &Container) -> Option<bool> {
    let namespace = &workload.metadata.namespace;
    if !job.namespaces.is_empty() && !job.namespaces.iter().any(|name| namespace == name) {
        return Some(false);
    }
    let mut any = false;
    for port in &container.ports {
        let mut is_kept = true;
        for Matcher { rule, regex } in rules {
            let values: Option<Vec<String>> =
                rule.labels.iter().map(|name| label(name, workload, container, &port.name)).collect();
            is_kept &= regex.is_match(&values?.join(";")) == rule.keeps;
        }
        any |= is_kept;
    }
    Some(any)
}

/// The value of a label of a target; `None` if unknown.
fn label(name: &str, workload: &Workload, container: &Container, port: &str) -> Option<String> {
    let name = name.strip_prefix("__meta_kubernetes_")?;
    Some(match name {
        "namespace" => workload.metadata.namespace.to_string(),
        "pod_container_name" => container.name.to_string(),
        "pod_container_port_name" => port.to_owned(),
        "pod_phase" => "Running".to_owned(),
        _ => {
            let wanted = name.strip_prefix("pod_label_")?;
            let labels = &workload.spec.template.metadata.labels;
            let written = |key: &str| -> String {
                key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
            };
            let value = labels.iter().find(|(key, _)| written(key.as_str()) == wanted);
            value.map(|(_, value)| value.clone()).unwrap_or_default()
        }
    })
}

fn finding(ctx: &Context<'_>, namespace: &str, job: &ScrapeJob, unscraped: &[(&Workload, Vec<&Container>)]) -> Finding {
    let message = format!(
        "the job {} of viz's Prometheus matches no port of {} components, whose ports have other names. Prometheus \
         has no metrics from them",
        job.name,
        unscraped.len()
    );
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    let rules = job.rules.iter().map(|rule| {
        let action = if rule.keeps { "keep" } else { "drop" };
        Evidence::field(&object, format!("data.{FILE}: job {}", job.name), format!("{action} {}", rule.regex))
    });
    let ports = unscraped.iter().take(QUOTED).map(|(workload, containers)| {
        let ports = containers.iter().flat_map(|container| &container.ports);
        let names: Vec<&str> = ports.map(|port| port.name.as_str()).filter(|name| !name.is_empty()).collect();
        let (namespace, name) = workload.metadata.key();
        Evidence::field(
            format!("Deployment {namespace}/{name}"),
            "spec.template.spec.containers: names of ports",
            names.join(", "),
        )
    });
    ctx.finding(Subject::object(Kind::ConfigMap, namespace, CONFIG), message)
        .parameter(job.name.clone())
        .evidences(rules)
        .evidences(ports)
        .evidence(Evidence::other("Components without metrics", unscraped.len().to_string()))
        .remedy(remedy(ctx))
}

/// The finding about the job of the proxies, without which viz has no traffic to show.
fn lost(ctx: &Context<'_>, namespace: &str, name: &str, config: &ScrapeConfig) -> Finding {
    let message = format!(
        "the configuration of viz's Prometheus has no job {name}. Prometheus has no metrics of proxies, so linkerd \
         viz and the dashboard show no traffic"
    );
    let names: Vec<&str> = config.jobs.iter().map(|job| job.name.as_str()).collect();
    ctx.finding(Subject::object(Kind::ConfigMap, namespace, CONFIG), message)
        .parameter(name)
        .evidence(Evidence::field(
            format!("ConfigMap {namespace}/{CONFIG}"),
            format!("data.{FILE}: jobs of Linkerd"),
            names.join(", "),
        ))
        .remedy(remedy(ctx))
}

/// The first release of viz whose jobs match the ports of the control plane, if those of `release` do not.
pub(in crate::checks) fn first_with_ports(ctx: &Context<'_>, release: &LinkerdVersion) -> Option<LinkerdVersion> {
    let defect = ctx.knowledge.releases().defect(DEFECT)?;
    let has_it = defect.affects(release, ctx.knowledge.minors()) != Contains::No;
    has_it.then(|| LinkerdVersion::from(defect.until))
}

fn remedy(ctx: &Context<'_>) -> Remedy {
    let installed = of_control_plane(ctx).ok().map(|(version, _)| version);
    let first = installed.as_ref().and_then(|version| first_with_ports(ctx, version));
    let install = |into: &'static str| linkerd().words("viz install").pipe(kubectl().words(into));
    let of_release = first.as_ref().or(installed.as_ref());
    let preview = upgrade::guarded(of_release, install("diff -f -"));
    let remedy = Remedy::new().run(StepKind::Note, preview_text(Extension::Viz), preview);
    let install = install("apply -f -");
    match first {
        Some(first) => {
            let (command, again) = match &installed {
                Some(installed) if *installed != first => {
                    let upgraded = Line::only_with_cli(first.to_string(), install);
                    let own = cli_install::lines(ctx.knowledge, installed);
                    let lines = [upgraded].into_iter().chain(own);
                    let words = format!(". The last lines install the CLI of the control plane again, {installed}");
                    (Command::lines(lines).whole(), words)
                }
                _ => (upgrade::guarded(Some(&first), install), String::new()),
            };
            let text = format!(
                "Upgrade the viz extension to {first} or later, whose jobs match these port names, with the options of \
                 its installation. If Helm installed it, upgrade its release instead{again}"
            );
            remedy.run(StepKind::Upgrade, text, command)
        }
        None => {
            let release = installed.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
            remedy.run(
                StepKind::Upgrade,
                format!(
                    "Install the viz extension in the release of the control plane{release}, with the options of its \
                     installation. If Helm installed it, upgrade its release instead"
                ),
                upgrade::guarded(installed.as_ref(), install),
            )
        }
    }
}
