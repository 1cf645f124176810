//! Until 2.11 one Helm chart, linkerd2, contained the CRDs and the control plane. The upgrade to 2.12 gives its objects
//! to two new releases, which Helm then adopts: an upgrade of the old release would delete what the new chart lacks.
//! Source: Linkerd's upgrade notes of 2.12.

use crate::annotations::{HELM_NAMESPACE, HELM_RELEASE};
use crate::checks::prelude::*;
use crate::checks::upgrade::{
    CONTROL_PLANE, CRDS_CHART, Chart, chart_number, chart_of, is_one_chart, managed_by, release_of_crds,
};
use crate::command::{Call, Line, helm, program};
use crate::model::managed_by::{Installer, ManagedBy, Release};
use crate::objects::CustomResourceDefinition;

/// The file with the values of the old release.
const VALUES: &str = "linkerd2-values.yaml";
/// The file with its manifest, for a return to it.
pub(super) const MANIFEST: &str = "linkerd2-manifest.yaml";
/// The CRD that belongs to the SMI extension since 2.12.
pub(super) const TRAFFIC_SPLITS: &str = "trafficsplits.split.smi-spec.io";
/// The CRDs of the chart linkerd2 of 2.11.
const CRDS_OF_2_11: [&str; 3] =
    ["serverauthorizations.policy.linkerd.io", "servers.policy.linkerd.io", "serviceprofiles.linkerd.io"];

/// The Helm release of the chart linkerd2, if the installed release has that chart and no GitOps controller manages it.
pub(super) fn old_release<'a>(ctx: &Context<'a>) -> Option<Release<'a>> {
    let from = super::Upgrade::from_context(ctx).ok()?.from;
    let by = managed_by(ctx);
    match by.installer {
        Some(Installer::Release(release)) if by.gitops.is_none() => {
            let is_whole = release_of_crds(ctx).is_none_or(|crds| crds == release);
            (is_whole && is_one_chart(ctx.knowledge, &from)).then_some(release)
        }
        _ => None,
    }
}

/// The release of a new chart, which the upgrade to 2.12 installs.
pub(super) fn new_release<'a>(ctx: &Context<'a>, chart: Chart) -> Release<'a> {
    Release { name: chart.0, namespace: ctx.namespaces().control_plane.as_str() }
}

fn owned_by<'a>(call: Call, release: Release<'a>) -> Call {
    call.arg(format!("{HELM_RELEASE}={}", release.name)).arg(format!("{HELM_NAMESPACE}={}", release.namespace))
}

/// The command that installs a chart as a new release, after the lines that it needs.
fn install(
    ctx: &Context<'_>,
    lines: &mut Vec<Line>,
    (to, chart): (&LinkerdVersion, Chart),
    release: Release<'_>,
) -> Call {
    let reference = chart_of(ctx.knowledge, lines, Some(to), chart);
    let version = chart_number(ctx.knowledge, chart.0, to);
    let version = version.map_or_else(|| Arg::placeholder("CHART_VERSION"), Arg::from);
    let install = helm().words("install").operand(release.name).operand(reference);
    install.namespace(release.namespace).option("--version", version)
}

/// Adds the steps that give the objects of the old release to the new ones, and install the CRDs' chart.
pub(super) fn crds(ctx: &Context<'_>, remedy: Remedy, old: Release<'_>, to: &LinkerdVersion) -> Remedy {
    let private = |file| Line::from(program("install").words("-m 600 /dev/null").arg(file));
    let get = |what: &'static str| helm().words("get").words(what).operand(old.name).namespace(old.namespace);
    let of_old = |one: &&CustomResourceDefinition| {
        ManagedBy::from_labels(&one.metadata.labels, &one.metadata.annotations).release() == Some(old)
    };
    let held: Vec<&str> = ctx
        .for_steps::<CustomResourceDefinition>()
        .iter()
        .filter(of_old)
        .map(|one| one.metadata.name.as_str())
        .collect();
    let own: Vec<&str> = held.iter().copied().filter(|name| name.ends_with(".linkerd.io")).collect();
    let own = if own.is_empty() { CRDS_OF_2_11.to_vec() } else { own };
    let annotate = || kubectl().words("annotate --overwrite");
    let all = owned_by(annotate().words("-f").arg(MANIFEST), new_release(ctx, CONTROL_PLANE));
    let crds = owned_by(annotate().words("crd").operands(own), new_release(ctx, CRDS_CHART));
    let remedy = remedy
        .command(
            "Save the values and the manifest of the old release. The files can hold the issuer's key",
            Command::lines([
                private(VALUES),
                get("values").words("-o yaml").to_file(VALUES),
                private(MANIFEST),
                get("manifest").to_file(MANIFEST),
            ])
            .whole(),
        )
        .command(
            format!(
                "Give the objects of release {} to the two new releases. Errors about objects that no longer exist \
                 do no harm",
                old.name
            ),
            Command::lines([all, crds]).whole(),
        );
    let remedy = match held.contains(&TRAFFIC_SPLITS) {
        true => traffic_splits(remedy),
        false => remedy,
    };
    let mut lines = Vec::new();
    let install = install(ctx, &mut lines, (to, CRDS_CHART), new_release(ctx, CRDS_CHART));
    lines.push(Line::from(install));
    remedy.run(
        StepKind::Upgrade,
        format!("Install the CRDs of {to} as a release of their own, which adopts the existing ones"),
        Command::lines(lines).whole(),
    )
}

/// Adds the steps that give the CRD of TrafficSplits to the SMI extension.
pub(super) fn traffic_splits(remedy: Remedy) -> Remedy {
    let smi = Release { name: "linkerd-smi", namespace: "linkerd-smi" };
    let add = helm().words("repo add l5d-smi https://linkerd.github.io/linkerd-smi").offline();
    let install = helm().words("install linkerd-smi l5d-smi/linkerd-smi -n linkerd-smi --create-namespace");
    let label = kubectl().words("label --overwrite crd").operand(TRAFFIC_SPLITS);
    remedy.command(
        "If TrafficSplits are used, give their CRD to the SMI extension and install it",
        Command::lines([
            Line::from(owned_by(kubectl().words("annotate --overwrite crd").operand(TRAFFIC_SPLITS), smi)),
            Line::from(label.words("app.kubernetes.io/managed-by=Helm")),
            Line::from(add),
            Line::from(install),
        ])
        .whole(),
    )
}

/// Adds the steps that install the control plane's chart, and remove the records of the old release.
pub(super) fn control_plane(
    ctx: &Context<'_>,
    remedy: Remedy,
    old: Release<'_>,
    to: &LinkerdVersion,
    set: &[String],
) -> Remedy {
    let mut lines = Vec::new();
    let release = new_release(ctx, CONTROL_PLANE);
    let install = install(ctx, &mut lines, (to, CONTROL_PLANE), release).words("-f").arg(VALUES);
    let install = set.iter().fold(install, |call, one| call.option("--set", one.as_str()));
    lines.push(Line::from(install));
    let records = kubectl()
        .namespace(old.namespace)
        .words("delete secret --field-selector type=helm.sh/release.v1 -l")
        .arg(format!("name={},owner=helm", old.name));
    remedy
        .run(
            StepKind::Upgrade,
            format!(
                "Install the control plane of {to} as a release of its own, which adopts the existing objects. Move \
                 values that its chart renamed in {VALUES} first"
            ),
            Command::lines(lines).whole(),
        )
        .command(
            format!(
                "Delete only the records of the old release {}, and the file of its values. `helm uninstall` would \
                 delete Linkerd. Keep {MANIFEST} for a rollback",
                old.name
            ),
            Command::lines([Line::from(records).and(program("rm").words("-f").arg(VALUES))]),
        )
}

/// Adds the steps that install the chart of an extension again: until 2.11 it contained the extension's namespace.
pub(super) fn extension(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    (old, namespace): (Release<'_>, &str),
    (to, chart): (&LinkerdVersion, Chart),
) -> Remedy {
    let file = format!("{}-values.yaml", chart.0);
    let values = helm().words("get values").operand(old.name).namespace(old.namespace).words("-o yaml");
    let mut lines = vec![values.to_file(file.clone())];
    let install = install(ctx, &mut lines, (to, chart), Release { name: chart.0, namespace });
    lines.push(Line::from(helm().words("uninstall").operand(old.name).namespace(old.namespace).words("--wait")));
    lines.push(Line::from(install.words("-f").arg(file)));
    let lost = match chart.0 {
        "linkerd-multicluster" => ", with its Links and credentials: link the clusters again afterwards",
        _ => ". Save other objects in it first",
    };
    remedy.run(
        StepKind::Upgrade,
        format!(
            "{act}, with Helm: uninstall and install it, since its chart no longer contains the namespace. This \
             deletes namespace {namespace}{lost}"
        ),
        Command::lines(lines).whole(),
    )
}
