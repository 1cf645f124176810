//! Custom resources whose operators write workloads, so that a change of the workload itself is lost.

use std::fmt;

use super::command::patch;
use super::{Act, KeyChange, step, with_values};
use crate::checks::prelude::*;
use crate::model::annotated::Annotated;
use crate::model::managed_by::ManagedBy;
use crate::objects::OwnerReference;

/// API groups whose controllers do not overwrite changes of the workloads that they own: those of Kubernetes.
const OF_KUBERNETES: [&str; 4] = ["", "apps", "batch", "extensions"];

/// A custom resource whose operator writes a workload, and would overwrite a change of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::checks) struct Operator<'a> {
    kind: Kind,
    meta: &'a Meta,
    resource: &'a OwnerReference,
}

/// `Kafka events, whose operator writes this StatefulSet`.
impl fmt::Display for Operator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.info().kind;
        match self.copied() {
            Some(name) => write!(f, "{kind} {name}, which Flagger copies to {}", self.meta.name),
            None => {
                write!(f, "{} {}, whose operator writes this {kind}", self.resource.kind.as_str(), self.resource.name)
            }
        }
    }
}

impl<'a> Operator<'a> {
    /// The operator of a workload; `None` if it has none, or if a GitOps controller manages the workload.
    pub(super) fn new(kind: Kind, meta: &'a Meta) -> Option<Operator<'a>> {
        let is_workload =
            matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet | Kind::CronJob | Kind::Job);
        let resource = meta.owner_references.iter().find(|owner| owner.controller == Some(true))?;
        let group = resource.api_version.as_str().split_once('/').map_or("", |(group, _)| group);
        let is_custom = !OF_KUBERNETES.contains(&group);
        (is_workload && is_custom && ManagedBy::from_metadata(meta).in_git().is_none()).then_some(Operator {
            kind,
            meta,
            resource,
        })
    }

    /// The operator of an owner of pods, if the owner is known.
    pub(in crate::checks) fn of_owner(ctx: &Context<'a>, owner: &Owner) -> Option<Operator<'a>> {
        let (kind, known) = ctx.workload_for_steps(&owner.kind, (&owner.namespace, &owner.name))?;
        Operator::new(kind, &known.metadata)
    }

    /// The workload that Flagger copies to this one, which is the primary of a Canary.
    pub(super) fn copied(&self) -> Option<&'a str> {
        let group = self.resource.api_version.as_str().split_once('/')?.0;
        let is_canary = group == "flagger.app" && self.resource.kind.as_str() == "Canary";
        self.meta.name.strip_suffix("-primary").filter(|_| is_canary)
    }

    /// Adds the step that changes annotations of the pod template at its source, with a command if that is a workload.
    pub(super) fn template(
        self,
        ctx: Option<&Context<'_>>,
        remedy: Remedy,
        act: Act<'_>,
        changes: &[KeyChange<'_>],
    ) -> Remedy {
        let text = act.at("in", &format!("the pod template of {self}"));
        let Some(name) = self.copied() else {
            return remedy.note(with_values(text, changes));
        };
        let namespace = self.meta.namespace.as_str();
        let known = ctx.filter(|_| self.kind == Kind::Deployment);
        let known = known.and_then(|ctx| ctx.workload_for_steps("Deployment", (namespace, name)));
        let bare = Meta { name: name.to_owned(), namespace: namespace.into(), ..Meta::default() };
        let object =
            Annotated { kind: self.kind, meta: known.map_or(&bare, |(_, known)| &known.metadata), sites: vec![] };
        step(remedy, act, text, &object, || patch(&object, &["spec", "template", "metadata"], changes))
    }
}
