//! The scrape configuration of viz's Prometheus, reduced to the rules that choose the targets of Linkerd's
//! jobs.

use serde_yaml::{Mapping, Value};

use super::text;
use crate::chart::yaml;

/// Maximum length of a kept text.
const MAX_TEXT: usize = 256;
/// Jobs of the charts that scrape something else than pods.
const OWN: [&str; 2] = ["prometheus", "kubernetes-nodes-cadvisor"];
/// The written name of jobs that are left out.
const OTHER: &str = "REDACTED";
/// Prefix of labels that describe a target.
const META: &str = "__meta_kubernetes_";

/// The jobs of a scrape configuration that Linkerd's charts name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrapeConfig {
    pub jobs: Vec<ScrapeJob>,
    /// Whether it has jobs of other names than those of the charts.
    pub has_others: bool,
}

/// A job that scrapes pods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrapeJob {
    /// Its name: `linkerd-controller`.
    pub name: String,
    /// The namespaces in which it looks for pods; empty means all.
    pub namespaces: Vec<String>,
    /// The rules that keep and drop targets, in order.
    pub rules: Vec<ScrapeRule>,
    /// Whether it has rules that depend on something else.
    pub is_partial: bool,
}

/// A rule that keeps or drops a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrapeRule {
    /// Whether it keeps targets that match; otherwise it drops them.
    pub keeps: bool,
    /// Labels of the target, whose values are joined with `;`.
    pub labels: Vec<String>,
    /// The expression that the whole text must match.
    pub regex: String,
}

impl ScrapeConfig {
    /// Parses a configuration; one that is not valid YAML has no jobs.
    pub fn parse(content: &str) -> ScrapeConfig {
        let document = yaml::read(content).unwrap_or(Value::Null);
        let jobs = document.get("scrape_configs").and_then(Value::as_sequence);
        let jobs = jobs.map(Vec::as_slice).unwrap_or_default();
        ScrapeConfig {
            jobs: jobs.iter().filter_map(job).collect(),
            has_others: jobs.iter().any(|job| !is_of_charts(job)),
        }
    }

    /// A configuration with only these facts.
    pub fn to_text(&self) -> String {
        let other = self.has_others.then(|| mapping([("job_name", OTHER.into())]));
        let jobs: Vec<Value> = self.jobs.iter().map(ScrapeJob::to_yaml).chain(other).collect();
        let document = mapping([("scrape_configs", Value::Sequence(jobs))]);
        serde_yaml::to_string(&document).unwrap_or_default()
    }
}

impl ScrapeJob {
    fn to_yaml(&self) -> Value {
        let texts = |list: &[String]| Value::Sequence(list.iter().map(|one| Value::from(one.as_str())).collect());
        let discovery = match self.namespaces.as_slice() {
            [] => mapping([("role", "pod".into())]),
            names => mapping([("role", "pod".into()), ("namespaces", mapping([("names", texts(names))]))]),
        };
        let rules = self.rules.iter().map(|rule| {
            mapping([
                ("source_labels", texts(&rule.labels)),
                ("action", if rule.keeps { "keep" } else { "drop" }.into()),
                ("regex", rule.regex.as_str().into()),
            ])
        });
        let partial = self.is_partial.then(|| mapping([("action", "keepequal".into())]));
        mapping([
            ("job_name", self.name.as_str().into()),
            ("kubernetes_sd_configs", Value::Sequence(vec![discovery])),
            ("relabel_configs", Value::Sequence(rules.chain(partial).collect())),
        ])
    }
}

fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Mapping(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect::<Mapping>())
}

/// Whether a job has a name that the charts give.
fn is_of_charts(value: &Value) -> bool {
    let name = value.get("job_name").and_then(Value::as_str).unwrap_or_default();
    name.starts_with("linkerd") || OWN.contains(&name)
}

/// A job of Linkerd's charts that finds pods.
fn job(value: &Value) -> Option<ScrapeJob> {
    let name = value.get("job_name")?.as_str().filter(|name| name.starts_with("linkerd") && is_name(name))?;
    let discoveries = value.get("kubernetes_sd_configs")?.as_sequence()?;
    let [discovery] = discoveries.as_slice() else { return None };
    if discovery.get("role")?.as_str() != Some("pod") {
        return None;
    }
    let mut job = ScrapeJob { name: name.to_owned(), ..ScrapeJob::default() };
    if let Some(names) = discovery.get("namespaces") {
        let listed = names.get("names").and_then(Value::as_sequence);
        let listed: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
        job.is_partial |= listed.is_empty() || !listed.iter().all(|name| is_name(name));
        job.namespaces = listed.into_iter().filter(|name| is_name(name)).map(str::to_owned).collect();
    }
    job.is_partial |= discovery.get("selectors").is_some();
    for rule in value.get("relabel_configs").and_then(Value::as_sequence).into_iter().flatten() {
        match rule.get("action").and_then(Value::as_str).unwrap_or("replace") {
            action @ ("keep" | "drop") => match self::rule(rule, action == "keep") {
                Some(rule) => job.rules.push(rule),
                None => job.is_partial = true,
            },
            "keepequal" | "dropequal" => job.is_partial = true,
            _ => {}
        }
    }
    Some(job)
}

/// A rule about labels that describe the target; `None` for another one.
fn rule(value: &Value, keeps: bool) -> Option<ScrapeRule> {
    let labels = value.get("source_labels")?.as_sequence()?;
    let labels: Option<Vec<String>> = labels
        .iter()
        .map(|label| label.as_str().filter(|label| label.starts_with(META) && is_label(label)).map(str::to_owned))
        .collect();
    let regex = value.get("regex").and_then(Value::as_str).unwrap_or("(.*)");
    let is_kept = value.get("separator").is_none() && is_expression(regex);
    is_kept.then_some(())?;
    Some(ScrapeRule { keeps, labels: labels?, regex: text::text(regex).into_owned() })
}

fn is_name(text: &str) -> bool {
    text.len() <= MAX_TEXT && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_label(text: &str) -> bool {
    text.len() <= MAX_TEXT && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a text consists of names and the operators of an expression.
fn is_expression(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || br"-_.;|()[]*+?^$\/:".contains(&byte);
    text.len() <= MAX_TEXT && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_of_linkerd_jobs_are_kept() {
        let text = "
global: {external_labels: {token: hunter2}}
scrape_configs:
- job_name: 'own'
  basic_auth: {password: hunter2}
- job_name: 'linkerd-controller'
  authorization: {credentials: hunter2}
  kubernetes_sd_configs:
  - role: pod
    namespaces:
      names: ['linkerd', 'linkerd-viz']
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_container_port_name]
    action: keep
    regex: .*admin$
  - source_labels: [__meta_kubernetes_pod_container_name]
    action: replace
    target_label: component
";
        let config = ScrapeConfig::parse(text);
        let job = config.jobs.first().expect("a job");
        assert!(config.has_others);
        assert_eq!((config.jobs.len(), job.name.as_str(), job.is_partial), (1, "linkerd-controller", false));
        assert_eq!(job.namespaces, ["linkerd", "linkerd-viz"]);
        let [rule] = job.rules.as_slice() else { panic!("{job:?}") };
        assert_eq!((rule.keeps, rule.regex.as_str()), (true, ".*admin$"));
        let kept = config.to_text();
        assert!(!kept.contains("hunter2"), "{kept}");
        assert_eq!(ScrapeConfig::parse(&kept), config);
        assert_eq!(ScrapeConfig::parse(&kept).to_text(), kept);
        let other = text.replace("action: replace", "action: keep").replace("component", "(own");
        assert!(ScrapeConfig::parse(&other).jobs[0].rules.len() == 2);
        assert!(ScrapeConfig::parse(&text.replace("keep", "keepequal")).jobs[0].is_partial);
    }
}
