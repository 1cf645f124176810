//! The tools that manage an object: the Helm release or CLI that created it, and the GitOps controller that
//! would revert changes. Read from the labels and annotations of these tools. Remedies are written for the
//! named tool; no tool is assumed.

use std::fmt;

use super::control_plane::CREATED_BY;
use crate::annotations::{ARGO_CD_INSTANCE, ARGO_CD_TRACKING, HELM_NAMESPACE, HELM_RELEASE};
use crate::objects::{Meta, Texts};

/// The tools that manage an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ManagedBy<'a> {
    /// The tool that created it, if known.
    pub installer: Option<Installer<'a>>,
    /// The GitOps controller that reverts changes made in the cluster.
    pub gitops: Option<GitOps<'a>>,
}

/// The tool that created an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installer<'a> {
    /// Helm, which stores it in this release.
    Release(Release<'a>),
    /// A chart of Linkerd, without a release in the cluster: `helm template`, Argo CD, kustomize.
    Chart,
    /// The linkerd CLI.
    Cli,
}

/// A release of Helm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release<'a> {
    pub name: &'a str,
    /// The namespace in which Helm stores it.
    pub namespace: &'a str,
}

/// A controller that continuously applies the contents of Git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitOps<'a> {
    /// Argo CD, by this Application.
    ArgoCd(&'a str),
    /// Flux, by a Kustomization of this namespace and name.
    Kustomization(Option<&'a str>, &'a str),
    /// Flux, by a HelmRelease of this namespace and name.
    HelmRelease(Option<&'a str>, &'a str),
}

impl<'a> ManagedBy<'a> {
    /// Reads the tools from an object's metadata.
    pub fn from_metadata(meta: &'a Meta) -> ManagedBy<'a> {
        ManagedBy::from_labels(&meta.labels, &meta.annotations)
    }

    /// Reads the tools from labels and annotations.
    pub fn from_labels(labels: &'a Texts, annotations: &'a Texts) -> ManagedBy<'a> {
        let label = |key: &str| labels.get(key).map(String::as_str);
        let annotation = |key: &str| annotations.get(key).map(String::as_str);
        let release = annotation(HELM_RELEASE).zip(annotation(HELM_NAMESPACE));
        let installer = match (release, annotation(CREATED_BY)) {
            (Some((name, namespace)), _) => Some(Installer::Release(Release { name, namespace })),
            (None, Some(tool)) if tool.starts_with("linkerd/helm") => Some(Installer::Chart),
            (None, Some(tool)) if tool.starts_with("linkerd/cli") => Some(Installer::Cli),
            (None, Some(_) | None) => None,
        };
        let tracked = annotation(ARGO_CD_TRACKING).and_then(|id| id.split(':').next());
        let tracked = tracked.or_else(|| label(ARGO_CD_INSTANCE)).or_else(|| annotation(ARGO_CD_INSTANCE));
        let flux = |kind: &str| {
            let name = label(&format!("{kind}.toolkit.fluxcd.io/name"))?;
            Some((label(&format!("{kind}.toolkit.fluxcd.io/namespace")), name))
        };
        // Objects of a HelmRelease belong to it. The Kustomization that applied the HelmRelease marks only
        // that.
        let gitops = tracked
            .filter(|application| !application.is_empty())
            .map(GitOps::ArgoCd)
            .or_else(|| flux("helm").map(|(namespace, name)| GitOps::HelmRelease(namespace, name)))
            .or_else(|| flux("kustomize").map(|(namespace, name)| GitOps::Kustomization(namespace, name)));
        ManagedBy { installer, gitops }
    }

    /// Whether the linkerd CLI manages it and no GitOps controller would revert its changes.
    pub fn is_by_cli(&self) -> bool {
        self.installer == Some(Installer::Cli) && self.gitops.is_none()
    }

    /// Whether the linkerd CLI rendered the manifests that a GitOps controller applies.
    pub fn is_rendered_by_cli(&self) -> bool {
        self.installer == Some(Installer::Cli) && self.gitops.is_some()
    }

    /// Whether commands change it: the linkerd CLI or a Helm release manages it, and no GitOps controller would revert
    /// the change.
    pub fn is_by_command(&self) -> bool {
        self.is_by_cli() || (self.release().is_some() && self.gitops.is_none())
    }

    /// The Helm release, if Helm stores one.
    pub fn release(&self) -> Option<Release<'a>> {
        match self.installer {
            Some(Installer::Release(release)) => Some(release),
            Some(Installer::Chart | Installer::Cli) | None => None,
        }
    }

    /// The note for steps that change an object managed in Git.
    pub fn in_git(&self) -> Option<String> {
        let owner = self.gitops?;
        Some(format!("make this change in Git: {owner} manages the object and reverts changes made in the cluster"))
    }
}

impl fmt::Display for GitOps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, namespace, name) = match self {
            GitOps::ArgoCd(name) => ("Argo CD (Application ", None, name),
            GitOps::Kustomization(namespace, name) => ("Flux (Kustomization ", *namespace, name),
            GitOps::HelmRelease(namespace, name) => ("Flux (HelmRelease ", *namespace, name),
        };
        match namespace {
            Some(namespace) => write!(f, "{tool}{namespace}/{name})"),
            None => write!(f, "{tool}{name})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(labels: &[(&str, &str)], annotations: &[(&str, &str)]) -> Meta {
        let map = |pairs: &[(&str, &str)]| -> Texts {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        serde_json::from_value(serde_json::json!({
            "name": "web", "labels": map(labels), "annotations": map(annotations),
        }))
        .expect("metadata")
    }

    #[test]
    fn each_tool_is_recognized_by_its_marks() {
        let helm = meta(
            &[],
            &[
                ("linkerd.io/created-by", "linkerd/helm edge-25.4.4"),
                ("meta.helm.sh/release-name", "mesh"),
                ("meta.helm.sh/release-namespace", "ops"),
            ],
        );
        let release = ManagedBy::from_metadata(&helm).release();
        assert_eq!(release, Some(Release { name: "mesh", namespace: "ops" }));
        let chart = meta(&[], &[("linkerd.io/created-by", "linkerd/helm edge-25.4.4")]);
        assert_eq!(ManagedBy::from_metadata(&chart).installer, Some(Installer::Chart));
        let cli = meta(&[], &[("linkerd.io/created-by", "linkerd/cli edge-25.4.4")]);
        assert_eq!(ManagedBy::from_metadata(&cli).installer, Some(Installer::Cli));
        assert!(!ManagedBy::from_metadata(&cli).is_rendered_by_cli());
        let in_git = meta(
            &[("kustomize.toolkit.fluxcd.io/name", "mesh")],
            &[("linkerd.io/created-by", "linkerd/cli edge-25.4.4")],
        );
        assert!(ManagedBy::from_metadata(&in_git).is_rendered_by_cli());
        assert_eq!(ManagedBy::from_metadata(&meta(&[], &[])), ManagedBy::default());
        // An incomplete release does not count: a namespace is never guessed.
        let half = meta(&[], &[("meta.helm.sh/release-name", "mesh")]);
        assert_eq!(ManagedBy::from_metadata(&half).release(), None);
    }

    #[test]
    fn controllers_are_named_with_what_they_apply() {
        let said = |labels: &[(&str, &str)], annotations: &[(&str, &str)]| {
            ManagedBy::from_metadata(&meta(labels, annotations)).gitops.map(|owner| owner.to_string())
        };
        let tracked = [("argocd.argoproj.io/tracking-id", "mesh:apps/Deployment:linkerd/linkerd-identity")];
        assert_eq!(said(&[], &tracked).as_deref(), Some("Argo CD (Application mesh)"));
        let labelled = [("argocd.argoproj.io/instance", "mesh")];
        assert_eq!(said(&labelled, &[]).as_deref(), Some("Argo CD (Application mesh)"));
        let flux =
            [("kustomize.toolkit.fluxcd.io/name", "apps"), ("kustomize.toolkit.fluxcd.io/namespace", "flux-system")];
        assert_eq!(said(&flux, &[]).as_deref(), Some("Flux (Kustomization flux-system/apps)"));
        let helm = [("helm.toolkit.fluxcd.io/name", "linkerd")];
        assert_eq!(said(&helm, &[]).as_deref(), Some("Flux (HelmRelease linkerd)"));
        assert_eq!(said(&[("app.kubernetes.io/managed-by", "Helm")], &[]), None);
    }
}
