//! What expressions are evaluated in: the variables that are bound, how large they are, and what of them was redacted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cel::Context;
use serde_json::Value;

use super::functions::{Known, functions};
use super::shape::Mention;
use super::value::{TEXT, to_cel};
use super::{LANGUAGE, NODES, NoValue};

/// What an expression is evaluated in: variables and functions.
pub struct Scope<'p> {
    pub(super) context: Context<'p, 'static>,
    /// The largest list or map that is bound.
    pub(super) widest: u64,
    /// The longest text that is bound, in bytes.
    pub(super) longest: u64,
    /// The names of fields whose texts were redacted, with those of the fields above them.
    redacted: BTreeMap<String, BTreeSet<String>>,
    /// Variables that have no value, and why.
    pub(super) lacking: BTreeMap<String, NoValue>,
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
    pub(super) fn is_redacted(&self, (above, name): &Mention) -> bool {
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
