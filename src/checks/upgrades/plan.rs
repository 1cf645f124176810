//! The plan of an upgrade: what is done in which order, one release after the other, with the commands that fit how Linkerd was
//! installed, and how each step is seen to have worked. Made from the same evidence as the findings.

use super::reached::Reached;
use super::release;
use crate::checks::cni::chart::onto;
use crate::checks::restart;
use crate::checks::upgrade;
use crate::checks::versions::cli_install::install;
use crate::checks::versions::gateway_api::{bring, stored_again};
use crate::checks::{Context, Upgrade};
use crate::command::{linkerd, meshdoctor};
use crate::finding::{Remedy, StepKind};
use crate::item::EXTENSION_LABEL;
use crate::knowledge::ReleaseRow;
use crate::objects::Namespace;
use crate::version::{Channel, LinkerdVersion};

/// The bundle that is taken before.
const BEFORE: &str = "before-upgrade.tar.gz";
/// What is asked after the data plane has followed.
const DATA_PLANE: &str = "data-plane-skew,proxy-not-ready,pod-missing-proxy";

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its phases, in order.
    pub phases: Vec<Phase>,
}

/// A phase: what belongs together, and what shows that it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// What it is about: `Control plane to edge-26.6.3`.
    pub title: String,
    /// The steps, and what verifies them.
    pub remedy: Remedy,
}

/// The plan from what is installed to the target. `None` for what is no upgrade to a later minor or release.
pub(in crate::checks) fn plan(ctx: &Context<'_>, upgrade: &Upgrade) -> Option<Plan> {
    let from = super::Way::of(ctx).ok()?.from;
    if from.same_release(&upgrade.to) {
        return None;
    }
    let mut phases = vec![before()];
    let data_plane = data_plane(ctx);
    let mut reached = Reached::now(ctx);
    for release in hops(ctx, &from, &upgrade.to)? {
        hop(ctx, &release, &mut reached, &mut phases);
        phases.push(Phase { title: format!("Data plane to {release}"), remedy: data_plane.clone() });
    }
    phases.push(back(ctx, &from));
    let connection = &ctx.settings.rerun.connection;
    phases.iter_mut().for_each(|phase| phase.remedy = std::mem::take(&mut phase.remedy).aimed(connection));
    Some(Plan { phases })
}

/// The releases that are gone to, one after the other; `None` where the target is behind.
pub(super) fn hops(
    ctx: &Context<'_>,
    from: &LinkerdVersion,
    to: &LinkerdVersion,
) -> Option<Vec<LinkerdVersion>> {
    let table = ctx.knowledge.minors();
    let (first, last) = (from.minor(table)?, to.minor(table)?);
    if last < first || to.cmp_same_channel(from).is_some_and(std::cmp::Ordering::is_lt) {
        return None;
    }
    let between = |row: &&ReleaseRow| row.minor > first && row.minor < last;
    let rows = ctx.knowledge.releases().rows().iter().filter(between);
    Some(rows.map(ReleaseRow::release).chain([to.clone()]).collect())
}

fn before() -> Phase {
    let remedy = Remedy::new()
        .step(StepKind::Note, "Deal with what is to be repaired, and with what the upgrade will break")
        .run(
            StepKind::Command,
            "Keep what is there now, to compare with and to go back to",
            meshdoctor().words("collect --output").arg(BEFORE),
        );
    Phase { title: "Before".to_owned(), remedy }
}

fn hop(ctx: &Context<'_>, to: &LinkerdVersion, reached: &mut Reached, phases: &mut Vec<Phase>) {
    phases.extend(gateway_api(ctx, to, reached));
    let act = format!("Install the linkerd CLI {to}");
    let remedy = match to.channel() {
        Channel::Edge | Channel::Stable => Remedy::new().run(StepKind::Command, act, install(to)),
        _ => Remedy::new().step(StepKind::Command, format!("{act}, from the vendor it comes from")),
    };
    let remedy = upgrade::crds(ctx, remedy, &format!("Bring the CRDs of {to}"), to, false);
    let remedy = remedy.shown_by(
        meshdoctor().words("check --crds --expected-version").arg(to.to_string()).words("--only crd-missing"),
    );
    phases.push(Phase { title: format!("CLI and CRDs of {to}"), remedy });

    phases.extend(linkerd_cni(ctx, to, reached));

    let remedy = release::control_plane(ctx, Remedy::new(), to);
    let checked = linkerd().control_plane(&ctx.namespaces().control_plane).words("check");
    let remedy = remedy
        .run(StepKind::Command, "Have Linkerd check itself", checked)
        .shown_by(meshdoctor().words("check --expected-version").arg(to.to_string()));
    phases.push(Phase { title: format!("Control plane to {to}"), remedy });

    let namespaces = ctx.hints::<Namespace>();
    let extensions = namespaces.iter().filter_map(|namespace| namespace.metadata.label(EXTENSION_LABEL));
    let mut names: Vec<&str> = extensions.collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        let remedy =
            names.iter().fold(Remedy::new(), |remedy, name| release::extension(ctx, remedy, name, to));
        phases.push(Phase { title: format!("Extensions to {to}"), remedy });
    }
}

/// What brings the data plane along, the same after each control plane.
fn data_plane(ctx: &Context<'_>) -> Remedy {
    let act = "Restart what is meshed, a namespace at a time: each pod gets the new proxy when it is created";
    restart::all_meshed(ctx, Remedy::new(), act)
        .shown_by(meshdoctor().words("check --only").arg(DATA_PLANE).words("--fail-on warning"))
}

/// linkerd-cni, where it is installed and older than what comes with the release or was named with `--to-cni`.
fn linkerd_cni(ctx: &Context<'_>, to: &LinkerdVersion, reached: &mut Reached) -> Option<Phase> {
    let plugin = reached.next_plugin(ctx, to)?;
    let remedy = Remedy::new().run(
        StepKind::Command,
        format!("See what linkerd-cni {plugin} changes on these nodes"),
        meshdoctor()
            .words("check --to-cni")
            .arg(plugin.to_string())
            .words("--only cni-plugin-upgrade-hazard"),
    );
    let remedy = match ctx.knowledge.cni_plugin().is_beyond(&plugin) {
        true => remedy.step(
            StepKind::Note,
            format!("What {plugin} brings is not known here: read its notes, and try it on one node first"),
        ),
        false => remedy,
    };
    let remedy = onto(ctx, remedy, &plugin, to).shown_by(meshdoctor().words("check --only cni"));
    Some(Phase { title: format!("linkerd-cni to {plugin}"), remedy })
}

/// The Gateway API, where what is there by then is too old for the release, and its charts do not bring it.
fn gateway_api(ctx: &Context<'_>, to: &LinkerdVersion, reached: &mut Reached) -> Option<Phase> {
    let step = reached.next_gateway_api(ctx, to)?;
    let remedy = match step.stored_as_alpha {
        Some(grpc) => stored_again(Remedy::new(), grpc, step.stores_v1),
        None => Remedy::new(),
    };
    let remedy = bring(ctx, remedy, Some(step.definition), step.wanted).shown_by(
        meshdoctor()
            .words("check --to")
            .arg(to.to_string())
            .words("--only gateway-api-missing,gateway-api-unsupported"),
    );
    Some(Phase { title: format!("Gateway API for {to}, which finds v{}", step.there), remedy })
}

fn back(ctx: &Context<'_>, from: &LinkerdVersion) -> Phase {
    let remedy = Remedy::new().step(
        StepKind::Note,
        "Until the data plane restarts, the control plane alone can go back: proxies of the older release are still there",
    );
    let remedy = match upgrade::managed_by(ctx).release() {
        Some(_) => remedy.step(
            StepKind::Note,
            format!("Then apply the chart of {from} again with the values it had, rather than helm rollback of the CRDs"),
        ),
        None => remedy.step(StepKind::Note, format!("Then apply the control plane of {from} again, with its own CLI or chart")),
    };
    let remedy = remedy.step(
        StepKind::Note,
        "Leave the CRDs of the newer release: taking a definition away takes its objects with it. Once pods run the newer proxy, \
         take the data plane back first, which Linkerd has no procedure for",
    );
    Phase { title: "The way back".to_owned(), remedy }
}
