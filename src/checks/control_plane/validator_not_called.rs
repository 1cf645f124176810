//! `validator-not-called`: the selectors or conditions of a validating webhook exclude meshed namespaces.

use std::collections::BTreeMap;

use crate::checks::admission::AKS_LABELS;
use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::checks::words::some;
use crate::model::injection::{Clause, Conditions, INJECT, Matched, NewObject, WEBHOOKS_LABEL, unmet, with_name};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::{LabelSelector, Texts, ValidatingWebhookConfiguration, Webhook, WebhookConfiguration};

/// Group, version, kind and resource of an object.
type ObjectKind = (&'static str, &'static str, &'static str, &'static str);

/// The validators: name in the knowledge, part of the chart's values, what they validate, and an object of it.
const VALIDATORS: [(&str, &str, &str, ObjectKind); 2] = [
    (
        "sp-validator",
        "profileValidator",
        "ServiceProfiles",
        ("linkerd.io", "v1alpha2", "ServiceProfile", "serviceprofiles"),
    ),
    (
        "policy-validator",
        "policyValidator",
        "policy resources and routes",
        ("policy.linkerd.io", "v1beta3", "Server", "servers"),
    ),
];
/// The label that Kubernetes sets on every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// Maximum number of quoted namespaces.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.partial_list::<Namespace>();
    let pods = ctx.partial_list::<Pod>();
    let configurations = ctx.partial_list::<ValidatingWebhookConfiguration>()?;
    let meshed = meshed(ctx, namespaces?, pods?);
    let mut findings = Vec::new();
    for (name, values, what, object) in VALIDATORS {
        // `validator-webhook-missing` reports one that is not registered.
        let service = format!("linkerd-{name}");
        let Some((configuration, webhook)) = called(configurations, &ctx.namespaces().control_plane, &service) else {
            continue;
        };
        let judged = JudgedObjects { ctx, configuration, webhook, what };
        findings.extend(judged.excluded(&meshed, values, object));
        findings.extend(judged.by_labels());
    }
    Ok(findings.into())
}

/// The webhook that calls a Service.
fn called<'a>(
    configurations: &'a [WebhookConfiguration],
    home: &str,
    service: &str,
) -> Option<(&'a WebhookConfiguration, &'a Webhook)> {
    let calls = |webhook: &&Webhook| {
        let called = webhook.client_config.service.as_ref();
        called.is_some_and(|called| called.name == service && called.namespace == home)
            || called.is_none() && webhook.name == format!("{service}.linkerd.io")
    };
    configurations.iter().find_map(|one| Some((one, one.webhooks.iter().find(calls)?)))
}

/// The namespaces with meshed pods, and those that request a proxy for all pods.
fn meshed<'a>(ctx: &Context<'_>, namespaces: &'a [Namespace], pods: &[Pod]) -> Vec<&'a Namespace> {
    let home = ctx.namespaces().control_plane.as_str();
    let own = |pod: &&Pod| pod.metadata.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
    let with_pods: std::collections::BTreeSet<&str> =
        pods.iter().filter(own).map(|pod| pod.metadata.namespace.as_str()).collect();
    let is_meshed = |namespace: &&Namespace| {
        let meta = &namespace.metadata;
        let asks = matches!(meta.annotation(INJECT), Some("enabled" | "ingress"));
        meta.name != home && ctx.judges(&meta.name) && (asks || with_pods.contains(meta.name.as_str()))
    };
    namespaces.iter().filter(is_meshed).collect()
}

struct JudgedObjects<'a, 'c> {
    ctx: &'a Context<'c>,
    configuration: &'a WebhookConfiguration,
    webhook: &'a Webhook,
    what: &'static str,
}

impl JudgedObjects<'_, '_> {
    /// The findings about meshed namespaces in which the webhook is not called, one for each reason, except
    /// for those that the chart's values exclude too.
    fn excluded(&self, meshed: &[&Namespace], values: &str, object: (&str, &str, &str, &str)) -> Vec<Finding> {
        let conditions = Conditions::from_webhook(Some(self.webhook));
        let mut by_clause: BTreeMap<Clause, Vec<&str>> = BTreeMap::new();
        let mut stored = None;
        for namespace in meshed {
            let labels = with_name(namespace);
            let name = namespace.metadata.name.as_str();
            let clause = self.webhook.namespace_selector.as_ref().and_then(|own| unmet(own, &labels, false));
            if let Some(clause) = clause {
                let (selector, _) = stored.get_or_insert_with(|| self.stored_selector(values));
                if unmet(selector, &labels, false).is_none() {
                    by_clause.entry(clause).or_default().push(name);
                }
                continue;
            }
            match conditions.of_new(&NewObject { kind: object, namespace: name, meta: None }) {
                Matched::Yes => {}
                Matched::No(name_of, expression) => {
                    let clause = Clause::Condition { name: name_of, expression };
                    by_clause.entry(clause).or_default().push(name);
                }
                Matched::Unknown(reason) => self.gap(&reason),
            }
        }
        let is_known = stored.is_none_or(|(_, is_known)| is_known);
        let finding = |(clause, names): (Clause, Vec<&str>)| {
            let by_condition = matches!(clause, Clause::Condition { .. });
            let which = if by_condition { "a condition" } else { "the namespaceSelector" };
            let message = format!(
                "{which} of a validating webhook excludes meshed namespaces: the API server accepts mistakes in {} \
                 there unchecked",
                self.what
            );
            let finding = self.finding(&message, &clause, &names);
            let finding = finding.evidence(Evidence::other("Meshed namespaces", some(names, QUOTED)));
            // Custom values that are not known may set this selector.
            finding.observed_if(is_known || by_condition)
        };
        by_clause.into_iter().map(finding).collect()
    }

    /// The namespaceSelector of the chart's values, and whether the values are known; else the default.
    fn stored_selector(&self, values: &str) -> (LabelSelector, bool) {
        let config = self.ctx.or_note(config(self.ctx)).flatten();
        let values_of = config.and_then(ConfigMap::chart_values);
        let path = format!("{values}.namespaceSelector");
        let written = values_of.as_ref().and_then(|all| all.value(&path)).cloned();
        let read = written.and_then(|value| serde_yaml::from_value::<LabelSelector>(value).ok());
        let default = || LabelSelector::parse(&format!("{WEBHOOKS_LABEL} notin (disabled)")).unwrap_or_default();
        (read.unwrap_or_else(default), values_of.is_some())
    }

    /// The finding about a selector of the objects' labels, which the chart does not have.
    fn by_labels(&self) -> Option<Finding> {
        let selector = self.webhook.object_selector.as_ref();
        let selector = selector.filter(|selector| **selector != LabelSelector::default())?;
        let (message, clause, severity) = match unmet(selector, &Texts::default(), true) {
            Some(clause) => (
                format!(
                    "the objectSelector of a validating webhook requires a label: the API server accepts mistakes in \
                     {} without it unchecked",
                    self.what
                ),
                clause,
                Severity::Warning,
            ),
            None => {
                let excluded = selector.match_expressions.first()?;
                let clause = Clause::Of {
                    of_objects: true,
                    key: excluded.key.clone(),
                    operator: excluded.operator.clone(),
                    values: excluded.values.clone().unwrap_or_default(),
                };
                let message = format!(
                    "the objectSelector of a validating webhook excludes objects by a label: the API server accepts \
                     mistakes in {} with it unchecked",
                    self.what
                );
                (message, clause, Severity::Info)
            }
        };
        Some(self.finding(&message, &clause, &[]).severity(severity))
    }

    fn finding(&self, message: &str, clause: &Clause, names: &[&str]) -> Finding {
        let name = &self.configuration.metadata.name;
        let again = "Have the configuration written again, and find out what changed it (a policy engine, a tool of \
            the platform)";
        let remedy = match excluding_label(clause) {
            Some(key) if !names.is_empty() && AKS_LABELS.contains(&key) => Remedy::new().run(
                StepKind::Annotation,
                "Remove the label that excludes the namespace. If you write the configuration again, AKS's admissions \
                 enforcer adds the condition again",
                without_label(names, key),
            ),
            Some(key) if !names.is_empty() => upgrade::reapply(self.ctx, Remedy::new(), again).run(
                StepKind::Annotation,
                "Or, if the condition is intended, remove the label that excludes the namespace",
                without_label(names, key),
            ),
            _ => upgrade::reapply(self.ctx, Remedy::new(), again),
        };
        self.ctx
            .finding(Subject::object(Kind::ValidatingWebhookConfiguration, "", name), message)
            .parameter(clause.to_string())
            .evidence(Evidence::field(
                format!("ValidatingWebhookConfiguration {name}"),
                "webhooks[]",
                format!("not met: {clause}"),
            ))
            .remedy(remedy)
    }

    fn gap(&self, reason: &str) {
        let message = format!("{}: webhooks[].matchConditions {reason}", self.configuration.metadata.name);
        let item = Item::List(Kind::ValidatingWebhookConfiguration);
        let part = "whether the validators are called in all meshed namespaces";
        self.ctx.gap(self.ctx.missing(item, Why::NotJudged { message }, part));
    }
}

/// The label that excludes a namespace, if removing it lifts the exclusion.
fn excluding_label(clause: &Clause) -> Option<&str> {
    match clause {
        Clause::Of { of_objects: false, key, operator, .. }
            if matches!(operator.as_str(), "NotIn" | "DoesNotExist") && key != NAME_LABEL =>
        {
            Some(key)
        }
        _ => None,
    }
}

fn without_label(names: &[&str], key: &str) -> Command {
    let removed = names.iter().map(|name| kubectl().words("label namespace").operand(*name).arg(format!("{key}-")));
    Command::lines(removed)
}
