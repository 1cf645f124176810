//! Checks that the target cluster grants access to the link's controller: the ServiceAccount for its
//! credentials, and its permissions. The credentials are secret and not read, so the account is only known if
//! there is a single one.

use super::{CLUSTER, Mismatch, Pair, list};
use crate::finding::Severity;
use crate::item::EXTENSION_LABEL;
use crate::model::Cluster;
use crate::objects::rbac::{AnyBinding, AnyRole, may};
use crate::objects::{ClusterRole, ClusterRoleBinding, Kind, Listed, ServiceAccount};

/// The kinds that are read.
pub(super) const KINDS: [Kind; 3] = [ServiceAccount::KIND, ClusterRole::KIND, ClusterRoleBinding::KIND];
/// ServiceAccounts of the extension's own pods: these two, and those of links, which contain the cluster's
/// name.
const OWN: [&str; 2] = ["linkerd-gateway", "linkerd-local-service-mirror"];
/// The permissions in the target cluster without which a link's controller cannot mirror anything.
const READ: [(&str, &str); 2] = [("services", "list"), ("services", "watch")];

/// Accounts and roles, as far as links need them.
#[derive(Debug, Clone)]
pub(super) struct Access {
    accounts: Vec<(String, String)>,
    roles: Vec<AnyRole>,
    bindings: Vec<AnyBinding>,
}

impl Access {
    /// Reads them; `None` if they could not be read.
    pub(super) fn from_cluster(cluster: &Cluster) -> Option<Access> {
        let accounts = list::<ServiceAccount>(cluster)?;
        // The chart, `linkerd multicluster install` and `allow` create them with a configurable name.
        let is_remote = |account: &&ServiceAccount| {
            let meta = &account.metadata;
            let is_own = OWN.iter().any(|own| meta.name == *own) || meta.label(CLUSTER).is_some();
            meta.label(EXTENSION_LABEL) == Some("multicluster") && !is_own
        };
        let key =
            |account: &ServiceAccount| (account.metadata.namespace.to_string(), account.metadata.name.to_string());
        Some(Access {
            accounts: accounts.iter().filter(is_remote).map(key).collect(),
            roles: list::<ClusterRole>(cluster)?,
            bindings: list::<ClusterRoleBinding>(cluster)?,
        })
    }

    /// The first permission for a link that an account lacks.
    fn lacks(&self, (namespace, name): &(String, String)) -> Option<String> {
        let may = |(resource, verb): &(&str, &str)| {
            may((&self.roles, &self.bindings), (namespace, name), ("", resource, verb))
        };
        let (resource, verb) = READ.iter().find(|wanted| !may(wanted))?;
        Some(format!("ServiceAccount {namespace}/{name} may not {verb} {resource}"))
    }
}

impl Pair<'_> {
    /// The mismatch that prevents the link's controller from reading the other cluster.
    pub(super) fn access(&self, access: &Access) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let here = format!(
            "Link {} spec.clusterCredentialsSecret: {}",
            self.line.link, self.link.spec.cluster_credentials_secret
        );
        let install = format!("linkerd --context {to} multicluster install | kubectl --context {to} apply -f -");
        if access.accounts.is_empty() {
            return Some(
                self.mismatch(
                    "remote-access-missing",
                    Severity::Warning,
                    format!(
                        "{to} has no ServiceAccount for links. Unless the credentials belong to another \
                 one, they are not valid there, and the controller of the Link mirrors nothing"
                    ),
                    [
                        (from, here),
                        (
                            to,
                            "no ServiceAccount of the multicluster extension except those of its \
                 own pods"
                                .to_owned(),
                        ),
                    ],
                    format!(
                        "Reinstall the extension in {to}, which creates one: {install}. Then: {}",
                        self.link_again()
                    ),
                ),
            );
        }
        let lacking: Vec<String> = access.accounts.iter().filter_map(|account| access.lacks(account)).collect();
        if lacking.len() < access.accounts.len() {
            return None;
        }
        Some(self.mismatch(
            "remote-access-refused",
            Severity::Error,
            format!(
                "the controllers of links lack permission to read services in {to}: nothing is \
             mirrored, and existing mirrors become stale"
            ),
            [(from, here), (to, lacking.join(", "))],
            format!("Restore the ClusterRole and its binding in {to}: {install}"),
        ))
    }
}
