//! The pods that Services select.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::checks::prelude::*;

/// Pods by namespace and label, so that a lookup does not scan all pods. Consecutive replicas that share
/// their labels are indexed once.
pub struct Selected<'a> {
    replicas: Vec<Vec<&'a Pod>>,
    /// Hash of a label in a namespace, and the indexes of [`Selected::replicas`] that have it, sorted.
    /// Hashes can collide, so each candidate is compared.
    labelled: Vec<(u64, u32)>,
}

/// Hash of a label in a namespace.
fn print(namespace: &str, key: &str, value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (namespace, key, value).hash(&mut hasher);
    hasher.finish()
}

impl<'a> Selected<'a> {
    /// Indexes all pods that have not ended and are not being deleted.
    fn new(pods: &'a [Pod]) -> Selected<'a> {
        let mut replicas: Vec<Vec<&Pod>> = Vec::new();
        let mut labelled = Vec::new();
        let alive = |pod: &&Pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
        for pod in pods.iter().filter(alive) {
            let meta = &pod.metadata;
            let same = |before: &Pod| {
                before.metadata.labels.is_same(&meta.labels) && before.metadata.namespace == meta.namespace
            };
            match replicas.last_mut() {
                Some(last) if last.first().is_some_and(|first| same(first)) => last.push(pod),
                _ => {
                    let place = u32::try_from(replicas.len()).unwrap_or(u32::MAX);
                    labelled.extend(meta.labels.iter().map(|(key, value)| (print(&meta.namespace, key, value), place)));
                    replicas.push(vec![pod]);
                }
            }
        }
        labelled.sort_unstable();
        labelled.shrink_to_fit();
        Selected { replicas, labelled }
    }

    /// The pods that a Service selects.
    pub(in crate::checks) fn by(&self, service: &'a Service) -> impl Iterator<Item = &'a Pod> {
        let selector = &service.spec.selector;
        let namespace = &service.metadata.namespace;
        let lists = selector.iter().map(|(key, value)| {
            let wanted = print(namespace, key, value);
            let from = &self.labelled[self.labelled.partition_point(|(print, _)| *print < wanted)..];
            &from[..from.partition_point(|(print, _)| *print == wanted)]
        });
        let fewest = lists.min_by_key(|list| list.len()).unwrap_or_default();
        let fits = |pod: &Pod| {
            pod.metadata.namespace == *namespace
                && selector.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value))
        };
        let fitting = fewest
            .iter()
            .filter_map(|(_, at)| self.replicas.get(*at as usize))
            .filter(|all| all.first().is_some_and(|pod| fits(pod)));
        fitting.flatten().copied().collect::<Vec<_>>().into_iter()
    }
}

impl<'a> Context<'a> {
    /// The index of pods by label, for Services. Reads `pods`; missing pods are left out.
    pub(in crate::checks) fn selected(&self) -> &'a Selected<'a> {
        self.get_or_build(&self.joins.selected, |ctx| Selected::new(ctx.optional_list::<Pod>()))
    }
}
