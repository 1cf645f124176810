//! `extension-injector-unavailable`: new pods require the webhook of an extension, and no pod answers it.

use serde_json::json;

use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::checks::serving::component_missing;
use crate::checks::words::some;
use crate::item::EXTENSION_LABEL;
use crate::objects::{EndpointSlice, MutatingWebhookConfiguration, ServiceReference, Webhook, WebhookConfiguration};

/// The injectors of extensions: the Service and Deployment of each, its name in messages, the effect on pods, and
/// the value of its chart with the failurePolicy.
const INJECTORS: [(&str, &str, &str, &str); 2] = [
    ("tap-injector", "injector of tap", "cannot be tapped", "tapInjector.failurePolicy"),
    ("jaeger-injector", "injector of jaeger", "send no traces", "webhook.failurePolicy"),
];
/// Maximum number of quoted namespaces.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let slices = ctx.complete_list::<EndpointSlice>();
    let configurations = ctx.complete_list::<MutatingWebhookConfiguration>()?;
    let required: Vec<Required<'_>> = configurations.iter().flat_map(required).collect();
    if required.is_empty() {
        return Err(Unjudged::not_applicable("no webhook of an extension is required for new pods"));
    }
    let slices = slices?;
    let findings = required.iter().filter_map(|one| one.finding(ctx, slices));
    Ok(findings.collect())
}

/// A webhook of an extension without which no pod is created.
struct Required<'a> {
    configuration: &'a WebhookConfiguration,
    at: usize,
    webhook: &'a Webhook,
    service: &'a ServiceReference,
}

fn required(configuration: &WebhookConfiguration) -> impl Iterator<Item = Required<'_>> {
    let webhooks = configuration.webhooks.iter().enumerate();
    webhooks.filter(|(_, webhook)| webhook.failure_policy != "Ignore" && webhook.is_called_for_pods()).filter_map(
        |(at, webhook)| {
            let service = webhook.client_config.service.as_ref()?;
            let is_known = INJECTORS.iter().any(|(name, ..)| *name == service.name)
                && (configuration.metadata.label(EXTENSION_LABEL).is_some() || webhook.name.ends_with(".linkerd.io"));
            is_known.then_some(Required { configuration, at, webhook, service })
        },
    )
}

impl Required<'_> {
    fn finding(&self, ctx: &Context<'_>, slices: &[EndpointSlice]) -> Option<Finding> {
        let (namespace, name) = (self.service.namespace.as_str(), self.service.name.as_str());
        let of_service =
            |slice: &&EndpointSlice| slice.metadata.namespace == namespace && slice.service() == Some(name);
        let endpoints: Vec<_> = slices.iter().filter(of_service).flat_map(|slice| &slice.endpoints).collect();
        // By the rules of the API, a missing condition counts as ready.
        if endpoints.iter().any(|endpoint| endpoint.conditions.ready != Some(false)) {
            return None;
        }
        if !self.selects_any(ctx) {
            return None;
        }
        let is_it = |one: &&Workload| one.metadata.key() == (namespace, name);
        let deployment = ctx.optional_list::<Deployment>().iter().find(is_it);
        let (_, injector, lack, value) = *INJECTORS.iter().find(|(of, ..)| *of == name)?;
        let kind = if deployment.is_some() { Kind::Deployment } else { Kind::Service };
        let seen = match endpoints.len() {
            0 => "no endpoint at all".to_owned(),
            1 => "one endpoint, not ready".to_owned(),
            many => format!("{many} endpoints, none of them ready"),
        };
        let policy = &self.webhook.failure_policy;
        let by_labels = self
            .webhook
            .object_selector
            .as_ref()
            .is_some_and(|selector| !selector.match_labels.is_empty() || !selector.match_expressions.is_empty());
        let pods = if by_labels { "no pod with the labels of its objectSelector" } else { "no pod" };
        let finding = ctx
            .finding(
                Subject::object(kind, namespace, name),
                format!(
                    "the {injector} has no ready pod, and its webhook has failurePolicy Fail: {pods} can be created \
                     in the namespaces that it selects, meshed or not"
                ),
            )
            .evidence(Evidence::field(format!("Service {namespace}/{name}"), "EndpointSlices", seen))
            .evidence(Evidence::field(
                format!("MutatingWebhookConfiguration {}", self.configuration.metadata.name),
                format!("webhooks[{}].failurePolicy", self.webhook.name),
                if policy.is_empty() { "Fail (the default)" } else { policy },
            ))
            .evidences(self.selected(ctx))
            .remedy(self.remedy(deployment, lack, value))
            .tie(Tie::Workload(Kind::Deployment.to_string(), namespace.to_owned(), name.to_owned()))
            .tie(component_missing(name));
        Some(spared(finding, ctx.are_starting(&own(ctx, namespace, name))))
    }

    /// Whether a known namespace is selected; true if not all are known.
    fn selects_any(&self, ctx: &Context<'_>) -> bool {
        let Some(selector) = &self.webhook.namespace_selector else { return true };
        let all = ctx.or_note(ctx.complete_list::<Namespace>());
        all.is_none_or(|all| all.iter().any(|namespace| selector.matches(&namespace.metadata.labels)))
    }

    /// The namespaces that the webhook selects.
    fn selected(&self, ctx: &Context<'_>) -> Option<Evidence> {
        let selector = self.webhook.namespace_selector.as_ref();
        let selects =
            |namespace: &&Namespace| selector.is_none_or(|selector| selector.matches(&namespace.metadata.labels));
        let all: Vec<&str> = ctx
            .optional_list::<Namespace>()
            .iter()
            .filter(selects)
            .map(|namespace| namespace.metadata.name.as_str())
            .collect();
        (!all.is_empty()).then(|| Evidence::other("Namespaces that it selects", some(all, QUOTED)))
    }

    fn remedy(&self, deployment: Option<&Workload>, lack: &str, value: &str) -> Remedy {
        let (namespace, name) = (self.service.namespace.as_str(), self.service.name.as_str());
        let path = format!("/webhooks/{}/failurePolicy", self.at);
        let operation = json!([{"op": "add", "path": path, "value": "Ignore"}]);
        let remedy = Remedy::new().command(
            format!("Set failurePolicy Ignore, so that pods start: until a restart after the repair, they {lack}"),
            kubectl()
                .words("patch mutatingwebhookconfiguration")
                .operand(&self.configuration.metadata.name)
                .words("--type=json -p")
                .arg(operation.to_string()),
        );
        let remedy = match deployment {
            Some(deployment) if deployment.spec.replicas == Some(0) => remedy.command(
                "Scale its Deployment up",
                kubectl().namespace(namespace).words("scale --replicas 1").operand(format!("deployment/{name}")),
            ),
            _ => remedy.command(
                "Find out why none of its pods is ready",
                kubectl().namespace(namespace).words("describe deployment,pods -l").arg(format!("component={name}")),
            ),
        };
        remedy.step(
            StepKind::ChartValue,
            format!("Set {value}: Ignore in the values of the chart too, or the next upgrade sets Fail again"),
        )
    }
}

/// The pods of an injector.
fn own<'a>(ctx: &Context<'a>, namespace: &str, component: &str) -> Vec<&'a Pod> {
    let is_own = |pod: &&Pod| pod.metadata.namespace == namespace && pod.metadata.label("component") == Some(component);
    ctx.optional_list::<Pod>().iter().filter(is_own).collect()
}
