//! The input of a check: the evidence that its card declares, the knowledge, the settings of the run.
//! Reading undeclared evidence is a gap of the check, which the tests reject ([`UNDECLARED`]). Incomplete
//! evidence is noted automatically, so a check that ignores it still cannot pass.

use std::cell::{Cell, RefCell};

use jiff::{SignedDuration, Timestamp};

use super::joins::Joins;
use super::settings::Settings;
use crate::card::{Card, Requirement, Unit};
use crate::chart::values::Values;
use crate::fetched::{Fetched, Why, left_out};
use crate::finding::{Finding, Subject};
use crate::item::ReviewStatus;
use crate::item::answer::Response;
use crate::item::diagnostic::Diagnostic;
use crate::item::{
    Access, Item, Kind, Namespaces, Probe, Program, Scope, Server, controller_config, controller_config_of,
    link_credentials,
};
use crate::item::{AccessReview, ProbeAnswer, ServedBy, ServedCertificates};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::model::control_plane::components;
use crate::model::log::Log;
use crate::model::node::NodeSnapshot;
use crate::model::owners::Owners;
use crate::model::skipped::{CniSkips, is_redirected_by_cni};
use crate::objects::{
    ConfigMap, Deployment, Job, KindOf, Link, Listed, Object, Pod, ReplicaSet, Secret, is_built_in,
};
use crate::redact::{WITHHELD, withheld_entries};
use crate::request::Request;
use crate::version::{K8sVersion, LinkerdVersion};

/// The reason of a gap that a defect of a check causes: it reads an item or a parameter that its card does
/// not declare. No case of any card may cause it.
pub const UNDECLARED: &str = "defect of meshdoctor: the check's card does not declare it; please report \
     this";

/// Maximum number of unreadable objects of a list that a gap of a check names.
const UNREAD_NAMED: usize = 3;

/// The shared input of all checks of a run.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    /// The evidence.
    pub(super) cluster: &'a Cluster,
    /// Facts that age.
    pub(super) knowledge: &'a Knowledge,
    /// The operator's settings.
    pub(super) settings: &'a Settings,
    /// Results that are computed once.
    pub(super) joins: &'a Joins<'a>,
}

/// The object, unless another tool redacted entries of it that are read: then it was not provided.
fn unless_withheld<'a, T: Object>(answer: &crate::model::Answer, object: &'a T) -> Result<&'a T, Missing> {
    match object.annotation(WITHHELD) {
        None => Ok(object),
        Some(names) => {
            let part = format!("{}, redacted by another tool", withheld_entries(names));
            Err(Missing::part(answer.request.clone(), Why::NotCaptured, part))
        }
    }
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
    pub(super) fn new(id: &'static str, card: &'a Card, run: Run<'a>) -> Context<'a> {
        let Run { cluster, knowledge, settings, joins } = run;
        let (gaps, has_value_keys) = (RefCell::new(Vec::new()), Cell::new(false));
        Context { cluster, knowledge, settings, joins, card, id, gaps, has_value_keys }
    }

    /// The same, with gaps of its own.
    pub(super) fn aside(&self) -> Context<'a> {
        let Context { cluster, knowledge, settings, joins, card, id, .. } = *self;
        Context::new(id, card, Run { cluster, knowledge, settings, joins })
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
        let build =
            |ctx: &Context<'a>| Owners::new(ctx.optional_list::<ReplicaSet>(), ctx.optional_list::<Job>());
        self.get_or_build(&self.joins.owners, build)
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
        let namespace =
            item.scope().and_then(|scope| self.cluster.namespaces.namespace_for(scope)).map(str::to_owned);
        Request { item, namespace }
    }

    /// The available objects of a kind. If more may exist, that is noted as a gap: suitable to find
    /// problems in the available objects, not to conclude that something does not exist. For that, see
    /// [`Context::complete_list`].
    ///
    /// # Errors
    /// None of them is available.
    pub fn partial_list<K: Listed>(&self) -> Result<&'a [K::Object], Missing> {
        self.seen_of(K::LIST)
    }

    /// [`Context::partial_list`], of one of several kinds that share a slim type.
    ///
    /// # Errors
    /// As [`Context::partial_list`].
    pub fn seen_of<T: Object>(&self, kind: KindOf<T>) -> Result<&'a [T], Missing> {
        let (answer, reasons) = self.answer(Item::List(kind.kind()))?;
        self.gaps_of_list(answer, reasons);
        Ok(answer.objects())
    }

    /// Whether manifests are checked and contain nothing that the check reads: no keys in chart values, and no custom
    /// resources, if its card declares any, else none of the declared kinds.
    pub(super) fn lacks_objects_in_manifests(&self) -> bool {
        if self.has_value_keys.get() {
            return false;
        }
        let answers: Vec<_> = self
            .card
            .front
            .needs
            .iter()
            .filter_map(|item| Some((item.kind()?, self.cluster.answer(item)?)))
            .collect();
        let of_manifests = answers.iter().any(|(_, answer)| is_of_manifests(answer));
        let has_custom = answers.iter().any(|(kind, _)| !is_built_in(*kind));
        let about = answers.iter().filter(|(kind, _)| !has_custom || !is_built_in(*kind));
        let none = about.map(|(_, answer)| answer.count()).sum::<usize>() == 0;
        of_manifests && (none || (!has_custom && self.lacks_its_control_plane()))
    }

    /// Whether the objects of a kind are only in manifests: no cluster is read.
    pub(super) fn is_only_in_manifests(&self, kind: Kind) -> bool {
        self.cluster.answer(&Item::List(kind)).is_some_and(is_of_manifests)
    }

    /// Whether the check requires a control plane and the objects contain none.
    fn lacks_its_control_plane(&self) -> bool {
        self.card.front.requires.contains(&Requirement::ControlPlane)
            && components(self.optional_list::<Deployment>(), &self.cluster.namespaces.control_plane)
                .is_empty()
    }

    /// Notes that more objects of a list may exist. Manifests are the whole subject of their run: other
    /// objects are not part of it.
    fn gaps_of_list(&self, answer: &crate::model::Answer, reasons: &[Why]) {
        let some = |why: Why| Missing::part(answer.request.clone(), why, "some of them");
        let known = reasons.iter().filter(|why| **why != Why::NotInManifests);
        let (unread, others): (Vec<&Why>, Vec<&Why>) =
            known.partition(|why| matches!(why, Why::Malformed { .. }));
        let (named, more) = unread.split_at(unread.len().min(UNREAD_NAMED));
        for why in others.iter().chain(named) {
            self.gap(some((*why).clone()));
        }
        let more: usize = more.iter().map(|why| why.count()).sum();
        if more > 0 {
            self.gap(some(Why::Malformed { message: left_out(more) }));
        }
    }

    /// The available objects of a kind; a missing list is a gap.
    pub(super) fn seen_or_gap<K: Listed>(&self) -> &'a [K::Object] {
        self.or_note(self.partial_list::<K>()).unwrap_or(&[])
    }

    /// Every object of a kind: the list to conclude absence from.
    ///
    /// # Errors
    /// The list is missing or may be incomplete.
    pub fn complete_list<K: Listed>(&self) -> Result<&'a [K::Object], Missing> {
        self.every_of(K::LIST)
    }

    /// [`Context::complete_list`], of one of several kinds that share a slim type.
    ///
    /// # Errors
    /// As [`Context::complete_list`].
    pub fn every_of<T: Object>(&self, kind: KindOf<T>) -> Result<&'a [T], Missing> {
        let (answer, reasons) = self.answer(Item::List(kind.kind()))?;
        match reasons.first() {
            None => Ok(answer.objects()),
            Some(why) => Err(Missing::part(answer.request.clone(), why.clone(), "some of them")),
        }
    }

    /// The redacted objects of a kind, in full, as far as available. If more may exist, that is noted as a
    /// gap. Only expressions of custom checks read them.
    ///
    /// # Errors
    /// None of them is available.
    pub(super) fn whole(&self, kind: crate::item::Kind) -> Result<&'a [serde_json::Value], Missing> {
        let (answer, reasons) = self.answer(Item::List(kind))?;
        self.gaps_of_list(answer, reasons);
        Ok(answer.whole())
    }

    /// The available objects of a kind, possibly none. For optional evidence: absence from this list proves
    /// nothing.
    pub fn optional_list<K: Listed>(&self) -> &'a [K::Object] {
        self.answer(Item::List(K::LIST.kind())).map_or(&[], |(answer, _)| answer.objects())
    }

    /// The objects of a kind that were read for any check of the run. Only the wording of steps may depend on
    /// them, so cards do not declare them.
    pub(super) fn for_steps<K: Listed>(&self) -> &'a [K::Object] {
        self.cluster.answer(&Item::List(K::LIST.kind())).map_or(&[], |answer| answer.objects())
    }

    /// All objects of a kind, as [`Context::for_steps`]; `None` if more may exist.
    pub(super) fn every_for_steps<K: Listed>(&self) -> Option<&'a [K::Object]> {
        let answer = self.cluster.answer(&Item::List(K::LIST.kind()))?;
        (answer.fetched == Fetched::Complete).then(|| answer.objects())
    }

    /// A named object of the control plane's namespace, as [`Context::for_steps`].
    pub(super) fn named_for_steps<K: Listed>(&self, name: &str) -> Option<&'a K::Object> {
        let item = Item::Named { kind: K::LIST.kind(), scope: Scope::ControlPlane, name: name.to_owned() };
        self.cluster.answer(&item)?.objects().first()
    }

    /// The chart values of the control plane in `linkerd-config`, as [`Context::for_steps`].
    pub(super) fn values_for_steps(&self) -> Option<Values> {
        self.named_for_steps::<ConfigMap>("linkerd-config").and_then(ConfigMap::chart_values)
    }

    /// Whether a named object of the control plane's namespace is known not to exist, as [`Context::for_steps`].
    pub(super) fn is_absent_for_steps<K: Listed>(&self, name: &str) -> bool {
        let item = Item::Named { kind: K::LIST.kind(), scope: Scope::ControlPlane, name: name.to_owned() };
        let answer = self.cluster.answer(&item);
        answer.is_some_and(|answer| answer.fetched == Fetched::Complete && answer.count() == 0)
    }

    /// The evidence, if it is available; otherwise `None`, and a gap, which findings without it state.
    pub fn or_note<T>(&self, read: Result<T, Missing>) -> Option<T> {
        read.map_err(|missing| self.gap(missing)).ok()
    }

    /// A named object; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn object<K: Listed>(&self, scope: Scope, name: &str) -> Result<Option<&'a K::Object>, Missing> {
        let kind = K::LIST.kind();
        let (answer, reasons) = self.answer(Item::Named { kind, scope, name: name.to_owned() })?;
        match (answer.objects::<K::Object>().first(), reasons.first()) {
            (Some(object), _) => unless_withheld(answer, object).map(Some),
            (None, None) => Ok(None),
            (None, Some(why)) => Err(Missing::whole(answer.request.clone(), why.clone())),
        }
    }

    /// A gap in an available item: the affected part, and the reason. Pass it to [`Context::gap`] or return
    /// it.
    pub fn missing(&self, item: Item, why: Why, part: impl Into<String>) -> Missing {
        Missing::part(self.request(item), why, part)
    }

    /// Whether the operator has a permission, with the API server's own message.
    ///
    /// # Errors
    /// It is not known.
    pub fn access(&self, access: &Access) -> Result<&'a ReviewStatus, Missing> {
        let item = Item::Access(access.clone());
        let (answer, _) = self.answer(item)?;
        answer.objects::<AccessReview>().first().and_then(|review| review.status.as_ref()).ok_or_else(|| {
            let message = "the review has no status".to_owned();
            Missing::whole(answer.request.clone(), Why::Malformed { message })
        })
    }

    /// The answer of a program in a pod (`--probe`).
    ///
    /// # Errors
    /// It was not queried, or did not answer.
    pub fn probe(&self, program: Program, namespace: &str, pod: &str) -> Result<&'a Response, Missing> {
        self.declared(&Item::Probe(Probe::new(program)))?;
        let item = Item::Probe(Probe { program, pod: pod.to_owned() });
        let request = || Request { namespace: Some(namespace.to_owned()), item: item.clone() };
        // A Secret of the same name in another namespace is a different one.
        let answer = self.cluster.answer(&item);
        let Some(answer) = answer.filter(|answer| answer.request.namespace.as_deref() == Some(namespace))
        else {
            return Err(Missing::whole(request(), Why::NotOffered));
        };
        match (&answer.fetched, answer.objects::<ProbeAnswer>().first()) {
            (Fetched::Missing { reason }, _) => Err(Missing::whole(request(), reason.clone())),
            (_, Some(found)) => Ok(&found.answer),
            (_, None) => Err(Missing::whole(request(), Why::NotOffered)),
        }
    }

    /// Whether a program was not queried at all, and why.
    pub fn unasked(&self, program: Program, why: Why) -> Missing {
        Missing::whole(Request::new(Item::Probe(Probe::new(program))), why)
    }

    /// The Secret that a link names; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn link_secret(&self, link: &Link) -> Result<Option<&'a Secret>, Missing> {
        self.of_link(Item::credentials_of(link))
    }

    /// The Secret of the same name in the control plane's namespace. Only read if a Service takes its
    /// endpoints from another cluster.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn link_secret_copy(&self, link: &Link) -> Result<Option<&'a Secret>, Missing> {
        self.of_link(Item::copy_of_credentials(link, &self.namespaces().control_plane))
    }

    /// As [`Context::link_secret_copy`], the Secret with the name that the CLI gives it.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn usual_link_secret_copy(&self, link: &Link) -> Result<Option<&'a Secret>, Missing> {
        self.of_link(Item::usual_copy_of_credentials(link, &self.namespaces().control_plane))
    }

    fn of_link(&self, item: Item) -> Result<Option<&'a Secret>, Missing> {
        self.declared(&link_credentials())?;
        self.discovered(item)
    }

    /// An object whose name other objects contain; `None` if it is known not to exist.
    fn discovered<T: Object>(&self, item: Item) -> Result<Option<&'a T>, Missing> {
        let Some(answer) = self.cluster.answer(&item) else {
            let namespace = item.scope().map(|scope| scope.label().to_owned());
            return Err(Missing::whole(Request { item, namespace }, Why::NotCaptured));
        };
        match &answer.fetched {
            Fetched::Missing { reason } => Err(Missing::whole(answer.request.clone(), reason.clone())),
            Fetched::Complete | Fetched::Partial { .. } => {
                answer.objects::<T>().first().map(|found| unless_withheld(answer, found)).transpose()
            }
        }
    }

    /// A ConfigMap that the arguments of an ingress controller name; `None` if it is known not to exist.
    ///
    /// # Errors
    /// Its existence is unknown.
    pub fn controller_config(&self, namespace: &str, name: &str) -> Result<Option<&'a ConfigMap>, Missing> {
        self.declared(&controller_config())?;
        self.discovered(controller_config_of(namespace, name))
    }

    /// The certificates that the pods of a server presented.
    ///
    /// # Errors
    /// They were not queried, or could not be.
    pub fn served(&self, server: Server) -> Result<&'a [ServedBy], Missing> {
        let (answer, _) = self.answer(Item::Served(server))?;
        Ok(answer.objects::<ServedCertificates>().first().map_or(&[], |served| served.pods.as_slice()))
    }

    /// The API server's version.
    ///
    /// # Errors
    /// It is not known.
    pub fn server_version(&self) -> Result<&'a K8sVersion, Missing> {
        self.declared(&Item::ServerVersion)?;
        if let Some(version) = self.upgraded().and_then(|upgrade| upgrade.kubernetes.as_ref()) {
            return Ok(version);
        }
        self.cluster
            .server_version
            .as_ref()
            .map_err(|why| Missing::whole(Request::new(Item::ServerVersion), why.clone()))
    }

    /// The version of the operator's own `linkerd` command.
    ///
    /// # Errors
    /// It is not known.
    pub fn cli_version(&self) -> Result<&'a LinkerdVersion, Missing> {
        self.declared(&Item::CliVersion)?;
        self.cluster
            .cli_version
            .as_ref()
            .map_err(|why| Missing::whole(Request::new(Item::CliVersion), why.clone()))
    }

    /// The extension commands on PATH, `linkerd-NAME`; `None` if the CLI was not run.
    pub fn cli_extensions(&self) -> Option<&'a [String]> {
        self.declared(&Item::CliVersion).ok()?;
        self.cluster.cli_extensions.as_deref()
    }

    /// The nodes with evidence, if any: for optional use.
    pub fn snapshot_hints(&self) -> &'a [NodeSnapshot] {
        match self.declared(&Item::NodeFiles) {
            Ok(()) => self.cluster.nodes.as_deref().unwrap_or_default(),
            Err(_) => &[],
        }
    }

    /// The nodes with evidence, as [`Context::for_steps`].
    pub(super) fn snapshots_for_steps(&self) -> &'a [NodeSnapshot] {
        self.cluster.nodes.as_deref().unwrap_or_default()
    }

    /// The provided logs, if any: for optional use.
    pub fn log_hints(&self) -> &'a [Log] {
        self.answer(Item::Logs).map_or(&[], |(answer, _)| answer.objects())
    }

    /// The provided logs. Unreadable ones are noted as a gap.
    ///
    /// # Errors
    /// No logs were provided.
    pub fn logs(&self) -> Result<&'a [Log], Missing> {
        self.user_provided(Item::Logs, "some of them")
    }

    /// The provided output of `linkerd diagnostics`.
    ///
    /// # Errors
    /// None was provided.
    pub fn diagnostics(&self) -> Result<&'a [Diagnostic], Missing> {
        self.user_provided(Item::Diagnostics, "some of it")
    }

    /// The same as detail of a finding; empty if it is missing.
    pub fn diagnostics_hint(&self) -> &'a [Diagnostic] {
        self.answer(Item::Diagnostics).map_or(&[], |(answer, _)| answer.objects())
    }

    /// Evidence that is never read from a cluster: it is provided or missing. Unreadable parts are noted as
    /// this part.
    fn user_provided<T: Object>(&self, item: Item, part: &str) -> Result<&'a [T], Missing> {
        let (answer, reasons) = self.answer(item).map_err(|missing| match missing.why {
            Why::NotCaptured => Missing { why: Why::NotOffered, ..missing },
            _ => missing,
        })?;
        for why in reasons {
            self.gap(Missing::part(answer.request.clone(), why.clone(), part));
        }
        Ok(answer.objects())
    }

    /// The nodes with evidence. Unreadable evidence is noted as a gap.
    ///
    /// # Errors
    /// No node evidence was provided.
    pub fn snapshots(&self) -> Result<&'a [NodeSnapshot], Missing> {
        self.declared(&Item::NodeFiles)?;
        for why in &self.cluster.node_trouble {
            self.gap(Missing::whole(Request::new(Item::NodeFiles), why.clone()));
        }
        match &self.cluster.nodes {
            // An empty folder for node files covers no node: no check passes because of it.
            Ok(nodes) if nodes.is_empty() => {
                let why = self.cluster.node_trouble.first().cloned().unwrap_or(Why::NotOffered);
                Err(Missing::whole(Request::new(Item::NodeFiles), why))
            }
            Ok(nodes) => Ok(nodes),
            Err(why) => Err(Missing::whole(Request::new(Item::NodeFiles), why.clone())),
        }
    }
}

/// The reason for refusing evidence that the card does not declare.
fn undeclared() -> Why {
    Why::Failed { message: UNDECLARED.to_owned() }
}

/// Whether an answer is from manifests.
fn is_of_manifests(answer: &crate::model::Answer) -> bool {
    match &answer.fetched {
        Fetched::Partial { reasons } => reasons.contains(&Why::NotInManifests),
        Fetched::Complete | Fetched::Missing { .. } => false,
    }
}
