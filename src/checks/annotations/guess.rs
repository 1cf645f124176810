//! Guesses the intended value of one that does not parse.

use crate::knowledge::Key;
use crate::model::injection::INJECT;
use crate::version::{LinkerdVersion, MinorTable};

/// An accepted value with the same meaning, if there is one.
pub(in crate::checks) fn guess(
    key: &Key,
    value: &str,
    version: Option<&LinkerdVersion>,
    minors: &MinorTable,
) -> Option<String> {
    let plain = value.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    let words: &[&str] = match plain.as_str() {
        "true" | "yes" | "y" | "on" | "1" | "enable" | "enabled" | "injected" | "inject" => &["enabled", "true"],
        "false" | "no" | "n" | "off" | "0" | "disable" | "disabled" | "none" => &["disabled", "false", "off"],
        _ => &[],
    };
    let unspaced: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    let trimmed = unspaced.trim_matches(',').to_owned();
    // A bare number instead of a duration is taken as seconds.
    let seconds = value.trim().parse::<u32>().ok().map(|number| format!("{number}s"));
    let accepted = |candidate: &String| key.check_value(candidate, version, minors).is_ok();
    words
        .iter()
        .map(|word| (*word).to_owned())
        .chain([plain, unspaced, trimmed])
        .chain(seconds)
        .filter(|candidate| !candidate.is_empty())
        .find(accepted)
}

/// Whether the annotation is for pods that Buoyant Enterprise meshes on Windows nodes, without the injector.
pub(super) fn is_of_windows(key: &str, value: &str) -> bool {
    key == INJECT && value == "windows"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    #[test]
    fn slips_are_recognised_and_nonsense_is_not() {
        let knowledge = Knowledge::embedded();
        let guess = |key: &str, value: &str| {
            let key = knowledge.annotations().get(key).expect(key);
            guess(key, value, None, knowledge.minors())
        };
        assert_eq!(guess("linkerd.io/inject", "true").as_deref(), Some("enabled"));
        assert_eq!(guess("linkerd.io/inject", "Enabled ").as_deref(), Some("enabled"));
        assert_eq!(guess("config.linkerd.io/enable-debug-sidecar", "enabled").as_deref(), Some("true"));
        assert_eq!(guess("config.linkerd.io/proxy-await", "no").as_deref(), Some("disabled"));
        assert_eq!(guess("config.linkerd.io/skip-outbound-ports", "80, 443,").as_deref(), Some("80,443"));
        assert_eq!(guess("config.linkerd.io/proxy-outbound-connect-timeout", "10").as_deref(), Some("10s"));
        assert_eq!(guess("linkerd.io/inject", "banana split"), None);
        assert_eq!(guess("config.linkerd.io/proxy-cpu-limit", "lots"), None);
    }
}
