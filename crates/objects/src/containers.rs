//! Lists of containers. Each list is stored once for all replicas, and each container once for all lists: proxies of
//! different workloads are often equal.

use serde::{Deserialize, Deserializer};

use super::container::Container;
use super::shared::{Shared, parts};
use crate::redact::Owner;

/// The containers of a pod or template, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Containers(Shared<Vec<Shared<Container>>>);

parts!(Container, Vec<Shared<Container>>);

impl Containers {
    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Container> + ExactSizeIterator {
        self.0.iter().map(|container| &**container)
    }

    /// Number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// See [`Shared::is_same`].
    pub fn is_same(&self, other: &Containers) -> bool {
        self.0.is_same(&other.0)
    }

    /// See [`Container::trim`].
    pub(super) fn trim(&mut self, owner: Owner) {
        self.0.edit().iter_mut().for_each(|container| container.edit().trim(owner));
    }

    /// Shares the list of `before` if it is equal, else its equal containers.
    pub(super) fn share(&mut self, before: &Containers) {
        self.0.share(&before.0);
        if !self.0.is_same(&before.0) {
            for container in self.0.edit() {
                if let Some(known) = before.0.iter().find(|known| known.name == container.name) {
                    container.share(known);
                }
            }
        }
    }

    /// Mutable access to one, by index.
    pub fn edit(&mut self, place: usize) -> &mut Container {
        self.0.edit()[place].edit()
    }
}

impl<'de> Deserialize<'de> for Containers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Containers, D::Error> {
        let mut containers: Vec<Shared<Container>> = Vec::deserialize(deserializer)?;
        containers.shrink_to_fit();
        Ok(Containers(Shared::from(containers)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Object, Pod};

    fn pod(app: &str, replica: &str) -> Pod {
        let mounts = json!([{"name": "linkerd-identity-token"}, {"name": format!("kube-api-access-{replica}")}]);
        let mut pod: Pod = serde_json::from_value(json!({
            "metadata": {
                "name": format!("{app}-{replica}"), "namespace": "shop", "annotations": {"linkerd.io/inject": "enabled"},
            },
            "spec": {
                "containers": [
                    {"name": "linkerd-proxy", "image": "proxy:1", "volumeMounts": mounts},
                    {"name": "app", "image": app, "volumeMounts": mounts},
                ],
            },
        }))
        .expect("a pod");
        pod.trim();
        pod
    }

    #[test]
    fn replicas_share_lists_and_workloads_share_proxies() {
        let first = pod("web", "x7k2p");
        let mut replica = pod("web", "9qzvb");
        replica.share(&first);
        assert!(replica.spec.containers.is_same(&first.spec.containers));
        let mut other = pod("api", "b4c2d");
        other.share(&replica);
        assert!(!other.spec.containers.is_same(&first.spec.containers));
        let at = |pod: &Pod, name: &str| pod.spec.container(name).map(std::ptr::from_ref);
        assert_eq!(at(&other, "linkerd-proxy"), at(&first, "linkerd-proxy"));
        assert_ne!(at(&other, "app"), at(&first, "app"));
    }
}
