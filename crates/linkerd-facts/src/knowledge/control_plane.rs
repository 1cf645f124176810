//! `control-plane.yaml`: objects of a release's charts other than Deployments. Checks compare them with the cluster.

use serde::Deserialize;

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, MinorTable, Release};

/// Placeholder for the control plane's namespace in names.
const NAMESPACE: &str = "$NAMESPACE";

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ControlPlane {
    source: String,
    date: jiff::civil::Date,
    from: EdgeTag,
    from_stable: Release,
    accounts: Vec<Account>,
    services: Vec<ControlPlaneService>,
    webhooks: Vec<ChartWebhook>,
    roles: Vec<Role>,
    namespaced_roles: Vec<NamespacedRole>,
    definitions: Vec<Definition>,
    #[serde(default)]
    group_versions: Vec<GroupVersion>,
    cluster_networks: Vec<DefaultNetworks>,
    #[serde(default)]
    late_algorithms: Vec<LateAlgorithm>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultNetworks {
    networks: Vec<String>,
    releases: ReleaseRange,
}

/// A version of an API group that the policy controller needs to start.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupVersion {
    group: String,
    /// The version, such as `v1alpha2`.
    pub version: String,
    releases: ReleaseRange,
}

impl GroupVersion {
    /// First release that starts without it.
    pub fn first_without(&self) -> Option<EdgeTag> {
        self.releases.until
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LateAlgorithm {
    name: String,
    releases: ReleaseRange,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Account {
    name: String,
    component: String,
}

/// A Service of the control plane, in every release of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ControlPlaneService {
    pub name: String,
    /// Component of its pods.
    pub component: String,
    /// Its clients.
    pub found_by: FoundBy,
}

/// Clients of a Service of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// Every proxy, at start.
    Proxies,
    /// The API server, when it calls a validating webhook.
    ApiServer,
    /// The API server, when it calls the injector.
    ApiServerForPods,
}

/// A webhook of the charts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartWebhook {
    name: String,
    /// Paths that its server accepts; empty: any.
    #[serde(default)]
    pub paths: Vec<String>,
    rules: Vec<ChartRule>,
}

/// Operations on resources for which the charts register a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartRule {
    /// API group, empty for core.
    pub group: String,
    pub resources: Vec<String>,
    /// All versions; empty: not compared.
    pub versions: Vec<String>,
    pub operations: Vec<String>,
    #[serde(default)]
    releases: ReleaseRange,
}

impl ChartWebhook {
    /// The rules of a release; without a release, those of all releases.
    pub fn rules<'a>(
        &'a self,
        version: Option<&'a LinkerdVersion>,
        minors: &'a MinorTable,
    ) -> impl Iterator<Item = &'a ChartRule> {
        self.rules.iter().filter(move |rule| match version {
            Some(version) => rule.releases.covers(version, minors) == Contains::Yes,
            None => rule.releases == ReleaseRange::default(),
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Role {
    role: String,
    binding: String,
    account: String,
    rights: Vec<Rights>,
}

/// A Role in the control plane's namespace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamespacedRole {
    /// Its name.
    pub role: String,
    /// Its RoleBinding; none if extensions bind it.
    pub binding: Option<String>,
    /// The bound ServiceAccount.
    pub account: Option<String>,
    /// Its permissions.
    pub rights: OneRight,
    #[serde(default)]
    releases: ReleaseRange,
}

/// Verbs on one resource.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneRight {
    /// API group, empty for core.
    pub group: String,
    pub resource: String,
    /// The required verbs.
    pub verbs: Vec<String>,
    /// Name of the object; `None`: any name.
    pub name: Option<String>,
}

/// Verbs on resources of an API group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rights {
    group: String,
    resources: Vec<String>,
    verbs: Vec<String>,
    #[serde(default)]
    releases: ReleaseRange,
    /// The chart value that must be true; `None` if the chart always grants them.
    #[serde(rename = "if")]
    condition: Option<String>,
}

/// A custom resource definition that a release needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// `<plural>.<group>`.
    pub name: String,
    /// The version that must be served.
    pub version: String,
    #[serde(default)]
    releases: ReleaseRange,
}

impl Definition {
    /// Whether both require the same version of the same definition.
    pub fn is(&self, other: &Definition) -> bool {
        self.name == other.name && self.version == other.version
    }
}

/// A ClusterRole of the control plane in its namespace, with its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedRole<'a> {
    /// Its name.
    pub role: String,
    /// Its ClusterRoleBinding.
    pub binding: String,
    /// The bound ServiceAccount, in the control plane's namespace.
    pub account: &'a str,
    /// API group, resource and verb.
    pub rights: Vec<(&'a str, &'a str, &'a str)>,
}

impl ControlPlane {
    /// Whether the table covers this release. It does not cover older ones.
    pub fn covers(&self, version: &LinkerdVersion, minors: &MinorTable) -> bool {
        let introduced = Introduced::at_edge(self.from).and_stable(self.from_stable);
        version.contains(&introduced, minors) == Contains::Yes
    }

    /// ServiceAccounts of the control plane, including that of the heartbeat.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.accounts.iter().map(|account| (account.name.as_str(), account.component.as_str()))
    }

    /// Services that proxies or the API server need to reach the control plane.
    pub fn services(&self) -> &[ControlPlaneService] {
        &self.services
    }

    /// A webhook, by the name of its Service without `linkerd-`.
    pub fn webhook(&self, name: &str) -> Option<&ChartWebhook> {
        self.webhooks.iter().find(|webhook| webhook.name == name)
    }

    /// The roles of a release in a namespace, without optional permissions of vendor builds. `is_set` returns whether a
    /// chart value is true; permissions that depend on another value are left out.
    pub fn roles<'a>(
        &'a self,
        namespace: &str,
        version: &LinkerdVersion,
        minors: &MinorTable,
        is_set: impl Fn(&str) -> bool,
    ) -> Vec<GrantedRole<'a>> {
        let roles = self.roles.iter().map(|role| {
            let is_wanted = |rights: &&Rights| {
                rights.releases.covers(version, minors) == Contains::Yes
                    && rights.condition.as_deref().is_none_or(&is_set)
            };
            let wanted = role.rights.iter().filter(is_wanted);
            let each = |rights: &'a Rights| {
                let group = rights.group.as_str();
                let verbs = rights.verbs.iter().map(String::as_str);
                let resources = rights.resources.iter().map(String::as_str);
                resources.flat_map(move |resource| verbs.clone().map(move |verb| (group, resource, verb)))
            };
            GrantedRole {
                role: role.role.replace(NAMESPACE, namespace),
                binding: role.binding.replace(NAMESPACE, namespace),
                account: &role.account,
                rights: wanted.flat_map(each).collect(),
            }
        });
        roles.collect()
    }

    /// The Roles of a release in the control plane's namespace.
    pub fn namespaced_roles<'a>(
        &'a self,
        version: &'a LinkerdVersion,
        minors: &'a MinorTable,
    ) -> impl Iterator<Item = &'a NamespacedRole> {
        self.namespaced_roles.iter().filter(|role| role.releases.covers(version, minors) == Contains::Yes)
    }

    /// The definitions that a release needs, without those that vendor builds may not need.
    pub fn definitions<'a>(
        &'a self,
        version: &'a LinkerdVersion,
        minors: &'a MinorTable,
    ) -> impl Iterator<Item = &'a Definition> {
        self.definitions.iter().filter(|d| d.releases.covers(version, minors) == Contains::Yes)
    }

    /// API group versions that a release's policy controller needs to start.
    pub fn group_versions<'a>(
        &'a self,
        group: &str,
        version: &LinkerdVersion,
        minors: &MinorTable,
    ) -> Vec<&'a GroupVersion> {
        let asked = |row: &&GroupVersion| row.group == group && row.releases.covers(version, minors) == Contains::Yes;
        self.group_versions.iter().filter(asked).collect()
    }

    /// Whether proxies of a release support a key or signature type that others do not.
    pub fn verifies_late(&self, algorithm: &str, version: &LinkerdVersion, minors: &MinorTable) -> bool {
        let mut rows = self.late_algorithms.iter();
        rows.any(|row| row.name == algorithm && row.releases.covers(version, minors) == Contains::Yes)
    }

    /// Default of `clusterNetworks` in a release; empty if unknown.
    pub fn cluster_networks(&self, version: &LinkerdVersion, minors: &MinorTable) -> &[String] {
        let of = |row: &&DefaultNetworks| row.releases.covers(version, minors) == Contains::Yes;
        self.cluster_networks.iter().find(of).map_or(&[], |row| row.networks.as_slice())
    }

    /// Source of the facts, and date of reading.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

impl KnowledgeFile for ControlPlane {
    const NAME: &'static str = "control-plane.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/control-plane.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let known = |name: &str| self.accounts.iter().any(|account| account.name == name);
        let given = self.roles.iter().map(|role| (&role.role, &role.account));
        let here = self.namespaced_roles.iter().filter_map(|role| Some((&role.role, role.account.as_ref()?)));
        match given.chain(here).find(|(_, account)| !known(account)) {
            Some((role, account)) => Err(format!("{role} is bound to {account}, which is not an account")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;
    use super::*;

    fn v(text: &str) -> LinkerdVersion {
        text.parse().expect("a version")
    }

    #[test]
    fn release_requirements_match_its_charts() {
        let knowledge = Knowledge::embedded();
        let (table, minors) = (knowledge.control_plane(), knowledge.minors());
        // The oldest also includes the HTTPRoutes of the Gateway API, and needs them.
        for (version, definitions, server) in
            [("edge-24.2.4", 9, "v1beta2"), ("edge-24.8.2", 8, "v1beta3"), ("edge-25.4.4", 10, "v1beta3")]
        {
            let version = v(version);
            let needed: Vec<_> = table.definitions(&version, minors).collect();
            assert_eq!(needed.len(), definitions, "{version}");
            let servers = needed.iter().find(|d| d.name == "servers.policy.linkerd.io").expect("servers");
            assert_eq!(servers.version, server, "{version}");
        }
        let right = ("policy.linkerd.io", "egressnetworks", "list");
        let policy = |version: &str| {
            let roles = table.roles("mesh", &v(version), minors, |_| false);
            let policy = roles.into_iter().find(|role| role.role == "linkerd-policy").expect("linkerd-policy");
            policy.rights.contains(&right)
        };
        assert!(policy("edge-25.4.4") && !policy("edge-24.8.2"));
        let roles = table.roles("mesh", &v("edge-25.4.4"), minors, |_| false);
        assert!(roles.iter().any(|role| role.binding == "linkerd-mesh-proxy-injector"));
        let slices = |is_set: bool| {
            let roles =
                table.roles("mesh", &v("edge-25.4.4"), minors, |value| is_set && value == "enableEndpointSlices");
            roles.iter().any(|role| role.rights.iter().any(|(_, resource, _)| *resource == "endpointslices"))
        };
        assert!(slices(true) && !slices(false));
        assert!(
            table.covers(&v("stable-2.14.10"), minors)
                && table.covers(&v("enterprise-2.17.0"), minors)
                && !table.covers(&v("stable-2.11.5"), minors)
        );
    }
}
