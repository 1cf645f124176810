//! The input of a check: the evidence that its card declares, the knowledge, the settings of the run.
//! Reading undeclared evidence is a gap of the check, which the tests reject ([`UNDECLARED`]). Incomplete
//! evidence is noted automatically, so a check that ignores it still cannot pass.

mod lists;
mod single;

use std::cell::{Cell, RefCell};

use jiff::{SignedDuration, Timestamp};

use super::joins::Joins;
use super::settings::Settings;
use super::unjudged::Unjudged;
use crate::card::{Card, Unit};
use crate::fetched::{Fetched, Why};
use crate::finding::{Finding, Subject};
use crate::item::{Item, Kind, Namespaces, Scope};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::model::owners::Owners;
use crate::model::skipped::{CniSkips, is_redirected_by_cni};
use crate::objects::{ConfigMap, DaemonSet, Deployment, Job, Pod, ReplicaSet, StatefulSet, Workload};
use crate::request::Request;

/// The reason of a gap that a defect of a check causes: it reads an item or a parameter that its card does
/// not declare. No case of any card may cause it.
pub const UNDECLARED: &str = "defect of meshdoctor: the check's card does not declare it; please report \
     this";

/// The shared input of all checks of a run.
#[derive(Clone, Copy)]
pub(super) struct RunInput<'a> {
    /// The evidence.
    pub(super) cluster: &'a Cluster,
    /// Facts that age.
    pub(super) knowledge: &'a Knowledge,
    /// The operator's settings.
    pub(super) settings: &'a Settings,
    /// Results that are computed once.
    pub(super) joins: &'a Joins<'a>,
}

/// The input of a check.
pub struct Context<'a> {
    cluster: &'a Cluster,
    /// Facts that age.
    pub knowledge: &'a Knowledge,
    /// The operator's settings.
    pub settings: &'a Settings,
    /// Results that are computed once for a run.
    pub(super) joins: &'a Joins<'a>,
    card: &'a Card,
    id: &'static str,
    gaps: RefCell<Vec<Missing>>,
    /// Whether it read keys of Linkerd in chart values.
    has_value_keys: Cell<bool>,
}

impl<'a> Context<'a> {
    /// A context for one check.
    pub(super) fn new(id: &'static str, card: &'a Card, run: RunInput<'a>) -> Context<'a> {
        let RunInput { cluster, knowledge, settings, joins } = run;
        let (gaps, has_value_keys) = (RefCell::new(Vec::new()), Cell::new(false));
        Context { cluster, knowledge, settings, joins, card, id, gaps, has_value_keys }
    }

    /// The same, with gaps of its own.
    pub(super) fn aside(&self) -> Context<'a> {
        let Context { cluster, knowledge, settings, joins, card, id, .. } = *self;
        Context::new(id, card, RunInput { cluster, knowledge, settings, joins })
    }

    /// The operator's settings of the check's own parameters.
    pub(super) fn set_params(&self) -> impl Iterator<Item = (&'a str, &'a serde_json::Value)> + use<'a> {
        let own = self.settings.params.get(self.id).into_iter().flatten();
        own.map(|(name, value)| (name.as_str(), value))
    }

    /// A parameter of the check, in its unit: the operator's setting, or the default of the card.
    pub fn param(&self, name: &str) -> i64 {
        self.declared_param(name).0
    }

    /// A parameter that is a count.
    pub fn count_of(&self, name: &str) -> usize {
        usize::try_from(self.param(name)).unwrap_or_default()
    }

    /// A parameter that is a duration.
    pub fn param_duration(&self, name: &str) -> SignedDuration {
        let (number, unit) = self.declared_param(name);
        unit.span(number)
    }

    /// A parameter as text: `60 days`.
    pub fn param_text(&self, name: &str) -> String {
        let (number, unit) = self.declared_param(name);
        unit.with_unit(number)
    }

    fn declared_param(&self, name: &str) -> (i64, Unit) {
        let Some(param) = self.card.front.params.get(name) else {
            let request = self.card.front.needs.first().cloned().unwrap_or(Item::ServerVersion);
            self.gap(Missing::part(self.request(request), undeclared(), format!("parameter {name}")));
            return (0, Unit::Number);
        };
        let set = self.settings.params.get(self.id).and_then(|own| own.get(name)?.as_i64());
        (set.unwrap_or(param.default), param.unit)
    }

    /// Maps a pod to the workload that users created. Reads `replicasets.apps` and `jobs.batch`, if
    /// available.
    pub(super) fn owners(&self) -> &'a Owners<'a> {
        let build = |ctx: &Context<'a>| Owners::new(ctx.optional_list::<ReplicaSet>(), ctx.optional_list::<Job>());
        self.get_or_build(&self.joins.owners, build)
    }

    /// The available Deployments, StatefulSets and DaemonSets, as [`Context::optional_list`].
    pub(in crate::checks) fn optional_workloads(&self) -> Vec<(Kind, &'a Workload)> {
        let lists = [
            (Kind::Deployment, self.optional_list::<Deployment>()),
            (Kind::StatefulSet, self.optional_list::<StatefulSet>()),
            (Kind::DaemonSet, self.optional_list::<DaemonSet>()),
        ];
        lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |one| (kind, one))).collect()
    }

    /// The ports and ranges that linkerd-cni skips, as far as they are known. Reads `node-files` and
    /// `configmaps/cni/linkerd-cni-config`.
    pub(super) fn cni_skips(&self) -> &'a CniSkips {
        let build = |ctx: &Context<'a>| {
            let config = ctx.object::<ConfigMap>(Scope::Cni, "linkerd-cni-config");
            let config = match ctx.optional_list::<Pod>().iter().any(is_redirected_by_cni) {
                true => ctx.or_note(config).flatten(),
                false => config.ok().flatten(),
            };
            CniSkips::new(ctx.snapshot_hints(), config)
        };
        self.get_or_build(&self.joins.cni_skips, build)
    }

    /// The missing parts of the evidence that was read.
    pub(super) fn into_gaps(self) -> Vec<Missing> {
        let mut gaps = self.gaps.into_inner();
        gaps.sort();
        gaps.dedup();
        gaps
    }

    /// Notes a gap in part of the evidence: 2 of 5 nodes, a workload whose template is truncated.
    pub fn gap(&self, missing: Missing) {
        self.gaps.borrow_mut().push(missing);
    }

    /// Fails for an item that the card does not declare, and notes it as a gap, so that callers that ignore
    /// missing evidence cannot pass either.
    fn declared(&self, item: &Item) -> Result<(), Missing> {
        if self.card.front.needs.contains(item) || self.card.front.uses.contains(item) {
            return Ok(());
        }
        let missing = Missing::whole(self.request(item.clone()), undeclared());
        self.gap(missing.clone());
        Err(missing)
    }

    /// Whether the run applies an object: it is in the manifests of `--manifests` or `--with`.
    pub(super) fn applies(&self, kind: Kind, meta: &crate::objects::Meta) -> bool {
        self.cluster.applied.contains(&(kind, meta.namespace.to_string(), meta.name.clone()))
    }

    /// Values of the wrong type in applied objects.
    pub(super) fn mistyped(&self) -> &'a [crate::objects::mistyped::Mistyped] {
        &self.cluster.mistyped
    }

    /// Whether an object of this name, or any without one, is in several folders of the manifests with differences, so
    /// that its content is unknown.
    pub(super) fn is_apart(&self, kind: Kind, namespace: &str, name: Option<&str>) -> bool {
        self.cluster
            .apart
            .iter()
            .any(|(of, home, own)| *of == kind && home == namespace && name.is_none_or(|name| own == name))
    }

    /// Keys of Linkerd in the chart values of applied objects and files.
    pub(super) fn value_keys(&self) -> &'a [crate::chart::gitops::ValueKey] {
        let keys = &self.cluster.value_keys;
        self.has_value_keys.set(self.has_value_keys.get() || !keys.is_empty());
        keys
    }

    /// The evaluation time.
    pub fn now(&self) -> Timestamp {
        self.cluster.at
    }

    /// Whether [`Context::now`] is the time of the evidence. It is not if a dump does not state its age and
    /// this machine's clock is used.
    pub fn knows_its_moment(&self) -> bool {
        self.cluster.live || self.cluster.time_source != TimeSource::Clock
    }

    /// Whether the evaluation time is a statement of the operator (`--at`), and not of a clock.
    pub fn is_time_given(&self) -> bool {
        self.cluster.time_source == TimeSource::Flag
    }

    /// The namespaces of the control plane and of linkerd-cni.
    pub fn namespaces(&self) -> &'a Namespaces {
        &self.cluster.namespaces
    }

    /// Whether workloads of this namespace are selected (`-n`).
    pub fn judges(&self, namespace: &str) -> bool {
        self.settings.namespaces.is_empty() || self.settings.namespaces.iter().any(|n| n == namespace)
    }

    /// A finding of this check with the card's severity, observed rather than inferred.
    pub fn finding(&self, subject: Subject, message: impl Into<String>) -> Finding {
        Finding::new(self.id, self.card.front.severity, subject, message)
    }

    fn answer(&self, item: Item) -> Result<(&'a crate::model::Answer, &'a [Why]), Missing> {
        self.declared(&item)?;
        let Some(answer) = self.cluster.answer(&item) else {
            return Err(Missing::whole(self.request(item), Why::NotCaptured));
        };
        match &answer.fetched {
            Fetched::Complete => Ok((answer, &[])),
            Fetched::Partial { reasons } => Ok((answer, reasons)),
            Fetched::Missing { reason } => Err(Missing::whole(answer.request.clone(), reason.clone())),
        }
    }

    fn request(&self, item: Item) -> Request {
        let namespace = item.scope().and_then(|scope| self.cluster.namespaces.namespace_for(scope)).map(str::to_owned);
        Request { item, namespace }
    }

    /// The evidence, if it is available; otherwise `None`, and a gap, which findings without it state. A problem that
    /// another check reports, or evidence that does not apply, is no gap.
    pub fn or_note<T>(&self, read: Result<T, impl Into<Unjudged>>) -> Option<T> {
        match read.map_err(Into::into) {
            Ok(found) => Some(found),
            Err(Unjudged::Missing(missing)) => {
                self.gap(missing);
                None
            }
            Err(Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => None,
        }
    }

    /// A gap in an available item: the affected part, and the reason. Pass it to [`Context::gap`] or return
    /// it.
    pub fn missing(&self, item: Item, why: Why, part: impl Into<String>) -> Missing {
        Missing::part(self.request(item), why, part)
    }
}

/// The reason for refusing evidence that the card does not declare.
fn undeclared() -> Why {
    Why::Failed { message: UNDECLARED.to_owned() }
}
