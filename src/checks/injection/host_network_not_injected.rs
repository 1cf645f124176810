//! `host-network-not-injected`: pods on the node's network request a proxy, which the injector never adds
//! there.

use super::passed_over::passed_over;
use crate::checks::admission::Rules;
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, Severity, StepKind};
use crate::model::injection::{INJECT, Level, Skip};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::of(ctx)?;
    let mut findings: Vec<Finding> = Vec::new();
    let mut of_namespaces: Vec<Finding> = Vec::new();
    for passed in passed_over(ctx, &rules)?.iter().filter(|passed| passed.skip == Skip::HostNetwork) {
        let seen = [passed.asks(), passed.maker.field("spec.hostNetwork", "true")];
        match passed.level {
            Level::Pod => {
                let finding = ctx.finding(
                    passed.maker.subject(),
                    "The pod requests a proxy, but the injector adds none on the node's network. The pod \
                     runs outside the mesh, unencrypted and without an identity for policies",
                );
                findings.push(finding.evidences(seen).remedy(remedy()));
            }
            // A request for a whole namespace does not intend pods that cannot be meshed.
            Level::Namespace => match of_namespaces.iter_mut().find(|held| held.evidence[0] == seen[0]) {
                Some(held) => {
                    held.subjects.push(passed.maker.subject());
                    held.evidence.push(seen[1].clone());
                }
                None => of_namespaces.push(
                    ctx.finding(
                        passed.maker.subject(),
                        "The namespace requests injection, but pods on the node's network get no proxy and \
                         run outside the mesh",
                    )
                    .severity(Severity::Info)
                    .evidences(seen)
                    .remedy(remedy()),
                ),
            },
        }
    }
    findings.extend(of_namespaces);
    Ok(findings.into())
}

fn remedy() -> Remedy {
    Remedy::new()
        .step(
            StepKind::Note,
            "If it must be meshed, move it off the node's network: hostNetwork: false in the pod template, \
             with a hostPort or a Service of type LoadBalancer for external traffic",
        )
        .step(
            StepKind::Annotation,
            format!(
                "Otherwise set {INJECT}: disabled in the pod template. If policies require an identity, \
                 authorize the pod by the addresses of its nodes (a NetworkAuthentication)"
            ),
        )
}
