//! `install-cluster-rights-missing`: the operator may not create what an installation creates outside of namespaces.

use super::rights::{self, Right};
use crate::checks::{Context, Judgement};
use crate::item::Scope;
use crate::objects::CustomResourceDefinition;

const ROW: Option<&str> = Some("can create non-namespaced resources");

/// What the manifests of every supported release hold outside of namespaces.
const RIGHTS: [Right; 5] = [
    Right { verb: "create", resource: "namespaces", row: ROW },
    CREATE_ROLES,
    Right { verb: "create", resource: "clusterrolebindings.rbac.authorization.k8s.io", row: ROW },
    Right {
        verb: "create",
        resource: "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        row: ROW,
    },
    Right {
        verb: "create",
        resource: "validatingwebhookconfigurations.admissionregistration.k8s.io",
        row: ROW,
    },
];

const CREATE_ROLES: Right =
    Right { verb: "create", resource: "clusterroles.rbac.authorization.k8s.io", row: ROW };

/// Lets somebody create roles that grant what he does not hold himself.
const ESCALATE: Right =
    Right { verb: "escalate", resource: "clusterroles.rbac.authorization.k8s.io", row: ROW };

/// Some of what the ClusterRoles of every supported release grant: one right of each kind, and those that few hold.
const GRANTED: [Right; 8] = [
    Right { verb: "create", resource: "events", row: ROW },
    Right { verb: "create", resource: "tokenreviews.authentication.k8s.io", row: ROW },
    Right { verb: "create", resource: "leases.coordination.k8s.io", row: ROW },
    Right { verb: "watch", resource: "nodes", row: ROW },
    Right { verb: "watch", resource: "jobs.extensions", row: ROW },
    Right { verb: "watch", resource: "servers.policy.linkerd.io", row: ROW },
    Right { verb: "watch", resource: "serviceprofiles.linkerd.io", row: ROW },
    Right { verb: "watch", resource: "httproutes.gateway.networking.k8s.io", row: ROW },
];

/// Needed where the definitions are not there yet. `linkerd check` does not ask for it.
const DEFINITIONS: [Right; 1] =
    [Right { verb: "create", resource: "customresourcedefinitions.apiextensions.k8s.io", row: None }];

/// A definition that every supported release brings.
const ONE_OF_THEM: &str = "servers.policy.linkerd.io";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let message = "you lack rights outside of namespaces that an installation needs: it stops half-way";
    let mut findings: Vec<_> = rights::lacking(ctx, &RIGHTS, &Scope::Cluster, message)?.into_iter().collect();
    let message = "you may not create Linkerd's CRDs, and they are missing: linkerd install --crds fails";
    if let Some(finding) = rights::lacking(ctx, &DEFINITIONS, &Scope::Cluster, message)? {
        match ctx.every::<CustomResourceDefinition>() {
            Ok(there) if there.iter().any(|definition| definition.metadata.name == ONE_OF_THEM) => {}
            Ok(_) => findings.push(finding.parameter("definitions")),
            Err(missing) => ctx.gap(missing),
        }
    }
    // Where it is not known whether roles may be created, that was noted above.
    if rights::holds(ctx, &CREATE_ROLES).is_ok_and(|may| may) {
        match rights::holds(ctx, &ESCALATE) {
            Ok(true) => {}
            Ok(false) => {
                let message = "you may create ClusterRoles, but none that grants what you do not hold yourself, as Linkerd's \
                               do: an installation stops half-way";
                let finding = rights::lacking(ctx, &GRANTED, &Scope::Cluster, message)?;
                findings.extend(finding.map(|finding| finding.parameter("granted")));
            }
            Err(missing) => ctx.gap(missing),
        }
    }
    Ok(findings.into())
}
