//! Upper bound for the cost of an expression, computed before evaluation: steps of loops over lists, and memory. An
//! expression above the limit is not evaluated, because evaluation cannot be interrupted.

use cel::common::ast::operators as op;
use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue};

use super::scope::Scope;
use super::shape::{parts, selection};

/// Overhead of a value in bytes, in addition to its text.
pub(super) const NODE: u64 = 64;
/// Maximum size of the result of a custom function about an object.
const OURS: u64 = 1 << 16;

/// Upper bound for an evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Number of items visited by loops.
    pub(super) steps: u64,
    /// Size of the largest value in bytes.
    pub(super) bytes: u64,
}

/// Upper bound for a value.
#[derive(Debug, Clone, Copy)]
struct Size {
    bytes: u64,
    /// Length of the longest list or map in it.
    items: u64,
    /// It is an unchanged part of a bound variable.
    data: bool,
}

impl Size {
    const SCALAR: Size = Size { bytes: NODE, items: 1, data: false };
    const NOTHING: Size = Size { bytes: 0, items: 0, data: false };

    fn and(self, other: Size) -> Size {
        let bytes = self.bytes.saturating_add(other.bytes);
        Size { bytes, items: self.items.max(other.items), data: false }
    }
}

/// Computes the cost of an expression.
pub(super) fn cost(expression: &IdedExpr, scope: &Scope<'_>) -> Cost {
    let mut bounds = Bounds { scope, bound: Vec::new(), cost: Cost { steps: 1, bytes: 0 } };
    bounds.size(expression, 1);
    bounds.cost
}

struct Bounds<'s, 'p> {
    scope: &'s Scope<'p>,
    /// Variables bound by loops.
    bound: Vec<(String, Size)>,
    cost: Cost,
}

impl Bounds<'_, '_> {
    /// Size of an expression that is evaluated this number of times.
    fn size(&mut self, expression: &IdedExpr, times: u64) -> Size {
        let size = self.part(expression, times);
        self.cost.bytes = self.cost.bytes.max(size.bytes);
        size
    }

    fn part(&mut self, expression: &IdedExpr, times: u64) -> Size {
        if let Some((operand, field)) = selection(expression) {
            let of = self.size(operand, times);
            return self.field(of, field);
        }
        match &expression.expr {
            Expr::Unspecified | Expr::Select(_) => Size::SCALAR,
            Expr::Literal(literal) => match literal {
                LiteralValue::String(text) => Size { bytes: NODE + text.inner().len() as u64, ..Size::SCALAR },
                _ => Size::SCALAR,
            },
            Expr::Ident(name) => {
                let bound = self.bound.iter().rev().find(|(bound, _)| bound == name).map(|(_, size)| *size);
                bound.unwrap_or_else(|| {
                    let whole = Size { bytes: self.scope.bytes(), items: 1, data: true };
                    self.field(whole, name)
                })
            }
            Expr::Call(call) => {
                let parts: Vec<&IdedExpr> = parts(call).collect();
                self.call(&call.func_name, &parts, times)
            }
            Expr::List(list) => {
                let many = list.elements.len() as u64;
                let all = list.elements.iter().map(|element| self.size(element, times));
                let all = all.fold(Size::NOTHING, Size::and);
                Size { bytes: all.bytes.saturating_add(NODE * (many + 1)), items: all.items.max(many), data: false }
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), times),
            Expr::Struct(of) => self.entries(of.entries.iter().map(|entry| &entry.expr), times),
            Expr::Comprehension(walk) => {
                let range = self.size(&walk.iter_range, times);
                let init = self.size(&walk.accu_init, times);
                let inner = times.saturating_mul(range.items);
                self.cost.steps = self.cost.steps.saturating_add(inner);
                let item = Size { items: if range.data { self.scope.widest } else { range.items }, ..range };
                let before = self.bound.len();
                let with = |bounds: &mut Self, item: Size, times: u64| {
                    bounds.bound.push((walk.iter_var.clone(), item));
                    bounds.bound.extend(walk.iter_var2.iter().map(|name| (name.clone(), item)));
                    bounds.bound.push((walk.accu_var.clone(), Size::NOTHING));
                    bounds.size(&walk.loop_cond, times);
                    let step = bounds.size(&walk.loop_step, times);
                    bounds.bound.truncate(before);
                    step
                };
                // The results for all items together are bounded by the size of all inputs plus the constant part per
                // item, because results grow at most linearly with items.
                let made = with(self, item, inner);
                let of_nothing = with(self, Size { bytes: 0, ..item }, 0);
                if !matches!(walk.accu_init.expr, Expr::List(_) | Expr::Map(_)) {
                    return Size::SCALAR;
                }
                let bytes = init
                    .bytes
                    .saturating_add(made.bytes)
                    .saturating_add(range.items.saturating_mul(of_nothing.bytes.saturating_add(NODE)));
                let size = Size { bytes, items: made.items.max(range.items), data: false };
                self.cost.bytes = self.cost.bytes.max(size.bytes);
                size
            }
        }
    }

    fn entries<'e>(&mut self, entries: impl Iterator<Item = &'e EntryExpr>, times: u64) -> Size {
        let mut all = Size::NOTHING;
        let mut many = 0;
        for entry in entries {
            many += 1;
            all = match entry {
                EntryExpr::StructField(field) => all.and(self.size(&field.value, times)),
                EntryExpr::MapEntry(entry) => {
                    let key = self.size(&entry.key, times);
                    all.and(key).and(self.size(&entry.value, times))
                }
            };
        }
        Size { bytes: all.bytes.saturating_add(NODE * (many + 1)), items: all.items.max(many), data: false }
    }

    fn call(&mut self, name: &str, parts: &[&IdedExpr], times: u64) -> Size {
        let sizes: Vec<Size> = parts.iter().map(|part| self.size(part, times)).collect();
        let all = sizes.iter().copied().fold(Size::NOTHING, Size::and);
        match (name, &sizes[..], parts) {
            (op::INDEX | op::OPT_INDEX, [of, _], [_, key]) => match &key.expr {
                Expr::Literal(LiteralValue::String(name)) => self.field(*of, name.inner()),
                _ if of.data => Size { items: self.scope.widest, ..*of },
                _ => *of,
            },
            ("orValue" | "or" | "value" | "dyn", ..) | (op::CONDITIONAL, ..) => {
                let data = sizes.iter().any(|size| size.data);
                Size { items: if data { self.scope.widest.max(all.items) } else { all.items }, ..all }
            }
            (op::ADD, [one, other], _) => Size { items: one.items.saturating_add(other.items), ..all },
            // As many parts as letters.
            ("split", [of, ..], _) => {
                let letters = if of.data { self.scope.longest.min(of.bytes) } else { of.bytes };
                Size { bytes: letters.saturating_mul(NODE), items: letters.max(1), data: false }
            }
            ("policy", ..) => Size { bytes: OURS, items: OURS / NODE, data: false },
            (
                "string" | "bytes" | "lowerAscii" | "upperAscii" | "trim" | "substring" | "charAt" | "reverse" | "max"
                | "min",
                ..,
            ) => Size { data: false, ..all },
            _ => Size::SCALAR,
        }
    }

    /// A part of a value, by name.
    fn field(&self, of: Size, name: &str) -> Size {
        let items = if of.data { self.scope.items(name) } else { of.items };
        Size { items, ..of }
    }
}
