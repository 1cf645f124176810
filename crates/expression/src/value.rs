//! Conversion between JSON and CEL values.

use std::sync::Arc;

use serde_json::Value;

use super::NoValue;

/// Number of text bytes that count as one node.
pub(super) const TEXT: usize = 64;

pub(super) fn to_cel(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => cel::Value::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => cel::Value::Int(whole),
            (None, Some(real)) => cel::Value::Float(real),
            (None, None) => cel::Value::Null,
        },
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => cel::Value::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(map) => {
            let map: std::collections::HashMap<String, cel::Value> =
                map.iter().map(|(key, value)| (key.clone(), to_cel(value))).collect();
            map.into()
        }
    }
}

/// A value as JSON; uses up nodes of the budget.
///
/// # Errors
/// It exceeds the budget, or JSON cannot represent it.
pub(super) fn from_cel(value: &cel::Value, left: &mut usize) -> Result<Value, NoValue> {
    let weight = if let cel::Value::String(text) = value { 1 + text.len() / TEXT } else { 1 };
    *left = left.checked_sub(weight).ok_or(NoValue::Costly)?;
    Ok(match value {
        cel::Value::Null => Value::Null,
        cel::Value::Bool(value) => Value::Bool(*value),
        cel::Value::Int(number) => (*number).into(),
        cel::Value::UInt(number) => (*number).into(),
        cel::Value::Float(number) => (*number).into(),
        cel::Value::String(text) => Value::String(text.to_string()),
        cel::Value::List(items) => {
            Value::Array(items.iter().map(|item| from_cel(item, left)).collect::<Result<_, _>>()?)
        }
        cel::Value::Map(map) => {
            let entries = map.map.iter().map(|(key, value)| Ok((key.to_string(), from_cel(value, left)?)));
            Value::Object(entries.collect::<Result<_, NoValue>>()?)
        }
        cel::Value::Opaque(of) if of.runtime_type_name() == "optional_type" => {
            let why = "it is optional; set a default with orValue()";
            return Err(NoValue::Failed(why.to_owned()));
        }
        other => {
            return Err(NoValue::Failed(format!("values of type {} are not supported", other.type_of())));
        }
    })
}
