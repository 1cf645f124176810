//! `control-plane-not-evictable`: a PodDisruptionBudget allows no eviction of a control-plane pod.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::CORE;
use crate::model::installed::COMPONENT;
use crate::model::pod_status::label;
use crate::objects::PodDisruptionBudget;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let budgets = ctx.partial_list::<PodDisruptionBudget>()?;
    let namespace = &ctx.namespaces().control_plane;
    let mut findings = Vec::new();
    for budget in budgets.iter().filter(|budget| budget.metadata.namespace == *namespace) {
        let status = &budget.status;
        if status.disruptions_allowed != Some(0) || status.expected_pods == 0 {
            continue;
        }
        let condition = status.conditions.iter().find(|condition| condition.kind == "DisruptionAllowed");
        let since = condition.and_then(|condition| condition.last_transition_time.get());
        if since.is_some_and(|since| ctx.now().duration_since(since) < ctx.param_duration("minutes")) {
            continue;
        }
        let name = &budget.metadata.name;
        let unhealthy = status.current_healthy < status.expected_pods;
        let said = format!(
            "0 evictions allowed: {} of {} pods are healthy, {} required{}",
            status.current_healthy,
            status.expected_pods,
            status.desired_healthy,
            since.map(|since| format!(", since {since}")).unwrap_or_default(),
        );
        let stuck = unready(ctx, budget);
        let look = kubectl().namespace(namespace).words("get pods -o wide");
        let remedy = if unhealthy {
            Remedy::new().command("List the pods, and repair those that are not ready", look).note(
                "If a node must be drained now, delete only these pods. As a last resort, `kubectl drain \
                    --disable-eviction` ignores the budgets of all pods on the node. On Kubernetes 1.27 and later, \
                    unhealthyPodEvictionPolicy: AlwaysAllow in the budget lets unready pods be evicted",
            )
        } else {
            more_replicas(ctx, budget)
        };
        let shown = kubectl().namespace(namespace).words("get poddisruptionbudget").operand(name);
        let finding = ctx
            .finding(
                Subject::object("PodDisruptionBudget", namespace, name),
                "the budget allows no eviction: draining or upgrading a node with such a pod blocks",
            )
            .evidence(Evidence::field(
                format!("PodDisruptionBudget {namespace}/{name}"),
                "status.disruptionsAllowed",
                said,
            ))
            .evidences(stuck.iter().map(|pod| {
                let ready = pod.condition("Ready");
                let since = ready.and_then(|ready| ready.last_transition_time.get());
                let since = since.map(|since| format!(", not ready since {since}")).unwrap_or_default();
                let object = format!("Pod {namespace}/{}", pod.metadata.name);
                Evidence::field(object, "status", format!("{}{since}", label(pod)))
            }))
            .parameter(if unhealthy { "unhealthy" } else { "too-few-replicas" })
            .remedy(remedy.shown_by(shown));
        let finding = stuck
            .iter()
            .fold(finding, |finding, pod| finding.tie(Tie::Pod(namespace.clone(), pod.metadata.name.clone())));
        // Without a timestamp it may be caused by a rollout.
        findings.push(finding.likely_if(since.is_none()));
    }
    let own: Vec<&PodDisruptionBudget> =
        budgets.iter().filter(|budget| budget.metadata.namespace == *namespace).collect();
    if !own.is_empty() {
        let deployments = ctx.partial_list::<Deployment>()?;
        findings.extend(doubled(ctx, &own, deployments));
        if own.iter().any(|budget| !selects_any(budget, deployments)) {
            let deployments = ctx.complete_list::<Deployment>()?;
            findings.extend(own.iter().filter_map(|budget| empty(ctx, budget, &own, deployments)));
        }
    }
    Ok(findings.into())
}

/// Whether a budget covers the pods of a Deployment. A budget without a selector covers none.
fn covers(budget: &PodDisruptionBudget, deployment: &Workload) -> bool {
    let labels = &deployment.spec.template.metadata.labels;
    deployment.metadata.namespace == budget.metadata.namespace
        && budget.spec.selector.as_ref().is_some_and(|selector| selector.matches(labels))
}

fn selects_any(budget: &PodDisruptionBudget, deployments: &[Workload]) -> bool {
    deployments.iter().any(|deployment| covers(budget, deployment))
}

fn subject(budget: &PodDisruptionBudget) -> Subject {
    Subject::object("PodDisruptionBudget", &budget.metadata.namespace, &budget.metadata.name)
}

/// Several budgets for the same pods. The eviction API fails for such a pod.
fn doubled(ctx: &Context<'_>, own: &[&PodDisruptionBudget], deployments: &[Workload]) -> Vec<Finding> {
    let mut groups: BTreeMap<Vec<&str>, Vec<&Workload>> = BTreeMap::new();
    for deployment in deployments.iter().filter(|deployment| deployment.spec.replicas != Some(0)) {
        let covering = own.iter().filter(|budget| covers(budget, deployment));
        let names: Vec<&str> = covering.map(|budget| budget.metadata.name.as_str()).collect();
        if names.len() > 1 {
            groups.entry(names).or_default().push(deployment);
        }
    }
    let namespace = &ctx.namespaces().control_plane;
    let finding = |(names, covered): (Vec<&str>, Vec<&Workload>)| {
        let covered: Vec<&str> = covered.iter().map(|one| one.metadata.name.as_str()).collect();
        // The chart labels its budgets.
        let of_chart = |name: &str| {
            let mut all = own.iter().filter(|budget| budget.metadata.name == name);
            all.any(|budget| budget.metadata.label(COMPONENT).is_some())
        };
        let added: Vec<&str> = names.iter().copied().filter(|name| !of_chart(name)).collect();
        let delete = kubectl().namespace(namespace).words("delete poddisruptionbudget");
        let remedy = match added.as_slice() {
            [added] if names.len() == 2 => Remedy::new()
                .command("Delete the budget that the chart did not create, also at its source", delete.operand(*added)),
            _ => Remedy::new().note("Delete all but one of the budgets, also at their source"),
        };
        let first = ctx.finding(
            Subject::object("PodDisruptionBudget", namespace, names[0]),
            "several budgets cover the same pods: the API server evicts none of them, so draining or upgrading a node \
             with such a pod blocks",
        );
        let rest = names.iter().skip(1);
        rest.fold(first, |finding, name| finding.subject(Subject::object("PodDisruptionBudget", namespace, name)))
            .parameter("several")
            .evidence(Evidence::other(
                format!("Deployments in {namespace} that these budgets cover"),
                covered.join(", "),
            ))
            .remedy(remedy)
    };
    groups.into_iter().map(finding).collect()
}

/// A budget that covers no pod, while a component with several replicas has no other.
fn empty(
    ctx: &Context<'_>,
    budget: &PodDisruptionBudget,
    own: &[&PodDisruptionBudget],
    deployments: &[Workload],
) -> Option<Finding> {
    // A typo: the pods of heartbeat come and go.
    let named = budget.spec.selector.iter().find_map(|selector| selector.match_labels.get(COMPONENT));
    let is_of_component = named.is_some_and(|name| name != "heartbeat");
    if !is_of_component || budget.status.expected_pods > 0 || selects_any(budget, deployments) {
        return None;
    }
    let namespace = &ctx.namespaces().control_plane;
    let is_exposed = |one: &&Workload| {
        one.metadata.namespace == *namespace
            && one.metadata.label(COMPONENT).is_some_and(|component| CORE.contains(&component))
            && one.spec.replicas.is_some_and(|replicas| replicas > 1)
            && !own.iter().any(|budget| covers(budget, one))
    };
    let exposed: Vec<&str> = deployments.iter().filter(is_exposed).map(|one| one.metadata.name.as_str()).collect();
    if exposed.is_empty() {
        return None;
    }
    let labels = budget.spec.selector.iter().flat_map(|selector| selector.match_labels.iter());
    let labels: Vec<String> = labels.map(|(key, value)| format!("{key}={value}")).collect();
    let said = if labels.is_empty() { "no pod".to_owned() } else { labels.join(", ") };
    Some(
        ctx.finding(
            subject(budget),
            "the budget covers no pod: draining nodes may evict all replicas of a component at once",
        )
        .parameter("empty")
        .evidence(Evidence::field(
            format!("PodDisruptionBudget {namespace}/{}", budget.metadata.name),
            "spec.selector",
            said,
        ))
        .evidence(Evidence::other("Deployments with several replicas and without a budget", exposed.join(", ")))
        .remedy(upgrade::with_values(
            ctx,
            Remedy::new(),
            "Let the chart create the budgets again",
            Options::none().set("enablePodDisruptionBudget", "true"),
        )),
    )
}

/// More replicas than a budget requires. The chart sets one number for its core components.
fn more_replicas(ctx: &Context<'_>, budget: &PodDisruptionBudget) -> Remedy {
    let labels = budget.spec.selector.iter().flat_map(|selector| selector.match_labels.iter());
    let of_core = |value: &str| CORE.contains(&value);
    if !labels.into_iter().any(|(key, value)| key.as_ref() == COMPONENT && of_core(value.as_str())) {
        return Remedy::new().note("Run more replicas than the budget requires, or lower the budget's minimum");
    }
    let replicas = (budget.status.desired_healthy + 1).max(2).to_string();
    let options = Options::none().set("controllerReplicas", replicas);
    let remedy = upgrade::with_values(ctx, Remedy::new(), "Run more replicas than the budget requires", options);
    remedy.note("Or lower the budget's minimum")
}

/// The pods that a budget selects and that are not ready.
fn unready<'a>(ctx: &Context<'a>, budget: &PodDisruptionBudget) -> Vec<&'a Pod> {
    let Some(selector) = &budget.spec.selector else { return Vec::new() };
    let covered = ctx.optional_list::<Pod>().iter().filter(|pod| {
        let meta = &pod.metadata;
        meta.namespace == budget.metadata.namespace && !pod.is_finished() && selector.matches(&meta.labels)
    });
    covered.filter(|pod| pod.condition("Ready").is_some_and(|ready| ready.status != "True")).collect()
}
