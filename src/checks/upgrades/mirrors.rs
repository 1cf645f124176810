//! The controllers of links on the way to a release: which of them the release replaces, and by what.

use crate::checks::Context;
use crate::checks::multicluster::links::made_by_chart;
use crate::command::{Line, helm_set, kubectl};
use crate::item::EXTENSION_LABEL;
use crate::knowledge::MirrorKind;
use crate::model::owners::Owner;
use crate::objects::service::MIRRORS_CLUSTER;
use crate::objects::{Deployment, Namespace};
use crate::version::{Contains, LinkerdVersion};

/// A controller that the CLI made, and the one that the chart makes in its place.
pub(super) struct Successor<'a> {
    namespace: &'a str,
    before: &'a str,
    name: String,
    link: &'a str,
}

impl Successor<'_> {
    /// Whether a workload is the one that goes.
    pub(super) fn replaces(&self, owner: &Owner) -> bool {
        owner.kind == "Deployment" && owner.namespace == self.namespace && owner.name == self.before
    }

    /// The line that restarts the one that comes.
    pub(super) fn restart(&self) -> Line {
        let target = format!("deployment/{}", self.name);
        kubectl().namespace(self.namespace).words("rollout restart").operand(target).into()
    }
}

/// The controllers that the CLI made and that the chart of a release makes. Reads `deployments.apps`.
pub(super) fn successors<'a>(ctx: &Context<'a>, release: &LinkerdVersion) -> Vec<Successor<'a>> {
    if made_by_chart(ctx, release) != Contains::Yes {
        return Vec::new();
    }
    let mirrors = ctx.knowledge.extensions().service_mirrors();
    let kind = |kind: MirrorKind| mirrors.iter().find(move |mirror| mirror.kind == kind);
    let Some((legacy, managed)) = kind(MirrorKind::Legacy).zip(kind(MirrorKind::Managed)) else {
        return Vec::new();
    };
    let deployments = ctx.hints::<Deployment>().iter();
    let found = deployments.filter_map(|one| {
        let meta = &one.metadata;
        let cluster = meta.label(MIRRORS_CLUSTER)?;
        let is_legacy = meta.label("component") == Some(&legacy.component);
        // A controller of the chart is called like its account.
        is_legacy.then(|| Successor {
            namespace: &meta.namespace,
            before: &meta.name,
            name: managed.service_account.replace("{cluster}", cluster),
            link: cluster,
        })
    });
    found.collect()
}

/// The settings with which the chart makes these controllers.
pub(super) fn settings<'s>(successors: &'s [Successor<'_>]) -> impl Iterator<Item = String> + 's {
    let set =
        |(at, one): (usize, &Successor<'_>)| helm_set(&format!("controllers[{at}].link.ref.name"), one.link);
    successors.iter().enumerate().map(set)
}

/// Whether the multicluster extension is installed and a release expects another version of links. Reads `namespaces`.
pub(super) fn link_version_changes(ctx: &Context<'_>, from: &LinkerdVersion, to: &LinkerdVersion) -> bool {
    let namespaces = ctx.hints::<Namespace>().iter();
    let mut named = namespaces.filter(|one| one.metadata.label(EXTENSION_LABEL) == Some("multicluster"));
    let version = |release| ctx.knowledge.extensions().link_version(release, ctx.knowledge.minors());
    named.next().is_some() && version(from) != version(to)
}
