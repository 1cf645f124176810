//! `crd-missing`: a custom resource definition of the release is not there, or does not serve the version that is asked for.

use crate::checks::control_plane::installation::{about_to_be, installed, none_installed, release};
use crate::checks::upgrade::is_helms;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject, Tie};
use crate::item::{Kind, Scope};
use crate::model::objects::CustomResourceDefinition;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let present = installed(ctx)?.is_some();
    if !present && !about_to_be(ctx) {
        return Ok(none_installed());
    }
    let (version, seen) = release(ctx)?;
    let (table, minors) = (ctx.knowledge.control_plane(), ctx.knowledge.minors());
    if !table.covers(&version, minors) {
        return Ok(Verdict::not_applicable(format!("which definitions {version} needs is not known here")));
    }
    let mut findings = Vec::new();
    for wanted in table.definitions(&version, minors) {
        let kind = Kind::CustomResourceDefinition;
        let found = match ctx.named::<CustomResourceDefinition>(kind, Scope::Cluster, &wanted.name) {
            Ok(found) => found,
            Err(missing) => {
                ctx.gap(missing);
                continue;
            }
        };
        let (message, evidence) = match found {
            None => (
                "a definition of the release is not there: nothing of its kind can be created, and the controller that \
                 watches it does not get ready after its next restart",
                Evidence::other(format!("CustomResourceDefinition {}", wanted.name), "does not exist"),
            ),
            Some(found) => {
                let versions = &found.spec.versions;
                if versions.iter().any(|version| version.name == wanted.version && version.served) {
                    continue;
                }
                let served: Vec<&str> =
                    versions.iter().filter(|version| version.served).map(|v| v.name.as_str()).collect();
                let said = format!("{}, and not {}", served.join(", "), wanted.version);
                (
                    "a definition is older than the release: the controller asks for a version of it that is not served, \
                     and does not get ready after its next restart",
                    Evidence::field(
                        format!("CustomResourceDefinition {}", wanted.name),
                        "spec.versions",
                        said,
                    ),
                )
            }
        };
        let remedy = Remedy::verified_by(format!("kubectl get crd {}", wanted.name));
        let remedy = if is_helms(ctx) {
            remedy.step(
                StepKind::Upgrade,
                format!("Upgrade the chart linkerd-crds to the one that belongs to {version}, with Helm"),
            )
        } else {
            let act = if present { "upgrade" } else { "install" };
            remedy.run(
                StepKind::Command,
                "Apply the definitions of the release, with its CLI",
                format!(
                    "[ \"$(linkerd version --client --short)\" = {version} ] && linkerd {act} --crds | kubectl apply -f -"
                ),
            )
        };
        let component = if wanted.name == "serviceprofiles.linkerd.io" { "destination" } else { "policy" };
        let finding = ctx
            .finding(Subject::object("CustomResourceDefinition", "", &wanted.name), message)
            .evidence(evidence)
            .evidence(seen.clone())
            .remedy(remedy)
            .tie(Tie::Fact(format!("definition-missing:{component}")))
            .tie(Tie::Workload(
                "Deployment".to_owned(),
                ctx.namespaces().control_plane.clone(),
                "linkerd-destination".to_owned(),
            ));
        findings.push(finding);
    }
    Ok(findings.into())
}
