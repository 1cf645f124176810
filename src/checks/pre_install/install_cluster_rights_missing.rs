//! `install-cluster-rights-missing`: the user may not create the cluster-scoped objects of an installation.

use super::rights::{self, Right};
use crate::checks::prelude::*;
use crate::objects::CustomResourceDefinition;

const ROW: Option<&str> = Some("can create non-namespaced resources");

/// The cluster-scoped objects in the manifests of every supported release.
const RIGHTS: [Right; 5] = [
    Right { verb: "create", resource: "namespaces", row: ROW },
    CREATE_ROLES,
    Right { verb: "create", resource: "clusterrolebindings.rbac.authorization.k8s.io", row: ROW },
    Right { verb: "create", resource: "mutatingwebhookconfigurations.admissionregistration.k8s.io", row: ROW },
    Right { verb: "create", resource: "validatingwebhookconfigurations.admissionregistration.k8s.io", row: ROW },
];

const CREATE_ROLES: Right = Right { verb: "create", resource: "clusterroles.rbac.authorization.k8s.io", row: ROW };

/// Allows creating roles that grant permissions that the user does not hold.
const ESCALATE: Right = Right { verb: "escalate", resource: "clusterroles.rbac.authorization.k8s.io", row: ROW };

/// Some permissions that the ClusterRoles of every supported release grant: one of each type, and those that
/// few users hold.
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

/// Needed if the CRDs do not exist yet. `linkerd check` does not check this permission.
const DEFINITIONS: [Right; 1] =
    [Right { verb: "create", resource: "customresourcedefinitions.apiextensions.k8s.io", row: None }];

/// A CRD that every supported release contains.
const ONE_OF_THEM: &str = "servers.policy.linkerd.io";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let message = "you lack cluster-wide permissions that an installation needs: it stops halfway";
    let mut findings: Vec<_> = rights::missing_rights(ctx, &RIGHTS, &Scope::Cluster, message)?.into_iter().collect();
    let message = "you may not create Linkerd's CRDs, and they are missing: linkerd install --crds fails";
    if let Some(finding) = rights::missing_rights(ctx, &DEFINITIONS, &Scope::Cluster, message)? {
        match ctx.complete_list::<CustomResourceDefinition>() {
            Ok(there) if there.iter().any(|definition| definition.metadata.name == ONE_OF_THEM) => {}
            Ok(_) => findings.push(finding.parameter("definitions")),
            Err(missing) => ctx.gap(missing),
        }
    }
    // An unknown answer about creating roles was noted above.
    if rights::holds(ctx, &CREATE_ROLES).is_ok_and(|may| may) {
        match rights::holds(ctx, &ESCALATE) {
            Ok(true) => {}
            Ok(false) => {
                let message = "you may create ClusterRoles, but not with permissions that you do not hold, \
                               and Linkerd's have such: an installation stops halfway";
                let finding = rights::missing_rights(ctx, &GRANTED, &Scope::Cluster, message)?;
                findings.extend(finding.map(|finding| finding.parameter("granted")));
            }
            Err(missing) => ctx.gap(missing),
        }
    }
    Ok(findings.into())
}
