//! The ConfigMap of linkerd-cni.

use crate::checks::prelude::*;

/// The ConfigMap that installers write entries from. Reads `configmaps/cni/linkerd-cni-config`.
pub(super) fn config<'a>(ctx: &Context<'a>) -> Option<&'a ConfigMap> {
    ctx.object::<ConfigMap>(Scope::Cni, "linkerd-cni-config").ok().flatten()
}

/// The gap of a part of it that cannot be read, for this reason.
pub(super) fn unreadable(ctx: &Context<'_>, message: &str, part: &str) -> Missing {
    let item = Item::named(Kind::ConfigMap, Scope::Cni, "linkerd-cni-config");
    ctx.missing(item, Why::Malformed { message: message.to_owned() }, part)
}

/// As [`config`], for checks that require it; `None` if it does not exist.
///
/// # Errors
/// Whether it exists is not known.
pub(super) fn needed_config<'a>(ctx: &Context<'a>) -> Result<Option<&'a ConfigMap>, Missing> {
    ctx.object::<ConfigMap>(Scope::Cni, "linkerd-cni-config")
}
