//! The injector's webhook, and the namespaces and pods that its selectors match.

use std::fmt;

use crate::objects::{LabelRequirement, LabelSelector, MatchLabels, Namespace, Texts, Webhook, WebhookConfiguration};

/// The Service behind the injector's webhook.
pub const SERVICE: &str = "linkerd-proxy-injector";
/// The webhook's name in every release.
const WEBHOOK: &str = "linkerd-proxy-injector.linkerd.io";
/// The label that excludes a namespace from Linkerd's webhooks.
pub const WEBHOOKS_LABEL: &str = "config.linkerd.io/admission-webhooks";

/// A term of a webhook's selector that the labels do not match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clause {
    /// A term of the namespaceSelector or, if `of_objects`, of the objectSelector.
    Of {
        /// Whether it applies to the pod's labels.
        of_objects: bool,
        /// The label.
        key: String,
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        operator: String,
        values: Vec<String>,
    },
    /// No webhook is known, and a default install excludes the namespace.
    OfDefaultInstall,
    /// A condition that is false.
    Condition {
        name: String,
        /// Its expression, in CEL.
        expression: String,
    },
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clause::OfDefaultInstall => f.write_str("namespaceSelector of a default install"),
            Clause::Condition { name, expression } => write!(f, "matchConditions {name}: {expression}"),
            Clause::Of { of_objects, key, operator, values } => {
                let which = if *of_objects { "object" } else { "namespace" };
                match (operator.as_str(), values.as_slice()) {
                    ("Exists" | "DoesNotExist", _) => write!(f, "{which}Selector {key} {operator}"),
                    ("In", [value]) => write!(f, "{which}Selector {key}={value}"),
                    (operator, values) => {
                        write!(f, "{which}Selector {key} {operator} [{}]", values.join(", "))
                    }
                }
            }
        }
    }
}

/// The injector's webhook and its configuration; `None` if none is registered.
pub fn webhook<'a>(
    configurations: &'a [WebhookConfiguration],
    control_plane: &str,
) -> Option<(&'a WebhookConfiguration, &'a Webhook)> {
    let serves = |webhook: &&Webhook| match &webhook.client_config.service {
        Some(service) => service.name == SERVICE && service.namespace == control_plane,
        None => webhook.name == WEBHOOK,
    };
    let all = || configurations.iter().flat_map(|c| c.webhooks.iter().map(move |webhook| (c, webhook)));
    // By the Service that it calls, else by the webhook's own name if the Service was renamed.
    all().find(|(_, webhook)| serves(webhook)).or_else(|| all().find(|(_, webhook)| webhook.name == WEBHOOK))
}

/// The selector term that excludes a namespace; without a webhook, that of a default install.
pub(super) fn left_out(namespace: &Namespace, webhook: Option<&Webhook>) -> Option<Clause> {
    let labels = with_name(namespace);
    let Some(webhook) = webhook else {
        let off = labels.get(WEBHOOKS_LABEL).is_some_and(|value| value == "disabled");
        let by_name = matches!(namespace.metadata.name.as_str(), "kube-system" | "cert-manager");
        return (off || by_name).then_some(Clause::OfDefaultInstall);
    };
    webhook.namespace_selector.as_ref().and_then(|selector| unmet(selector, &labels, false))
}

/// A namespace's labels, plus the name label that API servers add since 1.22 and hand-written dumps may
/// lack.
pub fn with_name(namespace: &Namespace) -> Texts {
    let mut labels = namespace.metadata.labels.to_map();
    labels.entry("kubernetes.io/metadata.name".to_owned()).or_insert_with(|| namespace.metadata.name.clone());
    labels.into()
}

/// The first term of a selector that the labels do not match.
pub fn unmet(selector: &LabelSelector, labels: &Texts, of_objects: bool) -> Option<Clause> {
    let clause = |key: &str, operator: &str, values: Vec<String>| Clause::Of {
        of_objects,
        key: key.to_owned(),
        operator: operator.to_owned(),
        values,
    };
    if let Some((key, value)) = selector.match_labels.iter().find(|(key, value)| labels.get(key) != Some(value)) {
        return Some(clause(key, "In", vec![value.clone()]));
    }
    let alone = |requirement: &LabelRequirement| LabelSelector {
        match_labels: MatchLabels::default(),
        match_expressions: vec![requirement.clone()],
    };
    let requirement = selector.match_expressions.iter().find(|r| !alone(r).matches(labels))?;
    Some(clause(&requirement.key, &requirement.operator, requirement.values.clone().unwrap_or_default()))
}
