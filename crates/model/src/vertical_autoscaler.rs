//! Pods whose resources a VerticalPodAutoscaler set when they were created, from the annotation of its webhook.

use crate::annotations::VPA_UPDATES;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;

/// The first words of the annotation `Pod resources updated by NAME: container 0: cpu request, memory request; …`.
const BEGIN: &str = "Pod resources updated by ";

/// The VerticalPodAutoscaler that set the memory of a pod's proxy. It does not change native sidecars.
pub fn of_proxy_memory(pod: &Pod) -> Option<&str> {
    let (name, updates) = pod.metadata.annotation(VPA_UPDATES)?.strip_prefix(BEGIN)?.split_once(": ")?;
    let place = pod.spec.containers.iter().position(|container| container.name == PROXY_CONTAINER)?;
    let begin = format!("container {place}: ");
    let own = updates.split("; ").find_map(|update| update.strip_prefix(begin.as_str()))?;
    own.contains("memory").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(updates: &str, containers: &str) -> Pod {
        let text = format!(
            "metadata: {{name: web-1, annotations: {{vpaUpdates: '{updates}'}}}}\nspec: {{containers: [{containers}]}}"
        );
        serde_yaml::from_str(&text).expect("a pod")
    }

    #[test]
    fn autoscaler_of_the_proxys_memory_is_found() {
        let both = "{name: web}, {name: linkerd-proxy}";
        let updates = "Pod resources updated by web: container 0: cpu request; container 1: memory request";
        assert_eq!(of_proxy_memory(&pod(updates, both)), Some("web"));
        assert_eq!(of_proxy_memory(&pod(updates, "{name: linkerd-proxy}, {name: web}")), None);
        assert_eq!(of_proxy_memory(&pod("something else", both)), None);
    }
}
