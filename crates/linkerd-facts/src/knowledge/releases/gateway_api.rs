//! Gateway API releases that a Linkerd release supports.

use serde::Deserialize;

/// A range of Gateway API releases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GatewayApi {
    /// Oldest supported.
    pub minimum: semver::Version,
    /// Newest supported.
    pub maximum: semver::Version,
    /// The release that Linkerd's documentation recommends, if it is not the newest.
    #[serde(default)]
    pub recommended: Option<semver::Version>,
    /// HTTPRoute version that must be served.
    pub http_route: String,
    /// GRPCRoute version that must be served.
    pub grpc_route: String,
    /// TLSRoute and TCPRoute version in use, if any.
    pub tls_route: Option<String>,
    /// The channel in which the newest supported release serves all of these.
    #[serde(default)]
    pub channel: GatewayChannel,
}

/// A channel of Gateway API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayChannel {
    /// Stable kinds and versions.
    #[default]
    Standard,
    /// Also experimental kinds and versions.
    Experimental,
}

impl GatewayChannel {
    pub fn name(self) -> &'static str {
        match self {
            GatewayChannel::Standard => "standard",
            GatewayChannel::Experimental => "experimental",
        }
    }
}

impl GatewayApi {
    /// The release to install if the existing one is too old.
    pub fn to_bring(&self) -> &semver::Version {
        self.recommended.as_ref().unwrap_or(&self.maximum)
    }

    /// Position of a Gateway API release relative to the range; prereleases count as their release.
    pub fn compare(&self, bundle: &semver::Version) -> std::cmp::Ordering {
        let numbers = |version: &semver::Version| (version.major, version.minor, version.patch);
        let (bundle, minimum, maximum) = (numbers(bundle), numbers(&self.minimum), numbers(&self.maximum));
        match (bundle < minimum, bundle > maximum) {
            (true, _) => std::cmp::Ordering::Less,
            (false, true) => std::cmp::Ordering::Greater,
            (false, false) => std::cmp::Ordering::Equal,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::knowledge::Knowledge;
    use crate::version::Minor;

    #[test]
    fn gateway_api_range_and_owner_are_detected() {
        use std::cmp::Ordering;
        let releases = Knowledge::embedded().releases();
        let range = |minor| releases.minor(Minor::new(2, minor)).and_then(|row| row.gateway_api.as_ref());
        for (minor, bundle, order) in [
            (15, "0.7.1-dev", Ordering::Equal),
            (17, "0.6.2", Ordering::Less),
            (18, "1.0.0", Ordering::Less),
            (18, "1.1.1-rc.1", Ordering::Equal),
            (18, "1.3.0", Ordering::Greater),
            (20, "1.5.1", Ordering::Equal),
        ] {
            let bundle = bundle.parse().expect("a version");
            assert_eq!(range(minor).expect("a range").compare(&bundle), order, "2.{minor} {bundle}");
        }
        let of = |keys: &[&'static str]| releases.gateway_api_manager(keys.iter().copied()).map(|(who, _)| who);
        assert_eq!(of(&["a", "components.gke.io/component-version"]), Some("GKE"));
        assert_eq!((of(&["components.gke.io"]), of(&[])), (None, None));
    }
}
