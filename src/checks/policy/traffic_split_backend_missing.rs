//! `traffic-split-backend-missing`: a backend of a TrafficSplit is not a Service of its namespace.

use super::survey::{about, defined, field, on};
use super::traffic_split_ignored::is_adaptor;
use crate::checks::prelude::*;
use crate::objects::TrafficSplit;

/// The name of the Deployment that sets the weights of TrafficSplits for a failover.
const FAILOVER: &str = "linkerd-failover";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let splits = defined::<TrafficSplit>(ctx);
    let deployments = ctx.complete_list::<Deployment>();
    let services = ctx.complete_list::<Service>();
    let (splits, deployments, services) = (splits?, deployments?, services?);
    let is_reader = |one: &Workload| is_adaptor(one) || one.metadata.name == FAILOVER;
    if !deployments.iter().any(is_reader) {
        return Err(Unjudged::not_applicable("neither linkerd-smi nor linkerd-failover is installed"));
    }
    let mut findings = Vec::new();
    for split in splits.iter().filter(|split| ctx.judges(&split.metadata.namespace)) {
        for (at, backend) in split.spec.backends.iter().enumerate() {
            let name = backend.service.as_str();
            let key = (split.metadata.namespace.as_str(), name);
            if !name.is_empty() && !services.iter().any(|service| service.metadata.key() == key) {
                findings.push(finding(ctx, split, (at, name), services));
            }
        }
    }
    Ok(findings.into())
}

fn finding(ctx: &Context<'_>, split: &TrafficSplit, (at, name): (usize, &str), services: &[Service]) -> Finding {
    let meta = &split.metadata;
    let namespace = meta.namespace.as_str();
    let message = format!(
        "Backend {name} is not a Service of namespace {namespace}, in which TrafficSplits look up their backends. Its \
         requests fail, and a failover never selects it"
    );
    // The first parts of a host name: `web.shop.svc.cluster.local`.
    let (short, rest) = name.split_once('.').unwrap_or((name, ""));
    let of = rest.split('.').next().unwrap_or_default();
    let exists = |namespace: &str| services.iter().any(|service| service.metadata.key() == (namespace, short));
    let remedy = match (of.is_empty(), of == namespace && exists(namespace)) {
        (false, true) => {
            let change = serde_json::json!([
                {"op": "replace", "path": format!("/spec/backends/{at}/service"), "value": short}
            ]);
            let patch = on("patch", Kind::TrafficSplit, meta).words("--type=json");
            Remedy::new().run(
                StepKind::Command,
                "Write the name of the Service only (also in its source manifest)",
                patch.option("-p", change.to_string()),
            )
        }
        (false, false) => {
            let route = format!(
                "Replace the TrafficSplit with an HTTPRoute, whose backendRefs can name another namespace: Service {} \
                 under parentRefs",
                split.spec.service
            );
            Remedy::new()
                .note(route)
                .command("Then delete the TrafficSplit", on("delete", Kind::TrafficSplit, meta))
                .note(format!("Or run the backend in namespace {namespace}, and name its Service there"))
        }
        (true, _) => Remedy::new()
            .command("List the Services of the namespace", kubectl().namespace(namespace).words("get services"))
            .note(format!("Create Service {name}, or correct spec.backends[{at}].service")),
    };
    let other = (!of.is_empty() && of != namespace && exists(of))
        .then(|| Evidence::other(format!("Service {of}/{short}"), "exists in another namespace"));
    about(ctx, Kind::TrafficSplit, meta, message)
        .parameter(name)
        .evidence(field(Kind::TrafficSplit, meta, &format!("spec.backends[{at}].service"), name))
        .evidence(Evidence::other(format!("Service {namespace}/{name}"), "does not exist"))
        .evidences(other)
        .remedy(remedy)
}
