//! `upgrade-drops-mesh-tls`: ExternalWorkloads are written in the first version of the kind, whose identity
//! the target does not read.

use super::Upgrade;
use crate::checks::prelude::*;
use crate::command::program;
use crate::objects::ExternalWorkload;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let workloads = ctx.partial_list::<ExternalWorkload>()?;
    let Some(since) = ctx.knowledge.upgrades().renamed_mesh_tls(way.between(ctx)) else {
        return Ok(Vec::new().into());
    };
    let findings = workloads.iter().filter(|workload| ctx.judges(&workload.metadata.namespace)).filter_map(
        |workload| -> Option<Finding> {
            let identity = workload.spec.alpha_mesh_tls.as_ref()?;
            let (namespace, name) = workload.metadata.key();
            let subject = Subject::object(Kind::ExternalWorkload, namespace, name);
            let message = format!(
                "The ExternalWorkload is written as v1alpha1, with meshTls. From {since} on Linkerd reads \
                 v1beta1, which names the field meshTLS, and the workload has no identity"
            );
            Some(
                ctx.finding(subject.clone(), message)
                    .evidence(Evidence::field(subject, "spec.meshTls.identity", identity.identity.as_str()))
                    .evidence(way.target.clone())
                    .remedy(
                        Remedy::new()
                            .command(
                                "Before the target's CRDs: save the ExternalWorkloads. With those CRDs the \
                                 API server drops meshTls as soon as it stores such an object again",
                                kubectl()
                                    .words("get externalworkloads.v1alpha1.workload.linkerd.io -A -o yaml")
                                    .to_file("externalworkloads.yaml"),
                            )
                            .command(
                                "Once the target's CRDs are installed, and before its control plane: apply \
                                 it again as workload.linkerd.io/v1beta1, with meshTLS in place of meshTls",
                                program("sed")
                                    .words("-e")
                                    .arg("s|workload.linkerd.io/v1alpha1|workload.linkerd.io/v1beta1|")
                                    .words("-e")
                                    .arg("s/meshTls:/meshTLS:/")
                                    .words("externalworkloads.yaml")
                                    .pipe(kubectl().words("apply -f -")),
                            ),
                    ),
            )
        },
    );
    Ok(findings.collect())
}
