//! `upgrades.yaml`: effects of upgrades on chart values, pinned images and removed features.

use serde::Deserialize;

use super::file::KnowledgeFile;
use crate::finding::Severity;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, MinorTable};

/// Effects of upgrades.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Upgrades {
    source: String,
    date: jiff::civil::Date,
    issuer_guarded: EdgeTag,
    values: Vec<LostValue>,
    defaults: Vec<DefaultMatters>,
    init_in_proxy: EdgeTag,
    policy_in_controller: EdgeTag,
    replaced_images: Vec<ReplacedImage>,
    undeclared_ports_refused: EdgeTag,
    undeclared_ports_refused_with_profile: EdgeTag,
    open_census_gone: EdgeTag,
    ports_renamed: EdgeTag,
    port_names: Vec<RenamedPort>,
    mesh_tls_renamed: EdgeTag,
    shutdown_endpoint_off: EdgeTag,
    heed: Vec<Heed>,
    architectures: Vec<GoneArchitecture>,
    extensions: Vec<GoneExtension>,
    docker_guarded: EdgeTag,
    unstored: Vec<UnstoredValue>,
    retyped: Vec<RetypedValue>,
}

/// A chart value that the CLI's stored values do not have: `linkerd upgrade` resets it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnstoredValue {
    /// Its path.
    pub value: String,
    #[serde(default)]
    pub default: serde_yaml::Value,
    from: Option<EdgeTag>,
}

/// A stored value that the CLI of a release writes as a text, and older ones cannot read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetypedValue {
    /// The path of its map.
    pub within: String,
    pub key: String,
    pub default: i64,
    from: EdgeTag,
}

/// A chart value that is no longer used.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostValue {
    /// Its path.
    pub value: String,
    /// Its defaults through the releases.
    pub defaults: Vec<String>,
    from: EdgeTag,
    pub effect: Effect,
    /// Path of the value that re-enables it if true.
    pub unless: Option<String>,
    /// Description of the effect.
    pub why: String,
    /// The alternative.
    pub instead: String,
}

/// An image that a chart replaces by default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplacedImage {
    from: EdgeTag,
    /// The image before; without a registry, from any.
    old: String,
    /// The image after.
    new: String,
}

/// A change without a corresponding object.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heed {
    from: EdgeTag,
    until: Option<EdgeTag>,
    /// Only with linkerd-cni, or only without.
    pub cni: Option<bool>,
    /// The change, and the required action.
    pub what: String,
}

impl Heed {
    /// Whether the target certainly has it; for a vendor's build it is at most presumed.
    pub fn is_certain(&self, between: Between<'_>) -> bool {
        between.to.contains(&Introduced::at_edge(self.from), between.minors) == Contains::Yes
    }
}

/// Effect of a chart value that is no longer used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It is ignored.
    Ignored,
    /// It is still read.
    Deprecated,
    /// It causes a rejection.
    Refused,
}

/// Effect of a changed default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultMatters {
    /// The path of the value.
    pub value: String,
    /// Its new default.
    pub default: String,
    pub severity: Severity,
    /// Description of the effect.
    pub why: String,
    /// How to keep the previous behavior.
    pub keep: String,
}

/// An architecture without images in newer releases.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoneArchitecture {
    /// Name in Node objects.
    pub name: String,
    from: EdgeTag,
}

/// An extension that is no longer released.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoneExtension {
    pub name: String,
    from: EdgeTag,
    /// The webhook that remains.
    pub webhook: String,
    /// Linkerd's instructions.
    pub guide: String,
}

/// A container port with a changed name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenamedPort {
    pub container: String,
    /// The old name.
    pub old: String,
    /// The new name.
    pub new: String,
}

/// Two releases, to determine what begins between them.
#[derive(Debug, Clone, Copy)]
pub struct Between<'a> {
    /// The installed release.
    pub from: &'a LinkerdVersion,
    /// The target.
    pub to: &'a LinkerdVersion,
    /// The edge that opened each minor.
    pub minors: &'a MinorTable,
}

impl Between<'_> {
    /// Whether a change of an edge is in the target and not in the installed release. A vendor's build may already have
    /// it: then it is presumed to come with this upgrade.
    fn begins(&self, edge: EdgeTag) -> bool {
        let change = Introduced::at_edge(edge);
        match (self.from.contains(&change, self.minors), self.to.contains(&change, self.minors)) {
            (Contains::Yes, _) | (_, Contains::No) | (Contains::Unknown, Contains::Unknown) => false,
            (Contains::No, Contains::Yes | Contains::Unknown) | (Contains::Unknown, Contains::Yes) => true,
        }
    }
}

impl Upgrades {
    /// Whether `linkerd upgrade` of a release rejects an issuer that some proxy does not trust, unless forced.
    pub fn guards_issuer(&self, version: &LinkerdVersion, minors: &MinorTable) -> bool {
        version.contains(&Introduced::at_edge(self.issuer_guarded), minors) != Contains::No
    }

    /// Whether `linkerd upgrade` of a release rejects nodes that run Docker, unless told otherwise on its
    /// command line. `None`: unknown, presumed to.
    pub fn guards_docker(&self, version: Option<&LinkerdVersion>, minors: &MinorTable) -> bool {
        let since = Introduced::at_edge(self.docker_guarded);
        version.is_none_or(|version| version.contains(&since, minors) != Contains::No)
    }

    /// Values that `linkerd upgrade` of a release resets. `None`: unknown, presumed to.
    pub fn unstored<'k>(
        &'k self,
        version: Option<&LinkerdVersion>,
        minors: &MinorTable,
    ) -> impl Iterator<Item = &'k UnstoredValue> {
        self.unstored.iter().filter(move |row| {
            let Some((from, version)) = row.from.zip(version) else { return true };
            version.contains(&Introduced::at_edge(from), minors) != Contains::No
        })
    }

    /// Values that the CLI of the newer release stores in a type that the CLI of the older one cannot read.
    pub fn retyped<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k RetypedValue> {
        self.retyped.iter().filter(move |row| between.begins(row.from))
    }

    /// Values that the target no longer uses.
    pub fn values<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k LostValue> {
        self.values.iter().filter(move |row| between.begins(row.from))
    }

    /// Effect of this default of a value, if any.
    pub fn default(&self, value: &str, default: &str) -> Option<&DefaultMatters> {
        self.defaults.iter().find(|row| row.value == value && row.default == default)
    }

    /// The edge from which linkerd-init is part of the proxy image, if the target is the first with it.
    pub fn init_in_proxy(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.init_in_proxy).then_some(self.init_in_proxy)
    }

    /// The edge from which the policy controller is part of the controllers' image, if the target is the first with it.
    pub fn policy_in_controller(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.policy_in_controller).then_some(self.policy_in_controller)
    }

    /// The image that replaces one with a version of its own in the target, if any.
    pub fn replaced_image(&self, between: Between<'_>, image: &str) -> Option<String> {
        let mut now = image.to_owned();
        for row in self.replaced_images.iter().filter(|row| between.begins(row.from)) {
            let registry = now.strip_suffix(row.old.as_str()).map(str::to_owned);
            let fits = |registry: &String| registry.is_empty() || registry.ends_with('/') && !row.old.contains('/');
            if let Some(registry) = registry.filter(fits) {
                now = format!("{registry}{}", row.new);
            }
        }
        (now != image).then_some(now)
    }

    /// The edge from which clients are denied undeclared ports of a Service, if the target is the first with it.
    pub fn undeclared_ports(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.undeclared_ports_refused).then_some(self.undeclared_ports_refused)
    }

    /// The same, for Services with a ServiceProfile.
    pub fn undeclared_ports_with_profile(&self, between: Between<'_>) -> Option<EdgeTag> {
        let edge = self.undeclared_ports_refused_with_profile;
        between.begins(edge).then_some(edge)
    }

    /// The edge from which no traces are sent to OpenCensus's port, if the target is the first with it.
    pub fn open_census(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.open_census_gone).then_some(self.open_census_gone)
    }

    /// The edge from which control-plane ports have other names, if the target is the first with them, and the names.
    pub fn renamed_ports(&self, between: Between<'_>) -> Option<(EdgeTag, &[RenamedPort])> {
        between.begins(self.ports_renamed).then_some((self.ports_renamed, &self.port_names))
    }

    /// The edge from which only v1beta1 of ExternalWorkloads is read, if the target is the first with it.
    pub fn renamed_mesh_tls(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.mesh_tls_renamed).then_some(self.mesh_tls_renamed)
    }

    /// Whether a release stores ExternalWorkloads at v1beta1, which drops `meshTls`.
    pub fn has_renamed_mesh_tls(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        version.contains(&Introduced::at_edge(self.mesh_tls_renamed), minors)
    }

    /// The edge from which the proxy's shutdown endpoint is disabled by default, if the target is the first with it.
    pub fn closed_shutdown(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.shutdown_endpoint_off).then_some(self.shutdown_endpoint_off)
    }

    /// Whether clients are denied undeclared ports of a Service.
    pub fn refuses_undeclared_ports(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        version.contains(&Introduced::at_edge(self.undeclared_ports_refused), minors)
    }

    /// Whether clients are denied undeclared ports of a Service with a ServiceProfile.
    pub fn refuses_undeclared_ports_with_profile(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        version.contains(&Introduced::at_edge(self.undeclared_ports_refused_with_profile), minors)
    }

    /// The edge from which clients are denied undeclared ports of a Service.
    pub fn undeclared_ports_since(&self, with_profile: bool) -> EdgeTag {
        if with_profile { self.undeclared_ports_refused_with_profile } else { self.undeclared_ports_refused }
    }

    /// Changes without a corresponding object, if the target is the first with them.
    pub fn notes_between<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k Heed> {
        let holds = move |row: &&Heed| {
            let gone =
                row.until.is_some_and(|until| between.to.presumed_edge(between.minors).is_none_or(|edge| edge > until));
            between.begins(row.from) && !gone
        };
        self.heed.iter().filter(holds)
    }

    /// Architectures without images in the target.
    pub fn architectures<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k GoneArchitecture> {
        self.architectures.iter().filter(move |row| between.begins(row.from))
    }

    /// Extensions without a release for the target.
    pub fn extensions<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k GoneExtension> {
        self.extensions.iter().filter(move |row| between.begins(row.from))
    }

    /// Whether a release no longer has a release of an extension.
    pub fn is_extension_gone(&self, name: &str, of: &LinkerdVersion, minors: &MinorTable) -> bool {
        let gone = |row: &GoneExtension| of.contains(&Introduced::at_edge(row.from), minors) == Contains::Yes;
        self.extensions.iter().any(|row| row.name == name && gone(row))
    }

    /// Source of the facts, and date of the last review.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

impl KnowledgeFile for Upgrades {
    const NAME: &'static str = "upgrades.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/upgrades.yaml");

    fn finish(&mut self) -> Result<(), String> {
        if self.source.is_empty() {
            return Err("no source".to_owned());
        }
        for (at, row) in self.values.iter().enumerate() {
            if self.values[..at].iter().any(|other| other.value == row.value) {
                return Err(format!("{} is listed twice", row.value));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::*;

    #[test]
    fn replaced_images_follow_each_release() {
        let knowledge = Knowledge::embedded();
        let replaced = |from: &str, to: &str, image: &str| {
            let (from, to) = (from.parse().expect("a version"), to.parse().expect("a version"));
            let between = Between { from: &from, to: &to, minors: knowledge.minors() };
            knowledge.upgrades().replaced_image(between, image)
        };
        let init = "mirror.example/linkerd/proxy-init:v2.2.4";
        assert_eq!(
            replaced("edge-24.2.4", "edge-25.10.7", init).as_deref(),
            Some("mirror.example/linkerd/proxy-init:v2.4.3")
        );
        assert_eq!(replaced("edge-24.2.4", "edge-24.3.1", init), None);
        assert_eq!(replaced("edge-24.2.4", "edge-25.10.7", "my-proxy-init:v2.2.4"), None);
        let pause = "gcr.io/google_containers/pause:3.2";
        assert_eq!(replaced("edge-25.10.7", "edge-26.6.3", pause).as_deref(), Some("registry.k8s.io/pause:3.2"));
        assert_eq!(replaced("edge-25.10.7", "edge-26.6.3", &format!("mirror.example/{pause}")), None);
    }

    #[test]
    fn upgrade_drops_begin_between_its_releases() {
        let knowledge = Knowledge::embedded();
        let upgrades = knowledge.upgrades();
        let lost = |from: &str, to: &str| -> Vec<&str> {
            let (from, to) = (from.parse().expect("a version"), to.parse().expect("a version"));
            let between = Between { from: &from, to: &to, minors: knowledge.minors() };
            upgrades.values(between).map(|row| row.value.as_str()).collect()
        };
        assert!(lost("edge-25.4.4", "edge-25.10.7").contains(&"controlPlaneTracing"));
        assert!(!lost("edge-25.10.7", "edge-26.6.3").contains(&"controlPlaneTracing"));
        assert!(lost("edge-25.10.7", "edge-26.6.3").contains(&"proxyInit.image.name"));
        assert!(lost("edge-26.6.3", "edge-26.8.3").is_empty());
        assert!(lost("stable-2.14.10", "edge-25.4.4").contains(&"proxy.cores"));
        assert!(lost("enterprise-2.18.1", "enterprise-2.20.0").contains(&"controlPlaneTracing"));
        // A downgrade begins nothing.
        assert!(lost("edge-26.6.3", "edge-25.4.4").is_empty());
    }
}
