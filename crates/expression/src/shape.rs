//! Structure of an expression: names, calls, and nesting of loops.

use std::collections::BTreeSet;

use cel::common::ast::operators::{IN, OPT_SELECT};
use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::evaluation_limits::DEEPEST;

/// CEL functions and operators that may be called; operator names start with a symbol.
pub(super) const STANDARD: [&str; 35] = [
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
    // Functions of optional values.
    "orValue",
    "or",
    "hasValue",
    "value",
    // String functions that do not make longer strings.
    "lowerAscii",
    "upperAscii",
    "trim",
    "split",
    "substring",
    "charAt",
    "indexOf",
    "lastIndexOf",
    "reverse",
];

/// Variables that are objects and not loop variables.
const OBJECTS: [&str; 2] = ["object", "namespaceObject"];

pub(super) fn is_standard(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic()) || STANDARD.contains(&name)
}

/// A field name with its parent's name; `None` if the parent is unknown.
pub(super) type Mention = (Option<String>, String);

/// Structure of an expression.
#[derive(Default)]
pub(super) struct ExpressionShape {
    /// Nesting of loops over lists.
    pub(super) depth: u32,
    /// Nesting of parts, up to [`DEEPEST`] and one more.
    pub(super) height: u32,
    /// Current nesting of loops.
    level: u32,
    /// Variables that it names.
    pub(super) idents: BTreeSet<String>,
    /// Variables that it reads in another way than by selecting a field.
    pub(super) whole: BTreeSet<String>,
    /// Loop variables.
    pub(super) bound: BTreeSet<String>,
    /// Functions that it calls.
    pub(super) calls: BTreeSet<String>,
    /// Functions that it calls, with the number of arguments.
    pub(super) counts: BTreeSet<(String, usize)>,
    /// Fields that it selects of variables, with the variable.
    pub(super) selected: BTreeSet<(String, String)>,
    /// Fields that it selects of objects.
    pub(super) fields: BTreeSet<Mention>,
    /// Field names that it mentions, with the parent's name if known.
    pub(super) mentions: BTreeSet<Mention>,
}

impl ExpressionShape {
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
        if let Some((operand, field)) = selection(expression) {
            // Variables other than objects are never redacted.
            if !matches!(root(expression), Some("params" | "cluster" | "owner")) {
                let mention = (self.above(operand), field.to_owned());
                self.fields.insert(mention.clone());
                self.mentions.insert(mention);
            }
            if let Expr::Ident(name) = &operand.expr
                && !self.bound.contains(name)
            {
                self.selected.insert((name.clone(), field.to_owned()));
                self.idents.insert(name.clone());
                self.height = self.height.max(self.level + 1);
                return;
            }
            self.walk(operand, depth);
            return;
        }
        match &expression.expr {
            Expr::Unspecified | Expr::Select(_) => {}
            Expr::Literal(literal) => {
                if let LiteralValue::String(text) = literal {
                    self.mentions.insert((None, text.inner().to_owned()));
                }
            }
            Expr::Ident(name) => {
                self.idents.insert(name.clone());
                self.whole.insert(name.clone());
            }
            Expr::Call(call) => {
                self.calls.insert(call.func_name.clone());
                let arguments = call.args.len() + usize::from(call.target.is_some());
                self.counts.insert((call.func_name.clone(), arguments));
                for part in parts(call) {
                    // A test for a key does not read its value.
                    let is_asked = call.func_name == IN && matches!(part.expr, Expr::Literal(_));
                    if !is_asked {
                        self.walk(part, depth);
                    }
                }
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

    /// Field name of an expression that selects a field of an object.
    fn above(&self, operand: &IdedExpr) -> Option<String> {
        if let Some((_, field)) = selection(operand) {
            return Some(field.to_owned());
        }
        match &operand.expr {
            Expr::Ident(name) if OBJECTS.contains(&name.as_str()) && !self.bound.contains(name) => Some(name.clone()),
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

/// Arguments of a function, its target first.
pub(super) fn parts(call: &CallExpr) -> impl Iterator<Item = &IdedExpr> {
    call.target.iter().map(|target| &**target).chain(&call.args)
}

/// Target and name of a field selection: `a.b`, or `a.?b`.
pub(super) fn selection(expression: &IdedExpr) -> Option<(&IdedExpr, &str)> {
    match &expression.expr {
        Expr::Select(select) => Some((&select.operand, &select.field)),
        Expr::Call(call) if call.func_name == OPT_SELECT => match &call.args[..] {
            [operand, IdedExpr { expr: Expr::Literal(LiteralValue::String(field)), .. }] => {
                Some((operand, field.inner()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The variable at the root of field selections.
pub(super) fn root(expression: &IdedExpr) -> Option<&str> {
    match (&expression.expr, selection(expression)) {
        (Expr::Ident(name), _) => Some(name),
        (_, Some((operand, _))) => root(operand),
        _ => None,
    }
}
