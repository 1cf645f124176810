//! Evaluates a ValidatingAdmissionPolicy like the API server, as far as it depends on images.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::request::Request;
use crate::expression::{Expression, NoValue, Scope};
use crate::objects::{AdmissionMatch, NamedExpression, Namespace, ValidatingAdmissionPolicy};
use crate::redact;

/// Variables of expressions.
const BOUND: [&str; 6] = ["object", "oldObject", "request", "namespaceObject", "params", "variables"];
/// The known fields of requests. An expression that reads another field cannot be evaluated.
const KNOWN_FIELDS: [&str; 29] = [
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "labels",
    "spec",
    "template",
    "containers",
    "initContainers",
    "ephemeralContainers",
    "image",
    "restartPolicy",
    "serviceAccountName",
    "hostNetwork",
    "operation",
    "group",
    "version",
    "resource",
    "subResource",
    "requestKind",
    "requestResource",
    "object",
    "oldObject",
    "namespaceObject",
    "request",
    "params",
    "variables",
    "dryRun",
];

/// A part of a policy: its place, text, and expression, or the reason why it cannot be evaluated.
struct PolicyExpression<'a> {
    path: String,
    text: &'a str,
    expression: Result<Expression, String>,
}

/// A policy with validations that depend on images.
pub(super) struct ImagePolicy<'a> {
    pub(super) object: &'a ValidatingAdmissionPolicy,
    conditions: Vec<PolicyExpression<'a>>,
    variables: Vec<(&'a str, PolicyExpression<'a>)>,
    /// The validations that depend on images.
    validations: Vec<PolicyExpression<'a>>,
}

/// The answer to a request.
#[derive(Debug, Default)]
pub(super) struct AdmissionAnswer {
    /// The first expression that rejects it: path and text.
    pub(super) rejected_by: Option<(String, String)>,
    /// Reasons why expressions could not be evaluated.
    pub(super) unknown: BTreeSet<String>,
}

impl<'a> ImagePolicy<'a> {
    /// Parses a policy; `None` if images cannot change its answer.
    pub(super) fn read(object: &'a ValidatingAdmissionPolicy) -> Option<ImagePolicy<'a>> {
        let spec = &object.spec;
        let names: Vec<&str> = spec.variables.iter().map(|one| one.name.as_str()).collect();
        let mut of_images: Vec<&str> = Vec::new();
        let reads_images = |text: &str, of_images: &[&str]| {
            let uses = |name: &&str| text.contains("variables") && text.contains(*name);
            text.contains("image") || of_images.iter().any(uses)
        };
        for one in &spec.variables {
            if reads_images(&one.expression, &of_images) {
                of_images.push(&one.name);
            }
        }
        let any = spec.match_conditions.iter().any(|one| reads_images(&one.expression, &of_images));
        let part = |list: &str, at: usize, text: &'a str| PolicyExpression {
            path: format!("spec.{list}[{at}].expression"),
            text,
            expression: parse(text, &names),
        };
        let validations: Vec<PolicyExpression<'a>> = (spec.validations.iter().enumerate())
            .filter(|(_, one)| any || reads_images(&one.expression, &of_images))
            .map(|(at, one)| part("validations", at, &one.expression))
            .collect();
        if validations.is_empty() {
            return None;
        }
        let parts = |list: &'static str, all: &'a [NamedExpression]| {
            let each = all.iter().enumerate();
            each.map(|(at, one)| (one.name.as_str(), part(list, at, &one.expression))).collect::<Vec<_>>()
        };
        let conditions = parts("matchConditions", &spec.match_conditions);
        Some(ImagePolicy {
            object,
            conditions: conditions.into_iter().map(|(_, part)| part).collect(),
            variables: parts("variables", &spec.variables),
            validations,
        })
    }

    /// The answer to a request with an object; `namespace` is that of the object, if known.
    pub(super) fn answer(
        &self,
        root: &Scope<'_>,
        request: &Request<'_>,
        object: &Value,
        namespace: Option<&Namespace>,
    ) -> AdmissionAnswer {
        let mut scope = root.within();
        let mut answer = AdmissionAnswer::default();
        if let Err(why) = bind(&mut scope, request, object, namespace) {
            answer.unknown.insert(why.to_string());
            return answer;
        }
        let unknown_variables = self.bind_variables(&mut scope);
        match self.conditions_hold(&scope, &unknown_variables, &mut answer) {
            Some(true) => {}
            Some(false) | None => return answer,
        }
        for part in &self.validations {
            match part.holds(&scope, &unknown_variables) {
                Ok(Some(true)) => {}
                Ok(Some(false)) => answer.reject(part),
                Ok(None) if self.fails() => answer.reject(part),
                Ok(None) => {}
                Err(why) => _ = answer.unknown.insert(why),
            }
        }
        answer
    }

    /// Whether the request is evaluated; `None` if that is unknown or an error of a condition already rejects
    /// it. One false condition suffices, even if others fail.
    fn conditions_hold(
        &self,
        scope: &Scope<'_>,
        unknown_variables: &BTreeMap<&str, String>,
        answer: &mut AdmissionAnswer,
    ) -> Option<bool> {
        let mut failed = None;
        for part in &self.conditions {
            match part.holds(scope, unknown_variables) {
                Ok(Some(true)) => {}
                Ok(Some(false)) => {
                    *answer = AdmissionAnswer::default();
                    return Some(false);
                }
                Ok(None) => failed = failed.or(Some(part)),
                Err(why) => _ = answer.unknown.insert(why),
            }
        }
        match failed {
            _ if !answer.unknown.is_empty() => None,
            Some(part) if self.fails() => {
                answer.reject(part);
                None
            }
            Some(_) => Some(false),
            None => Some(true),
        }
    }

    /// Whether an expression that fails rejects the request.
    fn fails(&self) -> bool {
        self.object.spec.failure_policy != "Ignore"
    }

    /// Binds the variables, and returns those with an unknown value. A variable that fails on the server is
    /// omitted: expressions that use it fail too.
    fn bind_variables(&self, scope: &mut Scope<'_>) -> BTreeMap<&'a str, String> {
        let mut unknown = BTreeMap::new();
        let mut values = Map::new();
        let mut bound = scope.bind("variables", &Value::Object(Map::new()));
        for (name, part) in &self.variables {
            match part.value(scope, &unknown) {
                Ok(Some(value)) => {
                    values.insert((*name).to_owned(), value);
                    bound = bound.and(scope.bind("variables", &Value::Object(values.clone())));
                }
                Ok(None) => {}
                Err(why) => _ = unknown.insert(*name, why),
            }
        }
        if let Err(why) = bound {
            unknown.extend(self.variables.iter().map(|(name, _)| (*name, why.to_string())));
        }
        unknown
    }
}

impl AdmissionAnswer {
    fn reject(&mut self, part: &PolicyExpression<'_>) {
        self.rejected_by.get_or_insert_with(|| (part.path.clone(), part.text.to_owned()));
    }
}

impl PolicyExpression<'_> {
    /// Its value; `None` if it fails on the server, too.
    ///
    /// # Errors
    /// The value is unknown; contains the reason.
    fn value(&self, scope: &Scope<'_>, unknown: &BTreeMap<&str, String>) -> Result<Option<Value>, String> {
        let expression = self.expression.as_ref().map_err(|why| format!("{}: {why}", self.path))?;
        if let Some(why) = expression.selects_of("variables").find_map(|name| unknown.get(name)) {
            return Err(why.clone());
        }
        match expression.evaluate(scope) {
            Ok(value) => Ok(Some(value)),
            Err(NoValue::Missing(_)) => Ok(None),
            Err(why) => Err(format!("{}: {why}", self.path)),
        }
    }

    fn holds(&self, scope: &Scope<'_>, unknown: &BTreeMap<&str, String>) -> Result<Option<bool>, String> {
        match self.value(scope, unknown)? {
            None => Ok(None),
            Some(Value::Bool(holds)) => Ok(Some(holds)),
            Some(_) => Err(format!("{}: it is neither true nor false", self.path)),
        }
    }
}

fn parse(text: &str, variables: &[&str]) -> Result<Expression, String> {
    if redact::is_marked(text) {
        return Err("a part of it is redacted".to_owned());
    }
    let first = |error: String| error.split("; ").next().unwrap_or_default().to_owned();
    let expression = Expression::parse(text, &BOUND).map_err(first)?;
    // All labels are known.
    let is_known = |above: Option<&str>, field: &str| {
        above == Some("labels") || KNOWN_FIELDS.contains(&field) || variables.contains(&field)
    };
    let unknown = expression.fields().find(|(above, field)| !is_known(*above, field));
    let unknown = unknown.map(|(_, field)| field.to_owned());
    match unknown {
        Some(field) => Err(format!("the value of {field} in new pods is not known")),
        None => Ok(expression),
    }
}

fn bind(
    scope: &mut Scope<'_>,
    request: &Request<'_>,
    object: &Value,
    namespace: Option<&Namespace>,
) -> Result<(), NoValue> {
    scope.bind("object", object)?;
    scope.bind("oldObject", &request.old_object())?;
    scope.bind("request", &request.attributes())?;
    match namespace {
        Some(namespace) => {
            let metadata = &namespace.metadata;
            let json = serde_json::json!({"metadata": {"name": metadata.name, "labels": *metadata.labels}});
            scope.bind("namespaceObject", &json)?;
        }
        None => scope.leave("namespaceObject", NoValue::NoNamespace),
    }
    scope.leave("params", NoValue::NotKnown("its parameters are not read".to_owned()));
    Ok(())
}

/// Whether a policy or binding selects a request; `None` if that depends on unknown labels of the namespace.
/// `none`: the result without resource rules.
pub(super) fn selects(
    selection: &AdmissionMatch,
    request: &Request<'_>,
    namespace: Option<&Namespace>,
    none: bool,
) -> Option<bool> {
    let names = |rule: &crate::objects::ResourceRule| {
        rule.matches(request.operation, (request.group, request.resource), request.name)
    };
    let is_named = match selection.resource_rules.is_empty() {
        true => none,
        false => selection.resource_rules.iter().any(names),
    };
    let by_labels = selection.object_selector.as_ref().is_none_or(|selector| selector.matches(request.labels));
    if !is_named || selection.exclude_resource_rules.iter().any(names) || !by_labels {
        return Some(false);
    }
    let is_empty = |selector: &crate::objects::LabelSelector| *selector == crate::objects::LabelSelector::default();
    match &selection.namespace_selector {
        None => Some(true),
        Some(selector) if is_empty(selector) => Some(true),
        Some(selector) => Some(selector.matches(&namespace?.metadata.labels)),
    }
}
