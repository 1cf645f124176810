//! Expressions of user-defined checks in CEL, the language of Kubernetes' ValidatingAdmissionPolicy. The only module
//! that uses the CEL crate; input and output are JSON.
//!
//! Expressions cannot loop endlessly, and loops are nested at most [`DEPTH`] deep. Before evaluation, the cost is
//! bounded by the lists to visit and the values to create; an expression above the limit is not evaluated.

use meshdoctor_core::nearest;
use {meshdoctor_objects as objects, meshdoctor_redact as redact};

mod cost;
mod data;
mod evaluation_limits;
mod functions;
mod scope;
mod shape;
mod value;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use cel::{Env, ExecutionError, Program};
use serde_json::Value;

use self::data::{Looked, looked_at};
use self::evaluation_limits::{DEEPEST, SHALLOW, is_too_deep, with_room};
pub use self::functions::{FUNCTIONS, Known, KnownPorts};
pub use self::scope::Scope;
use self::shape::{ExpressionShape, Mention, STANDARD, is_standard};
use self::value::from_cel;

/// Maximum nesting of loops over lists.
const DEPTH: u32 = 3;
/// Maximum number of items that one evaluation may visit.
const STEPS: u64 = 1_000_000;
/// The same for all evaluations of a check in a run.
const ALL_STEPS: u64 = 10_000_000;
/// Maximum size of a value during evaluation, in bytes.
const BYTES: u64 = 64 << 20;
/// Maximum length of an expression, in bytes.
const LONGEST: usize = 4096;
/// Maximum number of nodes of a variable's value.
const NODES: usize = 200_000;

/// The language: CEL's own functions, optional values (`a.?b`, `a[?b]`), and string functions.
static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut language = Env::stdlib();
    let added = cel::extensions::strings(&mut language);
    debug_assert!(added.is_ok(), "a function of texts has the name of one of CEL's own");
    Arc::new(language)
});

/// Reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum NoValue {
    /// It reads a missing field.
    #[error("{0} is missing; test optional fields with has()")]
    Missing(String),
    /// It reads a redacted value.
    #[error("{0} is redacted")]
    Redacted(String),
    /// It would take too much time or memory.
    #[error("it would take too many steps or too much memory on an object of this size")]
    Costly,
    /// Earlier evaluations used up the budget.
    #[error("the rule took too many steps on earlier objects")]
    Spent,
    /// It reads the object's namespace, but namespaces were not read.
    #[error("namespaceObject is unknown")]
    NoNamespace,
    /// It needs a fact of the mesh model that the evidence does not contain.
    #[error("{0}")]
    NotKnown(String),
    /// Other errors: incomparable values, a division by zero.
    #[error("{0}")]
    Failed(String),
}

impl NoValue {
    /// The next step for the author.
    pub fn hint(&self) -> &'static str {
        match self {
            NoValue::Missing(_) => "test optional fields with has() in the check's card",
            NoValue::Redacted(_) => {
                "inspect the value by hand, or change the check's card: redacted values are never compared"
            }
            NoValue::NoNamespace => "provide the namespaces, or change the expression in the check's card",
            NoValue::NotKnown(_) => {
                "check a cluster or a bundle that contains it, or set linkerd.io/inject in the pod template"
            }
            NoValue::Costly | NoValue::Spent => "reduce the loops in the check's card",
            NoValue::Failed(_) => "correct the expression in the check's card",
        }
    }
}

/// A parsed expression.
#[derive(Debug)]
pub struct Expression {
    program: Program,
    /// Nesting depth of its parts.
    height: u32,
    /// The functions that it calls.
    calls: BTreeSet<String>,
    /// Names of fields that it mentions.
    mentions: BTreeSet<Mention>,
    /// Fields that it selects of objects.
    fields: BTreeSet<Mention>,
    /// Data that it reads without naming it.
    looked_at: BTreeSet<Looked>,
    /// Fields that it selects of variables, with the variable.
    selected: BTreeSet<(String, String)>,
    /// Variables that it reads in another way than by selecting a field.
    whole: BTreeSet<String>,
}

impl Expression {
    /// Parses an expression with these variables.
    ///
    /// # Errors
    /// It is not valid CEL, uses an unknown name, or is too long or too deep.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Expression, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        if is_too_deep(text) {
            return Err("it is nested too deeply; move parts of it to variables".to_owned());
        }
        let parsed = with_room(|| Expression::parsed(text, variables));
        parsed.unwrap_or_else(|| Err("there is no memory to parse it".to_owned()))
    }

    fn parsed(text: &str, variables: &[&str]) -> Result<Expression, String> {
        let program = LANGUAGE.compile(text).map_err(|error| {
            let said = error.to_string();
            let said = said.lines().next().unwrap_or("it is not valid CEL");
            let said = said.strip_prefix("ERROR: <input>:").map_or(said.to_owned(), |at| format!("at {at}"));
            match said.ends_with(": namespace") {
                true => format!("{said}; the object's namespace is namespaceObject"),
                false => said,
            }
        })?;
        let mut shape = ExpressionShape::default();
        shape.walk(program.expression(), 0);
        if shape.height > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} levels deep; move parts of it to variables"));
        }
        if shape.depth > DEPTH {
            return Err(format!("loops are nested more than {DEPTH} levels deep"));
        }
        let unknown = |name: &&String| !variables.contains(&name.as_str()) && !shape.bound.contains(*name);
        if let Some(name) = shape.idents.iter().find(unknown) {
            let known = variables.iter().copied();
            let hint = crate::nearest::closest(name, known).map(|near| format!("; did you mean {near}?"));
            return Err(format!("unknown variable {name}{}", hint.unwrap_or_default()));
        }
        let ours = || FUNCTIONS.iter().map(|(name, _, _)| *name);
        if let Some(name) = shape.calls.iter().find(|name| !is_standard(name) && !ours().any(|known| known == *name)) {
            let hint = crate::nearest::closest(name, ours().chain(STANDARD.iter().copied()));
            let hint = hint.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(format!("unknown function {name}{hint}"));
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
            fields: shape.fields,
            selected: shape.selected,
            whole: shape.whole,
        })
    }

    /// Whether it calls a function.
    pub fn calls(&self, function: &str) -> bool {
        self.calls.contains(function)
    }

    /// The fields that it selects, except those of parameters, each with the name of the field above it if
    /// that is known.
    pub fn fields(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.fields.iter().map(|(above, field)| (above.as_deref(), field.as_str()))
    }

    /// Fields that it selects directly of a variable.
    pub fn selects_of<'e>(&'e self, variable: &str) -> impl Iterator<Item = &'e str> {
        let of = variable.to_owned();
        self.selected.iter().filter(move |(name, _)| *name == of).map(|(_, field)| field.as_str())
    }

    /// Whether it reads a field of a variable, or may read it.
    pub fn reads_field(&self, variable: &str, field: &str) -> bool {
        self.whole.contains(variable) || self.selects_of(variable).any(|selected| selected == field)
    }

    /// Its value.
    ///
    /// # Errors
    /// It has no value.
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
        let cost = cost::cost(self.program.expression(), scope);
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
            Err(ExecutionError::UndeclaredReference(name)) => {
                Err(scope.lacking.get(name.as_str()).cloned().unwrap_or_else(|| NoValue::Missing(name.to_string())))
            }
            Err(ExecutionError::FunctionError { function, message })
                if [functions::NOT_KNOWN, functions::NO_POLICY].contains(&message.as_str()) =>
            {
                Err(NoValue::NotKnown(format!("{function}: {message}")))
            }
            Err(ExecutionError::FunctionError { function, message }) => {
                Err(NoValue::Failed(format!("{function}: {}", crate::redact::error(&message))))
            }
            Err(error) => Err(NoValue::Failed(crate::redact::error(&describe(&error.to_string())))),
        }
    }

    /// Its value as a boolean.
    ///
    /// # Errors
    /// It has no value, or not a boolean.
    pub fn holds(&self, scope: &Scope<'_>) -> Result<bool, NoValue> {
        match self.evaluate(scope)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(NoValue::Failed(format!("it must be true or false, but is {}", kind_of(&other)))),
        }
    }

    /// Its value as quoted: text as it is, others as JSON.
    ///
    /// # Errors
    /// It has no value.
    pub fn quoted(&self, scope: &Scope<'_>) -> Result<String, NoValue> {
        Ok(match self.evaluate(scope)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// Its value as text; numbers and booleans as written.
    ///
    /// # Errors
    /// It has no value, or is a list or map.
    pub fn text(&self, scope: &Scope<'_>) -> Result<String, NoValue> {
        match self.evaluate(scope)? {
            Value::String(text) => Ok(text),
            value @ (Value::Bool(_) | Value::Number(_)) => Ok(value.to_string()),
            other => Err(NoValue::Failed(format!("it must be a text, but is {}", kind_of(&other)))),
        }
    }
}

/// The error for a function with unsupported argument types, for the author.
fn describe(error: &str) -> String {
    let between = |before: &str, after: &str| {
        let (_, rest) = error.split_once(before)?;
        rest.split_once(after).map(|(between, _)| between.to_owned())
    };
    if let (Some(function), Some(given)) = (between("overload for '", "'"), between("applied to '(", ")'")) {
        let given: Vec<&str> = given.split(", ").map(type_in_words).collect();
        // Operators are functions with underscores for their operands.
        match function.as_str() {
            "_._" => {
                return format!(
                    "{} has no fields; loop over it with exists() or map()",
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
                return format!("{} cannot be used with {sign}", given.join(" and "));
            }
            _ => {}
        }
        let hint = match function.as_str() {
            "string" => "; select one of its fields, or omit string() for evidence",
            _ => "",
        };
        return format!("{function}() does not accept {}{hint}", given.join(" and "));
    }
    if let (Some(given), Some(wanted)) = (between("got '", "'"), between("want '", "'")) {
        let (given, wanted) = (type_in_words(&given), type_in_words(&wanted));
        return format!("a function is called with {given} instead of {wanted}");
    }
    error.to_owned()
}

/// A type name of the CEL crate: `map`, `String()`, `i64`.
fn type_in_words(name: &str) -> &str {
    let word = name.split('(').next().unwrap_or(name).to_ascii_lowercase();
    match word.as_str() {
        "map" => "a map",
        "list" => "a list",
        "string" | "arc<string>" => "a text",
        "int" | "i64" | "uint" | "u64" => "a whole number",
        "double" | "float" | "f64" => "a number",
        "bool" => "a boolean",
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
