//! Lists of objects, as far as they are available.

use super::Context;
use crate::card::Requirement;
use crate::chart::values::Values;
use crate::fetched::{Fetched, Why, left_out};
use crate::item::{Item, Kind, Scope};
use crate::missing::Missing;
use crate::model::control_plane::components;
use crate::objects::{ConfigMap, DaemonSet, Deployment, KindOf, Listed, Object, StatefulSet, Workload, is_built_in};

/// Maximum number of unreadable objects of a list that a gap of a check names.
const UNREAD_NAMED: usize = 3;

/// Whether an answer is from manifests.
fn is_of_manifests(answer: &crate::model::Answer) -> bool {
    match &answer.fetched {
        Fetched::Partial { reasons } => reasons.contains(&Why::NotInManifests),
        Fetched::Complete | Fetched::Missing { .. } => false,
    }
}

impl<'a> Context<'a> {
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
    pub(in crate::checks) fn lacks_objects_in_manifests(&self) -> bool {
        if self.has_value_keys.get() {
            return false;
        }
        let answers: Vec<_> =
            self.card.front.needs.iter().filter_map(|item| Some((item.kind()?, self.cluster.answer(item)?))).collect();
        let of_manifests = answers.iter().any(|(_, answer)| is_of_manifests(answer));
        let has_custom = answers.iter().any(|(kind, _)| !is_built_in(*kind));
        let about = answers.iter().filter(|(kind, _)| !has_custom || !is_built_in(*kind));
        let none = about.map(|(_, answer)| answer.count()).sum::<usize>() == 0;
        of_manifests && (none || (!has_custom && self.lacks_its_control_plane()))
    }

    /// Whether the objects of a kind are only in manifests: no cluster is read.
    pub(in crate::checks) fn is_only_in_manifests(&self, kind: Kind) -> bool {
        self.cluster.answer(&Item::List(kind)).is_some_and(is_of_manifests)
    }

    /// Whether the check requires a control plane and the objects contain none.
    fn lacks_its_control_plane(&self) -> bool {
        self.card.front.requires.contains(&Requirement::ControlPlane)
            && components(self.optional_list::<Deployment>(), &self.cluster.namespaces.control_plane).is_empty()
    }

    /// Notes that more objects of a list may exist. Manifests are the whole subject of their run: other
    /// objects are not part of it.
    fn gaps_of_list(&self, answer: &crate::model::Answer, reasons: &[Why]) {
        let some = |why: Why| Missing::part(answer.request.clone(), why, "some of them");
        let known = reasons.iter().filter(|why| **why != Why::NotInManifests);
        let (unread, others): (Vec<&Why>, Vec<&Why>) = known.partition(|why| matches!(why, Why::Malformed { .. }));
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
    pub(in crate::checks) fn seen_or_gap<K: Listed>(&self) -> &'a [K::Object] {
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
    pub(in crate::checks) fn whole(&self, kind: crate::item::Kind) -> Result<&'a [serde_json::Value], Missing> {
        let (answer, reasons) = self.answer(Item::List(kind))?;
        self.gaps_of_list(answer, reasons);
        Ok(answer.whole())
    }

    /// The available objects of a kind, possibly none. For optional evidence: absence from this list proves
    /// nothing.
    pub fn optional_list<K: Listed>(&self) -> &'a [K::Object] {
        self.answer(Item::List(K::LIST.kind())).map_or(&[], |(answer, _)| answer.objects())
    }

    /// A Deployment, StatefulSet or DaemonSet by kind, namespace and name, as [`Context::for_steps`].
    pub(in crate::checks) fn workload_for_steps(&self, kind: &str, key: (&str, &str)) -> Option<(Kind, &'a Workload)> {
        let (kind, list) = match kind {
            "Deployment" => (Kind::Deployment, self.for_steps::<Deployment>()),
            "StatefulSet" => (Kind::StatefulSet, self.for_steps::<StatefulSet>()),
            "DaemonSet" => (Kind::DaemonSet, self.for_steps::<DaemonSet>()),
            _ => return None,
        };
        Some((kind, list.iter().find(|one| one.metadata.key() == key)?))
    }

    /// The objects of a kind that were read for any check of the run. Only the wording of steps may depend on
    /// them, so cards do not declare them.
    pub(in crate::checks) fn for_steps<K: Listed>(&self) -> &'a [K::Object] {
        self.cluster.list::<K>()
    }

    /// All objects of a kind, as [`Context::for_steps`]; `None` if more may exist.
    pub(in crate::checks) fn every_for_steps<K: Listed>(&self) -> Option<&'a [K::Object]> {
        let answer = self.cluster.answer(&Item::List(K::LIST.kind()))?;
        (answer.fetched == Fetched::Complete).then(|| answer.objects())
    }

    /// A named object of the control plane's namespace, as [`Context::for_steps`].
    pub(in crate::checks) fn named_for_steps<K: Listed>(&self, name: &str) -> Option<&'a K::Object> {
        let item = Item::named(K::LIST.kind(), Scope::ControlPlane, name);
        self.cluster.answer(&item)?.objects().first()
    }

    /// The chart values of the control plane in `linkerd-config`, as [`Context::for_steps`].
    pub(in crate::checks) fn values_for_steps(&self) -> Option<Values> {
        self.named_for_steps::<ConfigMap>("linkerd-config").and_then(ConfigMap::chart_values)
    }

    /// Whether a named object of the control plane's namespace is known not to exist, as [`Context::for_steps`].
    pub(in crate::checks) fn is_absent_for_steps<K: Listed>(&self, name: &str) -> bool {
        let item = Item::named(K::LIST.kind(), Scope::ControlPlane, name);
        let answer = self.cluster.answer(&item);
        answer.is_some_and(|answer| answer.fetched == Fetched::Complete && answer.count() == 0)
    }
}
