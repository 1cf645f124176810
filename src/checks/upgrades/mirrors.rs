//! Link controllers on the way to a release: the controllers that the extension's chart creates, and the ones
//! of the CLI that they replace.

use std::collections::BTreeMap;

use super::phases::Phase;
use crate::card::Part;
use crate::checks::multicluster::links::{link_again_with, made_by_chart, single_controller, unlink_controller};
use crate::checks::prelude::*;
use crate::checks::upgrade::guarded;
use crate::command::{Call, Line, helm_set, meshdoctor};
use crate::item::EXTENSION_LABEL;
use crate::knowledge::MirrorKind;
use crate::objects::Link;
use crate::objects::service::MIRRORS_CLUSTER;
use crate::version::Contains;

/// A controller of a Link as the chart creates it.
pub(in crate::checks) struct ChartController<'a> {
    namespace: &'a str,
    link: &'a str,
    name: String,
    /// The Deployment that `linkerd multicluster link` created for the same Link.
    legacy: Option<&'a str>,
}

impl<'a> ChartController<'a> {
    /// The Deployment of the CLI that it replaces, if any.
    pub(super) fn legacy(&self) -> Option<&'a str> {
        self.legacy
    }

    /// Whether a workload is the controller of the CLI that it replaces.
    pub(super) fn replaces(&self, owner: &Owner) -> bool {
        owner.kind == "Deployment" && owner.namespace == self.namespace && Some(owner.name.as_str()) == self.legacy
    }

    fn rollout(&self, verb: &'static str) -> Call {
        kubectl().namespace(self.namespace).words(verb).operand(format!("deployment/{}", self.name))
    }

    /// The line that restarts it.
    pub(super) fn restart(&self) -> Line {
        self.rollout("rollout restart").into()
    }
}

/// The controllers that the chart of a release creates: one for each Link, and for each existing controller.
/// Empty if the CLI creates them in that release. Reads `deployments.apps`.
pub(in crate::checks) fn chart_controllers<'a>(
    ctx: &Context<'a>,
    release: &LinkerdVersion,
) -> Vec<ChartController<'a>> {
    if made_by_chart(ctx, release) != Contains::Yes {
        return Vec::new();
    }
    let mirrors = ctx.knowledge.extensions().service_mirrors();
    let kind = |kind: MirrorKind| mirrors.iter().find(move |mirror| mirror.kind == kind);
    let Some((legacy, managed)) = kind(MirrorKind::Legacy).zip(kind(MirrorKind::Managed)) else {
        return Vec::new();
    };
    let mut found: BTreeMap<&str, ChartController<'a>> = BTreeMap::new();
    // The chart names a controller like its ServiceAccount.
    let new = |namespace: &'a str, link: &'a str| ChartController {
        namespace,
        link,
        name: managed.service_account.replace("{cluster}", link),
        legacy: None,
    };
    for deployment in ctx.optional_list::<Deployment>() {
        let meta = &deployment.metadata;
        let Some(link) = meta.label(MIRRORS_CLUSTER) else { continue };
        let component = meta.label("component");
        let is_legacy = component == Some(&legacy.component);
        if is_legacy || component == Some(&managed.component) {
            let controller = found.entry(link).or_insert_with(|| new(&meta.namespace, link));
            if is_legacy {
                controller.legacy = Some(&meta.name);
            }
        }
    }
    for link in ctx.for_steps::<Link>() {
        let cluster = link.spec.target_cluster_name.as_str();
        found.entry(cluster).or_insert_with(|| new(&link.metadata.namespace, cluster));
    }
    found.into_values().collect()
}

/// The chart values that create these controllers, as arguments of `--set`.
pub(in crate::checks) fn settings<'s>(controllers: &'s [ChartController<'_>]) -> impl Iterator<Item = String> + 's {
    let set =
        |(at, one): (usize, &ChartController<'_>)| helm_set(&format!("controllers[{at}].link.ref.name"), one.link);
    controllers.iter().enumerate().map(set)
}

/// Whether the multicluster extension is installed. Reads `namespaces`.
fn is_installed(ctx: &Context<'_>) -> bool {
    let name = Some(Extension::Multicluster.name());
    ctx.optional_list::<Namespace>().iter().any(|one| one.metadata.label(EXTENSION_LABEL) == name)
}

/// Whether the multicluster extension is installed and a release expects another version of links. Reads `namespaces`.
pub(super) fn link_version_changes(ctx: &Context<'_>, from: &LinkerdVersion, to: &LinkerdVersion) -> bool {
    let version = |release| ctx.knowledge.extensions().link_version(release, ctx.knowledge.minors());
    is_installed(ctx) && version(from) != version(to)
}

/// Adds the step that waits for the controllers of the chart.
pub(super) fn awaited(remedy: Remedy, controllers: &[ChartController<'_>]) -> Remedy {
    if controllers.is_empty() {
        return remedy;
    }
    let wait = |one: &ChartController<'_>| Line::from(one.rollout("rollout status").words("--timeout=10m"));
    remedy.command("Wait for the controllers of the links", Command::lines(controllers.iter().map(wait)))
}

/// The phase that follows the upgrade of the multicluster extension: the Links of the release, then the
/// removal of controllers that the CLI created. `None` without that extension. Reads `namespaces` and
/// `deployments.apps`.
pub(super) fn phase(ctx: &Context<'_>, to: &LinkerdVersion) -> Option<Phase> {
    if !is_installed(ctx) {
        return None;
    }
    let makes = made_by_chart(ctx, to);
    let controllers = chart_controllers(ctx, to);
    if ctx.every_for_steps::<Link>().is_some_and(<[Link]>::is_empty) && controllers.is_empty() {
        return None;
    }
    let mut links = ctx.for_steps::<Link>().to_vec();
    if links.is_empty() {
        // Links that were not read, by their controllers.
        links.extend(controllers.iter().map(|one| {
            let mut link = Link::default();
            link.metadata.namespace = one.namespace.into();
            link.spec.target_cluster_name = one.link.into();
            link
        }));
    }
    let remedy = match links.as_slice() {
        [] => Remedy::new().note(
            "Create each Link again, with the CLI of this release and the existing link names: \
             https://linkerd.io/2/tasks/upgrading-multicluster/",
        ),
        _ => links.iter().fold(Remedy::new(), |remedy, link| link_again_with(remedy, link, makes, Some(to))),
    };
    let replaced: Vec<&ChartController<'_>> = controllers.iter().filter(|one| one.legacy().is_some()).collect();
    let remedy = replaced.iter().fold(remedy, |remedy, one| {
        remedy.command(single_controller(one.link), guarded(Some(to), unlink_controller(one.namespace, one.link)))
    });
    let remedy = remedy
        .shown_by(meshdoctor().words("check --only").arg(Extension::Multicluster.name()).words("--fail-on warning"));
    Some(Phase { title: format!("Links of {to}"), part: Part::Links, release: Some(to.clone()), remedy })
}
