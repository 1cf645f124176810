//! Expressions that users write: CEL, the language of Kubernetes' own ValidatingAdmissionPolicy. The only place that knows the
//! crate that evaluates them; in and out goes JSON.
//!
//! An expression cannot loop without end, and lists in it are walked at most [`DEPTH`] deep. Before it is evaluated its cost
//! is bounded by the lists that it may walk and by what it may make of them; one that would cost more is not evaluated at all.

mod cost;
mod data;
mod functions;
mod room;
mod scope;
mod shape;
mod value;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use cel::{Env, ExecutionError, Program};
use serde_json::Value;

use self::data::{Looked, looked_at};
pub use self::functions::{FUNCTIONS, Known, KnownPorts};
use self::room::{DEEPEST, SHALLOW, is_too_deep, with_room};
pub use self::scope::Scope;
use self::shape::{Mention, STANDARD, Shape, is_standard};
use self::value::from_cel;

/// How many walks over lists may stand in one another.
const DEPTH: u32 = 3;
/// How many items the walks of one evaluation may come to.
const STEPS: u64 = 1_000_000;
/// How many they may come to in all evaluations of a run of a check.
const ALL_STEPS: u64 = 10_000_000;
/// How many bytes a value may take while an expression is evaluated.
const BYTES: u64 = 64 << 20;
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
    /// It would take too long, or too much memory.
    #[error("it would take too many steps, or too much memory, over so large an object")]
    Costly,
    /// All evaluations before took so long that there is no time left.
    #[error("the rule took too many steps over the objects before")]
    Spent,
    /// It asks for the namespace of an object, and namespaces were not read.
    #[error("namespaceObject is not known")]
    NoNamespace,
    /// It asks the model of the mesh for what the evidence does not tell.
    #[error("{0}")]
    NotKnown(String),
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
            NoValue::NoNamespace => "bring the namespaces, or ask for what needs none",
            NoValue::NotKnown(_) => {
                "judge a cluster or a bundle, which tell it; or set linkerd.io/inject in the pod template"
            }
            NoValue::Costly | NoValue::Spent => "walk over less in the card of the check",
            NoValue::Failed(_) => "correct the expression in the card of the check",
        }
    }
}

/// A parsed expression.
#[derive(Debug)]
pub struct Expression {
    program: Program,
    /// How deep its parts stand in one another.
    height: u32,
    /// The functions that it calls.
    calls: BTreeSet<String>,
    /// The names of fields that it mentions.
    mentions: BTreeSet<Mention>,
    /// What it looks at without a name.
    looked_at: BTreeSet<Looked>,
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
        let looked_at = looked_at(program.expression());
        Ok(Expression {
            program,
            looked_at,
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
        if let Some(looked) = self.looked_at.iter().find(|looked| scope.may_be_redacted(looked)) {
            return Err(NoValue::Redacted(match looked {
                Looked::Below(name) | Looked::Items(name) => format!("a part of {name}"),
                Looked::Anywhere => "a part of the object".to_owned(),
            }));
        }
        let cost = cost::of(self.program.expression(), scope);
        if cost.steps > STEPS || cost.bytes > BYTES {
            return Err(NoValue::Costly);
        }
        if !scope.spend(cost.steps) {
            return Err(NoValue::Spent);
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
            Err(ExecutionError::FunctionError { function, message })
                if [functions::NOT_KNOWN, functions::NO_POLICY].contains(&message.as_str()) =>
            {
                Err(NoValue::NotKnown(format!("{function}: {message}")))
            }
            Err(ExecutionError::FunctionError { function, message }) => {
                Err(NoValue::Failed(format!("{function}: {}", crate::redact::error(&message))))
            }
            Err(error) => Err(NoValue::Failed(crate::redact::error(&in_words(&error.to_string())))),
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

    /// Its value as it is quoted: a text, and of everything else its JSON.
    ///
    /// # Errors
    /// It has none.
    pub fn quoted(&self, scope: &Scope<'_>) -> Result<String, NoValue> {
        Ok(match self.evaluate(scope)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
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

/// What is said of a function that takes no such values, for who wrote the expression.
fn in_words(error: &str) -> String {
    let between = |before: &str, after: &str| {
        let (_, rest) = error.split_once(before)?;
        rest.split_once(after).map(|(between, _)| between.to_owned())
    };
    if let (Some(function), Some(given)) = (between("overload for '", "'"), between("applied to '(", ")'")) {
        let given: Vec<&str> = given.split(", ").map(type_in_words).collect();
        // Operators are functions with lines in the places of what they stand between.
        match function.as_str() {
            "_._" => {
                return format!(
                    "{} has no fields; walk it with exists() or map()",
                    given.first().unwrap_or(&"it")
                );
            }
            "_[_]" => {
                return format!(
                    "{} has no items by {}",
                    given.first().unwrap_or(&"it"),
                    given.last().unwrap_or(&"that")
                );
            }
            operator if operator.contains('_') && !operator.contains(char::is_alphanumeric) => {
                let sign = operator.trim_matches('_');
                return format!("{} are nothing for {sign}", given.join(" and "));
            }
            _ => {}
        }
        let hint = match function.as_str() {
            "string" => "; name one of its fields, or leave string() away where evidence is quoted",
            _ => "",
        };
        return format!("{function}() does not take {}{hint}", given.join(" and "));
    }
    if let (Some(given), Some(wanted)) = (between("got '", "'"), between("want '", "'")) {
        let (given, wanted) = (type_in_words(&given), type_in_words(&wanted));
        return format!("a function is called with {given}, and takes {wanted} there");
    }
    error.to_owned()
}

/// A type of values as the library writes it: `map`, `String()`, `i64`.
fn type_in_words(name: &str) -> &str {
    let word = name.split('(').next().unwrap_or(name).to_ascii_lowercase();
    match word.as_str() {
        "map" => "a map",
        "list" => "a list",
        "string" | "arc<string>" => "a text",
        "int" | "i64" | "uint" | "u64" => "a whole number",
        "double" | "float" | "f64" => "a number",
        "bool" => "a truth",
        "null" | "null_type" => "null",
        _ => name,
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

#[cfg(test)]
mod tests;
