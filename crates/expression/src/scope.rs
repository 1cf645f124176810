//! The scope of expressions: bound variables, their size, and their redacted parts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cel::Context;
use serde_json::Value;

use super::cost::NODE;
use super::data::Looked;
use super::functions::{Known, functions};
use super::shape::Mention;
use super::value::{TEXT, to_cel};
use super::{ALL_STEPS, LANGUAGE, NODES, NoValue};

/// Variables and functions for expressions.
pub struct Scope<'p> {
    pub(super) context: Context<'p, 'static>,
    /// Length of the longest bound list or map.
    pub(super) widest: u64,
    /// Length of the longest bound text, in bytes.
    pub(super) longest: u64,
    /// Size of all bound values, in bytes.
    bytes: u64,
    /// Length of the longest list or map, by field name.
    items: BTreeMap<String, u64>,
    /// Names of redacted fields, with those of their parent fields.
    redacted: BTreeMap<String, BTreeSet<String>>,
    /// Names of fields and variables that contain redacted texts at any depth.
    holding: BTreeSet<String>,
    /// Names of lists with an item that contains one.
    holding_items: BTreeSet<String>,
    /// Upper bound for the steps of all evaluations of a check so far.
    spent: Arc<AtomicU64>,
    /// Variables without a value, with the reason.
    pub(super) lacking: BTreeMap<String, NoValue>,
}

impl Scope<'static> {
    /// An empty scope.
    pub fn new(known: Known) -> Scope<'static> {
        let mut context = Context::with_env(Arc::clone(&LANGUAGE));
        let known = Arc::new(known);
        functions(&mut context, &known);
        Scope {
            context,
            widest: 0,
            longest: 0,
            bytes: 0,
            items: BTreeMap::new(),
            redacted: BTreeMap::new(),
            holding: BTreeSet::new(),
            holding_items: BTreeSet::new(),
            spent: Arc::default(),
            lacking: BTreeMap::new(),
        }
    }
}

impl<'p> Scope<'p> {
    /// A nested scope.
    pub fn within(&'p self) -> Scope<'p> {
        Scope {
            context: self.context.new_inner_scope(),
            widest: self.widest,
            longest: self.longest,
            bytes: self.bytes,
            items: self.items.clone(),
            redacted: self.redacted.clone(),
            holding: self.holding.clone(),
            holding_items: self.holding_items.clone(),
            spent: Arc::clone(&self.spent),
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

    /// Marks a variable as having no value: only expressions that use it fail.
    pub fn leave(&mut self, name: &str, why: NoValue) {
        self.lacking.insert(name.to_owned(), why);
    }

    /// Whether a mentioned name may be a redacted text.
    pub(super) fn is_redacted(&self, (above, name): &Mention) -> bool {
        let below = self.redacted.get(name);
        below.is_some_and(|known| above.as_ref().is_none_or(|above| known.contains(above)))
    }

    /// Whether data that is read without its name may be a redacted text.
    pub(super) fn may_be_redacted(&self, looked: &Looked) -> bool {
        match looked {
            Looked::Below(name) => self.holding.contains(name),
            Looked::Items(name) => self.holding_items.contains(name),
            Looked::Anywhere => !self.redacted.is_empty(),
        }
    }

    /// Size of all bound values, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Length of the longest list or map with this field name.
    pub(super) fn items(&self, name: &str) -> u64 {
        self.items.get(name).copied().unwrap_or(1)
    }

    /// Uses up steps of a check's budget; returns whether enough were left.
    pub(super) fn spend(&self, steps: u64) -> bool {
        let before = self.spent.fetch_add(steps, Ordering::Relaxed);
        before.saturating_add(steps) <= ALL_STEPS
    }

    /// Records the size of a value and its redacted parts; returns whether there are any.
    fn look(&mut self, above: &str, name: &str, value: &Value, nodes: &mut usize) -> bool {
        *nodes += 1;
        self.bytes = self.bytes.saturating_add(NODE);
        let mut holds = false;
        match value {
            Value::Array(items) => {
                self.long(name, items.len());
                for item in items {
                    if self.look(above, name, item, nodes) {
                        holds = true;
                        if !item.is_string() {
                            self.holding_items.insert(name.to_owned());
                        }
                    }
                }
            }
            Value::Object(map) => {
                self.long(name, map.len());
                for (key, value) in map {
                    self.bytes = self.bytes.saturating_add(NODE + key.len() as u64);
                    holds |= self.look(name, key, value, nodes);
                }
            }
            Value::String(text) => {
                // Long texts count by their length.
                *nodes += text.len() / TEXT;
                self.longest = self.longest.max(text.len() as u64);
                self.bytes = self.bytes.saturating_add(text.len() as u64);
                if crate::redact::is_marked(text) {
                    self.redacted.entry(name.to_owned()).or_default().insert(above.to_owned());
                    return true;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if holds {
            self.holding.insert(name.to_owned());
        }
        holds
    }

    fn long(&mut self, name: &str, items: usize) {
        let items = items as u64;
        self.widest = self.widest.max(items);
        match self.items.get_mut(name) {
            Some(known) => *known = items.max(*known),
            None => _ = self.items.insert(name.to_owned(), items),
        }
    }
}
