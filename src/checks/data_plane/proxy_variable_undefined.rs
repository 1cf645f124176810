//! `proxy-variable-undefined`: a setting of the proxy refers to a variable that no earlier one defines.

use std::collections::BTreeMap;

use crate::checks::restart::{Needs, renew};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind};
use crate::knowledge::ProxyVariable;
use crate::model::owners::Owner;
use crate::objects::Pod;
use crate::objects::container::{EnvVar, PROXY_CONTAINER};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let mut groups: BTreeMap<(Owner, &str), (&EnvVar, Vec<&Pod>)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let variables = pod.spec.proxy().into_iter().flat_map(|proxy| &proxy.env);
        for variable in variables.filter(|variable| !variable.undefined.is_empty()) {
            let group = groups.entry((owners.owner(pod), variable.name.as_str()));
            group.or_insert_with(|| (variable, Vec::new())).1.push(pod);
        }
    }
    let findings = groups.iter().map(|((owner, _), (variable, pods))| finding(ctx, owner, variable, pods));
    Ok(findings.collect::<Vec<_>>().into())
}

fn finding(ctx: &Context<'_>, owner: &Owner, variable: &EnvVar, pods: &[&Pod]) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let EnvVar { name, undefined, .. } = variable;
    let missing = undefined.first().map_or("", String::as_str);
    let message = format!(
        "{name} of the proxy contains the text $({missing}) as it is, because no earlier variable of the container has \
         this name. The setting is invalid or has no effect"
    );
    let first = pods[0];
    let object = format!("Pod {}/{}", first.metadata.namespace, first.metadata.name);
    let path = format!("spec.containers[{PROXY_CONTAINER}].env[{name}]");
    let value = variable.value.clone().unwrap_or_default();
    let known = ctx.knowledge.pasted().variable(name);
    let remedy = match known.filter(|known| !known.is_by_charts()) {
        None if known.is_some() => Remedy::new(),
        set => {
            let by = set.and_then(ProxyVariable::setting);
            let by = by.unwrap_or_else(|| "the list of additional variables".to_owned());
            Remedy::new().step(StepKind::Note, format!("Set {by} to a value without $({missing})"))
        }
    };
    let sorted = format!(
        "If another webhook or tool sorts the variables of containers, exclude {PROXY_CONTAINER} in it: the kubelet \
         replaces only references to earlier variables"
    );
    let mut remedy = remedy.step(StepKind::Note, sorted);
    let because = "a container gets its environment when its pod is created";
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, because));
    let is_ready =
        pods.iter().all(|pod| pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready));
    ctx.finding(owner.subject(names), message)
        .parameter(name.clone())
        .severity(if is_ready { Severity::Warning } else { Severity::Error })
        .evidence(Evidence::field(object, path, value))
        .remedy(remedy)
}
