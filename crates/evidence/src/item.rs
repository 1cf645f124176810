//! Items that can be requested: kinds of objects, named objects, versions, node evidence.
//!
//! The common vocabulary of cards (`needs: [pods, events]`), sources (which answer items) and the model (which files
//! the results by item). Defines names and API coordinates, not how anything is fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use crate::objects::{self, Link, Store};
use crate::redact::{self, Rule};

mod access;
pub mod answer;
pub mod destination;
pub mod diagnostic;
mod probe;
pub mod proxy_metrics;
mod query;
mod served_certificates;
mod user_provided;
mod version;

pub use crate::objects::{Kind, KindInfo, UnknownKind};
pub use access::{Access, AccessReview, ReviewStatus};
pub use answer::ProbeAnswer;
pub use probe::{Probe, Program};
pub use query::Query;
pub use served_certificates::{ServedBy, ServedCertificates, Server};

/// Label of an extension's namespace and of all objects in it.
pub const EXTENSION_LABEL: &str = "linkerd.io/extension";

/// A Linkerd extension with its own namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extension {
    /// Metrics, dashboard and tap.
    Viz,
    /// Links to other clusters.
    Multicluster,
    /// Traces, in releases that include it.
    Jaeger,
}

impl Extension {
    /// All extensions.
    pub const ALL: [Extension; 3] = [Extension::Viz, Extension::Multicluster, Extension::Jaeger];

    /// The extension of this name.
    pub fn from_name(name: &str) -> Option<Extension> {
        Extension::ALL.into_iter().find(|extension| extension.name() == name)
    }

    /// The name of its chart.
    pub const fn chart(self) -> &'static str {
        match self {
            Extension::Viz => "linkerd-viz",
            Extension::Multicluster => "linkerd-multicluster",
            Extension::Jaeger => "linkerd-jaeger",
        }
    }

    /// Its name, the value of [`EXTENSION_LABEL`].
    pub const fn name(self) -> &'static str {
        match self {
            Extension::Viz => "viz",
            Extension::Multicluster => "multicluster",
            Extension::Jaeger => "jaeger",
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A namespace that is known only at run time, such as that of the control plane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The control plane (`-L`, else found by labels, else `linkerd`).
    ControlPlane,
    /// linkerd-cni (`--cni-namespace`, else found by labels, else `linkerd-cni`).
    Cni,
    /// An extension: the namespace with its label; of several, the first that contains objects of it.
    Extension(Extension),
    /// The namespace of each Link, for an object that the Link refers to; the item's own name only describes it.
    Links,
    /// The namespace that the arguments of an ingress controller name, for its ConfigMap; the item's own name is the
    /// usual one.
    IngressControllers,
    /// A namespace with a fixed name, such as `kube-system`.
    Fixed(String),
    /// For cluster-scoped kinds.
    Cluster,
}

impl Scope {
    /// Name in cards: `control-plane`, `cni`, or the namespace; empty for [`Scope::Cluster`].
    pub fn label(&self) -> &str {
        match self {
            Scope::ControlPlane => "control-plane",
            Scope::Cni => "cni",
            Scope::Extension(extension) => extension.name(),
            Scope::Links => "links",
            Scope::IngressControllers => "ingress-controllers",
            Scope::Fixed(namespace) => namespace,
            Scope::Cluster => "",
        }
    }

    fn of_word(word: &str) -> Scope {
        match word {
            "control-plane" => Scope::ControlPlane,
            "cni" => Scope::Cni,
            "links" => Scope::Links,
            "ingress-controllers" => Scope::IngressControllers,
            other => match Extension::from_name(other) {
                Some(extension) => Scope::Extension(extension),
                None => Scope::Fixed(other.to_owned()),
            },
        }
    }
}

/// An item that can be requested.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// All objects of a kind, in all namespaces.
    List(Kind),
    /// One object by name. Secrets and ConfigMaps are only requested in this way.
    Named {
        kind: Kind,
        /// Its namespace.
        scope: Scope,
        name: String,
    },
    /// Whether the operator has a permission. Requested only before an installation.
    Access(Access),
    /// The state of a running program. Requested only with `--probe`.
    Probe(Probe),
    /// The certificates that a Linkerd server serves. Requested only with `--probe`.
    Served(Server),
    /// The API server's version.
    ServerVersion,
    /// The version of the operator's own `linkerd` command.
    CliVersion,
    /// Node evidence: snapshots or copied directories.
    NodeFiles,
    /// Logs: journals of nodes, logs of pods.
    Logs,
    /// Output of `linkerd diagnostics`.
    Diagnostics,
}

impl Item {
    /// The object of a kind with this name.
    pub fn named(kind: Kind, scope: Scope, name: impl Into<String>) -> Item {
        Item::Named { kind, scope, name: name.into() }
    }

    /// The kind of its objects, if it yields objects.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Item::List(kind) | Item::Named { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// The query, if it does not request objects of the cluster.
    pub fn query(&self) -> Option<&dyn Query> {
        match self {
            Item::List(_) | Item::Named { .. } => None,
            Item::Access(access) => Some(access),
            Item::Probe(probe) => Some(probe),
            Item::Served(server) => Some(server),
            Item::ServerVersion => Some(&version::OfServer),
            Item::CliVersion => Some(&version::OfCli),
            Item::NodeFiles => Some(&user_provided::OfNodes),
            Item::Logs => Some(&user_provided::OfLogs),
            Item::Diagnostics => Some(&diagnostic::OfDiagnostics),
        }
    }

    /// Whether manifests can contain it: objects written by people or charts, and the version of
    /// `--kubernetes-version`.
    pub fn is_in_manifests(&self) -> bool {
        match self {
            Item::List(kind) => !kind.is_of_running_cluster(),
            Item::Named { scope, .. } => !matches!(scope, Scope::Fixed(_)),
            Item::ServerVersion => true,
            Item::Access(_)
            | Item::Probe(_)
            | Item::Served(_)
            | Item::CliVersion
            | Item::NodeFiles
            | Item::Logs
            | Item::Diagnostics => false,
        }
    }

    /// Kind of its results: `Pod`, `ProbeAnswer`.
    pub fn answers(&self) -> &'static str {
        self.query().map_or_else(|| self.kind().map_or("", |kind| kind.info().kind), Query::answers)
    }

    /// Redaction rules for its results.
    pub fn rule(&self) -> &'static Rule {
        match (self.kind(), self.query()) {
            (Some(kind), _) => objects::rule(kind),
            (None, Some(asked)) => query::rule(asked),
            (None, None) => redact::unknown(),
        }
    }

    /// An empty store for its results, if they are filed by type.
    pub fn store(&self) -> Option<Box<dyn Store>> {
        self.query().map_or_else(|| self.kind().map(Kind::store), Query::store)
    }

    /// The Secret that a Link refers to.
    pub fn credentials_of(link: &Link) -> Item {
        Item::named(
            Kind::Secret,
            Scope::Fixed(link.metadata.namespace.to_string()),
            link.spec.cluster_credentials_secret.clone(),
        )
    }

    /// The Secret of the same name for the control plane.
    pub fn copy_of_credentials(link: &Link, control_plane: &str) -> Item {
        Item::named(Kind::Secret, Scope::Fixed(control_plane.to_owned()), link.spec.cluster_credentials_secret.clone())
    }

    /// The Secret for the control plane under the name that the CLI gives it.
    pub fn usual_copy_of_credentials(link: &Link, control_plane: &str) -> Item {
        Item::named(Kind::Secret, Scope::Fixed(control_plane.to_owned()), usual_credentials(link))
    }

    /// Namespace of the request, if the scope determines it.
    pub fn scope(&self) -> Option<&Scope> {
        match self {
            Item::Named { scope, .. } | Item::Access(Access { scope, .. }) => Some(scope),
            Item::Served(_) => Some(&Scope::ControlPlane),
            _ => None,
        }
    }
}

/// The name that `linkerd multicluster link` gives the Secret with the credentials of a Link.
pub fn usual_credentials(link: &Link) -> String {
    format!("cluster-credentials-{}", link.spec.target_cluster_name)
}

/// Secrets that Links refer to, with which their controllers access other clusters.
pub fn link_credentials() -> Item {
    Item::named(Kind::Secret, Scope::Links, "credentials")
}

/// The ConfigMaps that the arguments of ingress controllers name.
pub fn controller_config() -> Item {
    Item::named(Kind::ConfigMap, Scope::IngressControllers, "ingress-nginx-controller")
}

/// One of [`controller_config`], by its namespace and name.
pub fn controller_config_of(namespace: &str, name: &str) -> Item {
    Item::named(Kind::ConfigMap, Scope::Fixed(namespace.to_owned()), name)
}

impl fmt::Display for Item {
    /// Name in cards: `pods`, `configmaps/control-plane/linkerd-config`, `server-version`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::List(kind) => f.write_str(&kind.resource()),
            Item::Named { kind, scope, name } => {
                let resource = kind.resource();
                match scope {
                    Scope::Cluster => write!(f, "{resource}/{name}"),
                    scope => write!(f, "{resource}/{}/{name}", scope.label()),
                }
            }
            Item::Access(access) => write!(f, "access/{access}"),
            Item::Probe(probe) => write!(f, "probe/{probe}"),
            Item::Served(server) => write!(f, "served/{server}"),
            Item::ServerVersion => f.write_str("server-version"),
            Item::CliVersion => f.write_str("cli-version"),
            Item::NodeFiles => f.write_str("node-files"),
            Item::Logs => f.write_str("logs"),
            Item::Diagnostics => f.write_str("diagnostics"),
        }
    }
}

impl FromStr for Item {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Item, UnknownKind> {
        match text {
            "server-version" => return Ok(Item::ServerVersion),
            "cli-version" => return Ok(Item::CliVersion),
            "node-files" => return Ok(Item::NodeFiles),
            "logs" => return Ok(Item::Logs),
            "diagnostics" => return Ok(Item::Diagnostics),
            _ => {}
        }
        if let Some(access) = text.strip_prefix("access/") {
            return access.parse().map(Item::Access);
        }
        if let Some(probe) = text.strip_prefix("probe/") {
            return probe.parse().map(Item::Probe);
        }
        if let Some(server) = text.strip_prefix("served/") {
            return server.parse().map(Item::Served);
        }
        let mut parts = text.splitn(3, '/');
        let kind: Kind = parts.next().unwrap_or_default().parse()?;
        match (parts.next(), parts.next()) {
            (None, _) => Ok(Item::List(kind)),
            (Some(name), None) => Ok(Item::named(kind, Scope::Cluster, name)),
            (Some(scope), Some(name)) => Ok(Item::named(kind, Scope::of_word(scope), name)),
        }
    }
}

/// The namespaces of scopes in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespaces {
    /// See [`Scope::ControlPlane`].
    pub control_plane: String,
    /// See [`Scope::Cni`].
    pub cni: String,
    /// See [`Scope::Extension`]; without extensions that are missing or unknown.
    pub extensions: BTreeMap<Extension, String>,
    /// Extensions without known objects, although a namespace has their label.
    pub empty_extensions: BTreeSet<Extension>,
}

impl Default for Namespaces {
    fn default() -> Self {
        Namespaces {
            control_plane: "linkerd".to_owned(),
            cni: "linkerd-cni".to_owned(),
            extensions: BTreeMap::new(),
            empty_extensions: BTreeSet::new(),
        }
    }
}

impl Namespaces {
    /// Namespace of a scope; `None` for cluster-scoped objects and missing extensions.
    pub fn namespace_for<'a>(&'a self, scope: &'a Scope) -> Option<&'a str> {
        match scope {
            Scope::ControlPlane => Some(&self.control_plane),
            Scope::Cni => Some(&self.cni),
            Scope::Extension(extension) => self.extensions.get(extension).map(String::as_str),
            Scope::Fixed(namespace) => Some(namespace),
            Scope::Links | Scope::IngressControllers | Scope::Cluster => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_round_trip() {
        for text in [
            "pods",
            "events",
            "configmaps/control-plane/linkerd-config",
            "secrets/cni/x",
            "secrets/viz/tap-k8s-tls",
            "secrets/links/credentials",
            "configmaps/ingress-controllers/ingress-nginx-controller",
            "probe/prometheus",
            "probe/service-mirror/controller-east-7d8c9b5f66-m4t8k",
            "server-version",
            "node-files",
            "logs",
            "diagnostics",
            "access/create/clusterroles.rbac.authorization.k8s.io",
            "access/get/secrets/control-plane",
        ] {
            assert_eq!(text.parse::<Item>().map(|i| i.to_string()), Ok(text.to_owned()));
        }
    }
}
