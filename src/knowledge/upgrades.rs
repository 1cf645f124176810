//! `upgrades.yaml`: what an upgrade changes for those who set a value, pinned an image, or run what is gone.

use serde::Deserialize;

use super::file::KnowledgeFile;
use crate::finding::Severity;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, MinorTable};

/// What upgrades change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Upgrades {
    source: String,
    date: jiff::civil::Date,
    issuer_guarded: EdgeTag,
    values: Vec<LostValue>,
    defaults: Vec<DefaultMatters>,
    init_in_proxy: EdgeTag,
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
}

/// A chart value that is not taken any more.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostValue {
    /// Its path.
    pub value: String,
    /// What stood there by default, through the releases.
    pub defaults: Vec<String>,
    from: EdgeTag,
    /// What comes of it.
    pub effect: Effect,
    /// The value, by path, that has to be true for it to be taken all the same.
    pub unless: Option<String>,
    /// What that means.
    pub why: String,
    /// What to do instead.
    pub instead: String,
}

/// What an upgrade brings that no object shows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heed {
    from: EdgeTag,
    until: Option<EdgeTag>,
    /// Only with linkerd-cni, or only without.
    pub cni: Option<bool>,
    /// What it is, and what to do about it.
    pub what: String,
}

impl Heed {
    /// Whether the target is known to bring it: of a vendor's build that is presumed at most.
    pub fn is_certain(&self, between: Between<'_>) -> bool {
        between.to.contains(&Introduced::at_edge(self.from), between.minors) == Contains::Yes
    }
}

/// What comes of a chart value that is not taken any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nothing reads it.
    Ignored,
    /// It is read, for now.
    Deprecated,
    /// Something is refused for it.
    Refused,
}

/// What it means that a default is another one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultMatters {
    /// The path of the value.
    pub value: String,
    /// What it is by default now.
    pub default: String,
    /// How much that matters.
    pub severity: Severity,
    /// What it means.
    pub why: String,
    /// How things stay as they were.
    pub keep: String,
}

/// An architecture for which there are no images any more.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoneArchitecture {
    /// As nodes name it.
    pub name: String,
    from: EdgeTag,
}

/// An extension that is not released any more.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoneExtension {
    /// Its name.
    pub name: String,
    from: EdgeTag,
    /// The webhook that it leaves.
    pub webhook: String,
    /// Where Linkerd says what to do.
    pub guide: String,
}

/// A container's port that has another name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenamedPort {
    /// The container.
    pub container: String,
    /// The name before.
    pub old: String,
    /// The name since.
    pub new: String,
}

/// Two releases, and whether something begins between them.
#[derive(Debug, Clone, Copy)]
pub struct Between<'a> {
    /// What is installed.
    pub from: &'a LinkerdVersion,
    /// The target.
    pub to: &'a LinkerdVersion,
    /// Which edge opened which minor.
    pub minors: &'a MinorTable,
}

impl Between<'_> {
    /// Whether what begins at an edge is in the target and not in what is installed. A vendor's build may have it earlier:
    /// then it is presumed to come with this upgrade.
    fn begins(&self, edge: EdgeTag) -> bool {
        let change = Introduced::at_edge(edge);
        match (self.from.contains(&change, self.minors), self.to.contains(&change, self.minors)) {
            (Contains::Yes, _) | (_, Contains::No) | (Contains::Unknown, Contains::Unknown) => false,
            (Contains::No, Contains::Yes | Contains::Unknown) | (Contains::Unknown, Contains::Yes) => true,
        }
    }
}

impl Upgrades {
    /// Whether `linkerd upgrade` of a release refuses an issuer that some proxy does not trust, unless it is forced.
    pub fn guards_issuer(&self, version: &LinkerdVersion, minors: &MinorTable) -> bool {
        version.contains(&Introduced::at_edge(self.issuer_guarded), minors) != Contains::No
    }

    /// The values that the target does not take any more.
    pub fn values<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k LostValue> {
        self.values.iter().filter(move |row| between.begins(row.from))
    }

    /// What it means that a value has this default, where it means anything.
    pub fn default(&self, value: &str, default: &str) -> Option<&DefaultMatters> {
        self.defaults.iter().find(|row| row.value == value && row.default == default)
    }

    /// The edge from which on linkerd-init is in the proxy's image, where the target is the first to have it so.
    pub fn init_in_proxy(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.init_in_proxy).then_some(self.init_in_proxy)
    }

    /// The edge from which on clients are refused ports that a Service does not declare, where the target is the first to do so.
    pub fn undeclared_ports(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.undeclared_ports_refused).then_some(self.undeclared_ports_refused)
    }

    /// The same, of Services with a ServiceProfile.
    pub fn undeclared_ports_with_profile(&self, between: Between<'_>) -> Option<EdgeTag> {
        let edge = self.undeclared_ports_refused_with_profile;
        between.begins(edge).then_some(edge)
    }

    /// The edge from which on nothing sends traces to OpenCensus's port, where the target is the first.
    pub fn open_census(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.open_census_gone).then_some(self.open_census_gone)
    }

    /// The edge from which on ports of the control plane have other names, where the target is the first to have them, and which.
    pub fn renamed_ports(&self, between: Between<'_>) -> Option<(EdgeTag, &[RenamedPort])> {
        between.begins(self.ports_renamed).then_some((self.ports_renamed, &self.port_names))
    }

    /// The edge from which on ExternalWorkloads are read at v1beta1 alone, where the target is the first to do so.
    pub fn renamed_mesh_tls(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.mesh_tls_renamed).then_some(self.mesh_tls_renamed)
    }

    /// The edge from which on nobody may end a proxy through its endpoint unless that is asked for, where the target is the first.
    pub fn closed_shutdown(&self, between: Between<'_>) -> Option<EdgeTag> {
        between.begins(self.shutdown_endpoint_off).then_some(self.shutdown_endpoint_off)
    }

    /// Whether clients are refused ports that a Service does not declare.
    pub fn refuses_undeclared_ports(&self, version: &LinkerdVersion, minors: &MinorTable) -> Contains {
        version.contains(&Introduced::at_edge(self.undeclared_ports_refused), minors)
    }

    /// What the target is the first to bring, and no object shows.
    pub fn heed<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k Heed> {
        let holds = move |row: &&Heed| {
            let gone = row.until.is_some_and(|until| {
                between.to.presumed_edge(between.minors).is_none_or(|edge| edge > until)
            });
            between.begins(row.from) && !gone
        };
        self.heed.iter().filter(holds)
    }

    /// The architectures for which the target has no images any more.
    pub fn architectures<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k GoneArchitecture> {
        self.architectures.iter().filter(move |row| between.begins(row.from))
    }

    /// The extensions that the target has no release of any more.
    pub fn extensions<'k>(&'k self, between: Between<'_>) -> impl Iterator<Item = &'k GoneExtension> {
        self.extensions.iter().filter(move |row| between.begins(row.from))
    }

    /// Whether a release has no release of an extension beside it any more.
    pub fn is_extension_gone(&self, name: &str, of: &LinkerdVersion, minors: &MinorTable) -> bool {
        let gone = |row: &GoneExtension| of.contains(&Introduced::at_edge(row.from), minors) == Contains::Yes;
        self.extensions.iter().any(|row| row.name == name && gone(row))
    }

    /// Where the facts are from, and when they were last checked.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

impl KnowledgeFile for Upgrades {
    const NAME: &'static str = "upgrades.yaml";
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/upgrades.yaml");

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
    fn what_an_upgrade_drops_begins_between_its_two_releases() {
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
        // Back to an older one nothing begins.
        assert!(lost("edge-26.6.3", "edge-25.4.4").is_empty());
    }
}
