//! Annotations for calls whose values parse and still fail: a timeout of 0, and settings of circuit breaking
//! that do not fit each other.

use std::time::Duration;

use crate::knowledge::{OnInvalid, policy_duration};
use crate::objects::Meta;

/// The prefix of the timeouts, which apply only together.
pub(super) const TIMEOUTS: &str = "timeout.linkerd.io/";
/// The step that removes a timeout of 0.
pub(super) const NO_TIMEOUT: &str = "For no timeout, remove the annotation";
const MODE: &str = "balancer.linkerd.io/failure-accrual";
const BREAKER: &str = "balancer.linkerd.io/failure-accrual-consecutive-";

/// Whether the policy controller applies the timeouts of an object: it drops all of them if one does not
/// parse.
pub(super) fn applies_timeouts(meta: &Meta) -> bool {
    let mut timeouts = meta.annotations.iter().filter(|(key, _)| key.starts_with(TIMEOUTS));
    timeouts.all(|(_, value)| policy_duration(value).is_some())
}

/// The fault of a setting of circuit breaking that parses: the requirement, as a sentence about "it", and
/// the consequence.
pub(super) fn breaker_fault(key: &str, value: &str, meta: &Meta) -> Option<(String, OnInvalid)> {
    let setting = key.strip_prefix(BREAKER)?;
    let Some(mode) = meta.annotation(MODE) else {
        return Some((format!("it needs {MODE}, which turns on circuit breaking"), OnInvalid::Ignored));
    };
    if setting == "max-failures" && mode == "consecutive" && value.trim().parse() == Ok(0_u32) {
        return Some(("it must be at least 1".to_owned(), OnInvalid::NeverEjects));
    }
    let written = |setting: &str| meta.annotation(&format!("{BREAKER}{setting}"));
    let penalty = |setting: &str, default: u64| match written(setting) {
        Some(text) => policy_duration(text).map(|penalty| (penalty, text.to_owned())),
        None => Some((Duration::from_secs(default), format!("{default}s by default"))),
    };
    let ((least, least_text), (most, most_text)) = (penalty("min-penalty", 1)?, penalty("max-penalty", 60)?);
    // Of two annotations, the minimum is reported.
    let why = match setting {
        "min-penalty" if least > most => format!("it must not exceed max-penalty, {most_text}"),
        "max-penalty" if least > most && written("min-penalty").is_none() => {
            format!("it must not be below min-penalty, {least_text}")
        }
        _ => return None,
    };
    Some((why, OnInvalid::SettingDropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(annotations: &[(&str, &str)]) -> Meta {
        let annotations: serde_json::Map<_, _> =
            annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        serde_json::from_value(serde_json::json!({"name": "api", "annotations": annotations})).unwrap()
    }

    #[test]
    fn penalties_must_fit_each_other_and_the_defaults() {
        let fault = |settings: &[(&str, &str)], mode: Option<&str>| -> Vec<(String, OnInvalid)> {
            let keys: Vec<String> = settings.iter().map(|(setting, _)| format!("{BREAKER}{setting}")).collect();
            let pairs = keys.iter().zip(settings).map(|(key, (_, value))| (key.as_str(), *value));
            let all: Vec<(&str, &str)> = pairs.chain(mode.map(|mode| (MODE, mode))).collect();
            let meta = meta(&all);
            all.iter().filter_map(|(key, value)| breaker_fault(key, value, &meta)).collect()
        };
        let dropped = |why: &str| vec![(why.to_owned(), OnInvalid::SettingDropped)];
        let on = Some("consecutive");
        assert_eq!(fault(&[("min-penalty", "2m")], on), dropped("it must not exceed max-penalty, 60s by default"));
        assert_eq!(fault(&[("max-penalty", "500ms")], on), dropped("it must not be below min-penalty, 1s by default"));
        assert_eq!(
            fault(&[("min-penalty", "20s"), ("max-penalty", "10s")], on),
            dropped("it must not exceed max-penalty, 10s")
        );
        assert_eq!(fault(&[("min-penalty", "10s"), ("max-penalty", "10s")], on), Vec::new());
        let never = vec![("it must be at least 1".to_owned(), OnInvalid::NeverEjects)];
        assert_eq!(fault(&[("max-failures", "0")], on), never);
        // The success rate ejects endpoints then.
        assert_eq!(fault(&[("max-failures", "0")], Some("unified")), Vec::new());
        assert_eq!(fault(&[("max-failures", "3")], None)[0].1, OnInvalid::Ignored);
    }

    #[test]
    fn one_invalid_timeout_drops_them_all() {
        assert!(applies_timeouts(&meta(&[("timeout.linkerd.io/request", "0s"), ("retry.linkerd.io/limit", "x")])));
        assert!(!applies_timeouts(&meta(&[("timeout.linkerd.io/request", "0s"), ("timeout.linkerd.io/idle", "x")])));
    }
}
