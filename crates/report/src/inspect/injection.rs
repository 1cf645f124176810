//! Predicts injection: the result for each template with the release's injector, the effective and
//! ineffective annotations, and the settings of the proxy.

use serde_json::Value;

use super::policy::Target;
use crate::annotations::may_be_linkerds;
use crate::checks::InjectionFaults;
use crate::finding::Finding;
use crate::item::EXTENSION_LABEL;
use crate::knowledge::{Key, KeyKind, KeyScope, KeyStatus, Knowledge, WrittenBy};
use crate::model::injection::{INJECT, Level};
use crate::model::installed::COMPONENT;
use crate::objects::container::{INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};
use crate::source::change::{Fate, Template, Templates};
use crate::version::{Contains, LinkerdVersion};

/// The predicted injection of a workload's pods.
#[derive(Debug)]
pub struct Injection<'a> {
    /// The workload.
    pub of: &'a Template,
    /// The Linkerd annotations on the workload, on its template and on its namespace.
    pub annotations: Vec<Annotation<'a>>,
    /// The proxy, if one would be added.
    pub proxy: Option<Proxy>,
    /// The error of the cluster that keeps new pods from being injected, or created.
    pub fault: Option<&'a Finding>,
}

/// The place of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum On {
    /// On the pod, or the template of pods.
    Template,
    /// On the namespace.
    Namespace,
    /// On the workload.
    Maker,
}

/// A Linkerd annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation<'a> {
    pub key: &'a str,
    pub value: &'a str,
    /// Its place.
    pub on: On,
    /// Why it has no effect; `None` if it has one.
    pub idle: Option<String>,
}

/// The settings of a proxy. A missing one means the proxy's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    pub image: String,
    /// Whether it is a native sidecar.
    pub native: bool,
    /// The component that redirects the traffic: `linkerd-init` or `linkerd-cni`.
    pub redirected_by: &'static str,
    /// Requests and limits, as `cpu request 100m`.
    pub resources: Vec<String>,
    /// Inbound ports that bypass it.
    pub skips_inbound: Option<String>,
    /// Outbound ports that bypass it.
    pub skips_outbound: Option<String>,
    /// Ports without protocol detection.
    pub opaque: Option<String>,
    /// The default inbound policy.
    pub default_policy: Option<String>,
    /// Its probes, as `readiness /ready:4191`.
    pub probes: Vec<String>,
    /// Its log level.
    pub log: Option<String>,
    /// The user that it runs as.
    pub user: Option<i64>,
}

/// The requested workloads; all if none is requested.
pub fn injections<'a>(
    templates: &'a Templates,
    targets: &[Target],
    knowledge: &'a Knowledge,
    faults: Option<&'a InjectionFaults>,
) -> Vec<Injection<'a>> {
    let asked = |template: &&Template| {
        let is = |target: &Target| {
            target.namespace == template.namespace && target.workload.as_ref().is_none_or(|name| *name == template.name)
        };
        targets.is_empty() || targets.iter().any(is)
    };
    let of_template = |template| {
        let injection = injection(templates, template, knowledge);
        let requests = matches!(template.fate, Fate::Injected { .. }) && !template.has_proxy;
        let faults = faults.filter(|_| requests);
        Injection {
            fault: faults.and_then(|faults| faults.of(template.kind_name(), &template.namespace, &template.name)),
            ..injection
        }
    };
    let mut injections: Vec<Injection<'a>> = templates.all.iter().filter(asked).map(of_template).collect();
    // Applications first; the order is otherwise kept.
    injections.sort_by_key(|injection| is_linkerds(injection.of));
    injections
}

/// Whether the pods belong to the control plane or to an extension.
fn is_linkerds(template: &Template) -> bool {
    let labels = &template.pod["metadata"]["labels"];
    [COMPONENT, EXTENSION_LABEL].iter().any(|label| labels[label].is_string())
}

/// The first requested target that does not exist: a workload, or an unknown namespace without workloads.
pub fn lost<'t>(templates: &Templates, targets: &'t [Target]) -> Option<&'t Target> {
    let is_there = |target: &Target| {
        let here = |template: &&Template| template.namespace == target.namespace;
        match &target.workload {
            Some(name) => templates.all.iter().filter(here).any(|template| template.name == *name),
            None => {
                templates.namespaces.contains_key(&target.namespace)
                    || templates.all.iter().any(|template| here(&template))
            }
        }
    };
    targets.iter().find(|target| !is_there(target))
}

/// A similar name for a target that does not exist.
pub fn near(templates: &Templates, target: &Target) -> Option<Target> {
    let of_templates = templates.all.iter();
    let Some(name) = target.workload.as_deref() else {
        let namespaces = of_templates.map(|one| one.namespace.as_str());
        let known = namespaces.chain(templates.namespaces.keys().map(String::as_str));
        let namespace = crate::nearest::closest(&target.namespace, known)?;
        return Some(Target { namespace, ..target.clone() });
    };
    let here = of_templates.filter(|one| one.namespace == target.namespace);
    let near = crate::nearest::closest(name, here.map(|one| one.name.as_str()))?;
    Some(Target { workload: Some(near), ..target.clone() })
}

fn injection<'a>(templates: &'a Templates, of: &'a Template, knowledge: &'a Knowledge) -> Injection<'a> {
    let in_template = matches!(of.fate, Fate::Left(_)) && has_proxy(&of.pod);
    let reading = AnnotationReader { release: templates.release.as_ref(), knowledge, in_template };
    let namespace = templates.namespaces.get(&of.namespace);
    let mut annotations: Vec<Annotation<'a>> = Vec::new();
    for (key, value) in &of.annotations {
        annotations.extend(reading.annotation(key, value, On::Template, false));
    }
    for (key, value) in namespace.into_iter().flatten() {
        annotations.extend(reading.annotation(key, value, On::Namespace, of.annotations.contains_key(key)));
    }
    for (key, value) in &of.own {
        annotations.extend(reading.annotation(key, value, On::Maker, false));
    }
    if let Fate::Refused { key, .. } = &of.fate {
        let refusing = annotations.iter_mut().filter(|annotation| annotation.key == key);
        refusing.for_each(|annotation| annotation.idle = Some("pods with it are rejected".to_owned()));
    }
    annotations.sort_by_key(|annotation| annotation.idle.is_some());
    let injected = matches!(of.fate, Fate::Injected { .. });
    Injection { of, annotations, proxy: injected.then(|| proxy(&of.pod)).flatten(), fault: None }
}

/// The reader of annotations.
struct AnnotationReader<'a> {
    release: Option<&'a LinkerdVersion>,
    knowledge: &'a Knowledge,
    /// Whether the template already contains the proxy, so that the injector does not read annotations.
    in_template: bool,
}

/// Whether a pod already contains the proxy.
fn has_proxy(pod: &Value) -> bool {
    let named = |list: &str| pod["spec"][list].as_array().into_iter().flatten();
    named("containers").chain(named("initContainers")).any(|one| one["name"] == PROXY_CONTAINER)
}

impl AnnotationReader<'_> {
    /// The effect of an annotation; `None` for one that Linkerd itself sets, or that does not apply to pods.
    fn annotation<'k>(&self, key: &'k str, value: &'k str, on: On, by_pod: bool) -> Option<Annotation<'k>> {
        let all = self.knowledge.annotations();
        let idle = match all.get_as(key, KeyKind::Annotation) {
            Some(row) if row.set_by == WrittenBy::Linkerd => return None,
            Some(row) => match on {
                // Annotations that a Deployment or Service itself is read for do not apply to pods.
                On::Maker if !row.is_read_on(KeyScope::PodTemplate) => return None,
                On::Namespace if !row.is_read_on(KeyScope::Namespace) && !row.is_read_on(KeyScope::PodTemplate) => {
                    return None;
                }
                On::Maker => Some("it is read from the template, not from the workload itself".to_owned()),
                On::Namespace if by_pod => Some("the template also sets it, and takes precedence".to_owned()),
                On::Template | On::Namespace => self.idle(row, key, value, on),
            },
            None => {
                let meant = || all.nearest(key, |row| row.set_by == WrittenBy::User);
                let meant = may_be_linkerds(key).then(meant).flatten();
                if meant.is_none() && !all.is_linkerds(key) {
                    return None;
                }
                Some(match meant {
                    Some(meant) => format!("no release reads it; did you mean {}?", meant.key),
                    None => "no release reads it".to_owned(),
                })
            }
        };
        Some(Annotation { key, value, on, idle })
    }

    fn idle(&self, row: &Key, key: &str, value: &str, on: On) -> Option<String> {
        let minors = self.knowledge.minors();
        if let Some(release) = self.release {
            let status = row.status_in(release, self.knowledge);
            if let Some(why) = not_read(&status, release) {
                return Some(why);
            }
            let copied = key == INJECT || row.counts_on_namespace(release, minors) != Contains::No;
            if on == On::Namespace && !copied {
                return Some("pods do not get it from their namespace".to_owned());
            }
        }
        let accepted = row.check_value(value, self.release, minors).err()?;
        let consequence = row.consequence(value);
        Some(match self.in_template && consequence.is_of_injector() {
            true => format!("{accepted}: only the next linkerd inject reads it"),
            false => format!("{accepted}: {consequence}"),
        })
    }
}

fn not_read(status: &KeyStatus, release: &LinkerdVersion) -> Option<String> {
    let edge = |edge: &Option<crate::version::EdgeTag>| edge.map(|edge| format!(" ({edge})")).unwrap_or_default();
    match status.likely()? {
        KeyStatus::Effective | KeyStatus::Conditional { .. } | KeyStatus::Unknown { .. } => None,
        KeyStatus::NotYet { since } => Some(format!("{release} is older than it{}", edge(since))),
        KeyStatus::Gone { since, successor: None } => Some(format!("{release} no longer reads it{}", edge(since))),
        KeyStatus::Gone { since, successor: Some(successor) } => {
            Some(format!("{release} no longer reads it{}: {successor} replaced it", edge(since)))
        }
        KeyStatus::Ineffective { since, .. } => Some(format!("{release} ignores it{}", edge(since))),
    }
}

fn proxy(pod: &Value) -> Option<Proxy> {
    let spec = &pod["spec"];
    let named = |list: &str, name: &str| -> Option<&Value> {
        spec[list].as_array()?.iter().find(|container| container["name"] == name)
    };
    let native = named("initContainers", PROXY_CONTAINER);
    let proxy = native.or_else(|| named("containers", PROXY_CONTAINER))?;
    let init = named("initContainers", INIT_CONTAINER);
    let argument = |flag: &str| -> Option<String> {
        let arguments = init?["args"].as_array()?;
        let at = arguments.iter().position(|argument| argument == flag)?;
        Some(arguments.get(at + 1)?.as_str()?.to_owned())
    };
    let variable = |name: &str| -> Option<String> {
        let found = proxy["env"].as_array()?.iter().find(|variable| variable["name"] == name)?;
        Some(found["value"].as_str()?.to_owned())
    };
    let annotation = |key: &str| pod["metadata"]["annotations"][key].as_str().map(str::to_owned);
    let resources = ["requests", "limits"].into_iter().flat_map(|group| {
        let amounts = proxy["resources"][group].as_object().into_iter().flatten();
        amounts.map(move |(what, amount)| {
            format!("{what} {} {}", group.trim_end_matches('s'), amount.as_str().unwrap_or_default())
        })
    });
    let probes = [("startup", "startupProbe"), ("readiness", "readinessProbe"), ("liveness", "livenessProbe")];
    let probes = probes.into_iter().filter_map(|(name, field)| {
        let get = proxy[field].get("httpGet")?;
        Some(format!("{name} {}:{}", get["path"].as_str()?, get["port"]))
    });
    // The validator runs if linkerd-cni redirects.
    let redirected_by = match named("initContainers", VALIDATOR_CONTAINER) {
        Some(_) => "linkerd-cni",
        None => INIT_CONTAINER,
    };
    Some(Proxy {
        image: proxy["image"].as_str().unwrap_or_default().to_owned(),
        native: native.is_some(),
        redirected_by,
        resources: resources.collect(),
        skips_inbound: argument("--inbound-ports-to-ignore"),
        skips_outbound: argument("--outbound-ports-to-ignore"),
        opaque: annotation("config.linkerd.io/opaque-ports"),
        default_policy: variable("LINKERD2_PROXY_INBOUND_DEFAULT_POLICY"),
        probes: probes.collect(),
        log: variable("LINKERD2_PROXY_LOG"),
        user: proxy["securityContext"]["runAsUser"].as_i64(),
    })
}

/// The place that requests a proxy, in words.
pub fn asked_by(level: Level) -> &'static str {
    match level {
        Level::Pod => "template",
        Level::Namespace => "namespace",
    }
}
