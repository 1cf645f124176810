//! What an expression is made of: what it names, calls and mentions, and how deep it walks.

use std::collections::BTreeSet;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};

use super::room::DEEPEST;

/// Functions and operators of CEL itself that may be called; operators have names that begin with no letter.
pub(super) const STANDARD: [&str; 22] = [
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "string",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "max",
    "min",
    "type",
    "dyn",
    "has",
    "all",
    "exists",
    "exists_one",
    "map",
    "filter",
    "existsOne",
];

/// The variables that are objects, which no walk over a list binds otherwise.
const OBJECTS: [&str; 2] = ["object", "namespaceObject"];

pub(super) fn is_standard(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic()) || STANDARD.contains(&name)
}

/// The name of a field, and the name of the field above it; `None` where it may be a field of anything.
pub(super) type Mention = (Option<String>, String);

/// What an expression is made of.
#[derive(Default)]
pub(super) struct Shape {
    /// How deep walks over lists stand in one another.
    pub(super) depth: u32,
    /// How deep its parts stand in one another, as far as [`DEEPEST`] and one more.
    pub(super) height: u32,
    /// How deep the walk is.
    level: u32,
    /// The variables that it names.
    pub(super) idents: BTreeSet<String>,
    /// What walks over lists bind.
    pub(super) bound: BTreeSet<String>,
    /// The functions that it calls.
    pub(super) calls: BTreeSet<String>,
    /// The names of fields that it mentions, each with that of the field that it is selected of, where that is plain.
    pub(super) mentions: BTreeSet<Mention>,
}

impl Shape {
    pub(super) fn walk(&mut self, expression: &IdedExpr, depth: u32) {
        self.depth = self.depth.max(depth);
        self.level += 1;
        self.height = self.height.max(self.level);
        if self.level <= DEEPEST {
            self.part(expression, depth);
        }
        self.level -= 1;
    }

    fn part(&mut self, expression: &IdedExpr, depth: u32) {
        match &expression.expr {
            Expr::Unspecified => {}
            Expr::Literal(literal) => {
                if let cel::common::ast::LiteralValue::String(text) = literal {
                    self.mentions.insert((None, text.inner().to_owned()));
                }
            }
            Expr::Ident(name) => _ = self.idents.insert(name.clone()),
            Expr::Call(call) => {
                self.calls.insert(call.func_name.clone());
                for part in call.target.iter().map(|target| &**target).chain(&call.args) {
                    self.walk(part, depth);
                }
            }
            Expr::Select(select) => {
                // What is bound beside objects was never redacted.
                if !matches!(root(expression), Some("params" | "cluster" | "owner")) {
                    self.mentions.insert((self.above(&select.operand), select.field.clone()));
                }
                self.walk(&select.operand, depth);
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.walk(element, depth)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr, depth)),
            Expr::Struct(of) => of.entries.iter().for_each(|entry| self.entry(&entry.expr, depth)),
            Expr::Comprehension(walk) => {
                self.bound.insert(walk.iter_var.clone());
                self.bound.extend(walk.iter_var2.clone());
                self.bound.insert(walk.accu_var.clone());
                self.walk(&walk.iter_range, depth);
                for part in [&walk.accu_init, &walk.loop_cond, &walk.loop_step, &walk.result] {
                    self.walk(part, depth + 1);
                }
            }
        }
    }

    /// The name of the field that an expression gives, where it is one of an object.
    fn above(&self, operand: &IdedExpr) -> Option<String> {
        match &operand.expr {
            Expr::Select(select) => Some(select.field.clone()),
            Expr::Ident(name) if OBJECTS.contains(&name.as_str()) && !self.bound.contains(name) => {
                Some(name.clone())
            }
            _ => None,
        }
    }

    fn entry(&mut self, entry: &EntryExpr, depth: u32) {
        match entry {
            EntryExpr::StructField(field) => self.walk(&field.value, depth),
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key, depth);
                self.walk(&entry.value, depth);
            }
        }
    }
}

/// The variable that fields are selected of.
fn root(expression: &IdedExpr) -> Option<&str> {
    match &expression.expr {
        Expr::Ident(name) => Some(name),
        Expr::Select(select) => root(&select.operand),
        _ => None,
    }
}
