//! What several checks join from the same objects: built once for a run, by the first check that asks. Each reader reads it
//! with the same items on its card, so it would build the same; what was only partly there when it was built is a gap of
//! every reader.

use std::cell::OnceCell;

use super::makers::Maker;
use super::refused::Refused;
use super::restart::Rollouts;
use super::{Context, Unjudged, annotations, cni, data_plane, native_sidecar, policy};
use crate::missing::Missing;
use crate::model::owners::Owners;

/// A join, and what was partly missing when it was built.
pub(super) type Join<T> = OnceCell<(T, Vec<Missing>)>;

/// The joins of one run.
#[derive(Default)]
pub struct Joins<'a> {
    /// From pods to what people made.
    pub(super) owners: Join<Owners<'a>>,
    /// How workloads get new pods.
    pub(super) rollouts: Join<Rollouts<'a>>,
    /// Workloads whose pods the API server refuses.
    pub(super) refusals: Join<Vec<Refused<'a>>>,
    /// What makes pods.
    pub(super) makers: Join<Vec<Maker<'a>>>,
    /// What is wrong with annotations and labels; `None` where nothing reads them.
    pub(super) annotations: Join<Option<annotations::Survey<'a>>>,
    /// What is wrong with the keys of native sidecars.
    pub(super) native_sidecar: Join<native_sidecar::Survey<'a>>,
    /// Inbound policy, and what it is about.
    pub(super) policy: Join<Result<policy::Survey<'a>, Unjudged>>,
    /// Policy objects, each by itself.
    pub(super) policy_objects: Join<Result<policy::Survey<'a>, Unjudged>>,
    /// Which pods Services select.
    pub(super) selected: Join<data_plane::Selected<'a>>,
    /// The pods that linkerd-cni refuses.
    pub(super) refused: cni::Refused<'a>,
}

impl<'a> Context<'a> {
    /// A join of the run: `build` is called by the first check that asks.
    pub(super) fn once<T>(&self, join: &'a Join<T>, build: impl FnOnce(&Context<'a>) -> T) -> &'a T {
        let (built, gaps) = join.get_or_init(|| {
            let aside = self.aside();
            let built = build(&aside);
            (built, aside.into_gaps())
        });
        gaps.iter().cloned().for_each(|gap| self.gap(gap));
        built
    }
}
