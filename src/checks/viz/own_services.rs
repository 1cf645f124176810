//! Services of viz itself that lead nowhere: missing, or with a selector that selects no pod of their component.

use crate::checks::extensions::reinstall;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::endpoints::selected;

/// The dashboard, which `linkerd viz dashboard` opens without its Service.
const WEB: &str = "web";

/// The severity for the Service of a component.
fn severity(component: &str) -> Severity {
    if component == WEB { Severity::Info } else { Severity::Warning }
}

/// A component with a Service of its name, and what fails without the Service.
const OWN: [(&str, &str); 4] = [
    ("metrics-api", "the dashboard has no metrics to show"),
    ("prometheus", "linkerd viz and the dashboard have no metrics to show"),
    ("tap", "linkerd viz tap fails"),
    (WEB, "an Ingress cannot lead to the dashboard"),
];

/// One finding for each Service that is missing, or that selects none of the pods of its component.
pub(super) fn findings(ctx: &Context<'_>, viz: &str, deployments: &[Workload], services: &[Service]) -> Vec<Finding> {
    let each = OWN.iter().filter_map(|(component, effect)| {
        let is_own = |meta: &crate::objects::Meta| meta.key() == (viz, *component);
        let deployment = deployments
            .iter()
            .find(|one| is_own(&one.metadata) && one.metadata.label(EXTENSION_LABEL) == Some(Extension::Viz.name()))?;
        let Some(service) = services.iter().find(|one| is_own(&one.metadata)) else {
            return Some(missing(ctx, viz, component, effect));
        };
        selects_nothing(ctx, service, deployment, effect)
    });
    each.collect()
}

fn missing(ctx: &Context<'_>, viz: &str, component: &str, effect: &str) -> Finding {
    let message = format!("the Service of {component} of viz does not exist: {effect}");
    ctx.finding(Subject::object(Kind::Service, viz, component), message)
        .severity(severity(component))
        .parameter("own")
        .evidence(Evidence::other(format!("Service {viz}/{component}"), "does not exist"))
        .remedy(reinstall(ctx, Remedy::new(), Extension::Viz, ", which creates the Service"))
}

/// The finding about a selector that fits none of the running pods. Without pods, their own findings tell why.
fn selects_nothing(ctx: &Context<'_>, service: &Service, deployment: &Workload, effect: &str) -> Option<Finding> {
    let (namespace, name) = service.metadata.key();
    let pods = ctx.optional_list::<Pod>();
    let labels = &deployment.spec.template.metadata.labels;
    let is_of_component = |pod: &&Pod| {
        let own = &pod.metadata.labels;
        pod.metadata.namespace == namespace
            && pod.is_ready()
            && labels.iter().all(|(key, value)| own.get(key).is_some_and(|own| own == value))
    };
    let pod = pods.iter().find(is_of_component)?;
    if service.spec.selector.is_empty() || selected(service, pods).next().is_some() {
        return None;
    }
    let selector: Vec<String> = service.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let message = format!("the Service of {name} of viz selects none of its pods: {effect}");
    let finding = ctx
        .finding(Subject::object(Kind::Service, namespace, name), message)
        .severity(severity(name))
        .parameter("own selector")
        .evidence(Evidence::field(format!("Service {namespace}/{name}"), "spec.selector", selector.join(", ")))
        .evidence(Evidence::field(format!("Pod {namespace}/{}", pod.metadata.name), "status", "ready"))
        .remedy(reinstall(ctx, Remedy::new(), Extension::Viz, ", which writes the selector"));
    Some(finding)
}
