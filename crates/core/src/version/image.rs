//! Container image references, split into their parts. More lenient than kubelets: it describes the text in a
//! pod and does not decide whether a registry would accept it.

use std::fmt;
use std::str::FromStr;

/// An image reference: `registry.example.com:5000/linkerd/proxy:edge-25.4.4@sha256:...`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageRef {
    /// Registry host, with its port; absent means the runtime's default registry.
    pub registry: Option<String>,
    /// Path within the registry, such as `linkerd/proxy`.
    pub repository: String,
    /// Tag, if written.
    pub tag: Option<String>,
    /// Digest such as `sha256:...`, if written; it wins over the tag.
    pub digest: Option<String>,
}

impl ImageRef {
    /// The last element of the repository: `proxy`, `cni-plugin`.
    pub fn name(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or(&self.repository)
    }

    /// Registry and repository without tag and digest, as written.
    pub fn path(&self) -> String {
        match &self.registry {
            Some(registry) => format!("{registry}/{}", self.repository),
            None => self.repository.clone(),
        }
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())?;
        self.tag.as_ref().map_or(Ok(()), |tag| write!(f, ":{tag}"))?;
        self.digest.as_ref().map_or(Ok(()), |digest| write!(f, "@{digest}"))
    }
}

/// A string that is not an image reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an image reference: expected [REGISTRY/]NAME[:TAG][@DIGEST]")]
pub struct InvalidImage(String);

impl FromStr for ImageRef {
    type Err = InvalidImage;

    fn from_str(text: &str) -> Result<Self, InvalidImage> {
        let invalid = || InvalidImage(text.chars().take(120).collect());
        if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(invalid());
        }
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) if digest.contains(':') && !digest.contains('@') => (rest, Some(digest)),
            Some(_) => return Err(invalid()),
            None => (text, None),
        };
        // A colon after the last slash starts a tag; one before it belongs to a port.
        let after_slash = rest.rfind('/').map_or(0, |at| at + 1);
        let (path, tag) = match rest[after_slash..].find(':') {
            Some(at) => (&rest[..after_slash + at], Some(&rest[after_slash + at + 1..])),
            None => (rest, None),
        };
        if tag.is_some_and(|tag| tag.is_empty() || tag.contains(':')) {
            return Err(invalid());
        }
        let host = |part: &str| part.contains(['.', ':']) || part == "localhost";
        let (registry, repository) = match path.split_once('/') {
            Some((first, more)) if host(first) => (Some(first.to_owned()), more),
            Some(_) | None => (None, path),
        };
        if repository.split('/').any(str::is_empty) {
            return Err(invalid());
        }
        Ok(ImageRef {
            registry,
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ports_tags_and_digests_are_told_apart() {
        let digest = "sha256:0123456789abcdef";
        for (text, registry, name, tag, with_digest) in [
            ("cr.l5d.io/linkerd/cni-plugin:v1.6.2", Some("cr.l5d.io"), "cni-plugin", Some("v1.6.2"), false),
            ("localhost:5000/proxy", Some("localhost:5000"), "proxy", None, false),
            ("registry:5000/a/b/proxy:edge-25.4.4", Some("registry:5000"), "proxy", Some("edge-25.4.4"), false),
            ("linkerd/proxy", None, "proxy", None, false),
            ("pause:3.2", None, "pause", Some("3.2"), false),
            (&format!("r.example.com/x/proxy:v1@{digest}"), Some("r.example.com"), "proxy", Some("v1"), true),
            (&format!("r.example.com/x/proxy@{digest}"), Some("r.example.com"), "proxy", None, true),
        ] {
            let image: ImageRef = text.parse().expect(text);
            assert_eq!(image.registry.as_deref(), registry, "{text}");
            assert_eq!(image.name(), name, "{text}");
            assert_eq!(image.tag.as_deref(), tag, "{text}");
            assert_eq!(image.digest.is_some(), with_digest, "{text}");
            assert_eq!(image.to_string(), text);
        }
        for text in ["", "a b", "x:", "/x", "x//y", "x@nodigest", "x:a:b"] {
            assert!(text.parse::<ImageRef>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_parses_prints_back(text in "[a-z0-9./:@-]{0,40}") {
            if let Ok(image) = text.parse::<ImageRef>() {
                prop_assert_eq!(image.to_string(), text);
            }
        }
    }
}
