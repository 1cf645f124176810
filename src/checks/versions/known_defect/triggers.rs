//! Objects that trigger a defect: the expression of the row is true for them.

use serde_json::{Value, json};

use super::Affected;
use super::fields::{ObjectFields, objects};
use crate::checks::Context;
use crate::expression::{Expression, Known, NoValue, Scope};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding};
use crate::item::{Item, Kind};
use crate::knowledge::ObjectTrigger;
use crate::objects::{CustomResourceDefinition, is_undefined};

/// Variables of expressions.
pub(super) const VARIABLES: [&str; 2] = ["object", "annotations"];
/// Maximum length of quoted text.
const QUOTED: usize = 200;

/// A row with its parsed expressions.
struct Parsed<'a> {
    affected: &'a Affected<'a>,
    trigger: &'a ObjectTrigger,
    expression: Expression,
    quote: Expression,
}

/// Findings of all rows with objects.
pub(super) fn findings(ctx: &Context<'_>, affected: &[Affected<'_>]) -> Vec<Finding> {
    let parsed: Vec<Parsed<'_>> = affected.iter().filter_map(|affected| parse(ctx, affected)).collect();
    let mut kinds: Vec<Kind> =
        parsed.iter().flat_map(|row| row.trigger.kinds.iter()).filter_map(|kind| kind.parse().ok()).collect();
    kinds.sort();
    kinds.dedup();
    let root = Scope::new(Known::default());
    let mut findings = Vec::new();
    for kind in kinds {
        let rows: Vec<&Parsed<'_>> = parsed.iter().filter(|row| row.is_for(kind)).collect();
        match objects(ctx, kind) {
            Ok(objects) => {
                let judged = objects.filter(|object| object.is_judged(ctx));
                findings.extend(judged.flat_map(|object| of_object(ctx, &rows, &root, &object)));
            }
            // A kind that the cluster does not define or serve has no objects.
            Err(missing) if missing.why == Why::NotServed || is_absent(ctx, kind) => {}
            Err(missing) => ctx.gap(missing),
        }
    }
    findings
}

fn is_absent(ctx: &Context<'_>, kind: Kind) -> bool {
    ctx.every::<CustomResourceDefinition>().is_ok_and(|all| is_undefined(all, kind))
}

fn of_object(
    ctx: &Context<'_>,
    rows: &[&Parsed<'_>],
    root: &Scope<'_>,
    object: &ObjectFields<'_>,
) -> Vec<Finding> {
    let candidates: Vec<&&Parsed<'_>> = rows.iter().filter(|row| row.may_match(object)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut scope = root.within();
    let bound = scope
        .bind("object", &object.json())
        .and_then(|()| scope.bind("annotations", &json!(object.annotations().to_map())));
    let found = candidates.into_iter().filter_map(|row| {
        let holds = bound.clone().and_then(|()| row.expression.holds(&scope));
        match holds {
            Ok(true) => Some(row.finding(ctx, &scope, object)),
            Ok(false) => None,
            Err(why) => {
                row.gap(ctx, object, &why);
                None
            }
        }
    });
    found.collect()
}

/// The row's expressions; `None` if it has none, or if they are not valid, which is a gap.
fn parse<'a>(ctx: &Context<'_>, affected: &'a Affected<'a>) -> Option<Parsed<'a>> {
    let trigger = affected.row.trigger.objects.as_ref()?;
    let expression = Expression::parse(&trigger.expression, &VARIABLES);
    let quote = Expression::parse(&trigger.quote, &VARIABLES);
    match (expression, quote) {
        (Ok(expression), Ok(quote)) => Some(Parsed { affected, trigger, expression, quote }),
        (Err(why), _) | (_, Err(why)) => {
            let message = format!("defects.yaml, row {}: {why}", affected.row.id);
            let close = "correct the expression in defects.yaml".to_owned();
            let kind = trigger.kinds.first().and_then(|kind| kind.parse().ok()).unwrap_or(Kind::Service);
            ctx.gap(ctx.lacking(Item::List(kind), Why::NoValue { message, close }, "some of them"));
            None
        }
    }
}

impl Parsed<'_> {
    fn is_for(&self, kind: Kind) -> bool {
        self.trigger.kinds.iter().any(|of| of.parse() == Ok(kind))
    }

    /// Whether the object has one of the required annotations.
    fn may_match(&self, object: &ObjectFields<'_>) -> bool {
        let wanted = &self.trigger.annotations;
        wanted.is_empty() || wanted.iter().any(|key| object.annotations().contains_key(key))
    }

    fn finding(&self, ctx: &Context<'_>, scope: &Scope<'_>, object: &ObjectFields<'_>) -> Finding {
        let quoted = match self.quote.evaluate(scope) {
            Ok(Value::String(text)) => text,
            Ok(value) => value.to_string(),
            Err(why) => format!("no value: {why}"),
        };
        let quoted = match quoted.char_indices().nth(QUOTED) {
            Some((at, _)) => format!("{}…", &quoted[..at]),
            None => quoted,
        };
        let trigger = Evidence::field(object.subject(), self.trigger.path.as_str(), quoted);
        self.affected.finding(ctx, object.subject(), trigger)
    }

    fn gap(&self, ctx: &Context<'_>, object: &ObjectFields<'_>, why: &NoValue) {
        let message = format!("{}, defect {}: {why}", object.subject(), self.affected.row.id);
        let close = why.hint().to_owned();
        let item = object.item();
        ctx.gap(ctx.lacking(item, Why::NoValue { message, close }, "some of them"));
    }
}
