//! `upgrade-closes-shutdown`: workloads end their proxy through its endpoint, which the target leaves closed.

use std::collections::BTreeMap;

use super::Upgrade;
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act};
use crate::model::annotated::Annotated;
use crate::model::injection::INJECT;
use crate::objects::{CronJob, PodSpec};

/// The annotation that opens the endpoint.
const OPENS: &str = "config.linkerd.io/proxy-admin-shutdown";
/// The instruction to set it.
const ACT: &str = "Set config.linkerd.io/proxy-admin-shutdown: \"enabled\", which older releases ignore \
    and the target reads,";
/// The chart value that opens the endpoint for all proxies.
const VALUE: &str = "proxy.enableShutdownEndpoint";
/// Maximum number of named pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let pods = ctx.partial_list::<Pod>();
    let cron_jobs = ctx.partial_list::<CronJob>();
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let (pods, cron_jobs) = (pods?, cron_jobs?);
    let Some(since) = ctx.knowledge.upgrades().closed_shutdown(way.between(ctx)) else {
        return Ok(Verdict::fine());
    };
    let opened = config.and_then(ConfigMap::chart_values).and_then(|values| values.bool(VALUE));
    if opened == Some(true) {
        return Ok(Verdict::fine());
    }
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        if pod.spec.proxy().is_some() && !pod.spec.has_native_proxy() && ends(&pod.metadata, &pod.spec) {
            workloads.entry(owners.owner(pod)).or_default().push(pod);
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for (owner, pods) in workloads {
        seen.push((pods[0].metadata.namespace.to_string(), owner.name.clone()));
        let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        let container = ending(&pods[0].spec);
        let quoted = pods.iter().take(QUOTED).map(|pod| {
            Evidence::field(
                pod.described(),
                format!("spec.containers[{container}].command"),
                "stops the proxy when it is done",
            )
        });
        let remedy = rewrite::of_owner(ctx, Remedy::new(), ACT, &owner, &[(OPENS, Some("enabled"))]);
        findings.push(finding(ctx, &way, &since.to_string(), owner.subject(names), remedy).evidences(quoted));
    }
    for job in cron_jobs.iter().filter(|job| ctx.judges(&job.metadata.namespace)) {
        let template = &job.spec.job_template.spec.template;
        let (namespace, name) = job.metadata.key();
        if seen.iter().any(|(ns, of)| ns == namespace && of == name)
            || !ends(&template.metadata, &template.spec)
            || !is_asked_for(ctx, namespace, &template.metadata)
        {
            continue;
        }
        let subject = Subject::object(Kind::CronJob, namespace, name);
        let field = format!("spec.jobTemplate.spec.template.spec.containers[{}].command", ending(&template.spec));
        let evidence = Evidence::field(subject.clone(), field, "stops the proxy when it is done");
        let act = Act::Put(ACT);
        let object = Annotated::cron_job(job);
        let remedy = rewrite::template(ctx, Remedy::new(), act, &object, &[(OPENS, Some("enabled"))]);
        findings.push(finding(ctx, &way, &since.to_string(), subject, remedy).evidence(evidence));
    }
    Ok(findings.into())
}

/// Whether containers shut their proxy down through the endpoint without the annotation that opens it.
fn ends(meta: &Meta, spec: &PodSpec) -> bool {
    spec.all_containers().any(|container| container.ends_proxy) && meta.annotation(OPENS) != Some("enabled")
}

/// Whether the template or its namespace requests a proxy.
fn is_asked_for(ctx: &Context<'_>, namespace: &str, template: &Meta) -> bool {
    let namespaces = ctx.optional_list::<Namespace>();
    let home = namespaces.iter().find(|known| known.metadata.name == namespace);
    let said = template.annotation(INJECT).or_else(|| home?.metadata.annotation(INJECT));
    matches!(said, Some("enabled" | "ingress"))
}

fn ending(spec: &PodSpec) -> &str {
    spec.all_containers().find(|container| container.ends_proxy).map_or("", |container| container.name.as_str())
}

fn finding(ctx: &Context<'_>, way: &Upgrade<'_>, since: &str, subject: Subject, remedy: Remedy) -> Finding {
    let remedy = remedy
        .note(format!(
            "Or enable it for all proxies: set the chart value {VALUE}=true with \
         the upgrade"
        ))
        .note(
            "Or use native sidecar proxies (Kubernetes 1.29 or later), which stop automatically when the \
             work is done",
        );
    ctx.finding(
        subject,
        format!(
            "The pod stops its proxy through the endpoint /shutdown, which is disabled by default from \
             {since} on. The work finishes, and the pod never completes"
        ),
    )
    .evidence(way.target.clone())
    .remedy(remedy)
}
