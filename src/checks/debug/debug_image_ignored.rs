//! `debug-image-ignored`: the debug container runs another image than its annotations name.

use std::collections::BTreeSet;

use super::requested_image::{ChartImage, Runs, SWITCH, Wanted};
use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::upgrade;
use crate::checks::written::{AnnotatedObjects, AnnotationReader, MAKE_PODS, go_bool, values};
use crate::knowledge::KeyStatus;
use crate::objects::container::DEBUG_CONTAINER;
use crate::version::Contains;

/// The row of the releases table with the affected releases.
const DEFECT: &str = "debug-image-ignored";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let reader = AnnotationReader::new(ctx);
    if matches!(reader, AnnotationReader::Absent) {
        return Err(Unjudged::not_applicable("no Linkerd control plane is installed, so none adds a debug container"));
    }
    let written = AnnotatedObjects::from_kinds(ctx, &MAKE_PODS);
    let chart = ChartImage::from_values(values(ctx).as_ref());
    let judge = Judge { ctx, reader: &reader, chart: &chart };
    let owners = ctx.owners();
    let mut shown = BTreeSet::new();
    let mut findings = Vec::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished()) {
        let Some(debug) = pod.spec.containers.iter().find(|c| c.name == DEBUG_CONTAINER) else { continue };
        let Some(wanted) = Wanted::from_annotations(&pod.metadata) else { continue };
        let owner = owners.owner(pod);
        let runs = wanted.compare(&debug.image, &chart);
        if runs != Runs::Wanted {
            findings.push(judge.pod(&owner, pod, &wanted, &debug.image, runs));
        }
        shown.insert((owner.kind, owner.namespace, owner.name));
    }
    // Templates without a pod yet are judged by the installed release.
    for object in written.objects.iter().filter(|object| object.kind != Kind::Namespace) {
        let Some(spot) = object.template() else { continue };
        let Some(wanted) = Wanted::from_annotations(spot.meta).filter(|wanted| !wanted.is_default(&chart)) else {
            continue;
        };
        let switch = spot.meta.annotation(SWITCH).or_else(|| written.of_namespace(object, SWITCH));
        let on = switch.and_then(go_bool) == Some(true);
        let (kind, meta) = (object.kind.to_string(), object.meta);
        let owner = Owner { kind, namespace: meta.namespace.to_string(), name: meta.name.clone() };
        if on && !shown.contains(&(owner.kind.clone(), owner.namespace.clone(), owner.name.clone())) {
            findings.extend(judge.template(&owner, &wanted, spot.path));
        }
    }
    if !findings.is_empty() {
        ctx.or_note(config(ctx));
    }
    Ok(findings.into())
}

struct Judge<'j, 'a> {
    ctx: &'j Context<'a>,
    reader: &'j AnnotationReader,
    chart: &'j ChartImage,
}

impl Judge<'_, '_> {
    /// Whether a build has the defect.
    fn ignores(&self, version: Option<&LinkerdVersion>) -> Contains {
        let defect = self.ctx.knowledge.releases().defect(DEFECT);
        match (defect, version) {
            (Some(defect), Some(version)) => defect.affects(version, self.ctx.knowledge.minors()),
            (None, _) | (_, None) => Contains::Unknown,
        }
    }

    /// A debug container that runs another image.
    fn pod(&self, owner: &Owner, pod: &Pod, wanted: &Wanted<'_>, image: &str, runs: Runs) -> Finding {
        let object = pod.described();
        let created = pod.metadata.annotation("linkerd.io/created-by");
        let by = created
            .filter(|text| text.starts_with("linkerd/proxy-injector "))
            .and_then(|text| LinkerdVersion::from_created_by(text).ok());
        let now = self.ignores(self.reader.version());
        let then = self.ignores(by.as_ref().or(self.reader.version()));
        let mut finding = self
            .ctx
            .finding(owner.subject(vec![pod.metadata.name.clone()]), self.message(then, now))
            .evidences(wanted.evidence(&object, "metadata"))
            .evidence(Evidence::field(&object, format!("spec.containers[{DEBUG_CONTAINER}].image"), image))
            .evidences(
                created.map(|text| Evidence::field(&object, "metadata.annotations[linkerd.io/created-by]", text)),
            )
            .evidences(self.injector_and_chart())
            .remedy(self.remedy(owner, std::slice::from_ref(&pod.metadata.name), wanted, now));
        // A mirror, or a pod older than its annotations, looks the same.
        if runs == Runs::PerhapsAnother || (then, now) == (Contains::No, Contains::No) {
            finding = finding.likely();
        }
        finding
    }

    /// A template whose pods will run another image.
    fn template(&self, owner: &Owner, wanted: &Wanted<'_>, path: &str) -> Option<Finding> {
        let version = self.reader.version()?;
        let ignores = self.ignores(Some(version));
        let presumed = || {
            let key = self.ctx.knowledge.annotations().get("config.linkerd.io/debug-image")?;
            Some(matches!(
                key.status_in(version, self.ctx.knowledge).likely(),
                Some(KeyStatus::Ineffective { .. } | KeyStatus::NotYet { .. })
            ))
        };
        if ignores == Contains::No || (ignores == Contains::Unknown && presumed() != Some(true)) {
            return None;
        }
        let object = owner.to_string();
        let fixed = self.fixed();
        let message = match ignores {
            Contains::Unknown => format!(
                "the injector probably ignores the debug-image annotations and uses the chart's image, as \
                 every published build before {fixed} does; the contents of this build are not public"
            ),
            Contains::Yes | Contains::No => self.message(ignores, ignores),
        };
        let finding = self
            .ctx
            .finding(owner.subject(vec![]), message)
            .evidences(wanted.evidence(&object, path))
            .evidences(self.injector_and_chart())
            .remedy(self.remedy(owner, &[], wanted, ignores));
        Some(finding.likely_if(ignores == Contains::Unknown))
    }

    /// Evidence of the injector's version and of the chart's image.
    fn injector_and_chart(&self) -> Vec<Evidence> {
        let namespace = &self.ctx.namespaces().control_plane;
        let chart = self.chart.name.as_ref().map(|name| {
            let tag = self.chart.tag.as_deref().map(|tag| format!(":{tag}")).unwrap_or_default();
            let object = format!("ConfigMap {namespace}/linkerd-config");
            Evidence::field(object, "data.values: debugContainer.image", format!("{name}{tag}"))
        });
        self.reader.evidence().into_iter().chain(chart).collect()
    }

    /// `then` is the injector that created the container, `now` the installed one.
    fn message(&self, then: Contains, now: Contains) -> String {
        let fixed = self.fixed();
        match (then, now) {
            (Contains::Yes, Contains::No) => format!(
                "the debug container runs the chart's image instead of the annotated one, because an \
                 injector older than {fixed} added it. The installed injector honors the annotations"
            ),
            (Contains::Yes, _) => format!(
                "the injector ignores the debug-image annotations and uses the chart's image, a bug fixed in \
                 {fixed}"
            ),
            (Contains::Unknown, _) => format!(
                "the debug container does not run the annotated image: the injector ignores the annotations, \
                 as every published build before {fixed} does. The contents of this build are not public"
            ),
            (Contains::No, _) => {
                "the debug container does not run the annotated image, although the injector honors the \
                 annotations: the pod is older than its annotations, or another tool changed the image"
                    .to_owned()
            }
        }
    }

    fn fixed(&self) -> String {
        match self.ctx.knowledge.releases().defect(DEFECT) {
            Some(defect) => format!("{} ({})", defect.until, defect.fixed_in_minor),
            None => "2.18".to_owned(),
        }
    }

    fn remedy(&self, owner: &Owner, pods: &[String], wanted: &Wanted<'_>, now: Contains) -> Remedy {
        let mut remedy = Remedy::new();
        if now != Contains::No {
            let act = "Set the image in the chart, for every debug container of the cluster";
            remedy = upgrade::with_values(self.ctx, remedy, act, wanted.options()).step(
                StepKind::Upgrade,
                format!("Or upgrade Linkerd to {} or later, which honors the annotations", self.fixed()),
            );
        }
        let because = "the image is set when a pod is created";
        if pods.is_empty() && owner.restartable().is_none() {
            let later = "Wait for the next pods: the image is set when a pod is created";
            return remedy.note(later);
        }
        remedy.with(renew(self.ctx, owner, pods, Needs::NewProxy, because))
    }
}
