//! Shared parts of the extension checks: the namespace of an extension, its pods, its reinstallation, and the
//! checks that every extension has. The checks themselves are in a folder for each extension.

mod carried;
mod empty;
mod injected;
mod namespace;
mod proxies;
mod reinstall;
mod running;
mod versions;

pub(super) use carried::carried;
pub(super) use empty::{judge as empty, label_or_install};
pub(super) use injected::{Unmeshed, judge as injected};
pub(super) use namespace::judge as label_missing;
pub(super) use proxies::judge as proxies;
pub(super) use reinstall::{created_by, preview_text, reinstall, reinstall_with};
pub(super) use running::{failing_pods, judge as running};
pub(super) use versions::{cli, outdated};

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;

/// The namespace of an extension: the one with its label, or, of several, the one that named objects were
/// read from (see [`Scope::Extension`]). If none with the label has objects of it, one without the label that has.
/// `None` if there is no such namespace. Reads `namespaces`.
///
/// # Errors
/// Namespaces are unavailable, or incomplete without a match.
pub(super) fn extension_namespace<'a>(
    ctx: &Context<'a>,
    extension: Extension,
) -> Result<Option<&'a Namespace>, Missing> {
    let chosen = ctx.namespaces().extensions.get(&extension);
    let namespaces = ctx.partial_list::<Namespace>()?;
    let named = namespaces.iter().find(|n| Some(&n.metadata.name) == chosen);
    match named.or_else(|| namespaces.iter().find(|one| is_labelled(one, extension))) {
        Some(namespace) => Ok(Some(namespace)),
        None => ctx.complete_list::<Namespace>().map(|_| None),
    }
}

/// Whether a namespace has the label of an extension.
pub(super) fn is_labelled(namespace: &Namespace, extension: Extension) -> bool {
    namespace.metadata.label(EXTENSION_LABEL) == Some(extension.name())
}

/// The namespace of an extension, for checks whose cards require it. Reads `namespaces`.
///
/// # Errors
/// See [`extension_namespace`]; or the extension is not installed.
pub(super) fn installed_in<'a>(ctx: &Context<'a>, extension: Extension) -> Result<&'a Namespace, Unjudged> {
    extension_namespace(ctx, extension)?.ok_or_else(|| absent(extension))
}

/// The namespaces that carry the label of each extension, Linkerd's own or not. Reads `namespaces`.
///
/// # Errors
/// Namespaces are unavailable.
pub(super) fn labelled_namespaces<'a>(ctx: &Context<'a>) -> Result<BTreeMap<&'a str, Vec<&'a str>>, Missing> {
    let mut labelled: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for namespace in ctx.partial_list::<Namespace>()? {
        if let Some(extension) = namespace.metadata.label(EXTENSION_LABEL) {
            labelled.entry(extension).or_default().push(&namespace.metadata.name);
        }
    }
    Ok(labelled)
}

/// The reason for an extension that is not installed.
pub(super) fn absent(extension: Extension) -> Unjudged {
    Unjudged::not_applicable(format!("the extension {extension} is not installed"))
}

/// Checks that an installed extension has pods; otherwise the checks of its components do not apply.
/// Multicluster without pods still has its CRD, which has a check of its own.
///
/// # Errors
/// No pod of it runs.
pub(super) fn runs(ctx: &Context<'_>, extension: Extension) -> Result<(), Unjudged> {
    let by = match extension {
        Extension::Viz => "viz-namespace-empty",
        Extension::Jaeger => "jaeger-namespace-empty",
        Extension::Multicluster => return Ok(()),
    };
    if ctx.namespaces().empty_extensions.contains(&extension) {
        let reason = format!("the extension {extension} is not installed: its namespace is empty");
        return Err(Unjudged::blocked(by, reason));
    }
    Ok(())
}

/// The pods among `pods` that belong to an extension by their label, in its namespace.
pub(super) fn own<'a>(pods: &'a [Pod], namespace: &str, extension: Extension) -> impl Iterator<Item = &'a Pod> {
    let namespace = namespace.to_owned();
    pods.iter().filter(move |pod| {
        pod.metadata.namespace == namespace && pod.metadata.label(EXTENSION_LABEL) == Some(extension.name())
    })
}

/// Groups pods by owner. Reads `replicasets.apps` and `jobs.batch`, if available.
pub(super) fn by_owner<'a, T: Ord>(
    ctx: &Context<'a>,
    pods: impl IntoIterator<Item = (T, &'a Pod)>,
) -> BTreeMap<(Owner, T), Vec<&'a Pod>> {
    let owners = ctx.owners();
    let mut grouped: BTreeMap<(Owner, T), Vec<&Pod>> = BTreeMap::new();
    for (what, pod) in pods {
        grouped.entry((owners.owner(pod), what)).or_default().push(pod);
    }
    grouped
}

/// Whether the namespace of an extension is so new that its components may still be starting. Reads
/// `namespaces`.
pub(super) fn is_installing(ctx: &Context<'_>, namespace: &str) -> bool {
    let named = ctx.optional_list::<Namespace>().iter().find(|one| one.metadata.name == namespace);
    named.is_some_and(|one| ctx.within_grace(one.metadata.creation_timestamp))
}

pub(super) fn names(pods: &[&Pod]) -> Vec<String> {
    pods.iter().map(|pod| pod.metadata.name.clone()).collect()
}
