//! Parses a rule from its card. Every part is parsed, and rejected if invalid, before any evidence is read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kind::kind;
use super::step::ExpressedStep;
use super::{Message, Quoted, Rule};
use crate::card::ExpressedRule;
use crate::checks::expressed::bound::CLUSTER;
use crate::checks::expressed::written::{FieldPath, as_written, bound as bound_as, plain};
use crate::expression::Expression;
use crate::item::Kind;
use crate::nearest::closest;

/// Maximum number of variables of a rule.
const VARIABLES: usize = 20;
/// The names bound in every expression.
const BOUND: [&str; 5] = ["object", "namespaceObject", "owner", "cluster", "params"];

impl Rule {
    /// Parses the rule of a card.
    ///
    /// # Errors
    /// A part of it is invalid; the text names it.
    pub(in crate::checks::expressed) fn parse(said: &ExpressedRule) -> Result<Rule, String> {
        let kind = kind(said)?;
        if matches!(kind, Kind::Secret | Kind::ConfigMap) {
            return Err(format!("rule.for: expressions cannot read {}", kind.resource()));
        }
        if said.variables.len() > VARIABLES {
            return Err(format!("rule.variables: more than {VARIABLES}"));
        }
        let names: Vec<String> = said.variables.iter().map(|variable| bound_as(&variable.name)).collect();
        for (at, variable) in said.variables.iter().enumerate() {
            let name = &variable.name;
            if !is_name(name) {
                return Err(format!(
                    "rule.variables[{at}]: {name:?} is not a valid name: use letters, digits and _, with a \
                     letter first"
                ));
            }
            if said.variables[..at].iter().any(|before| before.name == *name) {
                return Err(format!("rule.variables[{at}]: {name} is defined twice; rename this one"));
            }
        }
        let mut bound: Vec<&str> = BOUND.to_vec();
        let parse = |place: &str, text: &str, bound: &[&str]| {
            let expression =
                Expression::parse(&plain(text), bound).map_err(|why| format!("rule.{place}: {}", as_written(&why)))?;
            known_fields(&expression, &said.params)
                .and_then(|()| asks_of(kind, &expression))
                .map_err(|why| format!("rule.{place}: {why}"))?;
            Ok::<_, String>(expression)
        };
        let only_where = said.only_where.as_deref().map(|text| parse("where", text, &bound)).transpose()?;
        let mut variables = Vec::new();
        for (variable, name) in said.variables.iter().zip(&names) {
            let expression = parse(&format!("variables.{}", variable.name), &variable.expression, &bound)?;
            variables.push((name.clone(), expression));
            bound.push(name);
        }
        let holds = parse("rule", &said.rule, &bound)?;
        let message = match (&said.message, &said.message_expression) {
            (Some(text), None) => Message::Fixed(text.clone()),
            (None, Some(text)) => Message::Made(parse("message-expression", text, &bound)?),
            _ => return Err("rule: set one of message and message-expression".to_owned()),
        };
        let evidence = said.evidence.iter().enumerate().map(|(at, one)| {
            let place = format!("evidence[{at}]");
            let wrong = |why: String| format!("rule.{place}: {why}");
            let path = match &one.expression {
                Some(_) => FieldPath::naming(&one.path),
                None => FieldPath::parse(&one.path),
            };
            let path = path.map_err(wrong)?;
            known_beginning(kind, path.first()).map_err(wrong)?;
            Ok(match &one.expression {
                Some(text) => Quoted::Made(one.path.clone(), parse(&place, text, &bound)?),
                None => Quoted::Field(path),
            })
        });
        let evidence = evidence.collect::<Result<Vec<_>, String>>()?;
        let fix = said.fix.iter().enumerate().map(|(at, fix)| {
            let place = format!("fix[{at}]");
            ExpressedStep::parse(fix, &|text| parse(&place, text, &bound)).map_err(|why| {
                match why.starts_with("rule.") {
                    true => why,
                    false => format!("rule.{place}: {why}"),
                }
            })
        });
        let fix = fix.collect::<Result<Vec<_>, String>>()?;
        if fix.is_empty() {
            return Err("rule.fix: add at least one step".to_owned());
        }
        let params = serde_json::to_value(&said.params).map_err(|error| format!("rule.params: {error}"))?;
        let text = said.rule.trim().to_owned();
        Ok(Rule { kind, only_where, variables, holds, text, message, evidence, fix, params })
    }
}

/// Rejects fields that `params`, `cluster`, `owner` and `namespaceObject` never have. Any field of an
/// object may be missing, but these lack only unknown facts.
fn known_fields(expression: &Expression, params: &BTreeMap<String, Value>) -> Result<(), String> {
    const OWNER: [&str; 3] = ["kind", "namespace", "name"];
    let params: Vec<&str> = params.keys().map(String::as_str).collect();
    for (variable, known) in
        [("params", &params[..]), ("cluster", &CLUSTER), ("owner", &OWNER), ("namespaceObject", &["metadata"])]
    {
        if let Some(field) = expression.selects_of(variable).find(|field| !known.contains(field)) {
            let perhaps = match closest(field, known.iter().copied()) {
                Some(near) => format!("; did you mean {variable}.{near}?"),
                None if known.is_empty() => "; the rule has no params".to_owned(),
                None => format!("; it has {}", known.join(", ")),
            };
            return Err(format!("{variable}.{field} does not exist{perhaps}"));
        }
    }
    Ok(())
}

/// Whether the mesh model has results for objects of this kind that an expression uses.
fn asks_of(kind: Kind, expression: &Expression) -> Result<(), String> {
    const MAKE_PODS: [Kind; 7] =
        [Kind::Pod, Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicaSet, Kind::Job, Kind::CronJob];
    let of = || kind.resource();
    if expression.calls("policy") && kind != Kind::Pod {
        return Err(format!("policy() works only in rules for pods, and this rule is for {}", of()));
    }
    let makes_pods = matches!(kind, Kind::Foreign(_)) || MAKE_PODS.contains(&kind);
    match ["injected", "defaultPolicy"].into_iter().find(|function| expression.calls(function)) {
        Some(function) if !makes_pods => Err(format!(
            "{function}() works only on pods and workloads (deployments.apps), and this rule is for {}",
            of()
        )),
        _ => Ok(()),
    }
}

/// Rejects a first field that resembles `spec` or another common field but is not a field of the kind. Kinds
/// that a card describes may have any field.
fn known_beginning(kind: Kind, first: &str) -> Result<(), String> {
    const COMMON: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
    if matches!(kind, Kind::Foreign(_)) || COMMON.contains(&first) {
        return Ok(());
    }
    match closest(first, COMMON) {
        Some(near) => Err(format!("objects have no field {first}; did you mean {near}?")),
        None => Ok(()),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
