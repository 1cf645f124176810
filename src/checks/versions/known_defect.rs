//! `known-defect`: a known defect of the installed release, triggered by something in the cluster. The defects are rows of
//! `defects.yaml`.

mod deciding;
mod endings;
mod fields;
mod triggers;

use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::{Context, Judgement};
use crate::expression::Expression;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::item::Kind;
use crate::knowledge::{Decides, Knowledge, KnownDefect};
use deciding::{Deciding, Releases};

/// The id of this check.
pub(in crate::checks) const ID: &str = "known-defect";

/// A defect that an installed release has.
struct Affected<'a> {
    row: &'a KnownDefect,
    /// The component that has it.
    by: Deciding,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (control_plane, seen) = of_control_plane(ctx)?;
    let releases = Releases::new(ctx, control_plane, seen);
    let affected: Vec<Affected<'_>> = ctx
        .knowledge
        .known_defects()
        .rows()
        .iter()
        .filter_map(|row| Some(Affected { row, by: releases.affected(ctx, row)? }))
        .collect();
    let mut findings = triggers::findings(ctx, &affected);
    findings.extend(endings::findings(ctx, &affected));
    Ok(findings.into())
}

/// Validates the expressions, kinds and log rows of `defects.yaml`.
///
/// # Errors
/// A row is invalid; names the row and the reason.
pub(in crate::checks) fn validate(knowledge: &Knowledge) -> Result<(), String> {
    for row in knowledge.known_defects().rows() {
        let wrong = |why: String| format!("defects.yaml, row {}: {why}", row.id);
        if let Some(objects) = &row.trigger.objects {
            for kind in &objects.kinds {
                match kind.parse::<Kind>() {
                    Ok(kind) if fields::is_readable(kind) => {}
                    Ok(_) => return Err(wrong(format!("expressions cannot read {kind}"))),
                    Err(error) => return Err(wrong(error.to_string())),
                }
            }
            for expression in [&objects.expression, &objects.quote] {
                Expression::parse(expression, &triggers::VARIABLES).map_err(wrong)?;
            }
        }
        if let Some(log) = &row.trigger.log
            && !knowledge.mesh_logs().rows().iter().any(|known| known.id == *log)
        {
            return Err(wrong(format!("mesh-logs.yaml has no row {log}")));
        }
    }
    Ok(())
}

impl Affected<'_> {
    /// A finding about the subject that triggers the defect.
    fn finding(&self, ctx: &Context<'_>, subject: Subject, trigger: Evidence) -> Finding {
        let Affected { row, by } = self;
        let finding = ctx
            .finding(subject, row.effect.clone())
            .severity(row.severity)
            .parameter(row.id.clone())
            .evidence(trigger)
            .evidence(by.evidence.clone())
            .evidence(Evidence::other(
                "Known defect",
                format!("{}: {} ({})", row.id, row.title, row.releases()),
            ))
            .remedy(self.remedy(ctx));
        // An effect that is only worth knowing stops nothing.
        if row.severity == Severity::Info { finding.explains_nothing() } else { finding }
    }

    fn remedy(&self, ctx: &Context<'_>) -> Remedy {
        let row = self.row;
        let fixed = row.fixed_in(ctx.knowledge.releases());
        let upgrade = match (&fixed, row.decides) {
            (Some(fixed), Decides::ControlPlane) => format!("Upgrade the control plane to {fixed} or newer"),
            (Some(fixed), Decides::Proxy) => format!(
                "Upgrade to {fixed} or newer, and restart the workloads so that they get proxies of that \
                 release"
            ),
            (Some(fixed), Decides::ServiceMirror) => {
                format!("Upgrade the multicluster extension to {fixed} or newer")
            }
            (None, _) => "Check the release notes of newer releases: no known release has the fix".to_owned(),
        };
        let avoid = row.workaround.iter().fold(Remedy::new(), |remedy, workaround| {
            remedy.step(StepKind::Note, workaround.trim_end_matches('.').to_owned())
        });
        avoid.step(if fixed.is_some() { StepKind::Upgrade } else { StepKind::Note }, upgrade)
    }
}
