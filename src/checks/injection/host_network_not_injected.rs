//! `host-network-not-injected`: pods on the node's network request a proxy, which the injector never adds
//! there.

use super::passed_over::passed_over;
use crate::checks::admission::Rules;
use crate::checks::pod_owners::Maker;
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::item::EXTENSION_LABEL;
use crate::model::injection::{INJECT, Level, Skip};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx)?;
    let mut findings: Vec<Finding> = Vec::new();
    let mut of_namespaces: Vec<Finding> = Vec::new();
    for passed in passed_over(ctx, &rules)?.iter().filter(|passed| passed.skip == Skip::HostNetwork) {
        let seen = [passed.request_evidence(), passed.maker.field("spec.hostNetwork", "true")];
        match passed.level {
            Level::Pod => {
                let finding = ctx.finding(
                    passed.maker.subject(),
                    "The pod requests a proxy, but the injector adds none on the node's network. The pod \
                     runs outside the mesh, unencrypted and without an identity for policies",
                );
                let remedy = match of_viz(passed.maker) {
                    Some(remedy) => remedy,
                    None => opted_out(ctx, remedy(), &passed.maker.owner),
                };
                findings.push(finding.evidences(seen).remedy(remedy));
            }
            // A request for a whole namespace does not intend pods that cannot be meshed.
            Level::Namespace => match of_namespaces.iter_mut().find(|held| held.evidence[0] == seen[0]) {
                Some(held) => {
                    held.subjects.push(passed.maker.subject());
                    held.evidence.push(seen[1].clone());
                    let earlier = std::mem::take(&mut held.remedy);
                    held.remedy = opted_out(ctx, earlier, &passed.maker.owner);
                }
                None => of_namespaces.push(
                    ctx.finding(
                        passed.maker.subject(),
                        "The namespace requests injection, but pods on the node's network get no proxy and \
                         run outside the mesh",
                    )
                    .severity(Severity::Info)
                    .evidences(seen)
                    .remedy(opted_out(ctx, remedy(), &passed.maker.owner)),
                ),
            },
        }
    }
    findings.extend(of_namespaces);
    Ok(findings.into())
}

/// The only step for a component of viz, which works with a proxy only; `None` for other pods.
fn of_viz(maker: &Maker<'_>) -> Option<Remedy> {
    maker.meta.label(EXTENSION_LABEL).filter(|extension| *extension == "viz")?;
    let owner = &maker.owner;
    let act = "Move it off the node's network: the components of viz authorize each other by mesh identity";
    let patch = kubectl()
        .namespace(&owner.namespace)
        .words("patch")
        .arg(owner.kind.to_ascii_lowercase())
        .operand(&owner.name)
        .words("--type=merge -p")
        .arg(r#"{"spec":{"template":{"spec":{"hostNetwork":false}}}}"#);
    Some(Remedy::new().command(act, patch))
}

fn remedy() -> Remedy {
    Remedy::new()
        .note(
            "If it must be meshed, move it off the node's network: hostNetwork: false in the pod template, \
             with a hostPort or a Service of type LoadBalancer for external traffic",
        )
        .note(
            "If policies require an identity of a pod that is not meshed, authorize it by the addresses of its nodes \
             (a NetworkAuthentication)",
        )
}

/// The step for a workload that needs no proxy.
fn opted_out(ctx: &Context<'_>, remedy: Remedy, owner: &Owner) -> Remedy {
    let act = format!("Otherwise set {INJECT}: \"disabled\" for {}", owner.name);
    rewrite::of_owner(ctx, remedy, &act, owner, &[(INJECT, Some("disabled"))])
}
