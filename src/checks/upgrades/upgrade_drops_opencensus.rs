//! `upgrade-drops-opencensus`: the trace collector only accepts OpenCensus, but the target sends
//! OpenTelemetry.

use super::Upgrade;
use crate::checks::control_plane::installation::CONFIG;
use crate::checks::prelude::*;
use crate::checks::written::{AnnotatedObjects, MAKE_PODS, values};

/// The port of OpenCensus, and that of OpenTelemetry.
const OPEN_CENSUS: u16 = 55678;
const OTLP: u16 = 4317;
/// The annotation that names a collector.
const COLLECTOR: &str = "config.linkerd.io/trace-collector";
/// The annotation with the protocol of the collector.
const PROTOCOL: &str = "config.linkerd.io/trace-collector-protocol";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let services = ctx.partial_list::<Service>()?;
    let Some(since) = ctx.knowledge.upgrades().open_census(way.between(ctx)) else {
        return Err(Unjudged::not_applicable("this upgrade does not remove OpenCensus"));
    };
    let about = |subject: Subject, evidence: Evidence| -> Finding {
        let message = format!(
            "traces go to OpenCensus's port here. From {since} on proxies and the control plane support \
             only OpenTelemetry, and no trace arrives"
        );
        let remedy = Remedy::new()
            .step(StepKind::Note, format!("Configure the collector to receive OTLP over gRPC on port {OTLP}"))
            .step(StepKind::Note, "Declare the port in the collector's Service")
            .step(
                StepKind::ChartValue,
                format!(
                    "Name it with the upgrade: proxy.tracing.enabled=true and \
                     proxy.tracing.collector.endpoint=HOST:{OTLP} for proxies, controller.tracing likewise \
                     for the control plane"
                ),
            );
        ctx.finding(subject, message).evidence(evidence).evidence(way.target.clone()).remedy(remedy)
    };
    let is_old = |text: &str| text.trim().rsplit_once(':').is_some_and(|(_, port)| port == OPEN_CENSUS.to_string());
    let mut findings = Vec::new();
    for service in services.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        let has = |number| service.spec.ports.iter().any(|port| port.port == number);
        if has(OPEN_CENSUS) && !has(OTLP) {
            let (namespace, name) = service.metadata.key();
            let declared: Vec<String> = service.spec.ports.iter().map(|port| port.port.to_string()).collect();
            let subject = Subject::object(Kind::Service, namespace, name);
            let evidence = Evidence::field(subject.clone(), "spec.ports[].port", declared.join(", "));
            findings.push(about(subject, evidence).likely());
        }
    }
    let written = AnnotatedObjects::from_kinds(ctx, &MAKE_PODS);
    for object in &written.objects {
        let said = object.sites.iter().find_map(|site| {
            let address = site.meta.annotation(COLLECTOR).filter(|text| is_old(text)).map(|text| (COLLECTOR, text));
            let protocol = site.meta.annotation(PROTOCOL).filter(|text| *text == "opencensus");
            Some((site, address.or_else(|| protocol.map(|text| (PROTOCOL, text)))?))
        });
        if let Some((site, (key, text))) = said {
            findings.push(about(object.subject(), object.evidence(site, "annotations", key, text)));
        }
    }
    let home = ctx.namespaces().control_plane.as_str();
    for leaf in values(ctx).iter().flat_map(|values| values.leaves()) {
        if let Some(text) = leaf.value.as_str().filter(|text| is_old(text)) {
            let object = format!("ConfigMap {home}/{CONFIG}");
            let evidence = Evidence::field(object, format!("data.values: {}", leaf.names.join(".")), text);
            let subject = Subject::object(Kind::ConfigMap, home, CONFIG);
            findings.push(about(subject, evidence).parameter(leaf.names.join(".")));
        }
    }
    Ok(findings.into())
}
