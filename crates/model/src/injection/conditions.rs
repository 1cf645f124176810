//! The `matchConditions` of a webhook, evaluated for a request as the API server does, as far as the request is known.

use serde_json::{Value, json};

use crate::expression::{Expression, Known, NoValue, Scope};
use crate::objects::{Meta, NamedExpression, Webhook};
use crate::redact;

/// Variables of conditions. `authorizer` and others are not evaluated.
const BOUND: [&str; 3] = ["object", "oldObject", "request"];
/// The fields of a request for a new object whose values are known.
const KNOWN_FIELDS: [&str; 14] = [
    "operation",
    "namespace",
    "kind",
    "requestKind",
    "resource",
    "requestResource",
    "subResource",
    "requestSubResource",
    "group",
    "version",
    "dryRun",
    "object",
    "oldObject",
    "metadata",
];

/// A new object for which a webhook may be called.
#[derive(Debug, Clone, Copy)]
pub struct NewObject<'a> {
    /// API group, version, kind and resource.
    pub kind: (&'a str, &'a str, &'a str, &'a str),
    pub namespace: &'a str,
    /// Its labels, if known.
    pub meta: Option<&'a Meta>,
}

/// Whether the API server calls a webhook, according to its conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matched {
    /// All conditions are true.
    Yes,
    /// A condition is false; its name and expression.
    No(String, String),
    /// A condition cannot be evaluated; its name and the reason.
    Unknown(String),
}

/// The conditions of a webhook.
#[derive(Debug)]
pub struct Conditions<'a> {
    all: Vec<(&'a NamedExpression, Result<Expression, String>)>,
    fails_open: bool,
}

impl<'a> Conditions<'a> {
    /// Parses the conditions of a webhook, possibly none.
    pub fn from_webhook(webhook: Option<&'a Webhook>) -> Conditions<'a> {
        let all = webhook.map(|webhook| webhook.match_conditions.as_slice()).unwrap_or_default();
        Conditions {
            all: all.iter().map(|one| (one, Expression::parse(&one.expression, &BOUND))).collect(),
            fails_open: webhook.is_some_and(|webhook| webhook.failure_policy == "Ignore"),
        }
    }

    /// Whether the webhook is called for a new object. One false condition suffices, even if others are unknown.
    pub fn of_new(&self, new: &NewObject<'_>) -> Matched {
        if self.all.is_empty() {
            return Matched::Yes;
        }
        let mut scope = Scope::new(Known::default());
        let bound = bind(&mut scope, new);
        let mut matched = Matched::Yes;
        for (condition, expression) in &self.all {
            let value = match &bound {
                Ok(()) => value(condition, expression, &scope, new.meta.is_some()),
                Err(why) => Err(why.to_string()),
            };
            match value {
                Ok(Some(true)) => {}
                Ok(Some(false)) => return no(condition),
                // An expression that fails is ignored with the webhook, or rejects the request.
                Ok(None) if self.fails_open => return no(condition),
                Ok(None) => matched = Matched::Unknown(format!("{}: it fails", condition.name)),
                Err(why) => matched = Matched::Unknown(format!("{}: {why}", condition.name)),
            }
        }
        matched
    }
}

fn no(condition: &NamedExpression) -> Matched {
    let text = condition.expression.split_whitespace().collect::<Vec<_>>().join(" ");
    Matched::No(condition.name.clone(), text)
}

/// The value of a condition; `None` if it fails on the API server too.
///
/// # Errors
/// The value is unknown; contains the reason.
fn value(
    condition: &NamedExpression,
    expression: &Result<Expression, String>,
    scope: &Scope<'_>,
    labels_are_known: bool,
) -> Result<Option<bool>, String> {
    if redact::is_marked(&condition.expression) {
        return Err("a part of it is redacted".to_owned());
    }
    let expression = expression.as_ref().map_err(Clone::clone)?;
    let is_known = |(above, field): &(Option<&str>, &str)| {
        KNOWN_FIELDS.contains(field) || labels_are_known && (*field == "labels" || *above == Some("labels"))
    };
    if let Some((_, field)) = expression.fields().find(|field| !is_known(field)) {
        return Err(format!("the value of {field} in requests is not known"));
    }
    match expression.holds(scope) {
        Ok(holds) => Ok(Some(holds)),
        Err(NoValue::Missing(_)) => Ok(None),
        Err(why) => Err(why.to_string()),
    }
}

fn bind(scope: &mut Scope<'_>, new: &NewObject<'_>) -> Result<(), NoValue> {
    let (group, version, kind, resource) = new.kind;
    let mut metadata = json!({"namespace": new.namespace});
    if let Some(meta) = new.meta {
        metadata["labels"] = json!(*meta.labels);
    }
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let kind_of = json!({"group": group, "version": version, "kind": kind});
    let resource_of = json!({"group": group, "version": version, "resource": resource});
    scope.bind("object", &json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}))?;
    scope.bind("oldObject", &Value::Null)?;
    scope.bind(
        "request",
        &json!({
            "operation": "CREATE", "namespace": new.namespace, "dryRun": false, "subResource": "",
            "requestSubResource": "", "kind": kind_of, "requestKind": kind_of, "resource": resource_of,
            "requestResource": resource_of,
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(expression: &str, policy: &str) -> Matched {
        let webhook: Webhook = serde_json::from_value(json!({
            "name": "w", "failurePolicy": policy,
            "matchConditions": [{"name": "c", "expression": expression}],
        }))
        .unwrap();
        let meta: Meta = serde_json::from_value(json!({"name": "p", "labels": {"app": "web"}})).unwrap();
        let new = NewObject { kind: ("", "v1", "Pod", "pods"), namespace: "shop", meta: Some(&meta) };
        Conditions::from_webhook(Some(&webhook)).of_new(&new)
    }

    #[test]
    fn conditions_are_evaluated_as_far_as_known() {
        for expression in [
            "true",
            "request.namespace != 'kube-system'",
            "request.resource.resource == 'pods' && request.operation == 'CREATE'",
            "!(object.metadata.namespace in ['a', 'b'])",
            "object.metadata.labels['app'] == 'web'",
            "has(object.metadata.labels.app)",
        ] {
            assert_eq!(matched(expression, "Ignore"), Matched::Yes, "{expression}");
        }
        for expression in ["false", "request.namespace != 'shop'", "object.metadata.labels['x'] == 'y'"] {
            let no = Matched::No("c".to_owned(), expression.to_owned());
            assert_eq!(matched(expression, "Ignore"), no, "{expression}");
        }
        for expression in [
            "request.userInfo.username != 'system:node'",
            "object.spec.hostNetwork != true",
            "authorizer.group('').resource('pods').check('create').allowed()",
            "request.name == 'web'",
            "REDACTED(len=12)",
            "not CEL",
        ] {
            assert!(matches!(matched(expression, "Ignore"), Matched::Unknown(_)), "{expression}");
        }
        // It fails, and with Fail that rejects the pod.
        assert!(matches!(matched("object.metadata.labels['x'] == 'y'", "Fail"), Matched::Unknown(_)));
    }
}
