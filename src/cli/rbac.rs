//! `meshdoctor rbac`: prints the role that the chosen checks need.

use super::args::Rbac;
use super::{output, request};
use crate::docgen::{Bound, Homes, role_of};
use crate::knowledge::Knowledge;
use crate::policy::Policy;

pub(super) fn run(args: &Rbac) -> anyhow::Result<u8> {
    let selection = &args.selection;
    let policy = Policy { only: selection.only.clone(), skip: selection.skip.clone(), ..Policy::default() };
    let checks = request::select(&policy, Knowledge::embedded())?;
    let bound = match (&args.user, &args.service_account) {
        (Some(user), _) => Some(Bound::User(user.clone())),
        (None, Some((namespace, name))) => {
            Some(Bound::ServiceAccount { namespace: namespace.clone(), name: name.clone() })
        }
        (None, None) => None,
    };
    let homes = args
        .namespaced
        .then(|| Homes { control_plane: args.linkerd_namespace.clone(), cni: args.cni_namespace.clone() });
    output::print(&role_of(&checks, args.proxies, bound.as_ref(), homes.as_ref()))
}
