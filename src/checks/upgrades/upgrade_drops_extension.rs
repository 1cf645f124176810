//! `upgrade-drops-extension`: an extension is installed that the target has no release of.

use super::Way;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{EXTENSION_LABEL, Kind};
use crate::objects::Namespace;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Way::of(ctx)?;
    let namespaces = ctx.every::<Namespace>()?;
    let gone: Vec<_> = ctx.knowledge.upgrades().extensions(way.between(ctx)).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for namespace in namespaces {
        let Some(name) = namespace.metadata.label(EXTENSION_LABEL) else { continue };
        let Some(row) = gone.iter().find(|row| row.name == name) else { continue };
        let of = &namespace.metadata.name;
        let message = format!(
            "the extension {name} has no release beside the target: its webhook stays, and goes on to change new pods for what \
             nobody maintains"
        );
        findings.push(
            ctx.finding(Subject::object(Kind::Namespace, "", of), message)
                .parameter(name)
                .evidence(Evidence::field(
                    format!("Namespace {of}"),
                    format!("metadata.labels[{EXTENSION_LABEL}]"),
                    name,
                ))
                .evidence(way.target.clone())
                .remedy(
                    Remedy::new()
                        .step(StepKind::Note, format!("Move to what replaces it: {}", row.guide))
                        .step(
                            StepKind::Note,
                            "Take the extension away before the upgrade, with what installed it",
                        ),
                ),
        );
    }
    Ok(findings.into())
}
