//! Parses chart names given by a user: `linkerd-viz`, `viz`, `linkerd-edge/linkerd-viz@2.19`,
//! `linkerd2-cni@2025.10.7`.

use crate::checks::{NoTarget, Upgrade};
use crate::knowledge::Knowledge;
use crate::nearest::closest;
use crate::version::LinkerdVersion;

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(". Did you mean {name}?")).unwrap_or_default()
}

/// Why a text is not a valid chart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoChart {
    /// Unknown name.
    #[error("{given} is not a Linkerd chart (charts: {known}){}", suggestion(.nearest.as_deref()))]
    Unknown {
        given: String,
        /// All chart names, separated by commas.
        known: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// Unknown version.
    #[error(transparent)]
    Version(#[from] NoTarget),
}

/// The full name of a chart, and its release if the text contains one. A chart repository before the name is
/// ignored; the prefixes `linkerd-` and `linkerd2-` are optional.
///
/// # Errors
/// Unknown chart or release.
pub fn chart(text: &str, knowledge: &Knowledge) -> Result<(String, Option<LinkerdVersion>), NoChart> {
    let (name, version) = match text.rsplit_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let short = name.rsplit('/').next().unwrap_or(name);
    let names: Vec<&str> = knowledge.charts().names().collect();
    let is = |known: &&&str| {
        **known == short
            || known.strip_prefix("linkerd-") == Some(short)
            || known.strip_prefix("linkerd2-") == Some(short)
    };
    let Some(chart) = names.iter().find(is) else {
        return Err(NoChart::Unknown {
            given: name.to_owned(),
            known: names.join(", "),
            nearest: closest(short, names.iter().copied()),
        });
    };
    let release = version
        .map(|version| match knowledge.charts().release_of(chart, version) {
            Some(release) => Upgrade::target(release.as_str(), knowledge.releases()),
            None => Upgrade::target(version, knowledge.releases()),
        })
        .transpose()?;
    Ok(((*chart).to_owned(), release))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_names_allow_short_forms_and_versions() {
        let named = |text: &str| {
            let (chart, release) = chart(text, Knowledge::embedded()).map_err(|error| error.to_string())?;
            Ok::<_, String>((chart, release.map(|release| release.to_string())))
        };
        let is = |chart: &str, release: Option<&str>| Ok((chart.to_owned(), release.map(str::to_owned)));
        assert_eq!(named("linkerd-viz"), is("linkerd-viz", None));
        assert_eq!(named("cni@2025.10.7"), is("linkerd2-cni", Some("edge-25.10.7")));
        assert_eq!(named("linkerd-edge/linkerd-control-plane@2.19"), is("linkerd-control-plane", Some("edge-25.10.7")));
        assert_eq!(named("control-plane@edge-26.5.5"), is("linkerd-control-plane", Some("edge-26.5.5")));
        assert_eq!(named("viz@30.12.11"), is("linkerd-viz", Some("stable-2.14.10")));
        let error = named("linkerd-vis").expect_err("no chart");
        assert!(error.contains("Did you mean linkerd-viz?"), "{error}");
        assert!(named("viz@9.9").is_err() && named("viz@1.16.11-edge").is_err());
    }
}
