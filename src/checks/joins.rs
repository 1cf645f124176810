//! Joins that several checks use, computed once per run by the first check that needs them. All users
//! declare the same items on their cards, so the result is the same; evidence missing at that time is a gap
//! of every user.

use std::cell::OnceCell;

use super::pod_owners::Maker;
use super::refused::Refused;
use super::restart::Rollouts;
use super::{Context, Unjudged, annotations, cni, data_plane, native_sidecar, policy};
use crate::missing::Missing;
use crate::model::owners::Owners;
use crate::model::skipped::CniSkips;

/// A join, and the gaps noted when it was computed.
pub(super) type Join<T> = OnceCell<(T, Vec<Missing>)>;

/// The joins of one run.
#[derive(Default)]
pub struct Joins<'a> {
    /// Maps pods to the workloads that users created.
    pub(super) owners: Join<Owners<'a>>,
    /// How workloads get new pods.
    pub(super) rollouts: Join<Rollouts<'a>>,
    /// Workloads whose pods the API server refuses.
    pub(super) refusals: Join<Vec<Refused<'a>>>,
    /// What makes pods.
    pub(super) makers: Join<Vec<Maker<'a>>>,
    /// Problems of annotations and labels; `None` if nothing reads them.
    pub(super) annotations: Join<Option<annotations::Survey<'a>>>,
    /// Problems of the native-sidecar keys.
    pub(super) native_sidecar: Join<native_sidecar::Survey<'a>>,
    /// Inbound policy and its objects.
    pub(super) policy: Join<Result<policy::Survey<'a>, Unjudged>>,
    /// The results for single policy objects.
    pub(super) policy_objects: Join<Result<policy::Survey<'a>, Unjudged>>,
    /// The ports and ranges that linkerd-cni skips.
    pub(super) cni_skips: Join<CniSkips>,
    /// The pods that Services select.
    pub(super) selected: Join<data_plane::Selected<'a>>,
    /// The pods that linkerd-cni refuses.
    pub(super) refused: cni::RefusedAdds<'a>,
}

impl<'a> Context<'a> {
    /// A join of the run: the first check that needs it calls `build`.
    pub(super) fn get_or_build<T>(&self, join: &'a Join<T>, build: impl FnOnce(&Context<'a>) -> T) -> &'a T {
        let (built, gaps) = join.get_or_init(|| {
            let aside = self.aside();
            let built = build(&aside);
            (built, aside.into_gaps())
        });
        gaps.iter().cloned().for_each(|gap| self.gap(gap));
        built
    }
}
