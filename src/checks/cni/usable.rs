//! The iptables modes of linkerd-cni that a node supports, by its binaries, kernel and operating system.

use std::collections::BTreeSet;

use super::nodes::Nodes;
use crate::checks::Context;
use crate::knowledge::{Backend, IptablesMode};
use crate::model::node::{Looked, NodeSnapshot};

/// The modes in order of preference: the node's own `iptables` comes first.
pub(super) const BY_ADVICE: [IptablesMode; 3] = [IptablesMode::Plain, IptablesMode::Nft, IptablesMode::Legacy];

/// The two binaries of a mode.
pub(super) fn pair(ctx: &Context<'_>, mode: IptablesMode) -> Option<[String; 2]> {
    ctx.knowledge.cni_plugin().binary_of(mode).map(|binary| [format!("{binary}-save"), binary.to_owned()])
}

/// The modes that a node supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Usable {
    /// Modes whose two binaries the node has; empty if all binaries were looked for and none was found.
    Seen(BTreeSet<IptablesMode>),
    /// Modes that the operating system is known to include, without a look at the node.
    Expected(BTreeSet<IptablesMode>),
}

impl Usable {
    /// From the files of a node.
    pub(super) fn from_node(ctx: &Context<'_>, snapshot: &NodeSnapshot) -> Usable {
        let has = |name: &String| matches!(snapshot.binary(name), Looked::Found(_));
        let all = |mode: &IptablesMode| pair(ctx, *mode).is_some_and(|names| names.iter().all(has));
        Usable::Seen(BY_ADVICE.into_iter().filter(all).collect())
    }

    /// From the files of a node, without the modes whose kernel module it is known to lack.
    pub(super) fn working(ctx: &Context<'_>, snapshot: &NodeSnapshot) -> Usable {
        let known = ctx.knowledge.cni_plugin();
        let seen = Usable::from_node(ctx, snapshot);
        let modules = snapshot.modules.as_ref().filter(|modules| !modules.is_empty());
        let has_module = |mode: IptablesMode| {
            let backend = known.binary_of(mode).and_then(|binary| backend_of(ctx, snapshot, binary));
            let module = backend.and_then(|backend| known.module_of(backend));
            modules.is_none_or(|modules| module.is_none_or(|module| modules.contains(module)))
        };
        let works = |mode: &IptablesMode| seen.has(*mode) && has_module(*mode);
        Usable::Seen(BY_ADVICE.into_iter().filter(works).collect())
    }

    pub(super) fn is_any(&self) -> bool {
        !self.modes().is_empty()
    }

    fn modes(&self) -> &BTreeSet<IptablesMode> {
        match self {
            Usable::Seen(modes) | Usable::Expected(modes) => modes,
        }
    }

    pub(super) fn has(&self, mode: IptablesMode) -> bool {
        self.modes().contains(&mode)
    }
}

/// The first of these modes that works on all nodes, if the current one does not.
pub(super) fn better_mode(ctx: &Context<'_>, current: IptablesMode, accepted: &[IptablesMode]) -> Option<IptablesMode> {
    let nodes = Nodes::for_steps(ctx);
    let usable: Vec<Usable> = nodes.snapshots().map(|snapshot| Usable::working(ctx, snapshot)).collect();
    let systems: Vec<_> = nodes.objects().filter_map(|(name, _)| nodes.system(ctx, name)).collect();
    let works = |mode: &IptablesMode| {
        usable.iter().all(|usable| usable.has(*mode)) && systems.iter().all(|system| !system.has(*mode).is_lacking())
    };
    let mut accepted = BY_ADVICE.into_iter().filter(|mode| accepted.contains(mode));
    accepted.find(works).filter(|_| !works(&current))
}

/// The backend of a binary, from its version or, for two of them, its name.
pub(super) fn backend_of(ctx: &Context<'_>, snapshot: &NodeSnapshot, binary: &str) -> Option<Backend> {
    let said = match snapshot.binary(binary) {
        Looked::Found(found) => found.version.as_deref().and_then(Backend::of_version),
        Looked::Absent | Looked::NotLookedFor(_) => None,
    };
    let named = |mode| ctx.knowledge.cni_plugin().binary_of(mode) == Some(binary);
    said.or_else(|| named(IptablesMode::Legacy).then_some(Backend::Legacy))
        .or_else(|| named(IptablesMode::Nft).then_some(Backend::NfTables))
}
