//! `crd-missing`: a custom resource definition of the release is missing, or does not serve the required
//! version.

use crate::checks::control_plane::installation::{
    about_to_be, before_upgrade, installed, not_known, note_presumed, release,
};
use crate::checks::prelude::*;
use crate::checks::serving::definition_missing;
use crate::checks::upgrade::crds;
use crate::command::meshdoctor;
use crate::knowledge::Definition;
use crate::objects::{CustomResourceDefinition, Unserved};
use crate::version::Minor;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let present = installed(ctx)?.is_some();
    let (version, seen) = release(ctx)?;
    let (table, minors) = (ctx.knowledge.control_plane(), ctx.knowledge.minors());
    if !table.covers(&version, minors) {
        return Err(not_known(ctx, "CRDs", &version));
    }
    let mut findings = Vec::new();
    // CRDs that only the target needs are installed with the target's CRDs, before its control plane.
    let before = ctx.upgraded().map(|_| before_upgrade(ctx)).transpose()?;
    let needed_today: Vec<&Definition> = before.iter().flat_map(|before| table.definitions(before, minors)).collect();
    let only_then = |wanted: &Definition| before.is_some() && !needed_today.iter().any(|known| known.is(wanted));
    let mut to_bring = Vec::new();
    for wanted in table.definitions(&version, minors) {
        let Some(unmet) = ctx.or_note(unmet(ctx, wanted)).flatten() else { continue };
        if only_then(wanted) {
            to_bring.push((wanted, unmet.evidence));
            continue;
        }
        let remedy = match unmet.problem {
            Problem::Absent | Problem::Outdated => Remedy::new(),
            Problem::Deleted | Problem::NotEstablished => preparation(&unmet, &wanted.name),
        };
        let remedy = crds(ctx, remedy, unmet.problem.last_step(), &version, !present);
        let remedy = match unmet.problem {
            Problem::Absent if present => {
                remedy.note("If the CRD was deleted, so were its objects: apply them again, from manifests or a backup")
            }
            _ => remedy,
        };
        let component = if wanted.name == "serviceprofiles.linkerd.io" { "destination" } else { "policy" };
        let finding = ctx
            .finding(Subject::object("CustomResourceDefinition", "", &wanted.name), unmet.problem.message(&wanted.name))
            .evidence(unmet.evidence)
            .evidence(seen.clone())
            .remedy(remedy)
            .tie(definition_missing(component))
            .tie(Tie::Workload(
                "Deployment".to_owned(),
                ctx.namespaces().control_plane.clone(),
                "linkerd-destination".to_owned(),
            ));
        findings.push(finding);
    }
    findings.extend(before_the_control_plane(ctx, &version, seen, to_bring));
    if present && !about_to_be(ctx) {
        findings.extend(of_the_cli_alone(ctx, &version));
    }
    note_presumed(ctx, &findings);
    Ok(findings.into())
}

/// The finding about CRDs that only the control plane of the target needs.
fn before_the_control_plane(
    ctx: &Context<'_>,
    version: &LinkerdVersion,
    seen: Evidence,
    to_bring: Vec<(&Definition, Evidence)>,
) -> Option<Finding> {
    let subject = |wanted: &Definition| Subject::object("CustomResourceDefinition", "", &wanted.name);
    let (first, _) = to_bring.first()?;
    let message = "the target needs CRDs that are missing or do not serve its versions. Apply them before \
        its control plane: without them, linkerd-destination does not become ready";
    let remedy = match next_minor(ctx, version) {
        Some(next) => Remedy::new().run(
            StepKind::Upgrade,
            format!(
                "Follow the plan, which upgrades to {next} first: each minor brings its CRDs before its control plane"
            ),
            meshdoctor().words("check --to").arg(version.to_string()).words("-o plan"),
        ),
        None => crds(ctx, Remedy::new(), "Apply the CRDs of the target first", version, false),
    };
    let finding = ctx.finding(subject(first), message).severity(Severity::Warning).parameter("before");
    let finding = to_bring.iter().skip(1).fold(finding, |finding, (wanted, _)| finding.subject(subject(wanted)));
    let evidence = to_bring.into_iter().map(|(_, evidence)| evidence);
    Some(finding.evidences(evidence).evidence(seen).explains_nothing().remedy(remedy))
}

/// The first minor on the way to a target that is more than one minor ahead.
fn next_minor(ctx: &Context<'_>, target: &LinkerdVersion) -> Option<Minor> {
    let table = ctx.knowledge.minors();
    let from = before_upgrade(ctx).ok()?.minor(table)?;
    if target.minor(table)?.ahead_of(from)? < 2 {
        return None;
    }
    ctx.knowledge.releases().rows().iter().map(|row| row.minor).filter(|minor| *minor > from).min()
}

/// How a CRD falls short of the needs of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// It does not exist.
    Absent,
    /// It does not serve the version.
    Outdated,
    /// It is being deleted.
    Deleted,
    /// The API server did not accept it.
    NotEstablished,
}

impl Problem {
    fn message(self, name: &str) -> String {
        match self {
            Problem::Absent => format!(
                "CRD {name} is missing: its objects cannot be created, and linkerd-destination does not become ready \
                 after its next restart"
            ),
            Problem::Outdated => format!(
                "CRD {name} is older than the release and does not serve the version that \
                 linkerd-destination watches, so linkerd-destination does not become ready after its next \
                 restart"
            ),
            Problem::Deleted => format!(
                "CRD {name} is being deleted: the API server deletes all of its objects and accepts no new ones"
            ),
            Problem::NotEstablished => format!(
                "the API server does not serve CRD {name}: its objects cannot be read or written, and \
                 linkerd-destination does not become ready after its next restart"
            ),
        }
    }

    fn last_step(self) -> &'static str {
        match self {
            Problem::Absent | Problem::Outdated => "Apply the CRDs of the release",
            Problem::Deleted => "When the CRD is gone, apply the CRDs of the release, then the saved objects",
            Problem::NotEstablished => "If the CRD itself was changed, apply the CRDs of the release",
        }
    }
}

/// The steps before the CRDs are applied again.
fn preparation(unmet: &Unmet, name: &str) -> Remedy {
    let show = kubectl().words("describe customresourcedefinition").operand(name);
    match unmet.problem {
        Problem::Deleted => Remedy::new()
            .command(
                "Save the objects of the kind that still exist: their deletion cannot be stopped",
                kubectl().words("get").operand(name).words("--all-namespaces -o yaml"),
            )
            .command("Find out what blocks the deletion (finalizers of objects, a webhook), and what started it", show),
        _ => Remedy::new().command("Find out why it is not accepted: usually another CRD has the same names", show),
    }
}

/// A CRD that does not meet the needs of a release.
struct Unmet {
    /// How it falls short.
    problem: Problem,
    evidence: Evidence,
}

/// How a CRD falls short of the needs of a release; `None` if it meets them.
fn unmet(ctx: &Context<'_>, wanted: &Definition) -> Result<Option<Unmet>, Missing> {
    let _kind = Kind::CustomResourceDefinition;
    let object = format!("CustomResourceDefinition {}", wanted.name);
    let Some(found) = ctx.object::<CustomResourceDefinition>(Scope::Cluster, &wanted.name)? else {
        let evidence = Evidence::other(object, "does not exist");
        return Ok(Some(Unmet { problem: Problem::Absent, evidence }));
    };
    match found.unserved() {
        Some(Unserved::Deleted) => {
            let since = found.metadata.deletion_timestamp.get().map(|at| at.to_string());
            let evidence = Evidence::field(object, "metadata.deletionTimestamp", since.unwrap_or_default());
            return Ok(Some(Unmet { problem: Problem::Deleted, evidence }));
        }
        // A new definition is established within seconds.
        Some(Unserved::NotEstablished(reason)) if !ctx.within_grace(found.metadata.creation_timestamp) => {
            let said = if reason.is_empty() { "False".to_owned() } else { format!("False, {reason}") };
            let evidence = Evidence::field(object, "status.conditions[type=Established].status", said);
            return Ok(Some(Unmet { problem: Problem::NotEstablished, evidence }));
        }
        _ => {}
    }
    let versions = &found.spec.versions;
    if versions.iter().any(|version| version.name == wanted.version && version.served) {
        return Ok(None);
    }
    let served: Vec<&str> = versions.iter().filter(|version| version.served).map(|v| v.name.as_str()).collect();
    let said = format!("{}, but not {}", served.join(", "), wanted.version);
    let evidence = Evidence::field(object, "spec.versions", said);
    Ok(Some(Unmet { problem: Problem::Outdated, evidence }))
}

/// The finding about CRDs that only the release of the CLI has: the control plane does not need them, but
/// `linkerd check` of that CLI stops.
fn of_the_cli_alone(ctx: &Context<'_>, installed: &LinkerdVersion) -> Option<Finding> {
    let (table, minors) = (ctx.knowledge.control_plane(), ctx.knowledge.minors());
    let cli = match ctx.cli_version() {
        Ok(cli) if table.covers(cli, minors) => cli,
        Ok(_) => return None,
        Err(missing) => {
            // Without a CLI this does not apply.
            if missing.was_asked_for() {
                ctx.gap(missing);
            }
            return None;
        }
    };
    let needed: Vec<&Definition> = table.definitions(installed, minors).collect();
    let further = table.definitions(cli, minors).filter(|wanted| !needed.iter().any(|known| known.is(wanted)));
    let seen: Vec<Evidence> =
        further.filter_map(|wanted| unmet(ctx, wanted).ok().flatten()).map(|unmet| unmet.evidence).collect();
    if seen.is_empty() {
        return None;
    }
    let message = "the release of the linkerd CLI has CRDs that the installed release does not need: the \
        control plane is complete, but linkerd check of this CLI stops at them";
    let remedy = Remedy::new().note(format!("Use the CLI of the installed release, {installed}"));
    let act = format!("Or, before an upgrade to {cli}, apply its CRDs");
    let remedy = crds(ctx, remedy, &act, cli, false);
    let finding = ctx.finding(Subject::thing("linkerd CLI"), message).severity(Severity::Info);
    let finding = finding.rows_as(Severity::Error).explains_nothing().parameter("cli");
    Some(finding.evidences(seen).evidence(Evidence::other("linkerd CLI", cli.as_str())).remedy(remedy))
}
