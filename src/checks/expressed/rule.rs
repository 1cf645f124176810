//! The rule of a card that is an expression: parsed once, evaluated for each object of its kind.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bound::{Asks, Bindings, CLUSTER};
use super::written::{FieldPath, as_written, bound as bound_as, plain};
use crate::card::{ExpressedFix, ExpressedRule, none_of_the_name};
use crate::checks::unjudged::Unjudged;
use crate::checks::words::some;
use crate::checks::{Context, Judgement, policy};
use crate::command::{Arg, Call, helm, kubectl, linkerd, meshdoctor};
use crate::expression::{Expression, NoValue, Scope};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::nearest::closest;
use crate::objects::{CustomResourceDefinition, Description, Foreign, Namespace, is_undefined};

/// So many objects that could not be judged for one reason are named.
const NAMED: usize = 3;
/// So many reasons are told.
const REASONS: usize = 20;
/// So many variables a rule may have.
const VARIABLES: usize = 20;
/// What is bound in every expression.
const BOUND: [&str; 5] = ["object", "namespaceObject", "owner", "cluster", "params"];

/// A rule.
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
    fix: Vec<Step>,
    params: Value,
}

#[derive(Debug)]
enum Message {
    Fixed(String),
    Made(Expression),
}

/// A piece of evidence: what an expression says under a name, or what stands at the path of a field.
#[derive(Debug)]
enum Quoted {
    Made(String, Expression),
    Field(FieldPath),
}

#[derive(Debug)]
struct Step {
    text: String,
    run: Vec<Word>,
}

/// A word of a command: as it is, or a value.
#[derive(Debug)]
enum Word {
    Fixed(&'static str),
    Made(Expression),
    /// One that begins with an option and its `=`, as the card writes it: what stands behind is a value.
    Option(&'static str, Expression),
}

impl Rule {
    /// Of what a card says.
    ///
    /// # Errors
    /// A part of it cannot be; says which.
    pub(super) fn of(said: &ExpressedRule) -> Result<Rule, String> {
        let kind = kind(said)?;
        if matches!(kind, Kind::Secret | Kind::ConfigMap) {
            return Err(format!("rule.for: no expression sees {}", kind.resource()));
        }
        if said.variables.len() > VARIABLES {
            return Err(format!("rule.variables: more than {VARIABLES}"));
        }
        let names: Vec<String> = said.variables.iter().map(|variable| bound_as(&variable.name)).collect();
        for (at, variable) in said.variables.iter().enumerate() {
            let name = &variable.name;
            if !is_name(name) {
                return Err(format!(
                    "rule.variables[{at}]: {name:?} is no name: letters, digits and _, a letter first"
                ));
            }
            if said.variables[..at].iter().any(|before| before.name == *name) {
                return Err(format!(
                    "rule.variables[{at}]: {name} is there twice; give this one another name"
                ));
            }
        }
        let mut bound: Vec<&str> = BOUND.to_vec();
        let parse = |place: &str, text: &str, bound: &[&str]| {
            let expression = Expression::parse(&plain(text), bound)
                .map_err(|why| format!("rule.{place}: {}", as_written(&why)))?;
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
            _ => return Err("rule: one of message and message-expression".to_owned()),
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
            step(fix, &|text| parse(&place, text, &bound)).map_err(|why| match why.starts_with("rule.") {
                true => why,
                false => format!("rule.{place}: {why}"),
            })
        });
        let fix = fix.collect::<Result<Vec<_>, String>>()?;
        if fix.is_empty() {
            return Err("rule.fix: at least one step that says what to do".to_owned());
        }
        let params = serde_json::to_value(&said.params).map_err(|error| format!("rule.params: {error}"))?;
        let text = said.rule.trim().to_owned();
        Ok(Rule { kind, only_where, variables, holds, text, message, evidence, fix, params })
    }

    /// A parameter as it is set, from what was written for it; it stays of the kind that it has on the card.
    ///
    /// # Errors
    /// There is none of that name, or the value is of another kind; in words.
    pub fn parameter(&self, name: &str, written: &str) -> Result<Value, String> {
        let Some(held) = self.params.get(name) else {
            let known = self.params.as_object().into_iter().flatten().map(|(name, _)| (name.clone(), ()));
            return Err(none_of_the_name(name, &known.collect()));
        };
        let other = |kind: &str| format!("{name} is {kind}, and {written:?} is none");
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
        let words = self.fix.iter().flat_map(|step| &step.run).filter_map(|word| match word {
            Word::Made(expression) | Word::Option(_, expression) => Some(expression),
            Word::Fixed(_) => None,
        });
        let variables = self.variables.iter().map(|(_, expression)| expression);
        let evidence = self.evidence.iter().filter_map(|one| match one {
            Quoted::Made(_, expression) => Some(expression),
            Quoted::Field(_) => None,
        });
        let mut all = self
            .only_where
            .iter()
            .chain(variables)
            .chain([&self.holds])
            .chain(message)
            .chain(evidence)
            .chain(words);
        all.any(|expression| expression.calls(function))
    }

    /// What it says of one object; `None` where it is fine, or not asked about.
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

    /// What is said of an object for which the rule does not hold. That it does not is known: a message, a piece of evidence or a
    /// step that has no value takes nothing away from it.
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
                expression.text(scope).unwrap_or_else(|_| format!("the rule does not hold: {}", self.text))
            }
        };
        let named = bindings.named(object);
        let mut finding = ctx.finding(owner, message);
        for one in &self.evidence {
            let (path, said) = match one {
                Quoted::Made(path, expression) => {
                    (path.as_str(), expression.quoted(scope).unwrap_or_else(|why| format!("no value: {why}")))
                }
                Quoted::Field(path) => (path.as_str(), path.of(object)),
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

/// Judges every object of the rule's kind.
pub(in crate::checks) fn judge(ctx: &Context<'_>, rule: &Rule) -> Judgement {
    let objects = objects(ctx, rule.kind)?;
    let asks = Asks {
        injection: rule.calls("injected") || rule.calls("defaultPolicy"),
        policy: rule.calls("policy"),
    };
    if asks.policy {
        policy::survey(ctx)?;
    }
    let bindings = Bindings::of(ctx, rule.kind, asks);
    let mut root = Scope::new(bindings.known.clone());
    let lacking = |name: String, why: &NoValue| {
        let message = as_written(&format!("{name}: {why}"));
        let close = why.hint().to_owned();
        ctx.lacking(Item::List(rule.kind), Why::NoValue { message, close }, "some of them")
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
            Err(why) => unjudged.entry(why).or_default().push(bindings.named(object)),
        }
    }
    // What is missing is known, and how to come by it.
    if unjudged.remove(&NoValue::NoNamespace).is_some() {
        ctx.noted(ctx.every::<Namespace>());
    }
    let rest: usize = unjudged.values().skip(REASONS).map(Vec::len).sum();
    for (why, objects) in unjudged.iter().take(REASONS) {
        ctx.gap(lacking(some(objects, NAMED), why));
    }
    if rest > 0 {
        let why = NoValue::Failed("the rule has no value there either".to_owned());
        ctx.gap(lacking(format!("and {rest} more"), &why));
    }
    Ok(findings.into())
}

/// Whether what an expression selects of `params`, `cluster`, `owner` and `namespaceObject` may be there at all: an object may lack
/// any field, these lack only what is not known.
fn known_fields(expression: &Expression, params: &BTreeMap<String, Value>) -> Result<(), String> {
    const OWNER: [&str; 3] = ["kind", "namespace", "name"];
    let params: Vec<&str> = params.keys().map(String::as_str).collect();
    for (variable, known) in [
        ("params", &params[..]),
        ("cluster", &CLUSTER),
        ("owner", &OWNER),
        ("namespaceObject", &["metadata"]),
    ] {
        if let Some(field) = expression.selects_of(variable).find(|field| !known.contains(field)) {
            let perhaps = match closest(field, known.iter().copied()) {
                Some(near) => format!("; did you mean {variable}.{near}?"),
                None if known.is_empty() => "; the rule has no params".to_owned(),
                None => format!(", but {}", known.join(", ")),
            };
            return Err(format!("there is no {variable}.{field}{perhaps}"));
        }
    }
    Ok(())
}

/// Whether an expression may ask what the injector does with the pods of a kind, which its pod template tells.
fn asks_of_template(said: &ExpressedRule) -> bool {
    let steps = said.fix.iter().flat_map(|fix| fix.run.iter().map(String::as_str));
    let evidence = said.evidence.iter().filter_map(|one| one.expression.as_deref());
    let variables = said.variables.iter().map(|one| one.expression.as_str());
    let others = [said.only_where.as_deref(), Some(said.rule.as_str()), said.message_expression.as_deref()];
    let mut all = variables.chain(evidence).chain(steps).chain(others.into_iter().flatten());
    all.any(|text| text.contains("injected") || text.contains("defaultPolicy"))
}

/// Whether the model of the mesh can say of objects of a kind what an expression asks of it.
fn asks_of(kind: Kind, expression: &Expression) -> Result<(), String> {
    const MAKE_PODS: [Kind; 7] = [
        Kind::Pod,
        Kind::Deployment,
        Kind::StatefulSet,
        Kind::DaemonSet,
        Kind::ReplicaSet,
        Kind::Job,
        Kind::CronJob,
    ];
    let of = || kind.resource();
    if expression.calls("policy") && kind != Kind::Pod {
        return Err(format!("policy() is of running pods, for: pods, and this rule is for {}", of()));
    }
    let makes_pods = matches!(kind, Kind::Foreign(_)) || MAKE_PODS.contains(&kind);
    match ["injected", "defaultPolicy"].into_iter().find(|function| expression.calls(function)) {
        Some(function) if !makes_pods => Err(format!(
            "{function}() is of pods and of what makes them (deployments.apps), and this rule is for {}",
            of()
        )),
        _ => Ok(()),
    }
}

/// Whether a path that begins like this is one of objects of a kind: what is nearly `spec` and is not is a slip. Kinds that a card
/// describes may have any field.
fn known_beginning(kind: Kind, first: &str) -> Result<(), String> {
    const COMMON: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
    if matches!(kind, Kind::Foreign(_)) || COMMON.contains(&first) {
        return Ok(());
    }
    match closest(first, COMMON) {
        Some(near) => Err(format!("no object has a field {first}; did you mean {near}?")),
        None => Ok(()),
    }
}

/// The kind that a rule is evaluated for: one of ours, or one that the card describes.
fn kind(said: &ExpressedRule) -> Result<Kind, String> {
    let ours = || Kind::ALL.iter().copied().find(|kind| said.of.parse() == Ok(*kind));
    let Some(name) = &said.kind else {
        if said.cluster_scoped || !said.reads.is_empty() {
            return Err("rule: cluster-scoped and reads describe a kind that meshdoctor does not know, and go with kind".to_owned());
        }
        return ours().ok_or_else(|| {
            let known: Vec<String> = Kind::ALL.iter().map(|kind| kind.resource()).collect();
            let near = closest(&said.of, known.iter().map(String::as_str));
            let near = near.map_or("; of".to_owned(), |near| format!("; did you mean {near}? Of"));
            format!(
                "rule.for: {:?} is no kind that meshdoctor knows{near} another one say the version and the kind: for: \
                 certificates.v1.cert-manager.io, kind: Certificate",
                said.of
            )
        });
    };
    let parts: Vec<&str> = said.of.splitn(3, '.').collect();
    let is_version = |text: &str| {
        text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let [plural, version, group] = parts[..] else {
        return Err(format!("rule.for: {:?} names no version: certificates.v1.cert-manager.io", said.of));
    };
    if !is_version(version) || !group.contains('.') || plural.is_empty() {
        return Err(format!(
            "rule.for: {:?} is no resource with version and group: certificates.v1.cert-manager.io",
            said.of
        ));
    }
    let known =
        Kind::of_manifest(&format!("{group}/{version}"), name).filter(|kind| Kind::ALL.contains(kind));
    if let Some(known) = known {
        return Err(format!("rule.kind: {name} is known; for: {} says it all", known.resource()));
    }
    Foreign::register(Description {
        group,
        version,
        kind: name,
        plural,
        namespaced: !said.cluster_scoped,
        reads: &said.reads,
        makes_pods: asks_of_template(said),
    })
    .map_err(|why| format!("rule: {why}"))
}

/// The objects of the rule's kind.
///
/// # Errors
/// They could not be had; or there is no such kind in this cluster, so that nothing is asked.
fn objects<'a>(ctx: &Context<'a>, kind: Kind) -> Result<&'a [Value], Unjudged> {
    let undefined = || {
        matches!(kind, Kind::Foreign(_))
            && ctx.every::<CustomResourceDefinition>().is_ok_and(|all| is_undefined(all, kind))
    };
    match ctx.whole(kind) {
        Ok(objects) if !objects.is_empty() => Ok(objects),
        _ if undefined() => Err(Unjudged::not_applicable(format!("the cluster has no {}", kind.resource()))),
        other => other.map_err(Unjudged::from),
    }
}

fn step(fix: &ExpressedFix, parse: &dyn Fn(&str) -> Result<Expression, String>) -> Result<Step, String> {
    const PROGRAMS: [&str; 4] = ["kubectl", "linkerd", "helm", "meshdoctor"];
    if let Some(program) = fix.run.first()
        && !PROGRAMS.contains(&program.as_str())
    {
        return Err(format!("a command begins with one of {}", PROGRAMS.join(", ")));
    }
    // It lives as long as the rule, which is as long as the process.
    let kept = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let word = |word: &String| match word.strip_prefix('=') {
        Some(expression) => {
            let parsed = parse(expression)?;
            Ok::<_, String>(match option(expression) {
                Some(begins) => Word::Option(kept(begins), parsed),
                None => Word::Made(parsed),
            })
        }
        None => Ok(Word::Fixed(kept(word))),
    };
    Ok(Step { text: fix.text.clone(), run: fix.run.iter().map(word).collect::<Result<_, _>>()? })
}

/// The option that an expression begins with, in a text of its own: `--replicas=` of `'--replicas=' + string(params.least)`.
fn option(expression: &str) -> Option<&str> {
    let quoted = expression.trim_start();
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (text, rest) = quoted[1..].split_once(quote)?;
    let is_whole = rest.trim_start().starts_with('+') || rest.trim().is_empty();
    let is_option = text.starts_with('-') && text.contains('=') && !text.contains('\\');
    (is_whole && is_option).then_some(text)
}

impl Step {
    /// Adds the step; as a note where a word of its command has no value.
    fn add_to(&self, remedy: Remedy, scope: &Scope<'_>) -> Remedy {
        match self.call(scope) {
            Some(call) => remedy.run(StepKind::Command, &self.text, call),
            None => remedy.step(StepKind::Note, &self.text),
        }
    }

    fn call(&self, scope: &Scope<'_>) -> Option<Call> {
        let mut words = self.run.iter();
        let mut call = match words.next()? {
            Word::Fixed("linkerd") => linkerd(),
            Word::Fixed("helm") => helm(),
            Word::Fixed("meshdoctor") => meshdoctor(),
            _ => kubectl(),
        };
        for word in words {
            call = match word {
                Word::Fixed(word) => call.arg(Arg::known(word)),
                Word::Made(expression) => call.arg(expression.text(scope).ok()?),
                Word::Option(begins, expression) => {
                    let text = expression.text(scope).ok()?;
                    call.arg(Arg::known(begins).then(text.strip_prefix(begins)?))
                }
            };
        }
        Some(call)
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
