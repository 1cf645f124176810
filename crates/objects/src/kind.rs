//! Descriptions of kinds: API coordinates, and names that kubectl accepts.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use super::{Foreign, Kind, Object};
use crate::protobuf::Schema;

/// Description of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// API group, empty for core.
    pub group: &'static str,
    /// The version to request.
    pub version: &'static str,
    /// Older versions, newest first, requested in turn if it is not served.
    pub older: &'static [&'static str],
    /// Kind, as in manifests.
    pub kind: &'static str,
    /// Resource name, as in URLs and RBAC rules.
    pub plural: &'static str,
    /// Whether it is namespaced.
    pub namespaced: bool,
    /// Other names that kubectl accepts.
    pub aliases: &'static [&'static str],
    /// Redaction rules for fields other than `apiVersion`, `kind` and `metadata`, in the syntax of `redaction.yaml`;
    /// text in other fields is replaced.
    pub passes: &'static str,
    /// Fields to read from protobuf; `None` for kinds that are requested as JSON.
    pub message: Option<&'static Schema>,
}

impl KindInfo {
    /// A namespaced kind, with everything redacted, requested as JSON.
    pub(super) const fn namespaced(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> KindInfo {
        KindInfo { group, version, older: &[], kind, plural, namespaced: true, aliases: &[], passes: "", message: None }
    }

    /// The same, cluster-scoped.
    pub(super) const fn of_cluster(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> KindInfo {
        KindInfo { namespaced: false, ..KindInfo::namespaced(group, version, kind, plural) }
    }
}

/// A listed kind as a type: the slim type itself, or a name for one of several kinds that share it. Requests for a list
/// use this type, so that objects of one kind cannot be read as another.
pub trait Listed {
    /// Type of the objects in a list.
    type Object: Object;
    const KIND: Kind;
    /// Its description.
    const INFO: KindInfo;
    /// The kind, and the type of its objects.
    const LIST: KindOf<Self::Object> = KindOf(Self::KIND, PhantomData);
}

/// A kind with a given slim type, for callers that handle several kinds of that type.
#[derive(Debug)]
pub struct KindOf<T>(Kind, PhantomData<fn() -> T>);

impl<T> KindOf<T> {
    pub const fn kind(self) -> Kind {
        self.0
    }
}

impl<T> Clone for KindOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for KindOf<T> {}

impl Kind {
    /// All kinds: built-in ones, then those of user-defined cards.
    pub fn all() -> impl Iterator<Item = Kind> {
        let foreign = Foreign::all().into_iter().map(Kind::Foreign);
        Kind::ALL.iter().copied().chain(foreign)
    }

    /// `pods` or `deployments.apps`: the resource name in kubectl and in reports.
    pub fn resource(self) -> String {
        let info = self.info();
        if info.group.is_empty() { info.plural.to_owned() } else { format!("{}.{}", info.plural, info.group) }
    }

    /// `v1` or `apps/v1`.
    pub fn api_version(self) -> String {
        let info = self.info();
        if info.group.is_empty() { info.version.to_owned() } else { format!("{}/{}", info.group, info.version) }
    }

    /// Whether its objects exist only in a running cluster, never in manifests.
    pub fn is_of_running_cluster(self) -> bool {
        matches!(
            self,
            Kind::Endpoints | Kind::EndpointSlice | Kind::Event | Kind::Lease | Kind::Node | Kind::ReplicaSet
        )
    }

    /// The kind for a manifest's `apiVersion` and `kind`; any version of the group matches.
    pub fn of_manifest(api_version: &str, kind: &str) -> Option<Kind> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        // The events API serves the same objects under two groups.
        let group = if group == "events.k8s.io" && kind == "Event" { "" } else { group };
        // Calico's API server prints the policies that Calico stores in another group, with the same fields.
        let group = if group == "projectcalico.org" { "crd.projectcalico.org" } else { group };
        Kind::all().find(|k| k.info().kind == kind && k.info().group == group)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().kind)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown resource kind {0:?}: use the name kubectl uses, such as pods or deployments.apps")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    /// Accepts kubectl's names: plural, singular, short name, with or without the group, any case.
    fn from_str(text: &str) -> Result<Kind, UnknownKind> {
        let word = text.trim().to_ascii_lowercase();
        let (name, group) = match word.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (word.as_str(), None),
        };
        let named = |k: &Kind| {
            let info = k.info();
            info.plural == name || info.kind.eq_ignore_ascii_case(name) || info.aliases.contains(&name)
        };
        let grouped = |k: &Kind| {
            let info = k.info();
            match group {
                None => true,
                // kubectl also accepts `deployments.v1.apps`
                Some(g) => g == info.group || g.split_once('.').is_some_and(|(_, rest)| rest == info.group),
            }
        };
        Kind::all().find(|k| named(k) && grouped(k)).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_kubectl_names() {
        for (text, kind) in [
            ("ns", Kind::Namespace),
            ("pods", Kind::Pod),
            ("Deployment", Kind::Deployment),
            ("deployments.apps", Kind::Deployment),
            ("deploy.v1.apps", Kind::Deployment),
            ("endpointslices.discovery.k8s.io", Kind::EndpointSlice),
            ("CRD", Kind::CustomResourceDefinition),
        ] {
            assert_eq!(text.parse(), Ok(kind), "{text}");
        }
        assert!("deployments.batch".parse::<Kind>().is_err());
    }
}
