//! Which pods a Service selects.

use std::collections::HashMap;

use crate::checks::Context;
use crate::objects::{Pod, Service};

/// Pods by namespace and label, so that no Service looks at all of them. Neighbours are often replicas, whose labels are kept in one
/// place: they are filed once.
pub struct Selected<'a> {
    replicas: Vec<Vec<&'a Pod>>,
    /// Of [`Selected::replicas`] those that have the label.
    labelled: HashMap<(&'a str, &'a str, &'a str), Vec<usize>>,
}

impl<'a> Selected<'a> {
    /// Of all pods that have not ended and are not being deleted.
    fn of(pods: &'a [Pod]) -> Selected<'a> {
        let mut replicas: Vec<Vec<&Pod>> = Vec::new();
        let mut labelled: HashMap<(&str, &str, &str), Vec<usize>> = HashMap::new();
        let alive = |pod: &&Pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
        for pod in pods.iter().filter(alive) {
            let meta = &pod.metadata;
            let same = |before: &Pod| {
                before.metadata.labels.is_same(&meta.labels) && before.metadata.namespace == meta.namespace
            };
            match replicas.last_mut() {
                Some(last) if last.first().is_some_and(|first| same(first)) => last.push(pod),
                _ => {
                    for (key, value) in &meta.labels {
                        let at = (meta.namespace.as_str(), key.as_str(), value.as_str());
                        labelled.entry(at).or_default().push(replicas.len());
                    }
                    replicas.push(vec![pod]);
                }
            }
        }
        Selected { replicas, labelled }
    }

    /// The pods that a Service selects.
    pub(super) fn by(&self, service: &'a Service) -> impl Iterator<Item = &'a Pod> {
        let selector = &service.spec.selector;
        let lists = selector.iter().map(|(key, value)| {
            let at = (service.metadata.namespace.as_str(), key.as_str(), value.as_str());
            self.labelled.get(&at).map_or(&[][..], Vec::as_slice)
        });
        let fewest = lists.min_by_key(|list| list.len()).unwrap_or_default();
        let fits =
            |pod: &Pod| selector.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value));
        let fitting = fewest
            .iter()
            .map(|&at| &self.replicas[at])
            .filter(|all| all.first().is_some_and(|pod| fits(pod)));
        fitting.flatten().copied().collect::<Vec<_>>().into_iter()
    }
}

impl<'a> Context<'a> {
    /// Which pods Services select. Reads `pods`, as far as they are there.
    pub(super) fn selected(&self) -> &'a Selected<'a> {
        self.once(&self.joins.selected, |ctx| Selected::of(ctx.hints::<Pod>()))
    }
}
