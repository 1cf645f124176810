//! `control-plane-not-evictable`: a PodDisruptionBudget allows no eviction of a control-plane pod.

use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject, Tie};
use crate::model::control_plane::CORE;
use crate::model::installed::COMPONENT;
use crate::model::pod_status::label;
use crate::objects::{Pod, PodDisruptionBudget};

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
            Remedy::new()
                .run(StepKind::Command, "List the pods, and repair those that are not ready", look)
                .step(
                    StepKind::Note,
                    "If a node must be drained now, use --disable-eviction, which deletes the pods. On \
                    Kubernetes 1.27 and later, unhealthyPodEvictionPolicy: AlwaysAllow in the budget lets \
                    unready pods be evicted",
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
        let finding = stuck.iter().fold(finding, |finding, pod| {
            finding.tie(Tie::Pod(namespace.clone(), pod.metadata.name.clone()))
        });
        // Without a timestamp it may be caused by a rollout.
        findings.push(if since.is_none() { finding.likely() } else { finding });
    }
    Ok(findings.into())
}

/// More replicas than a budget requires. The chart sets one number for its core components.
fn more_replicas(ctx: &Context<'_>, budget: &PodDisruptionBudget) -> Remedy {
    let labels = budget.spec.selector.iter().flat_map(|selector| selector.match_labels.iter());
    let of_core = |value: &str| CORE.contains(&value);
    if !labels.into_iter().any(|(key, value)| key.as_ref() == COMPONENT && of_core(value.as_str())) {
        return Remedy::new().step(
            StepKind::Note,
            "Run more replicas than the budget requires, or lower the budget's minimum",
        );
    }
    let replicas = (budget.status.desired_healthy + 1).max(2).to_string();
    let options = Options::none().set("controllerReplicas", replicas);
    let remedy = upgrade::step(
        ctx,
        Remedy::new(),
        StepKind::ChartValue,
        "Run more replicas than the budget requires",
        options,
    );
    remedy.step(StepKind::Note, "Or lower the budget's minimum")
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
