//! Data that an expression reads without naming it: computed keys, loop variables over maps, comparisons of whole
//! values. [`super::shape`] tracks named data.

use std::collections::BTreeSet;

use cel::common::ast::operators as op;
use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};

use super::shape::{parts, root, selection};

/// A part that is read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Looked {
    /// Any value below a field of this name.
    Below(String),
    /// The items of a list of this name, as whole values.
    Items(String),
    /// Anything.
    Anywhere,
}

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum From {
    /// Computed, or a constant on the card.
    Nowhere,
    /// A field or variable of this name, or a part of it.
    Field(String),
    /// Several origins are possible.
    Somewhere,
}

impl From {
    fn or(self, other: From) -> From {
        match (self, other) {
            (From::Nowhere, one) | (one, From::Nowhere) => one,
            (one, other) if one == other => one,
            _ => From::Somewhere,
        }
    }
}

/// Tracks what an expression reads.
pub(super) fn looked_at(expression: &IdedExpr) -> BTreeSet<Looked> {
    let mut looks = Looks { bound: Vec::new(), looked: BTreeSet::new() };
    looks.walk(expression);
    looks.looked
}

struct Looks {
    /// Loop variables and their origin.
    bound: Vec<(String, From)>,
    looked: BTreeSet<Looked>,
}

impl Looks {
    fn walk(&mut self, expression: &IdedExpr) {
        if let Some((operand, _)) = selection(expression) {
            return self.walk(operand);
        }
        match &expression.expr {
            Expr::Unspecified | Expr::Select(_) | Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Call(call) => {
                let parts: Vec<&IdedExpr> = parts(call).collect();
                self.call(&call.func_name, &parts);
                parts.into_iter().for_each(|part| self.walk(part));
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.walk(element)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr)),
            Expr::Struct(of) => of.entries.iter().for_each(|entry| self.entry(&entry.expr)),
            Expr::Comprehension(walk) => {
                let from = self.from(&walk.iter_range);
                self.walk(&walk.iter_range);
                self.walk(&walk.accu_init);
                if walk.iter_var2.is_some() {
                    self.look(from.clone(), Looked::Below);
                }
                let before = self.bound.len();
                self.bind(walk, &from);
                for part in [&walk.loop_cond, &walk.loop_step, &walk.result] {
                    self.walk(part);
                }
                self.bound.truncate(before);
            }
        }
    }

    /// Binds the variables of a loop.
    fn bind(&mut self, walk: &ComprehensionExpr, from: &From) {
        self.bound.push((walk.iter_var.clone(), from.clone()));
        self.bound.extend(walk.iter_var2.iter().map(|name| (name.clone(), from.clone())));
        self.bound.push((walk.accu_var.clone(), From::Nowhere));
    }

    fn entry(&mut self, entry: &EntryExpr) {
        match entry {
            EntryExpr::StructField(field) => self.walk(&field.value),
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key);
                self.walk(&entry.value);
            }
        }
    }

    fn call(&mut self, name: &str, parts: &[&IdedExpr]) {
        match (name, parts) {
            (op::INDEX | op::OPT_INDEX, [of, key]) => match &key.expr {
                Expr::Literal(LiteralValue::String(_) | LiteralValue::Int(_) | LiteralValue::UInt(_)) => {}
                _ => self.look(self.from(of), Looked::Below),
            },
            // A test for a key compares no value; a test for a list item compares every item.
            (op::IN, [one, of]) => {
                self.whole(one);
                self.look(self.from(of), Looked::Items);
            }
            // They return their input, or query the model about an object that it has already read.
            (
                op::CONDITIONAL
                | op::ADD
                | op::LOGICAL_AND
                | op::LOGICAL_OR
                | op::LOGICAL_NOT
                | op::NOT_STRICTLY_FALSE
                | op::OPT_SELECT
                | "size"
                | "type"
                | "dyn"
                | "orValue"
                | "or"
                | "value"
                | "hasValue"
                | "injected"
                | "defaultPolicy"
                | "policy",
                _,
            ) => {}
            _ => parts.iter().for_each(|part| self.whole(part)),
        }
    }

    /// A value that is compared or processed.
    fn whole(&mut self, part: &IdedExpr) {
        let is_item = |name: &String| self.bound.iter().any(|(bound, _)| bound == name);
        let item = matches!(&part.expr, Expr::Ident(name) if is_item(name));
        self.look(self.from(part), if item { Looked::Items } else { Looked::Below });
    }

    fn look(&mut self, from: From, of: fn(String) -> Looked) {
        match from {
            From::Nowhere => {}
            From::Field(name) => _ = self.looked.insert(of(name)),
            From::Somewhere => _ = self.looked.insert(Looked::Anywhere),
        }
    }

    fn from(&self, expression: &IdedExpr) -> From {
        // Variables other than objects are never redacted.
        if matches!(root(expression), Some("params" | "cluster" | "owner")) {
            return From::Nowhere;
        }
        if let Some((operand, field)) = selection(expression) {
            return match &expression.expr {
                Expr::Select(select) if select.test => From::Nowhere,
                _ if self.from(operand) == From::Nowhere => From::Nowhere,
                _ => From::Field(field.to_owned()),
            };
        }
        let of_all = |parts: &mut dyn Iterator<Item = &IdedExpr>| {
            parts.map(|part| self.from(part)).fold(From::Nowhere, From::or)
        };
        match &expression.expr {
            Expr::Unspecified | Expr::Select(_) | Expr::Literal(_) => From::Nowhere,
            Expr::Ident(name) => match self.bound.iter().rev().find(|(bound, _)| bound == name) {
                Some((_, from)) => from.clone(),
                None => From::Field(name.clone()),
            },
            Expr::Call(call) => match (call.func_name.as_str(), &call.target, &call.args[..]) {
                (op::INDEX | op::OPT_INDEX, _, [of, key]) => match (&key.expr, self.from(of)) {
                    (_, From::Nowhere) => From::Nowhere,
                    (Expr::Literal(LiteralValue::String(name)), _) => From::Field(name.inner().to_owned()),
                    (_, from) => from,
                },
                ("orValue" | "or" | "value", Some(target), args) => of_all(&mut std::iter::once(&**target).chain(args)),
                (op::CONDITIONAL, _, [_, one, other]) => self.from(one).or(self.from(other)),
                (op::ADD | "dyn", _, args) => of_all(&mut args.iter()),
                _ => From::Nowhere,
            },
            Expr::List(list) => of_all(&mut list.elements.iter()),
            Expr::Map(map) => map.entries.iter().fold(From::Nowhere, |from, entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => from.or(self.from(&entry.value)),
                EntryExpr::StructField(field) => from.or(self.from(&field.value)),
            }),
            Expr::Struct(_) => From::Somewhere,
            Expr::Comprehension(walk) => match &walk.accu_init.expr {
                Expr::Literal(_) => From::Nowhere,
                _ => {
                    let mut inner = Looks { bound: self.bound.clone(), looked: BTreeSet::new() };
                    inner.bind(walk, &self.from(&walk.iter_range));
                    inner.from(&walk.loop_step)
                }
            },
        }
    }
}
