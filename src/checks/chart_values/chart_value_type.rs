//! `chart-value-type`: a value has another type than the chart expects.

use std::collections::BTreeMap;

use serde_yaml::Value;

use super::{ValuesOrigin, is_put_in};
use crate::chart::values_input::{Leaf, ValuesFile};
use crate::checks::prelude::*;
use crate::checks::upgrade::CONTROL_PLANE;
use crate::finding::{NewValue, ValueAction};
use crate::knowledge::{ChartType, ValueKind, Wanted};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    ValuesOrigin::each_file(ctx, of_file)
}

fn of_file<'a>(ctx: &Context<'a>, of: &ValuesOrigin<'a>, file: &ValuesFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let typed = typed(ctx, of);
    for leaf in file.leaves() {
        if file.is_written_for_others() && is_put_in(leaf.value) {
            continue;
        }
        let in_config = typed.get(leaf.path().as_str()).and_then(|wanted| text_for_number(*wanted, leaf.value));
        let unfit = in_config.map(|wanted| (leaf.path(), wanted)).or_else(|| unfit(of, &leaf));
        let Some((path, wanted)) = unfit else { continue };
        // A parent of a value is a map.
        let (is, comes) = match path == leaf.path() {
            true if in_config.is_some() => (type_name(leaf.value), NOT_INJECTED),
            true => (type_name(leaf.value), comes_of(leaf.value, wanted)),
            false => ("a map", UNREADABLE),
        };
        let message = format!("{path} is {is}, but the chart expects {wanted}: {comes}");
        let finding = of.finding(ctx, (file, &path), is.to_owned(), message);
        let edit = corrected(&typed, of, &path, leaf.value)
            .filter(|_| path == leaf.path())
            .and_then(|new| file.edit(&leaf.names, ValueAction::Set(new)));
        let act = format!("set {path} to {wanted}");
        findings.push(ValuesOrigin::with_edits(finding, act, edit.into_iter().collect()));
    }
    findings
}

const NOT_INJECTED: &str = "the injector cannot read any value then, and injects no pod";

/// The types of the values that Linkerd reads. Only one chart writes its values, as they are given, into an object.
pub(super) fn typed<'a>(ctx: &Context<'a>, of: &ValuesOrigin<'_>) -> BTreeMap<&'a str, ChartType> {
    match of.name == CONTROL_PLANE.0 {
        true => ctx.knowledge.chart_values().types(Some(of.edge)),
        false => BTreeMap::new(),
    }
}

/// The number that Linkerd expects in place of a text.
fn text_for_number(wanted: ChartType, value: &Value) -> Option<&'static str> {
    let number = match wanted {
        ChartType::Count | ChartType::Integer => of_kind(ValueKind::Integer),
        ChartType::Number => of_kind(ValueKind::Number),
        _ => return None,
    };
    value.is_string().then_some(number)
}

/// Values of one text with commas that are easily given as a list: networks and ports.
const JOINED: [&str; 5] =
    ["clusterNetworks", "opaquePorts", "ignoreInboundPorts", "ignoreOutboundPorts", "skipSubnets"];

/// The value of a path in the type that the chart expects, if that is the same value: a boolean in quotes, or networks
/// and ports as a list.
pub(super) fn corrected(
    typed: &BTreeMap<&str, ChartType>,
    of: &ValuesOrigin<'_>,
    path: &str,
    value: &Value,
) -> Option<NewValue> {
    if let Value::String(text) = value
        && typed.get(path).is_some_and(|wanted| matches!(wanted, ChartType::Count | ChartType::Integer))
    {
        return text.parse().ok().map(NewValue::Whole);
    }
    match (of.chart.wanted(path, Some(of.edge))?, value) {
        (Wanted::Kind(ValueKind::Boolean), Value::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" => Some(NewValue::Bool(true)),
            "false" => Some(NewValue::Bool(false)),
            _ => None,
        },
        (Wanted::Kind(ValueKind::Text), Value::Sequence(items)) => {
            let is_joined = path.rsplit('.').next().is_some_and(|name| JOINED.contains(&name));
            let items: Option<Vec<String>> = items.iter().map(item).collect();
            items.filter(|items| is_joined && !items.is_empty()).map(|items| NewValue::Text(items.join(",")))
        }
        _ => None,
    }
}

/// A network or port of a list.
fn item(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        Value::String(text) if !is_put_in(value) && !text.contains([',', ' ']) => Some(text.clone()),
        _ => None,
    }
}

/// The value of the wrong type, and the expected type: the leaf, or one of its parents that should not be a
/// map.
fn unfit(of: &ValuesOrigin<'_>, leaf: &Leaf<'_>) -> Option<(String, &'static str)> {
    for count in 1..leaf.names.len() {
        let above = leaf.names[..count].join(".");
        let wanted = match of.chart.wanted(&above, Some(of.edge)) {
            Some(Wanted::Kind(kind)) => kind,
            Some(Wanted::Map) | None => continue,
        };
        return match wanted {
            ValueKind::Open | ValueKind::Resources | ValueKind::Any => None,
            // Some lists of the charts are maps by default, and the reverse.
            ValueKind::List => Some((above, "a list")),
            kind => Some((above, of_kind(kind))),
        };
    }
    let path = leaf.path();
    let wanted = of.chart.wanted(&path, Some(of.edge))?;
    let fits = match (wanted, leaf.value) {
        (Wanted::Map, value) => value.is_mapping(),
        (Wanted::Kind(ValueKind::Any), _) => true,
        (Wanted::Kind(ValueKind::Boolean), value) => value.is_bool(),
        (Wanted::Kind(ValueKind::Integer | ValueKind::Number), Value::Number(_)) => true,
        // A template prints it unchanged.
        (Wanted::Kind(ValueKind::Integer | ValueKind::Number), Value::String(text)) => text.parse::<f64>().is_ok(),
        (Wanted::Kind(ValueKind::Integer | ValueKind::Number), _) => false,
        (Wanted::Kind(ValueKind::Text), value) => !value.is_mapping() && !value.is_sequence(),
        (Wanted::Kind(ValueKind::List), value) => value.is_sequence(),
        (Wanted::Kind(ValueKind::Open | ValueKind::Resources), value) => value.is_mapping(),
    };
    let wanted = match wanted {
        Wanted::Map => "a map",
        Wanted::Kind(kind) => of_kind(kind),
    };
    (!fits).then_some((path, wanted))
}

fn of_kind(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Boolean => BOOLEAN,
        ValueKind::Integer => "a whole number",
        ValueKind::Number => "a number",
        ValueKind::Text => "a string",
        ValueKind::List => "a list",
        ValueKind::Open | ValueKind::Resources => "a map",
        ValueKind::Any => "any value",
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => BOOLEAN,
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) | Value::Tagged(_) => "a map",
    }
}

const BOOLEAN: &str = "true or false";

const UNREADABLE: &str = "the templates fail with it, or render unusable text";

fn comes_of(value: &Value, wanted: &str) -> &'static str {
    match (value, wanted) {
        (Value::String(text), BOOLEAN) if !text.is_empty() => {
            "any string is true in a template, even \"false\", and the injector cannot read it"
        }
        (Value::Mapping(_) | Value::Sequence(_), _) | (_, "a map" | "a list") => UNREADABLE,
        _ => "the templates render something else than intended",
    }
}
