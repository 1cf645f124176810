//! RBAC roles for the checks: exactly the permissions that their cards and the versions in reports need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::checks::{self, Check};
use crate::item::{Item, Probe, Program, Query, Scope, link_credentials};
use crate::policy;

/// `docs/rbac.yaml`.
pub fn cluster_role() -> String {
    let all: Vec<_> = checks::all().collect();
    let (rules, optional) = rules(&all, None);
    let mut role = String::from(
        "# Generated from the checks' cards by `UPDATE=1 cargo test`; do not edit.\n\
         #\n\
         # The read permissions of meshdoctor with all checks selected. It never writes or watches, and reads Secrets and\n\
         # ConfigMaps only by name. If a permission is denied, the affected checks report it; the others still run.\n\
         # check --pre also reviews your own permissions; the role system:basic-user allows that to every user.\n\
         #\n\
         #   kubectl apply -f rbac.yaml\n\
         #   kubectl create clusterrolebinding meshdoctor --clusterrole=meshdoctor --user=NAME\n\
         apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: ClusterRole\n\
         metadata:\n  \
           name: meshdoctor\n\
         rules:\n",
    );
    role.push_str(&rules);
    if optional {
        role.push_str("# Optional permissions (forwarded ports, logs, credentials of links): rbac-optional.yaml.\n");
    }
    role
}

/// Namespaces in which objects that are read by name are granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Homes {
    /// Control-plane namespace.
    pub control_plane: String,
    /// Namespace of linkerd-cni.
    pub cni: String,
}

impl Homes {
    /// The namespace to grant; `None` if it is known only at run time.
    fn namespace_for<'s>(&'s self, scope: &'s Scope) -> Option<&'s str> {
        match scope {
            Scope::ControlPlane => Some(&self.control_plane),
            Scope::Cni => Some(&self.cni),
            Scope::Fixed(namespace) => Some(namespace),
            Scope::Extension(_) | Scope::Links | Scope::IngressControllers | Scope::Cluster => None,
        }
    }
}

/// The role for some of the checks, with an optional binding. With `homes`, objects that are read by name are granted
/// by a Role in each Linkerd namespace only. `proxies`: with the permission to read metrics through port-forwards.
pub fn role_of(checks: &[&'static Check], proxies: bool, bound: Option<&Bound>, homes: Option<&Homes>) -> String {
    let (rules, optional) = rules(checks, homes);
    let mut role = String::from(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: meshdoctor\nrules:\n",
    );
    role.push_str(&rules);
    if proxies {
        role.push_str("  - apiGroups: [\"\"]\n    resources: [pods/portforward]\n    verbs: [create, get]\n");
    }
    if optional {
        role.push_str("# With --probe, --proxies, --logs or links: docs/rbac-optional.yaml.\n");
    }
    if let Some(bound) = bound {
        role.push_str(&binding("ClusterRole", None, bound));
    }
    for (namespace, rules) in &homes.map(|homes| rules_in(checks, homes)).unwrap_or_default() {
        _ = write!(
            role,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: meshdoctor\n  namespace: {}\nrules:\n{rules}",
            quoted(namespace)
        );
        if let Some(bound) = bound {
            role.push_str(&binding("Role", Some(namespace), bound));
        }
    }
    role
}

/// A RoleBinding or ClusterRoleBinding.
fn binding(role: &str, namespace: Option<&str>, bound: &Bound) -> String {
    let subject = match bound {
        Bound::User(name) => {
            format!("  - kind: User\n    apiGroup: rbac.authorization.k8s.io\n    name: {}\n", quoted(name))
        }
        Bound::ServiceAccount { namespace, name } => {
            format!("  - kind: ServiceAccount\n    namespace: {}\n    name: {}\n", quoted(namespace), quoted(name))
        }
    };
    let namespace = namespace.map(|name| format!("  namespace: {}\n", quoted(name))).unwrap_or_default();
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {role}Binding\nmetadata:\n  name: meshdoctor\n{namespace}roleRef:\n  \
         apiGroup: rbac.authorization.k8s.io\n  kind: {role}\n  name: meshdoctor\nsubjects:\n{subject}"
    )
}

/// Subject of a role binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    /// A user, by name.
    User(String),
    ServiceAccount {
        namespace: String,
        name: String,
    },
}

/// A text as a quoted YAML string.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Objects that are read by name, by group and resource.
type NamedResources<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

fn named_rules(named: &NamedResources<'_>) -> String {
    let mut rules = String::new();
    for ((group, resource), names) in named {
        let names: Vec<&str> = names.iter().copied().collect();
        _ = write!(
            rules,
            "  - apiGroups: [\"{group}\"]\n    resources: [{resource}]\n    resourceNames: [{}]\n    verbs: [get]\n",
            names.join(", ")
        );
    }
    rules
}

/// Rules for objects that are read by name in known namespaces, by namespace.
fn rules_in(checks: &[&'static Check], homes: &Homes) -> BTreeMap<String, String> {
    let items = policy::run_items(checks);
    let mut by_namespace: BTreeMap<String, NamedResources<'_>> = BTreeMap::new();
    for item in &items {
        if let Item::Named { kind, scope, name } = item
            && let Some(namespace) = homes.namespace_for(scope)
        {
            let of = by_namespace.entry(namespace.to_owned()).or_default();
            of.entry((kind.info().group, kind.info().plural)).or_default().insert(name);
        }
    }
    by_namespace.iter().map(|(namespace, named)| (namespace.clone(), named_rules(named))).collect()
}

/// Rules for what checks read, and whether they can use the optional roles. Rules granted in namespaces are left out.
fn rules(checks: &[&'static Check], homes: Option<&Homes>) -> (String, bool) {
    let items = policy::run_items(checks);
    let mut lists: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut named = NamedResources::new();
    let mut server_version = false;
    let mut links = false;
    let mut probes = false;
    for item in &items {
        match item {
            Item::List(kind) => _ = lists.entry(kind.info().group).or_default().insert(kind.info().plural),
            // Their names are known only after the Links are read.
            Item::Named { scope: Scope::Links, .. } => links = true,
            Item::Named { scope, .. } if homes.is_some_and(|homes| homes.namespace_for(scope).is_some()) => {}
            Item::Named { kind, name, .. } => {
                _ = named.entry((kind.info().group, kind.info().plural)).or_default().insert(name);
            }
            Item::ServerVersion => server_version = true,
            // Every user may review their own permissions.
            item => probes |= item.query().is_some_and(Query::is_probed),
        }
    }
    let mut role = String::new();
    for (group, resources) in lists {
        let resources: Vec<&str> = resources.into_iter().collect();
        _ = write!(
            role,
            "  - apiGroups: [\"{group}\"]\n    resources: [{}]\n    verbs: [list]\n",
            resources.join(", ")
        );
    }
    role.push_str(&named_rules(&named));
    if server_version {
        role.push_str("  - nonResourceURLs: [/version]\n    verbs: [get]\n");
    }
    (role, probes || links)
}

/// `docs/rbac-optional.yaml`: permissions that most checks do not need, each as its own document.
pub fn optional_roles() -> String {
    let reading = |item: Item| -> String {
        let reads = |check: &&checks::Check| {
            let front = &check.card().front;
            front.needs.contains(&item) || front.uses.contains(&item)
        };
        checks::all().filter(reads).map(|check| check.id).collect::<Vec<_>>().join(", ")
    };
    let credentials = reading(link_credentials());
    let linked = reading(Item::Probe(Probe::new(Program::LinkedCluster)));
    format!(
        "# Generated from the code by `UPDATE=1 cargo test`; do not edit.\n\
     #\n\
     # Optional permissions in addition to docs/rbac.yaml. Bind those that you want; without them, the report lists the affected checks.\n\
     #\n\
     # For --probe, which queries running programs, and --proxies, which reads metrics. Port-forwarding reaches every port of a pod, so it allows more than\n\
     # reading. Binding it in the namespaces of Linkerd and its extensions is sufficient, for --proxies also in those of the\n\
     # workloads to read:\n\
     #   kubectl -n linkerd-viz create rolebinding meshdoctor-probe --clusterrole=meshdoctor-probe --user=NAME\n\
     apiVersion: rbac.authorization.k8s.io/v1\n\
     kind: ClusterRole\n\
     metadata:\n  \
       name: meshdoctor-probe\n\
     rules:\n  \
       - apiGroups: [\"\"]\n    resources: [pods]\n    verbs: [list]\n  \
       - apiGroups: [\"\"]\n    resources: [pods/portforward]\n    verbs: [create, get]\n\
     ---\n\
     # For --logs without a file, which reads recent control-plane logs and the logs of affected proxies. The permission\n\
     # covers everything that pods log; only lines of known meaning are kept. Bind it in the namespaces to read:\n\
     #   kubectl -n linkerd create rolebinding meshdoctor-logs --clusterrole=meshdoctor-logs --user=NAME\n\
     apiVersion: rbac.authorization.k8s.io/v1\n\
     kind: ClusterRole\n\
     metadata:\n  \
       name: meshdoctor-logs\n\
     rules:\n  \
       - apiGroups: [\"\"]\n    resources: [pods/log]\n    verbs: [get]\n\
     ---\n\
     # For {credentials} and, with --probe, {linked}: the Secrets that Links name contain kubeconfigs of other\n\
     # clusters. Only their server address is kept. Use the names that this command prints, in the namespace of the Links:\n\
     #   kubectl get links.multicluster.linkerd.io -A -o jsonpath='{{range .items[*]}}{{.metadata.namespace}}{{\" \"}}{{.spec.clusterCredentialsSecret}}{{\"\\n\"}}{{end}}'\n\
     #   kubectl -n linkerd-multicluster create rolebinding meshdoctor-links --role=meshdoctor-links --user=NAME\n\
     # If Services use endpoints of other clusters, bind the same in the control-plane namespace, which has Secrets with the\n\
     # same names.\n\
     apiVersion: rbac.authorization.k8s.io/v1\n\
     kind: Role\n\
     metadata:\n  \
       name: meshdoctor-links\n  \
       namespace: linkerd-multicluster\n\
     rules:\n  \
       - apiGroups: [\"\"]\n    resources: [secrets]\n    resourceNames: [cluster-credentials-EAST]\n    verbs: [get]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_roles_read_secrets_only_by_name() {
        let roles = optional_roles();
        let documents: Vec<serde_json::Value> = serde_yaml::Deserializer::from_str(&roles)
            .map(|document| serde::Deserialize::deserialize(document).expect("it is YAML"))
            .collect();
        assert_eq!(documents.len(), 3);
        let rules = documents.iter().flat_map(|document| document["rules"].as_array().expect("rules"));
        let secrets: Vec<_> = rules.filter(|rule| rule["resources"] == serde_json::json!(["secrets"])).collect();
        assert_eq!(secrets.len(), 1);
        assert_eq!(secrets[0]["resourceNames"].as_array().map(Vec::len), Some(1));
    }

    /// Each permission of the single role is in the split roles, and objects that are read by name are granted only in
    /// known namespaces.
    #[test]
    fn namespaced_roles_allow_the_same_in_fewer_namespaces() {
        let all: Vec<_> = checks::all().collect();
        let read = |text: &str| -> Vec<serde_json::Value> {
            serde_yaml::Deserializer::from_str(text)
                .map(|document| serde::Deserialize::deserialize(document).expect("it is YAML"))
                .collect()
        };
        let names = |documents: &[serde_json::Value]| -> BTreeSet<String> {
            let rules = documents.iter().filter_map(|document| document["rules"].as_array()).flatten();
            let of = |rule: &serde_json::Value| -> Vec<String> {
                let what = &rule["resources"];
                let names = rule["resourceNames"].as_array().cloned().unwrap_or_default();
                names.iter().map(|name| format!("{what} {name}")).collect()
            };
            rules.flat_map(of).collect()
        };
        let homes = Homes { control_plane: "mesh".to_owned(), cni: "mesh-cni".to_owned() };
        let bound = Bound::ServiceAccount { namespace: "ops".to_owned(), name: "doctor".to_owned() };
        let (one, several) =
            (read(&role_of(&all, false, None, None)), read(&role_of(&all, false, Some(&bound), Some(&homes))));
        assert_eq!(names(&one), names(&several));
        let kinds = |kind: &str| several.iter().filter(|document| document["kind"] == kind).count();
        assert_eq!((kinds("ClusterRole"), kinds("ClusterRoleBinding")), (1, 1));
        assert!(kinds("Role") > 1 && kinds("Role") == kinds("RoleBinding"));
        assert!(!names(&several[..1]).iter().any(|name| name.contains("linkerd-identity-issuer")));
        let in_mesh: Vec<_> =
            several.iter().filter(|document| document["metadata"]["namespace"] == "mesh").cloned().collect();
        assert!(names(&in_mesh).contains("[\"secrets\"] \"linkerd-identity-issuer\""), "{in_mesh:?}");
    }

    #[test]
    fn secrets_and_config_maps_are_readable_only_by_name() {
        let role: serde_json::Value = serde_yaml::from_str(&cluster_role()).expect("it is YAML");
        for rule in role["rules"].as_array().expect("a list") {
            let resources = rule["resources"].to_string();
            if resources.contains("secrets") || resources.contains("configmaps") {
                assert!(rule["resourceNames"].is_array() && rule["verbs"] == serde_json::json!(["get"]), "{rule}");
            }
        }
    }
}
