//! Expressions that users write: CEL, the language of Kubernetes' own ValidatingAdmissionPolicy. The only place that knows the
//! crate that evaluates them; in and out goes JSON.
//!
//! An expression cannot loop without end, and lists in it are walked at most [`DEPTH`] deep. Before it is evaluated its cost
//! is bounded by the largest list that it may walk; one that would cost more is not evaluated at all.

mod functions;
mod room;
mod shape;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use cel::{Context, Env, ExecutionError, Program};
use serde_json::Value;

use self::functions::functions;
pub use self::functions::{FUNCTIONS, Known};
use self::room::{DEEPEST, SHALLOW, is_too_deep, with_room};
use self::shape::{Mention, STANDARD, Shape, is_standard};
use self::value::{TEXT, from_cel, to_cel};

/// How many walks over lists may stand in one another.
const DEPTH: u32 = 3;
/// How many steps one evaluation may take, at most.
const STEPS: u64 = 2_000_000;
/// The longest expression, in bytes.
const LONGEST: usize = 4096;
/// How many nodes a value of a variable may have.
const NODES: usize = 200_000;

/// The language: CEL's own functions, its optional values (`a.?b`, `a[?b]`), and its functions of texts.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut language = Env::stdlib();
    let added = cel::extensions::strings(&mut language);
    debug_assert!(added.is_ok(), "a function of texts has the name of one of CEL's own");
    Arc::new(language)
});

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum NoValue {
    /// It asks for a field that is not there.
    #[error("{0} is not there; ask with has() first where it may be missing")]
    Missing(String),
    /// It asks for what was redacted.
    #[error("{0} is redacted")]
    Redacted(String),
    /// It would take too long.
    #[error("it would take too many steps over so large an object")]
    Costly,
    /// Anything else: values that cannot be compared, a division by zero.
    #[error("{0}")]
    Failed(String),
}

impl NoValue {
    /// What the author of the expression can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            NoValue::Missing(_) => "ask with has() first for what may be missing, in the card of the check",
            NoValue::Redacted(_) => {
                "look at it by hand, or ask for something else in the card of the check: what is redacted is never compared"
            }
            NoValue::Costly => "walk over less in the card of the check",
            NoValue::Failed(_) => "correct the expression in the card of the check",
        }
    }
}

/// A parsed expression.
#[derive(Debug)]
pub struct Expression {
    program: Program,
    /// How deep walks over lists stand in one another.
    depth: u32,
    /// How deep its parts stand in one another.
    height: u32,
    /// The functions that it calls.
    calls: BTreeSet<String>,
    /// The names of fields that it mentions.
    mentions: BTreeSet<Mention>,
    /// The fields that it selects of variables, each with the variable.
    selected: BTreeSet<(String, String)>,
}

impl Expression {
    /// Parses an expression, in which these variables are bound.
    ///
    /// # Errors
    /// It is no CEL, names what is not there, or is too long or too deep.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Expression, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        if is_too_deep(text) {
            return Err("it is nested too deep; put parts of it under variables".to_owned());
        }
        let parsed = with_room(|| Expression::parsed(text, variables));
        parsed.unwrap_or_else(|| Err("there is no memory to parse it".to_owned()))
    }

    fn parsed(text: &str, variables: &[&str]) -> Result<Expression, String> {
        let program = LANGUAGE.compile(text).map_err(|error| {
            let said = error.to_string();
            let said = said.lines().next().unwrap_or("it is no CEL");
            let said = said.strip_prefix("ERROR: <input>:").map_or(said.to_owned(), |at| format!("at {at}"));
            match said.ends_with(": namespace") {
                true => format!("{said}; the object's namespace is namespaceObject"),
                false => said,
            }
        })?;
        let mut shape = Shape::default();
        shape.walk(program.expression(), 0);
        if shape.height > DEEPEST {
            return Err(format!(
                "its parts stand more than {DEEPEST} deep in one another; put some under variables"
            ));
        }
        if shape.depth > DEPTH {
            return Err(format!("lists are walked more than {DEPTH} deep"));
        }
        let unknown = |name: &&String| !variables.contains(&name.as_str()) && !shape.bound.contains(*name);
        if let Some(name) = shape.idents.iter().find(unknown) {
            let known = variables.iter().copied();
            let hint = crate::nearest::closest(name, known).map(|near| format!("; did you mean {near}?"));
            return Err(format!("nothing is bound to {name}{}", hint.unwrap_or_default()));
        }
        let ours = || FUNCTIONS.iter().map(|(name, _, _)| *name);
        if let Some(name) =
            shape.calls.iter().find(|name| !is_standard(name) && !ours().any(|known| known == *name))
        {
            let hint = crate::nearest::closest(name, ours().chain(STANDARD.iter().copied()));
            let hint = hint.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(format!("there is no function {name}{hint}"));
        }
        let arguments = |name: &str| {
            let (_, said, _) = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
            Some((said.split(", ").count(), *said))
        };
        for (name, given) in &shape.counts {
            if let Some((_, said)) = arguments(name).filter(|(wanted, _)| wanted != given) {
                return Err(format!("{name}({said}) is called with {given} arguments"));
            }
        }
        Ok(Expression {
            program,
            depth: shape.depth,
            height: shape.height,
            calls: shape.calls,
            mentions: shape.mentions,
            selected: shape.selected,
        })
    }

    /// Whether it calls a function.
    pub fn calls(&self, function: &str) -> bool {
        self.calls.contains(function)
    }

    /// The fields that it selects of a variable itself.
    pub fn selects_of<'e>(&'e self, variable: &str) -> impl Iterator<Item = &'e str> {
        let of = variable.to_owned();
        self.selected.iter().filter(move |(name, _)| *name == of).map(|(_, field)| field.as_str())
    }

    /// Its value.
    ///
    /// # Errors
    /// It has none.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<Value, NoValue> {
        if let Some((above, name)) = self.mentions.iter().find(|mention| scope.is_redacted(mention)) {
            let above = above.iter().map(|above| format!("{above}."));
            return Err(NoValue::Redacted(above.chain([name.clone()]).collect()));
        }
        let widest = if self.calls("split") { scope.widest.max(scope.longest) } else { scope.widest };
        if widest.max(8).saturating_pow(self.depth) > STEPS {
            return Err(NoValue::Costly);
        }
        let execute = || self.program.execute(&scope.context);
        let executed = match self.height > SHALLOW {
            true => with_room(execute).ok_or(NoValue::Costly)?,
            false => execute(),
        };
        match executed {
            Ok(value) => {
                let mut left = NODES;
                from_cel(&value, &mut left)
            }
            Err(ExecutionError::NoSuchKey(key)) => Err(NoValue::Missing(key.to_string())),
            Err(ExecutionError::IndexOutOfBounds(at)) => Err(NoValue::Missing(format!("item {at:?}"))),
            Err(ExecutionError::UndeclaredReference(name)) => Err(scope
                .lacking
                .get(name.as_str())
                .cloned()
                .unwrap_or_else(|| NoValue::Missing(name.to_string()))),
            Err(ExecutionError::FunctionError { function, message }) => {
                Err(NoValue::Failed(format!("{function}: {}", crate::redact::error(&message))))
            }
            Err(error) => Err(NoValue::Failed(crate::redact::error(&error.to_string()))),
        }
    }

    /// Its value as a truth.
    ///
    /// # Errors
    /// It has none, or is neither true nor false.
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, NoValue> {
        match self.evaluate(scope)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(NoValue::Failed(format!("it is neither true nor false but {}", kind_of(&other)))),
        }
    }

    /// Its value as a text; numbers and booleans as they are written.
    ///
    /// # Errors
    /// It has none, or is a list or a map.
    pub fn text(&self, scope: &Scope<'_>) -> Result<String, NoValue> {
        match self.evaluate(scope)? {
            Value::String(text) => Ok(text),
            value @ (Value::Bool(_) | Value::Number(_)) => Ok(value.to_string()),
            other => Err(NoValue::Failed(format!("it is no text but {}", kind_of(&other)))),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// What an expression is evaluated in: variables and functions.
pub struct Scope<'p> {
    context: Context<'p, 'static>,
    /// The largest list or map that is bound.
    widest: u64,
    /// The longest text that is bound, in bytes.
    longest: u64,
    /// The names of fields whose texts were redacted, with those of the fields above them.
    redacted: BTreeMap<String, BTreeSet<String>>,
    /// Variables that have no value, and why.
    lacking: BTreeMap<String, NoValue>,
}

impl Scope<'static> {
    /// A scope in which nothing is bound yet.
    pub fn new(known: Known) -> Scope<'static> {
        let mut context = Context::with_env(Arc::clone(&LANGUAGE));
        let known = Arc::new(known);
        functions(&mut context, &known);
        Scope { context, widest: 0, longest: 0, redacted: BTreeMap::new(), lacking: BTreeMap::new() }
    }
}

impl<'p> Scope<'p> {
    /// A scope within this one.
    pub fn within(&'p self) -> Scope<'p> {
        Scope {
            context: self.context.new_inner_scope(),
            widest: self.widest,
            longest: self.longest,
            redacted: self.redacted.clone(),
            lacking: self.lacking.clone(),
        }
    }

    /// Binds a variable.
    ///
    /// # Errors
    /// It is too large.
    pub fn bind(&mut self, name: &str, value: &Value) -> Result<(), NoValue> {
        let mut nodes = 0;
        self.look("", name, value, &mut nodes);
        if nodes > NODES {
            return Err(NoValue::Costly);
        }
        self.context.add_variable_from_value(name, to_cel(value));
        Ok(())
    }

    /// Leaves a variable without a value: only an expression that comes to need it has none either.
    pub fn leave(&mut self, name: &str, why: NoValue) {
        self.lacking.insert(name.to_owned(), why);
    }

    /// Whether what is mentioned may be a text that was redacted.
    fn is_redacted(&self, (above, name): &Mention) -> bool {
        let below = self.redacted.get(name);
        below.is_some_and(|known| above.as_ref().is_none_or(|above| known.contains(above)))
    }

    /// Notes how large a value is, and what of it is redacted.
    fn look(&mut self, above: &str, name: &str, value: &Value, nodes: &mut usize) {
        *nodes += 1;
        match value {
            Value::Array(items) => {
                self.widest = self.widest.max(items.len() as u64);
                items.iter().for_each(|item| self.look(above, name, item, nodes));
            }
            Value::Object(map) => {
                self.widest = self.widest.max(map.len() as u64);
                map.iter().for_each(|(key, value)| self.look(name, key, value, nodes));
            }
            Value::String(text) => {
                // Long texts count by their length.
                *nodes += text.len() / TEXT;
                self.longest = self.longest.max(text.len() as u64);
                if crate::redact::is_marked(text) {
                    self.redacted.entry(name.to_owned()).or_default().insert(above.to_owned());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(text: &str, object: &Value) -> Result<Value, NoValue> {
        let expression = Expression::parse(text, &["object"]).expect(text);
        let root = Scope::new(Known::default());
        let mut scope = root.within();
        scope.bind("object", object)?;
        expression.evaluate(&scope)
    }

    #[test]
    fn what_is_not_there_is_no_value_unless_it_is_asked_for() {
        let object = json!({"spec": {"replicas": 3, "containers": [{"name": "app", "image": "a:1"}]}});
        assert_eq!(value("object.spec.replicas > 2", &object), Ok(json!(true)));
        assert_eq!(value("object.spec.containers.all(c, c.image.startsWith('a'))", &object), Ok(json!(true)));
        assert_eq!(value("object.spec.paused", &object), Err(NoValue::Missing("paused".to_owned())));
        assert_eq!(value("has(object.spec.paused) && object.spec.paused", &object), Ok(json!(false)));
        assert!(matches!(value("object.spec.replicas.size()", &object), Err(NoValue::Failed(_))));
    }

    #[test]
    fn optional_values_ask_and_answer_at_once() {
        let object = json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}, "spec": {"a": "REDACTED(len=4)"}});
        for (text, expected) in [
            ("object.metadata.?annotations[?'linkerd.io/inject'].orValue('') == 'enabled'", json!(true)),
            ("object.metadata.?labels[?'app'].orValue('none')", json!("none")),
            ("object.?metadata.?labels.hasValue()", json!(false)),
            ("object.spec.?paused.orValue(false)", json!(false)),
        ] {
            assert_eq!(value(text, &object), Ok(expected), "{text}");
        }
        // What is redacted is not taken for absent, however it is asked for.
        for text in ["object.spec.?a.orValue('') == ''", "object.?spec[?'a'].orValue('x') == 'x'"] {
            assert!(matches!(value(text, &object), Err(NoValue::Redacted(_))), "{text}");
        }
        assert!(
            matches!(value("object.?metadata", &object), Err(NoValue::Failed(why)) if why.contains("orValue"))
        );
    }

    #[test]
    fn texts_are_taken_apart_as_in_kubernetes() {
        let object = json!({"image": " Registry.example.com/a/b:1.2 "});
        for (text, expected) in [
            ("object.image.trim().lowerAscii().startsWith('registry')", json!(true)),
            ("object.image.trim().split('/').size()", json!(3)),
            ("object.image.substring(1, 9)", json!("Registry")),
            ("object.image.indexOf('/') < object.image.lastIndexOf('/')", json!(true)),
            ("quantity('1Gi').isGreaterThan(quantity('1000M'))", json!(true)),
            ("quantity('100m').isLessThan(quantity('1'))", json!(true)),
            ("quantity('1').compareTo(quantity('1000m'))", json!(0)),
        ] {
            assert_eq!(value(text, &object), Ok(expected), "{text}");
        }
        // A text is a list of as many parts as it has letters, at most.
        let long = json!("x".repeat(3000));
        assert_eq!(
            value("object.split('').all(a, object.split('').all(b, a == b))", &long),
            Err(NoValue::Costly)
        );
        for text in ["object.image.replace('', object.image)", "[object.image].join(',')"] {
            assert!(
                Expression::parse(text, &["object"]).is_err_and(|why| why.contains("no function")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_was_redacted_is_never_compared() {
        let object = json!({"spec": {"token": "REDACTED(len=12)", "name": "x"}});
        let redacted = |name: &str| Err(NoValue::Redacted(name.to_owned()));
        assert_eq!(value("object.spec.token == 'x'", &object), redacted("spec.token"));
        assert_eq!(value("object.spec.name == 'x'", &object), Ok(json!(true)));
        // A field of that name elsewhere is another one, as long as it is plain where it stands.
        let object = json!({"metadata": {"name": "x"}, "spec": {"of": {"name": "REDACTED(len=4)"}, "all": [{"name": "REDACTED(len=4)"}]}});
        assert_eq!(value("object.metadata.name == 'x'", &object), Ok(json!(true)));
        for text in [
            "object.spec.of.name == 'x'",
            "object.spec.all[0].name == 'x'",
            "object.spec.all.exists(one, one.name == 'x')",
            "object.spec['of']['name'] == 'x'",
            "object.spec.all.exists(object, object.name == 'x')",
        ] {
            assert!(matches!(value(text, &object), Err(NoValue::Redacted(_))), "{text}");
        }
    }

    #[test]
    fn functions_know_what_kubernetes_and_linkerd_mean() {
        let object = json!({"labels": {"app": "web"}, "selector": {"matchLabels": {"app": "web"}}});
        for (text, expected) in [
            ("atLeast('v1.31.5-eks-1', '1.29')", true),
            ("atLeast('v1.9.0', '1.29')", false),
            ("atLeast('edge-26.5.5', 'edge-26.5.4')", true),
            ("atLeast('v1.29', '1.29.0')", true),
            ("atLeast('1.29.0', '1.29.1')", false),
            ("quantity('100m') == 0.1", true),
            ("quantity('1Gi') > quantity('1000M')", true),
            ("inCIDR('10.1.2.3', '10.0.0.0/8')", true),
            ("inCIDR('fd00::1', '10.0.0.0/8')", false),
            ("selects(object.selector, object.labels)", true),
        ] {
            assert_eq!(value(text, &object), Ok(json!(expected)), "{text}");
        }
        for text in ["quantity('much') > 1.0", "quantity('inf') > 1.0", "atLeast('edge-24.1.1', '2.15')"] {
            assert!(matches!(value(text, &object), Err(NoValue::Failed(_))), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_before_it_is_evaluated() {
        let refused = |text: &str| Expression::parse(text, &["object", "cluster"]).expect_err(text);
        assert!(refused("object.").len() < 300);
        assert!(refused("objct.x").contains("did you mean object?"));
        assert!(refused("namespace.metadata.name == 'x'").ends_with("namespaceObject"));
        assert!(refused("atLest(object.x, '1')").contains("did you mean atLeast?"));
        assert_eq!(refused("injected()"), "injected(object) is called with 0 arguments");
        assert!(
            refused("cluster.?linkerd.orValue(policy(object))")
                .starts_with("policy(pod, port) is called with 1")
        );
        let deep = "object.all(a, object.all(b, object.all(c, object.all(d, true))))";
        assert!(refused(deep).contains("deep"));
        assert!(refused(&"1 + ".repeat(2000)).contains("longer"));
    }

    #[test]
    fn what_is_nested_deep_ends_no_process() {
        let refused = |text: &str| Expression::parse(text, &["object"]).expect_err(text);
        assert!(refused(&format!("1{} > 0", "+1".repeat(1900))).contains("deep"));
        assert!(refused(&format!("object{}", "[0]".repeat(1300))).contains("deep"));
        for (open, close) in [("(", ")"), ("[", "]"), ("size(", ")"), ("{1:", "}")] {
            let text = |deep: usize| format!("{}'a'{}", open.repeat(deep), close.repeat(deep));
            assert!(refused(&text(600)).contains("deep"), "{open}");
            assert!(Expression::parse(&text(60), &["object"]).is_ok(), "{open}");
        }
        assert_eq!(value(&format!("1{}", "+1".repeat(200)), &json!({})), Ok(json!(201)));
        assert_eq!(value(&format!("{}true", "!".repeat(3000)), &json!({})), Ok(json!(true)));
    }

    #[test]
    fn a_walk_over_too_much_is_not_begun() {
        let many = json!((0..5000).collect::<Vec<_>>());
        let deep = "object.all(a, object.all(b, a + b >= 0))";
        assert_eq!(value(deep, &many), Err(NoValue::Costly));
        assert_eq!(value("object.all(a, a >= 0)", &many), Ok(json!(true)));
        let few = json!((0..600).collect::<Vec<_>>());
        assert_eq!(value("object.map(a, object)", &few), Err(NoValue::Costly));
        let long = json!("x".repeat(1 << 18));
        let doubled = vec!["object"; 64].join(" + ");
        assert_eq!(value(&doubled, &long), Err(NoValue::Costly));
    }
}
