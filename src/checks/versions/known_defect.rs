//! `known-defect`: a known defect of the installed release, triggered by something in the cluster. The
//! defects are rows of `defects.yaml`.

mod affected_releases;
mod fields;
mod pods;
mod triggers;

use std::collections::BTreeSet;

use crate::checks::control_plane::control_plane_restarting::last_end;
use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act, KeyChange};
use crate::checks::words::sentence;
use crate::expression::Expression;
use crate::finding::{Confidence, Place};
use crate::knowledge::{AffectedComponent, Knowledge, KnownDefect, Reach, WorkaroundCommand};
use crate::model::annotated::Annotated;
use crate::model::managed_by::ManagedBy;
use affected_releases::{Deciding, Releases};
use fields::ObjectFields;

/// The id of this check.
pub(in crate::checks) const ID: &str = "known-defect";

/// A defect that an installed release has or may have.
struct Affected<'a> {
    row: &'a KnownDefect,
    /// The component that has it.
    by: Deciding,
    /// Whether the release surely has it.
    confidence: Confidence,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (control_plane, seen) = of_control_plane(ctx)?;
    let releases = Releases::new(ctx, control_plane, seen);
    let affected: Vec<Affected<'_>> = ctx
        .knowledge
        .known_defects()
        .rows()
        .iter()
        .filter(|row| row.trigger.is_some())
        .filter_map(|row| {
            let (by, confidence) = releases.affected(ctx, row)?;
            Some(Affected { row, by, confidence })
        })
        .collect();
    let mut findings = triggers::findings(ctx, &affected);
    // A row about an object explains more than a row about its trace in a log.
    let found: BTreeSet<String> = findings.iter().flat_map(|finding| finding.parameters.iter().cloned()).collect();
    let is_replaced = |finding: &Finding| {
        let mut rows = affected.iter().filter(|one| finding.parameters.contains(&one.row.id));
        rows.any(|one| one.row.unless.iter().any(|id| found.contains(id)))
    };
    findings.retain(|finding| !is_replaced(finding));
    Ok(findings.into())
}

/// Validates the expressions, kinds and ids in `defects.yaml`.
///
/// # Errors
/// A row is invalid; names the row and the reason.
pub(in crate::checks) fn validate(knowledge: &Knowledge) -> Result<(), String> {
    for row in knowledge.known_defects().rows() {
        let wrong = |why: String| format!("defects.yaml, row {}: {why}", row.id);
        let explained = crate::checks::find(ID).map_or(&[][..], |check| &check.card().front.explains);
        if let Some(id) = row.explains.keys().find(|id| !explained.contains(id)) {
            return Err(wrong(format!("explains: {ID} does not explain {id}")));
        }
        if let Some(check) = row.reported_by.as_ref().filter(|check| crate::checks::find(check).is_none()) {
            return Err(wrong(format!("reported-by: no check has the id {check}")));
        }
        let Some(trigger) = &row.trigger else { continue };
        for kind in trigger.kinds.iter().chain(&trigger.with) {
            match kind.parse::<Kind>() {
                Ok(kind) if fields::is_readable(kind) => {}
                Ok(_) => return Err(wrong(format!("expressions cannot read {kind}"))),
                Err(error) => return Err(wrong(error.to_string())),
            }
        }
        let further = trigger.only_where.iter().chain(&trigger.quote);
        for expression in std::iter::once(&trigger.expression).chain(further) {
            Expression::parse(expression, &triggers::VARIABLES).map_err(wrong)?;
        }
        let unknown = |id: &&str| knowledge.mesh_logs().get(id).is_none();
        if let Some(id) = trigger.log_rows().find(unknown) {
            return Err(wrong(format!("mesh-logs.yaml has no row {id}")));
        }
    }
    Ok(())
}

impl Affected<'_> {
    /// Whether a pod is one of the component with the defect.
    fn is_of_pod(&self, ctx: &Context<'_>, pod: &Pod) -> bool {
        match self.row.decides {
            AffectedComponent::Proxy => Releases::of_pod(ctx, self.row, pod),
            // A row that compares pods with other objects is about applications.
            AffectedComponent::ControlPlane => {
                let compares = self.row.trigger.as_ref().is_some_and(|trigger| trigger.with.is_some());
                compares || pod.metadata.namespace == ctx.namespaces().control_plane
            }
            AffectedComponent::ServiceMirror => true,
        }
    }

    /// A finding about the subject that triggers the defect.
    fn finding(&self, ctx: &Context<'_>, object: &ObjectFields<'_>, trigger: Vec<Evidence>) -> Finding {
        let Affected { row, by, confidence } = self;
        // A line of a log is proof, also if the content of the release is not public.
        let is_sure = *confidence == Confidence::Observed
            || row.trigger.as_ref().is_some_and(|trigger| trigger.log_rows().next().is_some());
        let (message, severity) = match is_sure {
            true => (row.effect.clone(), row.severity),
            false if row.is_fixed() => (format!("This release may have a defect: {}", row.effect), Severity::Info),
            false => {
                let severity = row.severity.min(Severity::Warning);
                (format!("This release may have a defect: {}", row.effect), severity)
            }
        };
        let finding = ctx
            .finding(object.subject(), message)
            .severity(severity)
            .parameter(row.id.clone())
            .evidences(trigger.iter().cloned())
            .evidences(self.last_end(ctx, &object.subject()))
            .evidence(by.evidence.clone())
            .evidence(Evidence::other("Known defect", format!("{}: {} ({})", row.id, row.title, row.releases())))
            .remedy(self.remedy(ctx, object, &trigger));
        let finding = finding.likely_if(*confidence == Confidence::Likely);
        // An effect that is only worth knowing stops nothing.
        if severity == Severity::Info || row.explains.is_empty() {
            return finding.explains_nothing();
        }
        finding.symptoms(row.explains.iter().map(|(id, reach)| (id.clone(), self.ties(ctx, *reach))).collect())
    }

    /// The last end of the component's container in the pod of a subject, if its log shows the defect.
    fn last_end(&self, ctx: &Context<'_>, subject: &Subject) -> Option<Evidence> {
        let is_of_log = self.row.trigger.as_ref()?.log_rows().next().is_some();
        let Subject::Object { namespace, name, pods, .. } = subject else { return None };
        let is_it = |pod: &&Pod| {
            let meta = &pod.metadata;
            meta.namespace == *namespace && (pods.contains(&meta.name) || meta.name == *name)
        };
        let pod = ctx.optional_list::<Pod>().iter().filter(|_| is_of_log).find(is_it)?;
        let status = pod.container_status(&self.row.component)?;
        status.last_state().terminated()?;
        Some(Evidence::other(format!("container {}", status.name), last_end(pod, status).said))
    }

    /// What the finding shares with its symptoms, in addition to its subject.
    fn ties(&self, ctx: &Context<'_>, reach: Reach) -> Vec<Tie> {
        match reach {
            Reach::Object => Vec::new(),
            Reach::Component => {
                let home = ctx.namespaces().control_plane.clone();
                let tie = |name: &str| Tie::Workload("Deployment".to_owned(), home, name.to_owned());
                self.row.deployment().map(tie).into_iter().collect()
            }
            Reach::Mesh => vec![Tie::Cluster],
        }
    }

    /// The workaround, or the upgrade to a release with the fix: either of them is enough.
    fn remedy(&self, ctx: &Context<'_>, object: &ObjectFields<'_>, trigger: &[Evidence]) -> Remedy {
        let row = self.row;
        let version = &self.by.version;
        let fixed = row.fixed_for(version, ctx.knowledge.releases());
        let replaces = |(_, command): &(&str, WorkaroundCommand)| *command == WorkaroundCommand::Delete;
        let quoted = trigger.iter().find_map(|one| match &one.place {
            Place::Field { path, .. } => Some(path.as_str()),
            Place::File { .. } | Place::Event { .. } | Place::Other { .. } => None,
        });
        let correct = format!("Correct {} in the manifest", quoted.unwrap_or("the quoted field"));
        // A stored object is replaced as a whole.
        let steps: Vec<_> = match object.is_planned(ctx) && row.workaround_steps().any(|step| replaces(&step)) {
            true => vec![(correct.as_str(), WorkaroundCommand::None)],
            false => row.workaround_steps().collect(),
        };
        let mut remedy = steps.into_iter().fold(Remedy::new(), |remedy, (text, command)| match command {
            WorkaroundCommand::Edit => remedy.command(text, object.edit()),
            WorkaroundCommand::Annotate => self.annotated(ctx, remedy, text, object),
            WorkaroundCommand::Show => {
                let text = text.replace("this object", &object.subject().to_string());
                match object.show() {
                    Some(show) => remedy.command(text, show),
                    None => remedy.note(text),
                }
            }
            WorkaroundCommand::Keep => remedy.command(text, object.keep()),
            WorkaroundCommand::Apply => remedy.command(text, ObjectFields::apply_copy()),
            WorkaroundCommand::Delete => remedy.command(text, object.delete()),
            WorkaroundCommand::RestartDestination => {
                let home = &ctx.namespaces().control_plane;
                let restart = kubectl().namespace(home).words("rollout restart");
                remedy.command(text, restart.arg("deployment/linkerd-destination"))
            }
            WorkaroundCommand::ScaleDestination => scaled(ctx, remedy, text),
            WorkaroundCommand::None => remedy.note(text),
        });
        let mut is_alternative = row.workaround.is_some();
        if self.confidence == Confidence::Likely && fixed.is_some() {
            let notes = format!("Check whether the release notes of {version} mention the fix");
            remedy = remedy.note(notes);
            is_alternative = false;
        }
        let upgrade = match (&fixed, row.decides) {
            (Some(fixed), AffectedComponent::ControlPlane) => {
                format!("upgrade the control plane to {fixed} or newer")
            }
            (Some(fixed), AffectedComponent::Proxy) => format!(
                "upgrade to {fixed} or newer, and restart the workloads so that they get proxies of that release"
            ),
            (Some(fixed), AffectedComponent::ServiceMirror) => {
                format!("upgrade the multicluster extension to {fixed} or newer")
            }
            (None, _) => {
                let notes = "Read the notes of newer releases, since no known release has the fix";
                return remedy.note(notes);
            }
        };
        let upgrade = if is_alternative { format!("To prevent this, {upgrade}") } else { sentence(&upgrade) };
        remedy.step(StepKind::Upgrade, upgrade)
    }

    /// Adds the step that sets the annotations of the object that the row corrects.
    fn annotated(&self, ctx: &Context<'_>, remedy: Remedy, act: &str, object: &ObjectFields<'_>) -> Remedy {
        let Some(meta) = object.metadata() else { return remedy.command(act, object.edit()) };
        let present = object.annotations();
        let changed = self
            .row
            .corrected
            .iter()
            .filter_map(|(key, corrected)| Some((key.as_str(), corrected.value(present.get(key)?.as_str()?))));
        let changed: Vec<(&str, Option<String>)> = changed.collect();
        let changes: Vec<KeyChange<'_>> = changed.iter().map(|(key, value)| (*key, value.as_deref())).collect();
        let object = Annotated { kind: object.kind(), meta: &meta, sites: vec![] };
        let act = match changes.iter().all(|(_, value)| value.is_none()) {
            true => Act::Remove(act),
            false => Act::Put(act),
        };
        rewrite::template(ctx, remedy, act, &object, &changes)
    }
}

/// Adds the step that runs two replicas of linkerd-destination, unless more than one is configured.
fn scaled(ctx: &Context<'_>, remedy: Remedy, text: &str) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let own = |one: &&Workload| one.metadata.key() == (home, "linkerd-destination");
    let Some(destination) = ctx.optional_list::<Deployment>().iter().find(own) else {
        return remedy.note(text);
    };
    if destination.spec.replicas.is_some_and(|replicas| replicas > 1) {
        return remedy;
    }
    match ManagedBy::from_metadata(&destination.metadata).in_git() {
        Some(words) => remedy.note(format!("{text}: {words}")),
        None => {
            let scale = kubectl().namespace(home).words("scale deployment/linkerd-destination --replicas=2");
            remedy.command(text, scale)
        }
    }
}
