//! `proxy-variable-undefined`: a setting of the proxy refers to a variable that no earlier one defines.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::knowledge::ProxyVariable;
use crate::objects::container::{EnvVar, PROXY_CONTAINER, is_of_service, may_be_of_service};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let services = ctx.complete_list::<Service>();
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, &str), (&EnvVar, Vec<&Pod>)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let Some(proxy) = pod.spec.proxy() else { continue };
        for variable in &proxy.env {
            if !variable.undefined.iter().any(|name| is_undefined(ctx, pod, name, services.as_deref())) {
                continue;
            }
            if proxy.env_from.is_some() {
                ctx.gap(from_elsewhere(ctx, pod, variable));
                continue;
            }
            let group = groups.entry((owners.owner(pod), variable.name.as_str()));
            group.or_insert_with(|| (variable, Vec::new())).1.push(pod);
        }
    }
    let findings = groups.iter().map(|((owner, _), (variable, pods))| finding(ctx, owner, variable, pods));
    Ok(findings.collect())
}

/// Whether neither an earlier variable nor a Service of the namespace defines a name. Unavailable Services are noted.
fn is_undefined(ctx: &Context<'_>, pod: &Pod, name: &str, services: Result<&[Service], &Missing>) -> bool {
    if !may_be_of_service(name) {
        return true;
    }
    let here =
        |service: &&Service| service.metadata.namespace == pod.metadata.namespace && !service.spec.cluster_ip.headless;
    match services {
        Ok(services) => !services.iter().filter(here).any(|service| is_of_service(name, &service.metadata.name)),
        Err(missing) => {
            ctx.gap(missing.clone());
            false
        }
    }
}

/// The gap of a container that also takes variables from ConfigMaps or Secrets, which are not read.
fn from_elsewhere(ctx: &Context<'_>, pod: &Pod, variable: &EnvVar) -> Missing {
    let message = format!("the variables that {} refers to may come from envFrom", variable.name);
    ctx.missing(Item::List(Kind::Pod), Why::NotJudged { message }, pod.described())
}

fn finding(ctx: &Context<'_>, owner: &Owner, variable: &EnvVar, pods: &[&Pod]) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let EnvVar { name, undefined, .. } = variable;
    let missing = undefined.first().map_or("", String::as_str);
    // The kubelet defines variables of Services that existed when the container started.
    let of_service = may_be_of_service(missing);
    let message = format!(
        "{name} of the proxy contains the text $({missing}) as it is, because no {} has this name. The setting is \
         invalid or has no effect",
        if of_service {
            "earlier variable and no Service of the namespace"
        } else {
            "earlier variable of the container"
        }
    );
    let first = pods[0];
    let path = format!("spec.containers[{PROXY_CONTAINER}].env[{name}]");
    let value = variable.value.clone().unwrap_or_default();
    let known = ctx.knowledge.pasted().variable(name);
    let remedy = match known.filter(|known| !known.is_by_charts()) {
        None if known.is_some() => Remedy::new(),
        set => {
            let by = set.and_then(ProxyVariable::setting);
            let by = by.unwrap_or_else(|| "the list of additional variables".to_owned());
            Remedy::new().note(format!("Set {by} to a value without $({missing})"))
        }
    };
    let sorted = format!(
        "If another webhook or tool sorts the variables of containers, exclude {PROXY_CONTAINER} in it: the kubelet \
         replaces only references to earlier variables"
    );
    let mut remedy = remedy.note(sorted);
    let because = "a container gets its environment when its pod is created";
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, because));
    let is_ready = pods.iter().all(|pod| pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready));
    ctx.finding(owner.subject(names), message)
        .parameter(name.clone())
        .severity(if is_ready { Severity::Warning } else { Severity::Error })
        .evidence(Evidence::field(first.described(), path, value))
        .remedy(remedy)
        .likely_if(of_service)
}
