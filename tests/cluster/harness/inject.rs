//! Injects proxies into pod templates that request one. These servers have no injector webhook, so this
//! happens beforehand, like `linkerd inject --manual`, with the proxy of a workload that the real injector
//! injected.

use serde_json::{Value, json};

use super::api::text;

/// The containers, volumes, labels and annotations that an injected pod template has and others have not.
pub struct Injected<'a> {
    template: &'a Value,
}

impl<'a> Injected<'a> {
    /// The proxy of the first injected workload among these objects.
    pub fn find(objects: &'a [Value]) -> Option<Injected<'a>> {
        let templates = objects.iter().map(|object| &object["spec"]["template"]);
        templates.into_iter().find(|template| has_proxy(template)).map(|template| Injected { template })
    }

    /// Injects the workload if it requests injection and is not injected.
    pub fn inject(&self, workload: &mut Value) {
        if !workload["spec"]["template"].is_object() {
            return;
        }
        let (kind, metadata) = (text(workload, "kind").to_ascii_lowercase(), workload["metadata"].clone());
        let template = &mut workload["spec"]["template"];
        if template["metadata"]["annotations"]["linkerd.io/inject"] != "enabled" || has_proxy(template) {
            return;
        }
        for list in ["containers", "initContainers", "volumes"] {
            let ours = self.template["spec"][list].as_array().into_iter().flatten();
            let mut all: Vec<Value> = ours.filter(|one| text(one, "name").starts_with("linkerd-")).cloned().collect();
            all.extend(template["spec"][list].as_array().into_iter().flatten().cloned());
            template["spec"][list] = json!(all);
        }
        for map in ["annotations", "labels"] {
            for (key, value) in self.template["metadata"][map].as_object().into_iter().flatten() {
                if key.starts_with("linkerd.io/") && !key.starts_with("linkerd.io/proxy-deployment") {
                    template["metadata"][map][key] = value.clone();
                }
            }
        }
        template["metadata"]["labels"]["linkerd.io/workload-ns"] = metadata["namespace"].clone();
        template["metadata"]["labels"][format!("linkerd.io/proxy-{kind}")] = metadata["name"].clone();
    }
}

fn has_proxy(template: &Value) -> bool {
    let containers = ["containers", "initContainers"].map(|list| template["spec"][list].as_array());
    containers.into_iter().flatten().flatten().any(|container| text(container, "name") == "linkerd-proxy")
}
