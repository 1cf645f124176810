//! `kubernetes-unsupported`: the API server is older than what the installed release needs, or newer than it documents.

use crate::checks::control_plane::installation::{about_to_be, installed, none_installed, release};
use crate::checks::prelude::*;
use crate::version::{Channel, K8sMinor};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let installed = installed(ctx);
    let server = ctx.server_version()?;
    let installed = installed?;
    let is_first = installed.is_none();
    let (linkerd, seen) = match installed {
        Some(installed) if !about_to_be(ctx) => installed,
        None if !about_to_be(ctx) && ctx.cli_version().is_err() => return Err(none_installed()),
        Some(_) | None => release(ctx)?,
    };
    let releases = ctx.knowledge.releases();
    let range = match releases.kubernetes_range(&linkerd) {
        Some(range) if !releases.is_beyond(&linkerd) => range,
        _ => {
            return Err(Unjudged::not_applicable(format!(
                "the Kubernetes versions that {linkerd} supports are not known"
            )));
        }
    };
    let (severity, message, documented, remedy) = if server.minor() < range.minimum {
        (
            Severity::Error,
            "the API server is older than the oldest Kubernetes that the Linkerd release supports: its \
             installation, next upgrade or restart may fail on missing API features",
            format!("{} or newer", range.minimum),
            upgrade(ctx, server.minor(), range.minimum),
        )
    } else if server.minor() > range.documented_maximum {
        (
            Severity::Info,
            "the API server is newer than the newest Kubernetes that the Linkerd release documents; no \
             failure is known from that alone",
            format!("up to {}", range.documented_maximum),
            documented_later(ctx, server.minor(), is_first),
        )
    } else {
        return Ok(Verdict::fine());
    };
    let finding = ctx
        .finding(Subject::thing("API server"), message)
        .severity(severity)
        .evidence(Evidence::other("API server /version", server.as_str()))
        .evidence(seen)
        .evidence(Evidence::other(format!("Kubernetes for {}", minor_of(ctx, &linkerd)), documented))
        .remedy(remedy);
    let finding = match severity {
        Severity::Info => finding.fact(format!(
            "Kubernetes {}; {} documents up to {}",
            server.as_str(),
            minor_of(ctx, &linkerd),
            range.documented_maximum
        )),
        Severity::Warning | Severity::Error => finding,
    };
    Ok(vendors(finding, &linkerd).into())
}

/// The vendor defines the support of its builds; the corresponding open-source minor is a good guess.
fn vendors(finding: Finding, linkerd: &LinkerdVersion) -> Finding {
    match linkerd.channel() {
        Channel::Enterprise | Channel::Unmarked | Channel::Preview => finding.likely(),
        Channel::Stable | Channel::Edge | Channel::Dev | Channel::Git => finding,
    }
}

fn minor_of(ctx: &Context<'_>, linkerd: &LinkerdVersion) -> String {
    linkerd.minor(ctx.knowledge.minors()).map_or_else(|| linkerd.to_string(), |minor| format!("Linkerd {minor}"))
}

fn upgrade(ctx: &Context<'_>, server: K8sMinor, minimum: K8sMinor) -> Remedy {
    let remedy =
        Remedy::new().step(StepKind::Upgrade, format!("Upgrade Kubernetes to {minimum} or newer, one minor at a time"));
    let fitting = ctx.knowledge.releases().rows().iter().rev().find(|row| row.kubernetes.minimum <= server);
    match fitting {
        Some(row) => {
            remedy.note(format!("Until then stay at Linkerd {}, the newest that supports {server}", row.minor))
        }
        None => remedy,
    }
}

/// The step if a later release documents the version of the cluster; `is_first`: no release is installed.
fn documented_later(ctx: &Context<'_>, server: K8sMinor, is_first: bool) -> Remedy {
    let remedy = Remedy::new();
    let documented = ctx.knowledge.releases().rows().iter().find(|row| row.kubernetes.documented_maximum >= server);
    match documented {
        Some(row) if is_first => remedy.step(
            StepKind::Upgrade,
            format!("Install Linkerd {} or later, whose documentation names {server}", row.minor),
        ),
        Some(row) => remedy.step(
            StepKind::Upgrade,
            format!("Plan the upgrade to Linkerd {}, whose documentation names {server}", row.minor),
        ),
        None => remedy.note(format!("Read the release notes for {server}; no known Linkerd release documents it")),
    }
}
