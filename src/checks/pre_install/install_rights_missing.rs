//! `install-rights-missing`: the user may not create the objects of an installation in the control plane's
//! namespace.

use super::rights::{self, Right};
use crate::checks::prelude::*;

const fn right(verb: &'static str, resource: &'static str, row: Option<&'static str>) -> Right {
    Right { verb, resource, row }
}

/// The namespaced objects in the manifests of every supported release; `linkerd check` does not check the
/// last two.
const RIGHTS: [Right; 9] = [
    right("create", "serviceaccounts", Some("can create ServiceAccounts")),
    right("create", "services", Some("can create Services")),
    right("create", "deployments.apps", Some("can create Deployments")),
    right("create", "cronjobs.batch", Some("can create CronJobs")),
    right("create", "configmaps", Some("can create ConfigMaps")),
    right("create", "secrets", Some("can create Secrets")),
    right("get", "secrets", Some("can read Secrets")),
    right("create", "roles.rbac.authorization.k8s.io", None),
    right("create", "rolebindings.rbac.authorization.k8s.io", None),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    rights::verdict(rights::missing_rights(
        ctx,
        &RIGHTS,
        &Scope::ControlPlane,
        "you lack permissions in the control plane's namespace that an installation needs: it stops halfway",
    )?)
}
