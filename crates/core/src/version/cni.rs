//! The version of the linkerd-cni plugin, from its image tag. A tag that follows neither the plugin's nor
//! Linkerd's scheme (a vendor's, a mirror's, a bare digest) is unknown, which differs from old.

use std::fmt;

use semver::Version;

use super::image::ImageRef;
use super::linkerd::{Channel, LinkerdVersion};

/// The linkerd-cni plugin's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CniVersion {
    /// `v1.6.2`, or a pre-release such as `v1.7.0-alpha.1`, which sorts before its release.
    Plugin(Version),
    /// Up to stable-2.12.4 the plugin was released with Linkerd, under its version.
    InLinkerd(LinkerdVersion),
    /// An unknown version: the tag if there is one, else the digest.
    Unknown(String),
}

impl CniVersion {
    /// The version an image tag states.
    pub fn from_tag(tag: &str) -> Self {
        let plugin = tag.strip_prefix('v').unwrap_or(tag).parse::<Version>().ok();
        // Other suffixes are custom builds: `v1.6.2-acme` may contain anything.
        let ours = |v: &Version| {
            let known = ["alpha", "beta", "rc"].iter().any(|p| v.pre.split('.').next() == Some(p));
            v.major == 1 && v.build.is_empty() && (v.pre.is_empty() || known)
        };
        if let Some(version) = plugin.filter(ours) {
            return CniVersion::Plugin(version);
        }
        match tag.parse::<LinkerdVersion>() {
            Ok(version) if matches!(version.channel(), Channel::Stable | Channel::Edge) => {
                CniVersion::InLinkerd(version)
            }
            Ok(_) | Err(_) => CniVersion::Unknown(tag.to_owned()),
        }
    }

    /// The version in an image reference such as `cr.l5d.io/linkerd/cni-plugin:v1.6.2`. A digest without a
    /// tag is unknown.
    pub fn from_image(image: &str) -> Self {
        match image.parse::<ImageRef>() {
            Ok(ImageRef { tag: Some(tag), .. }) => CniVersion::from_tag(&tag),
            Ok(ImageRef { digest: Some(digest), .. }) => CniVersion::Unknown(digest),
            Ok(_) => CniVersion::Unknown("no tag".to_owned()),
            Err(_) => CniVersion::Unknown(image.to_owned()),
        }
    }

    /// The plugin's own version, if known.
    pub fn plugin(&self) -> Option<&Version> {
        match self {
            CniVersion::Plugin(version) => Some(version),
            CniVersion::InLinkerd(_) | CniVersion::Unknown(_) => None,
        }
    }
}

impl fmt::Display for CniVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CniVersion::Plugin(version) => write!(f, "v{version}"),
            CniVersion::InLinkerd(version) => write!(f, "{version}"),
            CniVersion::Unknown(text) => write!(f, "unknown ({text})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_plugins_own_tags_are_versions() {
        let of = CniVersion::from_image;
        assert_eq!(of("cr.l5d.io/linkerd/cni-plugin:v1.5.2").to_string(), "v1.5.2");
        assert_eq!(of("mirror:5000/linkerd/cni-plugin:1.6.0@sha256:00").to_string(), "v1.6.0");
        assert_eq!(of("x/cni-plugin:v1.7.0-alpha.1").to_string(), "v1.7.0-alpha.1");
        assert!(matches!(of("x/cni-plugin:stable-2.12.2"), CniVersion::InLinkerd(_)));
        for image in
            ["x/cni-plugin:latest", "x/cni-plugin@sha256:00", "x/cni-plugin:v1.6.2-acme", "x/cni-plugin", "x:v1.6", ""]
        {
            assert!(matches!(of(image), CniVersion::Unknown(_)), "{image}");
        }
    }

    #[test]
    fn pre_releases_sort_before_their_release_and_after_the_one_before() {
        let at = |tag: &str| CniVersion::from_tag(tag).plugin().cloned().expect("a plugin version");
        assert!(at("v1.6.8") < at("v1.7.0-alpha.1") && at("v1.7.0-alpha.1") < at("v1.7.0"));
    }

    proptest! {
        #[test]
        fn a_version_is_what_it_reads_as(text in ".{0,40}|x:v?[0-2](\\.[0-9]{1,2}){2}(-(alpha|rc|acme)\\.1)?") {
            let version = CniVersion::from_image(&text);
            let again = CniVersion::from_tag(&version.to_string());
            prop_assert!(matches!(version, CniVersion::Unknown(_)) || again == version, "{version:?} {again:?}");
        }
    }
}
