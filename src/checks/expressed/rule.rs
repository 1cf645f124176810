//! The CEL rule of a card: parsed once, evaluated for each object of its kind.

mod kind;
mod parse;
mod step;

use std::collections::BTreeMap;

use serde_json::Value;

use super::bound::{Bindings, EvidenceNeeds};
use super::written::{FieldPath, as_written};
use crate::card::none_of_the_name;
use crate::checks::policy;
use crate::checks::prelude::*;
use crate::checks::unjudged::Unjudged;
use crate::checks::words::some;
use crate::expression::{Expression, NoValue, Scope};
use crate::objects::{CustomResourceDefinition, is_built_in, is_undefined};
use step::ExpressedStep;

/// Maximum number of objects named for one reason.
const NAMED: usize = 3;
/// Maximum number of reasons in the report.
const REASONS: usize = 20;

#[derive(Debug)]
pub struct Rule {
    /// The kind of its objects.
    pub(super) kind: Kind,
    only_where: Option<Expression>,
    variables: Vec<(String, Expression)>,
    holds: Expression,
    text: String,
    message: Message,
    evidence: Vec<Quoted>,
    fix: Vec<ExpressedStep>,
    params: Value,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a rule has few of them")]
enum Message {
    Fixed(String),
    Made(Expression),
}

/// A piece of evidence: the value of an expression under a name, or the value at a field path.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a rule has few of them")]
enum Quoted {
    Made(String, Expression),
    Field(FieldPath),
}

impl Rule {
    /// Parses a parameter override; the value keeps the type that it has on the card.
    ///
    /// # Errors
    /// No such parameter exists, or the value has another type; as text.
    pub fn parameter(&self, name: &str, written: &str) -> Result<Value, String> {
        let Some(held) = self.params.get(name) else {
            let known = self.params.as_object().into_iter().flatten().map(|(name, _)| (name.clone(), ()));
            return Err(none_of_the_name(name, &known.collect()));
        };
        let other = |kind: &str| format!("{name} is {kind}, but got {written:?}");
        match held {
            Value::String(_) => Ok(Value::String(written.to_owned())),
            Value::Bool(_) => written.parse().map(Value::Bool).map_err(|_| other("true or false")),
            Value::Number(number) => match serde_json::from_str(written) {
                Ok(Value::Number(given)) if number.is_f64() || !given.is_f64() => Ok(Value::Number(given)),
                _ => Err(other(if number.is_f64() { "a number" } else { "a whole number" })),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => serde_json::from_str(written)
                .ok()
                .filter(|given| std::mem::discriminant(given) == std::mem::discriminant(held))
                .ok_or_else(|| other("a list or map, in JSON")),
        }
    }

    /// Whether any of its expressions calls a function.
    pub(super) fn calls(&self, function: &str) -> bool {
        let message = match &self.message {
            Message::Made(expression) => Some(expression),
            Message::Fixed(_) => None,
        };
        let words = self.fix.iter().flat_map(ExpressedStep::expressions);
        let variables = self.variables.iter().map(|(_, expression)| expression);
        let evidence = self.evidence.iter().filter_map(|one| match one {
            Quoted::Made(_, expression) => Some(expression),
            Quoted::Field(_) => None,
        });
        let mut all =
            self.only_where.iter().chain(variables).chain([&self.holds]).chain(message).chain(evidence).chain(words);
        all.any(|expression| expression.calls(function))
    }

    /// The finding about one object; `None` if the rule is true or does not apply.
    fn of_object<'a>(
        &self,
        ctx: &Context<'a>,
        bindings: &Bindings<'a>,
        root: &Scope<'_>,
        object: &Value,
    ) -> Result<Option<Finding>, NoValue> {
        let mut scope = root.within();
        let owner = bindings.bind(&mut scope, object)?;
        if let Some(only_where) = &self.only_where
            && !only_where.holds(&scope)?
        {
            return Ok(None);
        }
        for (name, expression) in &self.variables {
            match expression.evaluate(&scope) {
                Ok(value) => scope.bind(name, &value)?,
                Err(why) => scope.leave(name, why),
            }
        }
        if self.holds.holds(&scope)? {
            return Ok(None);
        }
        Ok(Some(self.finding(ctx, owner, bindings, &scope, object)))
    }

    /// The finding about an object for which the rule is false. A message, a piece of evidence or a step
    /// without a value does not suppress it.
    fn finding<'a>(
        &self,
        ctx: &Context<'a>,
        owner: Subject,
        bindings: &Bindings<'a>,
        scope: &Scope<'_>,
        object: &Value,
    ) -> Finding {
        let message = match &self.message {
            Message::Fixed(text) => text.clone(),
            Message::Made(expression) => {
                expression.text(scope).unwrap_or_else(|_| format!("the rule is false: {}", self.text))
            }
        };
        let named = bindings.object_name(object);
        let mut finding = ctx.finding(owner, message.clone());
        // The author of the card decides on its wording.
        finding.message = message;
        for one in &self.evidence {
            let (path, said) = match one {
                Quoted::Made(path, expression) => {
                    (path.as_str(), expression.quoted(scope).unwrap_or_else(|why| format!("no value: {why}")))
                }
                Quoted::Field(path) => (path.as_str(), path.in_object(object)),
            };
            finding = finding.evidence(Evidence::field(&named, path, said));
        }
        if self.evidence.is_empty() {
            finding = finding.evidence(Evidence::field(&named, "rule", format!("not: {}", self.text)));
        }
        let mut remedy = Remedy::new();
        for step in &self.fix {
            remedy = step.add_to(remedy, scope);
        }
        finding.remedy(remedy)
    }
}

/// Evaluates every object of the rule's kind.
pub(in crate::checks) fn judge(ctx: &Context<'_>, rule: &Rule) -> Judgement {
    let objects = objects(ctx, rule.kind)?;
    let asks = EvidenceNeeds {
        injection: rule.calls("injected") || rule.calls("defaultPolicy"),
        policy: rule.calls("policy"),
    };
    if asks.policy {
        policy::survey(ctx)?;
    }
    let bindings = Bindings::new(ctx, rule.kind, asks);
    let mut root = Scope::new(bindings.known.clone());
    let lacking = |name: String, why: &NoValue| {
        let message = as_written(&format!("{name}: {why}"));
        let close = why.hint().to_owned();
        ctx.missing(Item::List(rule.kind), Why::NoValue { message, close }, "some of them")
    };
    let mut params = rule.params.clone();
    for (name, value) in ctx.set_params() {
        params[name] = value.clone();
    }
    for (name, value) in [("cluster", &bindings.cluster), ("params", &params)] {
        root.bind(name, value).map_err(|why| lacking(name.to_owned(), &why))?;
    }
    let (mut findings, mut unjudged) = (Vec::new(), BTreeMap::<NoValue, Vec<String>>::new());
    for object in objects.iter().filter(|object| bindings.is_judged(ctx, object)) {
        match rule.of_object(ctx, &bindings, &root, object) {
            Ok(finding) => findings.extend(finding),
            Err(why) => unjudged.entry(why).or_default().push(bindings.object_name(object)),
        }
    }
    // The gap and its remedy are known.
    if unjudged.remove(&NoValue::NoNamespace).is_some() {
        ctx.or_note(ctx.complete_list::<Namespace>());
    }
    let rest: usize = unjudged.values().skip(REASONS).map(Vec::len).sum();
    for (why, objects) in unjudged.iter().take(REASONS) {
        ctx.gap(lacking(some(objects, NAMED), why));
    }
    if rest > 0 {
        let why = NoValue::Failed("the rule has no value either".to_owned());
        ctx.gap(lacking(format!("and {rest} more"), &why));
    }
    Ok(findings.into())
}

/// The objects of the rule's kind.
///
/// # Errors
/// They were unavailable; or the cluster does not have the kind, so the rule does not apply.
fn objects<'a>(ctx: &Context<'a>, kind: Kind) -> Result<&'a [Value], Unjudged> {
    let answer = ctx.whole(kind);
    // A case in which a known kind may not be listed needs no definitions.
    let may_be_undefined = match &answer {
        Ok(objects) => objects.is_empty(),
        Err(missing) => matches!(kind, Kind::Foreign(_)) || missing.why == Why::NotServed,
    };
    let is_undefined = may_be_undefined
        && !is_built_in(kind)
        && ctx.complete_list::<CustomResourceDefinition>().is_ok_and(|all| is_undefined(all, kind));
    if is_undefined {
        return Err(Unjudged::not_applicable(format!("the cluster has no {}", kind.resource())));
    }
    answer.map_err(Unjudged::from)
}
