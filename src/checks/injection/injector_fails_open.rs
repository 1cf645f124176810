//! `injector-fails-open`: pods start without a proxy while the injector does not answer; lists the affected
//! pods.

use std::collections::{BTreeMap, BTreeSet};

use super::presence::Presence;
use super::unmeshed::{RequestTime, Unmeshed, injector_webhook, renewals, unmeshed};
use crate::checks::certificates::later;
use crate::checks::prelude::*;
use crate::checks::serving::silent_injector;
use crate::checks::upgrade::{self, Options};
use crate::checks::viz::egress_is_down;
use crate::command::own;
use crate::finding::Moment;
use crate::model::control_plane::{Component, components};
use crate::model::downtime::Downtime;
use crate::model::injection::WEBHOOKS_LABEL;
use crate::model::installed::COMPONENT;
use crate::model::moments;
use crate::objects::{Event, ReplicaSet, Webhook, WebhookConfiguration};

/// Maximum number of quoted pods.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some((configuration, webhook)) = injector_webhook(ctx)? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    if webhook.failure_policy != "Ignore" {
        return Ok(Verdict::fine());
    }
    // Without pods, the finding would be about the webhook, and not about workloads.
    let pods = ctx.or_note(ctx.partial_list::<Pod>()).unwrap_or_default();
    let presence = Presence::from_context(ctx, configuration);
    // Only pods that are newer than the injector and their annotation, and that it did not receive.
    let mut victims = unmeshed(ctx, pods, ctx.optional_list::<Namespace>(), Some(webhook));
    victims.retain(|victim| {
        victim.asked != RequestTime::Later
            && presence.installed_later(victim.pod).is_none()
            && presence.skip_event(victim).is_none()
    });
    Ok(finding(ctx, configuration, webhook, &victims, &presence).into())
}

fn finding(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    victims: &[Unmeshed<'_>],
    presence: &Presence<'_>,
) -> Finding {
    let name = &configuration.metadata.name;
    let object = format!("MutatingWebhookConfiguration {name}");
    let at = configuration.webhooks.iter().position(|w| w.name == webhook.name).unwrap_or_default();
    let policy = Evidence::field(&object, format!("webhooks[{at}].failurePolicy"), &webhook.failure_policy);
    let downtime = downtime(ctx);
    let windows = windows(&downtime, presence, victims);
    let ready = ready(&downtime, victims).filter(|_| windows.is_empty());
    let siblings = meshed_siblings(ctx, victims);
    let mut asked = victims.iter().zip(&siblings);
    let asked_at_creation = asked.all(|(victim, sibling)| victim.asked == RequestTime::AtCreation || sibling.is_some());
    let is_one = victims.len() == 1;
    let (pods, they) = if is_one { ("The pod runs", "the pod was") } else { ("The pods run", "the pods were") };
    // The injector is like any other pod that the API server calls.
    let egress = egress_is_down(ctx).filter(|_| !victims.is_empty() && windows.is_empty());
    let cause = match (&egress, ready) {
        (Some(_), _) => "the API server could not call the injector through its egress proxy",
        (None, Some(_)) => "the API server did not reach the ready injector",
        (None, None) => "the injector was down",
    };
    let message = match (victims.is_empty(), windows.is_empty()) {
        (true, _) => "The injector's webhook has failurePolicy Ignore. If the injector is down, new pods start \
             unmeshed, without any error"
            .to_owned(),
        (false, true) if siblings.iter().all(Option::is_some) => format!(
            "{pods} without the requested proxy, although another pod of the workload has it. Most likely \
             {cause} when {they} created (failurePolicy Ignore)"
        ),
        (false, true) if asked_at_creation => format!(
            "{pods} without the requested proxy. Most likely {cause} when {they} created \
             (failurePolicy Ignore)"
        ),
        (false, true) => format!(
            "{pods} without the requested proxy. Either {cause} when {they} created (failurePolicy \
             Ignore), or linkerd.io/inject was set after that"
        ),
        (false, false) => format!(
            "{pods} without the requested proxy: the injector was not ready when {they} created (failurePolicy Ignore)"
        ),
    };
    let mut subjects = workloads(victims).into_iter();
    let first = subjects.next().unwrap_or_else(|| Subject::object("MutatingWebhookConfiguration", "", name));
    let finding = ctx
        .finding(first, message)
        .severity(Severity::Info)
        .evidences(victims.iter().take(QUOTED).map(unmeshed_pod))
        .evidence(policy)
        .evidences(victims.iter().zip(&siblings).filter_map(|(victim, sibling)| compared(victim.pod, (*sibling)?)))
        .evidences(windows.iter().chain(ready).chain(&egress).cloned())
        .timeline(timeline(ctx, victims))
        .remedy(match egress {
            Some(_) => renewed(ctx, victims),
            None => later(ctx, "injector-fails-open", Severity::Info)
                .filter(|_| victims.is_empty())
                .unwrap_or_else(|| remedy(ctx, victims, windows.is_empty())),
        });
    let finding = match victims.is_empty() {
        true => finding.fact("while the injector is down, pods start without a proxy (the default)"),
        false => finding,
    };
    let finding = finding.observed_if(victims.is_empty() || !windows.is_empty());
    let finding = if victims.is_empty() { finding } else { finding.tie(silent_injector()) };
    let finding = subjects.fold(finding, Finding::subject);
    victims.iter().fold(finding, |finding, victim| finding.tie(victim.tie()))
}

/// A pod without a proxy as evidence.
fn unmeshed_pod(victim: &Unmeshed<'_>) -> Evidence {
    let meta = &victim.pod.metadata;
    let created = meta.creation_timestamp.get().map_or_else(String::new, |at| format!(", created {at}"));
    let object = Subject::object(Kind::Pod, &meta.namespace, &meta.name);
    Evidence::field(object, "spec.containers", format!("no linkerd-proxy{created}"))
}

/// For each victim, a pod of the same ReplicaSet that has a proxy and is not newer: the proxy was requested
/// when the victim was created.
fn meshed_siblings<'a>(ctx: &Context<'a>, victims: &[Unmeshed<'_>]) -> Vec<Option<&'a Pod>> {
    fn owner_of(pod: &Pod) -> Option<(&str, &str, &str)> {
        let owner = pod.metadata.controller()?;
        Some((pod.metadata.namespace.as_str(), owner.kind.as_str(), owner.name.as_str()))
    }
    let created = |pod: &Pod| pod.metadata.creation_timestamp.get();
    let wanted: BTreeSet<_> = victims.iter().filter_map(|victim| owner_of(victim.pod)).collect();
    let mut meshed: BTreeMap<_, Vec<&'a Pod>> = BTreeMap::new();
    for pod in ctx.optional_list::<Pod>().iter().filter(|pod| !wanted.is_empty() && pod.spec.proxy().is_some()) {
        if let Some(owner) = owner_of(pod).filter(|owner| wanted.contains(owner)) {
            meshed.entry(owner).or_default().push(pod);
        }
    }
    let sibling = |victim: &Unmeshed<'_>| {
        let own = created(victim.pod)?;
        let siblings = meshed.get(&owner_of(victim.pod)?)?;
        siblings.iter().copied().find(|pod| created(pod).is_some_and(|at| at <= own))
    };
    victims.iter().map(sibling).collect()
}

/// The creation times of a pod without a proxy and of its sibling with one.
fn compared(pod: &Pod, sibling: &Pod) -> Option<Evidence> {
    let at = |pod: &Pod| pod.metadata.creation_timestamp.get();
    let text = format!("{}, without a proxy; {}, with a proxy: {}", at(pod)?, sibling.metadata.name, at(sibling)?);
    Some(Evidence::field(pod.described(), "metadata.creationTimestamp", text))
}

/// The workloads of pods without a proxy.
fn workloads(victims: &[Unmeshed<'_>]) -> Vec<Subject> {
    let mut pods: BTreeMap<&Owner, Vec<String>> = BTreeMap::new();
    for victim in victims {
        pods.entry(&victim.owner).or_default().push(victim.pod.metadata.name.clone());
    }
    pods.into_iter().map(|(owner, pods)| owner.subject(pods)).collect()
}

/// The lifetimes of the injector's pods and their nodes, and the creation times of pods without a proxy.
fn timeline(ctx: &Context<'_>, victims: &[Unmeshed<'_>]) -> Vec<Moment> {
    if victims.is_empty() {
        return Vec::new();
    }
    let namespace = &ctx.namespaces().control_plane;
    let own = |pod: &&Pod| {
        let meta = &pod.metadata;
        meta.namespace == *namespace && meta.label(COMPONENT) == Some("proxy-injector")
    };
    let pods: Vec<&Pod> = ctx.optional_list::<Pod>().iter().filter(own).collect();
    let mut moments = moments::pods_created(victims.iter().map(|victim| victim.pod), "created without a proxy");
    moments.extend(moments::rollouts(&pods, ctx.optional_list::<ReplicaSet>()));
    for pod in &pods {
        moments.extend(moments::of_pod(pod, "injector created", |container| container == "proxy-injector"));
        let node = ctx.optional_list::<Node>().iter().find(|node| node.metadata.name == *pod.node_name);
        moments.extend(node.and_then(moments::of_node));
        let about = |event: &&Event| {
            let about = &event.about;
            about.kind == "Pod" && about.name == pod.metadata.name && about.namespace == *namespace
        };
        moments.extend(ctx.optional_list::<Event>().iter().filter(about).flat_map(moments::of_event));
    }
    moments
}

/// The observed times in which no injector was ready.
fn downtime(ctx: &Context<'_>) -> Downtime {
    let namespace = &ctx.namespaces().control_plane;
    let deployments = components(ctx.optional_list::<Deployment>(), namespace);
    let injector = deployments.iter().find(|component| component.name == "proxy-injector");
    let pods = ctx.optional_list::<Pod>().iter().filter(|pod| {
        let meta = &pod.metadata;
        meta.namespace == *namespace && meta.label(COMPONENT) == Some("proxy-injector") && super::unmeshed::counts(pod)
    });
    Downtime::new(
        pods,
        injector.map(|component| component.deployment),
        ctx.optional_list::<ReplicaSet>(),
        ctx.optional_list::<Node>(),
        ctx.optional_list::<Event>(),
        ctx.now(),
    )
}

/// Evidence that the injector was ready when the first pod was created; `None` unless it is known of all pods.
fn ready<'d>(downtime: &'d Downtime, victims: &[Unmeshed<'_>]) -> Option<&'d Evidence> {
    let at = |victim: &Unmeshed<'_>| downtime.ready_at(victim.pod.metadata.creation_timestamp.get()?);
    victims.iter().map(at).collect::<Option<Vec<_>>>()?.into_iter().next()
}

/// Evidence that the injector was not ready when the affected pods were created, or started only after them.
fn windows(downtime: &Downtime, presence: &Presence<'_>, victims: &[Unmeshed<'_>]) -> Vec<Evidence> {
    let down = not_ready(downtime, victims);
    if !down.is_empty() {
        return down;
    }
    let starting: Option<BTreeSet<Evidence>> =
        victims.iter().map(|victim| presence.started_later(victim.pod)).collect();
    starting.unwrap_or_default().into_iter().collect()
}

/// Evidence that the injector was not ready when the affected pods were created: one line for the first
/// pod, and the state of the injector's pods at that time.
fn not_ready(downtime: &Downtime, victims: &[Unmeshed<'_>]) -> Vec<Evidence> {
    let mut seen: BTreeSet<&Evidence> = BTreeSet::new();
    let mut inside: Vec<&Pod> = Vec::new();
    for victim in victims {
        let created = victim.pod.metadata.creation_timestamp.get();
        if let Some(evidence) = created.and_then(|created| downtime.at(created)) {
            seen.extend(evidence);
            inside.push(victim.pod);
        }
    }
    let Some(first) = inside.first() else { return Vec::new() };
    let outside = match victims.len() - inside.len() {
        0 => String::new(),
        others => format!("; {others} others have no such gap"),
    };
    let created = first.metadata.creation_timestamp.get().map(|at| at.to_string()).unwrap_or_default();
    let more = if inside.len() > 1 { format!(", first of {} pods", inside.len()) } else { String::new() };
    let line = Evidence::field(first.described(), "metadata.creationTimestamp", format!("{created}{more}{outside}"));
    std::iter::once(line).chain(seen.into_iter().cloned()).collect()
}

/// New pods for the victims.
fn renewed(ctx: &Context<'_>, victims: &[Unmeshed<'_>]) -> Remedy {
    let mut remedy = Remedy::new();
    remedy.steps.extend(renewals(ctx, victims));
    remedy
}

fn remedy(ctx: &Context<'_>, victims: &[Unmeshed<'_>], no_gap: bool) -> Remedy {
    let mut remedy = renewed(ctx, victims);
    if !victims.is_empty() && no_gap {
        remedy = remedy.note(
            "If the new pods have no proxy either, allow the API server to reach port 8443 of the \
             injector's pods (private clusters need a firewall rule for that)",
        );
    }
    if !victims.is_empty() {
        return remedy.note(format!(
            "To prevent this, run three injectors on different nodes and set webhookFailurePolicy: Fail; \
                 {} has the steps",
            own("explain injector-fails-open")
        ));
    }
    let replicas = components(ctx.optional_list::<Deployment>(), &ctx.namespaces().control_plane)
        .iter()
        .find(|component| component.name == "proxy-injector")
        .map(Component::wanted);
    let remedy = remedy.note(
        "To prevent this, decide whether pods may start unmeshed while no injector is ready. With \
         webhookFailurePolicy Fail no pod starts then in any namespace that the webhook covers, meshed or \
         not",
    );
    let remedy = if replicas.is_some_and(|replicas| replicas >= 2) {
        remedy
    } else {
        remedy.step(
            StepKind::ChartValue,
            "If they may not, first run the injector with three replicas on different nodes \
             (controllerReplicas: 3, enablePodAntiAffinity: true, or the chart's values-ha.yaml, which also \
             sets Fail)",
        )
    };
    let remedy = remedy.command(
        "Then exempt the namespaces whose pods the cluster itself needs: networking, storage, DNS, \
             autoscaling (kube-system and cert-manager are exempt by default)",
        kubectl()
            .words("label namespace")
            .operand(Arg::placeholder("NAMESPACE"))
            .arg(format!("{WEBHOOKS_LABEL}=disabled")),
    );
    let fail = Options::none().set("webhookFailurePolicy", "Fail");
    upgrade::with_values(ctx, remedy, "Then set webhookFailurePolicy: Fail", fail)
}
