//! How each workload gets new pods: from its pods, its own object and the quotas of its namespace.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use crate::checks::prelude::*;
use crate::checks::quota::{self, Obstacle, Rolled};
use crate::command::{Line, linkerd};
use crate::model::control_plane::CREATED_BY;
use crate::model::installed::COMPONENT;
use crate::model::managed_by::{GitOps, ManagedBy};
use crate::model::owners::is_static;
use crate::objects::{Job, LimitRange, ReplicaSet};

/// Required changes in new pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum Needs {
    /// Pods from the same template: new certificates, new rules in their network, another node.
    NewPods,
    /// A proxy with the injector's current output: another version, other trust anchors, other settings.
    NewProxy,
}

/// The workloads of the cluster; built once for a run.
#[derive(Debug)]
pub(in crate::checks) struct Rollouts<'a> {
    workloads: HashMap<(&'static str, &'a str, &'a str), &'a Workload>,
    /// Workloads with the proxy in their pod template.
    in_template: HashSet<Owner>,
    /// By namespace, the workloads and their running pods; built on first use.
    by_namespace: OnceLock<HashMap<&'a str, BTreeMap<Owner, Vec<String>>>>,
}

/// How the proxy of a workload is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inject<'a> {
    /// By the injector, for each new pod.
    Webhook,
    /// By `linkerd inject --manual`, in the pod template.
    Manual,
    /// The same, in the repository that this tool applies.
    ManualInGit(GitOps<'a>),
    /// The same, of a kind that the linkerd CLI does not inject.
    ManualByHand,
}

/// How a workload gets new pods.
#[derive(Debug, Clone)]
pub(super) struct RestartMethod<'a> {
    /// The argument of `kubectl rollout`, if it takes the kind: `deployment/web`.
    pub(super) target: Option<String>,
    /// How the proxy gets into new pods.
    pub(super) inject: Inject<'a>,
    /// Whether its rollout is paused.
    pub(super) paused: bool,
    /// Whether its pods stay until they are deleted.
    pub(super) on_delete: bool,
    /// Whether pods below an ordinal return with the old template.
    pub(super) has_partition: bool,
    /// What refuses the new pods.
    pub(super) obstacle: Option<Obstacle>,
}

/// Kinds whose templates `linkerd inject` changes and that keep their pods running.
const INJECTABLE: [&str; 4] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];

/// Whether the proxy is in the pod's template: the annotation of the linkerd CLI, which the injector
/// overwrites with its own.
pub(in crate::checks) fn is_injected_by_hand(pod: &Pod) -> bool {
    let meta = &pod.metadata;
    pod.spec.proxy().is_some()
        && meta.label(COMPONENT).is_none()
        && meta.annotation(CREATED_BY).is_some_and(|by| by.starts_with("linkerd/cli"))
}

/// Owners of ReplicaSets and Jobs with the proxy in their template: Argo Rollouts, CronJobs, or the objects
/// themselves. A Deployment's own template decides for its ReplicaSets.
fn of_other_templates(ctx: &Context<'_>) -> Vec<Owner> {
    let sets = ctx.optional_list::<ReplicaSet>().iter().map(|one| ("ReplicaSet", &one.metadata, &one.spec.template));
    let jobs = ctx.optional_list::<Job>().iter().map(|one| ("Job", &one.metadata, &one.spec.template));
    let with_proxy = sets
        .chain(jobs)
        .filter(|(_, _, template)| template.spec.proxy().is_some() && template.metadata.label(COMPONENT).is_none());
    let owners = with_proxy.map(|(kind, meta, _)| {
        let (kind, name) = match meta.controller() {
            Some(owner) => (owner.kind.as_str(), owner.name.as_str()),
            None => (kind, meta.name.as_str()),
        };
        Owner { kind: kind.to_owned(), namespace: meta.namespace.to_string(), name: name.to_owned() }
    });
    owners.filter(|owner| owner.kind != "Deployment").collect()
}

impl<'a> Rollouts<'a> {
    /// Reads `pods`, `deployments.apps`, `statefulsets.apps`, `daemonsets.apps`, `replicasets.apps` and
    /// `jobs.batch`, if available.
    pub(in crate::checks) fn from_context(ctx: &Context<'a>) -> &'a Rollouts<'a> {
        ctx.get_or_build(&ctx.joins.rollouts, Rollouts::build)
    }

    fn build(ctx: &Context<'a>) -> Rollouts<'a> {
        let each = ctx.optional_workloads().into_iter().map(|(kind, one)| (kind.info().kind, one));
        let workloads: HashMap<_, _> = each
            .map(|(kind, one)| ((kind, one.metadata.namespace.as_str(), one.metadata.name.as_str()), one))
            .collect();
        let owners = ctx.owners();
        let by_hand = ctx.optional_list::<Pod>().iter().filter(|pod| is_injected_by_hand(pod));
        // The template decides, if it is known: it may have been applied without the proxy since.
        let lacks_proxy = |owner: &Owner| {
            let known = workloads.iter().find(|((kind, namespace, name), _)| {
                *kind == owner.kind && *namespace == owner.namespace && *name == owner.name
            });
            known.is_some_and(|(_, one)| {
                let spec = &one.spec.template.spec;
                !spec.containers.is_empty() && spec.proxy().is_none()
            })
        };
        let mut in_template: HashSet<Owner> =
            by_hand.map(|pod| owners.owner(pod)).filter(|owner| !lacks_proxy(owner)).collect();
        // Another tool may write the proxy into a template without the CLI's annotation.
        let with_proxy = workloads.iter().filter(|(_, one)| {
            one.spec.template.spec.proxy().is_some() && one.spec.template.metadata.label(COMPONENT).is_none()
        });
        in_template.extend(with_proxy.map(|(&(kind, namespace, name), _)| Owner {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }));
        in_template.extend(of_other_templates(ctx));
        Rollouts { workloads, in_template, by_namespace: OnceLock::new() }
    }

    /// Whether the pod template of a workload contains the proxy.
    pub(in crate::checks) fn is_in_template(&self, owner: &Owner) -> bool {
        self.in_template.contains(owner)
    }

    /// The workloads of a namespace with their running pods, without those that are scaled to 0.
    pub(super) fn in_namespace(&self, ctx: &Context<'a>, namespace: &str) -> BTreeMap<Owner, Vec<String>> {
        let all = self.by_namespace.get_or_init(|| self.group(ctx));
        all.get(namespace).cloned().unwrap_or_default()
    }

    fn group(&self, ctx: &Context<'a>) -> HashMap<&'a str, BTreeMap<Owner, Vec<String>>> {
        let mut groups: HashMap<&'a str, BTreeMap<Owner, Vec<String>>> = HashMap::new();
        let owners = ctx.owners();
        for pod in ctx.optional_list::<Pod>() {
            let meta = &pod.metadata;
            if !pod.is_finished() && meta.deletion_timestamp.is_none() && !is_static(pod) {
                let group = groups.entry(meta.namespace.as_str()).or_default();
                group.entry(owners.owner(pod)).or_default().push(meta.name.clone());
            }
        }
        for (&(kind, namespace, name), _) in self.workloads.iter().filter(|(_, one)| one.spec.replicas != Some(0)) {
            let owner = Owner { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
            groups.entry(namespace).or_default().entry(owner).or_default();
        }
        groups
    }

    fn workload(&self, owner: &Owner) -> Option<&'a Workload> {
        let kind = ["Deployment", "StatefulSet", "DaemonSet"].into_iter().find(|kind| *kind == owner.kind)?;
        self.workloads.get(&(kind, owner.namespace.as_str(), owner.name.as_str())).copied()
    }

    fn rolled(&self, owner: &Owner) -> Option<Rolled<'a>> {
        let workload = self.workload(owner)?;
        Some(match owner.kind.as_str() {
            "Deployment" => Rolled::Deployment(workload),
            "StatefulSet" => Rolled::Set("StatefulSet", workload),
            _ => Rolled::Set("DaemonSet", workload),
        })
    }

    fn inject(&self, owner: &Owner) -> Inject<'a> {
        if !self.in_template.contains(owner) {
            return Inject::Webhook;
        }
        let git = self.workload(owner).and_then(|one| ManagedBy::from_metadata(&one.metadata).gitops);
        match git {
            Some(tool) => Inject::ManualInGit(tool),
            None if INJECTABLE.contains(&owner.kind.as_str()) => Inject::Manual,
            None => Inject::ManualByHand,
        }
    }

    /// How a workload gets new pods. Reads `resourcequotas` in addition to what is read for all workloads.
    pub(super) fn restart_method(&self, ctx: &Context<'_>, owner: &Owner, needs: Needs) -> RestartMethod<'a> {
        let workload = self.workload(owner);
        let inject = match needs {
            Needs::NewPods => Inject::Webhook,
            Needs::NewProxy => self.inject(owner),
        };
        RestartMethod {
            target: owner.restartable(),
            inject,
            paused: workload.is_some_and(|one| one.spec.paused),
            on_delete: workload.is_some_and(|one| one.spec.strategy.waits_for_deletion()),
            has_partition: workload.is_some_and(|one| one.spec.strategy.has_partition()),
            obstacle: self
                .rolled(owner)
                .and_then(|rolled| quota::obstacle(ctx, rolled, ctx.every_for_steps::<LimitRange>())),
        }
    }
}

impl RestartMethod<'_> {
    /// The line that continues a paused rollout.
    pub(super) fn resume(&self, namespace: &str) -> Option<Line> {
        let target = self.target.as_ref().filter(|_| self.paused)?;
        Some(kubectl().namespace(namespace).words("rollout resume").operand(target).into())
    }

    /// The line that sets the partition of a StatefulSet to 0, so that all pods get the new template.
    pub(super) fn without_partition(&self, namespace: &str) -> Option<Line> {
        let target = self.target.as_ref().filter(|_| self.has_partition)?;
        let patch = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}"#;
        let call = kubectl().namespace(namespace).words("patch").operand(target).words("--type merge -p");
        Some(call.arg(patch.to_owned()).into())
    }

    /// The line that updates the proxy in the pod template. It runs only with the CLI of a release, if that is known:
    /// another one adds the proxy of its own release.
    pub(super) fn inject_again(&self, ctx: &Context<'_>, owner: &Owner, release: Option<&str>) -> Option<Line> {
        if self.inject != Inject::Manual {
            return None;
        }
        let target = format!("{}/{}", owner.kind.to_ascii_lowercase(), owner.name);
        let get = kubectl().namespace(&owner.namespace).words("get").operand(target).words("-o yaml");
        let inject = linkerd().control_plane(&ctx.namespaces().control_plane).words("inject --manual -");
        let line = get.pipe(inject).pipe(kubectl().words("apply -f -"));
        Some(match release {
            Some(release) => Line::only_with_cli(release, line),
            None => line,
        })
    }
}
