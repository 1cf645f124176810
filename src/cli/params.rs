//! `--param` and `[params.CHECK]`: parameters of checks, validated against their cards. Errors name the position on the
//! command line or in the configuration.

use std::collections::BTreeMap;

use super::config::{self, ValueForm};
use super::stop::Stop;
use super::values::Parameter;
use crate::checks;
use crate::command::{meshdoctor, own};
use crate::nearest::closest;

/// Parameters by check and name.
pub(super) type Params = BTreeMap<String, BTreeMap<String, serde_json::Value>>;

/// All given parameters; a later value overrides an earlier one.
///
/// # Errors
/// The check or parameter is unknown, or the value has another type than on the card.
pub(super) fn set(asked: &[Parameter]) -> Result<Params, Stop> {
    let mut params = Params::new();
    for Parameter { check, name, value } in asked {
        let wrong = |(why, next): (String, String)| {
            let flag = format!("--param {check}.{name}");
            let place = config::place("param", &format!("{check}.{name}={value}"));
            Stop::usage(format!("{}: {why}", place.unwrap_or(flag)), next)
        };
        let (id, read) = one(check, name, value).map_err(wrong)?;
        let written = config::setting("param", &format!("{check}.{name}={value}"));
        if let Some(other) = written.and_then(|(_, setting)| other_kind(&read, setting.written)) {
            let next = shows_parameters(id);
            return Err(wrong((format!("{check}: {name} must be {other}"), next)));
        }
        params.entry(id.to_owned()).or_default().insert(name.clone(), read);
    }
    Ok(params)
}

fn shows_parameters(check: &str) -> String {
    format!("{} lists its parameters", meshdoctor().words("explain").arg(check))
}

/// The type of a parameter, if a file writes it as another one.
fn other_kind(value: &serde_json::Value, written: ValueForm) -> Option<&'static str> {
    match (value, written) {
        (serde_json::Value::Number(_), ValueForm::Text) => Some("a number without quotes"),
        (serde_json::Value::Bool(_), ValueForm::Text) => Some("true or false without quotes"),
        (serde_json::Value::String(_), ValueForm::Number | ValueForm::Truth) => Some("a text in quotes"),
        _ => None,
    }
}

/// One parameter: its check and value, or the error and the next step.
pub(super) fn one(check: &str, name: &str, value: &str) -> Result<(&'static str, serde_json::Value), (String, String)> {
    let found = checks::find(check).ok_or_else(|| {
        let near = closest(check, checks::all().map(|check| check.id));
        let perhaps = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        (format!("unknown check {check}{perhaps}"), format!("{} lists all checks", own("list")))
    })?;
    let read = found.parameter(name, value).map_err(|why| (format!("{check}: {why}"), shows_parameters(found.id)))?;
    Ok((found.id, read))
}
