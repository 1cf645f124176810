//! Facts about an installed mesh that its checks share: whether a control plane exists, its release and its
//! chart values. If they are missing, another check reports it and blocks the checks that need them.

use crate::card::Mode;
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::model::control_plane::{components, installed as version};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::managed_by::ManagedBy;
use crate::objects::meta::Meta;

/// The ConfigMap in which the charts store their values.
pub(in crate::checks) const CONFIG: &str = "linkerd-config";

/// Whether a control plane is installed. Reads `deployments.apps`.
///
/// # Errors
/// The Deployments are unavailable; or their list is incomplete and contains none of the control plane.
pub(in crate::checks) fn present(ctx: &Context<'_>) -> Result<bool, Missing> {
    let namespace = &ctx.namespaces().control_plane;
    if !components(ctx.partial_list::<Deployment>()?, namespace).is_empty() || ctx.settings.linkerd_version.is_some() {
        return Ok(true);
    }
    Ok(!components(ctx.complete_list::<Deployment>()?, namespace).is_empty())
}

/// The outcome of a check that needs a control plane if none is installed.
pub(in crate::checks) fn none_installed() -> Unjudged {
    Unjudged::blocked("control-plane-missing", "no control plane is installed")
}

/// `linkerd-config`; `None` if it is known not to exist.
///
/// # Errors
/// It is not known whether it exists.
pub(in crate::checks) fn config<'a>(ctx: &Context<'a>) -> Result<Option<&'a ConfigMap>, Missing> {
    ctx.object::<ConfigMap>(Scope::ControlPlane, CONFIG)
}

/// The chart values. Reads `linkerd-config` and, if it does not exist, `deployments.apps`.
///
/// # Errors
/// No values exist; or it is not known whether `linkerd-config` or a control plane exists.
pub(in crate::checks) fn values(ctx: &Context<'_>) -> Result<Values, Unjudged> {
    let found = config(ctx)?;
    if let Some(values) = super::super::written::values(ctx) {
        return Ok(values);
    }
    if !present(ctx)? {
        return Err(none_installed());
    }
    let reason = match found {
        None => "linkerd-config is missing",
        Some(_) => "linkerd-config holds no chart values",
    };
    Err(Unjudged::blocked("linkerd-config-missing", reason))
}

/// The release whose rules apply: the installed one. Before an installation or an upgrade: the expected one,
/// else that of the CLI, else the installed one, else the newest known release. Reads `deployments.apps`,
/// `linkerd-config` and `cli-version`.
///
/// # Errors
/// See [`installed`].
pub(in crate::checks) fn release(ctx: &Context<'_>) -> Result<(LinkerdVersion, Evidence), Missing> {
    let installed = installed(ctx)?;
    if let Some(installed) = &installed
        && !about_to_be(ctx)
    {
        return Ok(installed.clone());
    }
    let by_name = |version: LinkerdVersion, name: &str| {
        let evidence = Evidence::other(name, version.as_str());
        (version, evidence)
    };
    let expected = ctx.settings.expected_version.clone();
    let expected = expected.map(|version| by_name(version, "--expected-version"));
    let cli = || Some(by_name(ctx.cli_version().ok()?.clone(), "linkerd CLI"));
    let newest = || by_name(ctx.knowledge.releases().newest_edge().into(), "newest known release");
    Ok(expected.or_else(cli).or(installed).unwrap_or_else(newest))
}

/// Adds a gap if findings depend on the release to be installed and that release was not given: the CLI
/// would have named it. Reads what [`release`] reads.
pub(in crate::checks) fn note_presumed(ctx: &Context<'_>, findings: &[Finding]) {
    if !findings.is_empty() {
        note_release(ctx);
    }
}

/// Adds a gap if the result depends on the release to be installed and that release was not given.
pub(in crate::checks) fn note_release(ctx: &Context<'_>) {
    if about_to_be(ctx) && ctx.settings.expected_version.is_none() {
        ctx.or_note(ctx.cli_version());
    }
}

/// Whether Linkerd is about to be installed, so that its objects need not exist yet.
pub(in crate::checks) fn about_to_be(ctx: &Context<'_>) -> bool {
    match ctx.settings.mode {
        Mode::Installed | Mode::Upgrade => false,
        Mode::Pre | Mode::Crds => true,
    }
}

/// The installed version and its evidence; `None` if no control plane is installed. Reads Deployments, and
/// `linkerd-config` if it exists.
///
/// # Errors
/// The Deployments are unavailable, or no object of the control plane states a version.
pub(in crate::checks) fn installed(ctx: &Context<'_>) -> Result<Option<(LinkerdVersion, Evidence)>, Missing> {
    let deployments = ctx.partial_list::<Deployment>()?;
    let namespace = &ctx.namespaces().control_plane;
    if components(deployments, namespace).is_empty() {
        if let Some(version) = &ctx.settings.linkerd_version {
            return Ok(Some(match ctx.upgraded() {
                Some(upgrade) => (upgrade.to.clone(), upgrade.evidence()),
                None => (version.clone(), Evidence::other("--linkerd-version", version.as_str())),
            }));
        }
        ctx.complete_list::<Deployment>()?;
        return Ok(None);
    }
    if let Some(upgrade) = ctx.upgraded() {
        return Ok(Some((upgrade.to.clone(), upgrade.evidence())));
    }
    of_evidence(ctx, deployments).map(Some)
}

/// The requirements of a release are not part of the release data: without them nothing is checked.
pub(in crate::checks) fn not_known(ctx: &Context<'_>, what: &str, version: &LinkerdVersion) -> Unjudged {
    let why = Why::not_in_data(&format!("the {what} that {version} needs"));
    Unjudged::Missing(ctx.missing(Item::List(Kind::Deployment), why, format!("requirements of {version}")))
}

/// The release from which the upgrade starts, also when the cluster is evaluated as upgraded. Reads what
/// [`installed`] reads.
///
/// # Errors
/// As [`installed`].
pub(in crate::checks) fn before_upgrade(ctx: &Context<'_>) -> Result<LinkerdVersion, Missing> {
    if let Some(from) = ctx.upgrade().and_then(|upgrade| upgrade.from.clone()) {
        return Ok(from);
    }
    let deployments = ctx.partial_list::<Deployment>()?;
    match &ctx.settings.linkerd_version {
        // Manifests of that release.
        Some(version) if components(deployments, &ctx.namespaces().control_plane).is_empty() => Ok(version.clone()),
        _ => Ok(of_evidence(ctx, deployments)?.0),
    }
}

/// The version that the objects of a control plane state.
fn of_evidence(ctx: &Context<'_>, deployments: &[Workload]) -> Result<(LinkerdVersion, Evidence), Missing> {
    match version(deployments, config(ctx).ok().flatten(), &ctx.namespaces().control_plane) {
        Some(found) => Ok(found),
        None => Err(ctx.missing(
            Item::List(Kind::Deployment),
            Why::Malformed {
                message: "none of its images, labels and annotations states a Linkerd version".to_owned(),
            },
            "the control plane's version",
        )),
    }
}

/// The installed version and its evidence, for checks whose cards require a control plane. Reads what
/// [`installed`] reads.
///
/// # Errors
/// See [`installed`]; or none is installed.
pub(in crate::checks) fn of_control_plane(ctx: &Context<'_>) -> Result<(LinkerdVersion, Evidence), Unjudged> {
    installed(ctx)?.ok_or_else(none_installed)
}

/// A finding about a working object of the control plane without the label by which `linkerd check` finds
/// it. `None` if it has the label.
pub(in crate::checks) fn unmarked(
    ctx: &Context<'_>,
    subject: Subject,
    meta: &Meta,
    row: &'static str,
) -> Option<Finding> {
    const CNI: &str = "linkerd.io/cni-resource";
    let (label, seen, change) = match (meta.label(CONTROL_PLANE_NS), meta.label(CNI)) {
        (None, _) => (CONTROL_PLANE_NS, "absent", format!("{CONTROL_PLANE_NS}={}", ctx.namespaces().control_plane)),
        (Some(_), Some(_)) => (CNI, "present", format!("{CNI}-")),
        (Some(_), None) => return None,
    };
    let Subject::Object { kind, namespace, name, .. } = &subject else { return None };
    let act = "Correct the label";
    let remedy = match ManagedBy::from_metadata(meta).in_git() {
        Some(words) => Remedy::new().step(StepKind::Annotation, format!("{act} ({change}): {words}")),
        None => Remedy::new().run(
            StepKind::Annotation,
            act,
            kubectl()
                .namespace(namespace)
                .words("label --overwrite")
                .arg(kind.to_ascii_lowercase())
                .operand(name)
                .arg(change),
        ),
    };
    let message = "an object of the control plane lacks its label: it works, but linkerd check reports it as \
        missing, and linkerd uninstall does not remove it";
    let evidence = Evidence::field(subject.to_string(), format!("metadata.labels[{label}]"), seen);
    let finding = ctx.finding(subject, message).severity(Severity::Info).parameter("unmarked");
    Some(finding.rows_as(Severity::Error).fails_rows([row]).evidence(evidence).remedy(remedy))
}

/// A finding about a renamed object of the control plane, which `linkerd check` looks up by its original
/// name. `None` if it has that name.
pub(in crate::checks) fn renamed(
    ctx: &Context<'_>,
    subject: Subject,
    wanted: &str,
    row: &'static str,
) -> Option<Finding> {
    let Subject::Object { name, .. } = &subject else { return None };
    if name == wanted {
        return None;
    }
    let message = "an object of the control plane was renamed: it works, but linkerd check reports it as \
        missing, and the next upgrade adds another one";
    let remedy = Remedy::new().note(format!(
        "Stop the tool that renames it (a kustomize prefix, a policy engine), so that it is named \
        {wanted}, then delete this one"
    ));
    let evidence = Evidence::field(subject.to_string(), "metadata.name", format!("not {wanted}"));
    let finding = ctx.finding(subject, message).severity(Severity::Info).parameter("renamed");
    Some(finding.rows_as(Severity::Error).fails_rows([row]).evidence(evidence).remedy(remedy))
}

/// `one minor version`, `3 minor versions`: distances between versions in words.
pub(in crate::checks) fn minors(distance: u32) -> String {
    match distance {
        1 => "one minor version".to_owned(),
        more => format!("{more} minor versions"),
    }
}
