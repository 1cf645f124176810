//! The remedies that several checks of linkerd-cni share, fitted to how it was installed, to the version that runs and to
//! the operating system of the node.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::Context;
use crate::finding::{Remedy, StepKind};
use crate::item::Kind;
use crate::knowledge::Mode;
use crate::model::cni::{self, InstalledBy};
use crate::model::objects::Workload;
use crate::model::sandbox::FailedAdd;
use crate::version::{CniVersion, ImageRef};

/// The command that shows whether a remedy of a node worked.
pub(super) const VERIFY: &str = "meshdoctor check --only cni";

/// The DaemonSet that remedies name: the one in the namespace of linkerd-cni, else what charts call it.
pub(super) struct Target<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) by: InstalledBy,
    /// The version in its template.
    pub(super) version: Option<CniVersion>,
    image: Option<&'a str>,
}

/// Reads `daemonsets.apps`.
pub(super) fn target<'a>(ctx: &Context<'a>) -> Target<'a> {
    let namespace = ctx.namespaces().cni.as_str();
    let installers: Vec<&Workload> =
        ctx.hints::<Workload>(Kind::DaemonSet).iter().filter(|set| cni::is_installer(set)).collect();
    let at_home = installers.iter().find(|set| set.metadata.namespace == namespace);
    match at_home.or_else(|| installers.first()) {
        Some(set) => {
            let container = set.spec.template.spec.container(cni::INSTALLER);
            Target {
                namespace: &set.metadata.namespace,
                name: &set.metadata.name,
                by: cni::installed_by(set),
                version: cni::version_of(&set.spec.template),
                image: container.map(|container| container.image.as_str()),
            }
        }
        None => Target { namespace, name: "linkerd-cni", by: InstalledBy::Helm, version: None, image: None },
    }
}

impl Target<'_> {
    /// Sets values of the chart, keeping the chart that is installed, or taking another.
    pub(super) fn set_values(&self, chart: Option<&str>, values: &[String]) -> String {
        let ns = self.namespace;
        let set: String = values.iter().map(|value| format!(" --set {value}")).collect();
        match (self.by, chart) {
            (InstalledBy::Cli, _) => {
                format!("linkerd install-cni{set} | kubectl apply -f -")
            }
            (InstalledBy::Helm, Some(chart)) => format!(
                "helm repo add linkerd-edge https://helm.linkerd.io/edge --force-update\n\
                 helm upgrade linkerd-cni linkerd-edge/linkerd2-cni -n {ns} --version {chart} --reset-then-reuse-values{set}"
            ),
            (InstalledBy::Helm, None) => format!(
                "CHART=$(helm -n {ns} list --filter '^linkerd-cni$' -o yaml | sed -n 's/^ *chart: linkerd2-cni-//p')\n\
                 helm upgrade linkerd-cni linkerd-edge/linkerd2-cni -n {ns} --version \"$CHART\" --reuse-values{set}"
            ),
        }
    }

    /// Restarts the installers and waits for them.
    fn restart(&self) -> String {
        let Target { namespace, name, .. } = self;
        format!(
            "kubectl -n {namespace} rollout restart daemonset/{name}\nkubectl -n {namespace} rollout status daemonset/{name}"
        )
    }

    /// Whether the version in the template leaves its entry and a dead token behind when it stops.
    pub(super) fn clean_up_broken(&self, ctx: &Context<'_>) -> bool {
        let known = self.version.as_ref().and_then(|version| ctx.knowledge.cni_plugin().for_version(version));
        known.is_some_and(|row| row.clean_up_broken)
    }
}

/// The first version whose installer cleans up after itself.
pub(super) fn first_clean(ctx: &Context<'_>) -> String {
    ctx.knowledge.cni_plugin().first_with_clean_up().map_or_else(|| "v1.6.2".to_owned(), |v| format!("v{v}"))
}

/// The first version that takes a mode.
pub(super) fn first_with(ctx: &Context<'_>, mode: Mode) -> String {
    ctx.knowledge.cni_plugin().first_with_mode(mode).map_or_else(|| "v1.6.0".to_owned(), |v| format!("v{v}"))
}

/// Makes the installers start again, so that nodes get what the chart says. A version that leaves a dead token behind each
/// time it stops would lock its node by that; a newer one comes with it then.
pub(super) fn restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let target = target(ctx);
    if target.clean_up_broken(ctx) {
        return through_host_network(ctx, remedy);
    }
    remedy.run(
        StepKind::Command,
        "Restart the DaemonSet: its pods do not change with the ConfigMap, and nodes keep the old entry until they start again",
        target.restart(),
    )
}

/// Lets the installer start once without the CNI that it is to repair. With a version that leaves dead tokens behind the
/// way back would lock it out again, so a newer one comes in the same step.
pub(super) fn through_host_network(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let target = target(ctx);
    let Target { namespace: ns, name, .. } = &target;
    let patch = |spec: &str| {
        format!(
            "kubectl -n {ns} patch daemonset {name} --type strategic -p '{{\"spec\":{{\"template\":{{\"spec\":{spec}}}}}}}'\n\
             kubectl -n {ns} rollout status daemonset/{name}"
        )
    };
    let broken = target.clean_up_broken(ctx);
    let image = target.image.filter(|_| broken).and_then(|image| image.parse::<ImageRef>().ok());
    let remedy = match image {
        Some(image) => {
            let clean = first_clean(ctx);
            let container = format!("[{{\"name\":\"{}\",\"image\":\"{}:{clean}\"}}]", cni::INSTALLER, image.path());
            remedy.run(
                StepKind::Command,
                format!("Let the installer start on the host network once, where it does not need the CNI: it writes a fresh token and entry. Take {clean} in the same step, since the version that runs leaves a dead token behind each time it stops. Port 9990 must be free where the repair controller is on"),
                patch(&format!("{{\"hostNetwork\":true,\"containers\":{container}}}")),
            )
        }
        None => remedy.run(
            StepKind::Command,
            "Let the installer start on the host network once, where it does not need the CNI: it writes a fresh token and entry. Port 9990 must be free where the repair controller is on",
            patch("{\"hostNetwork\":true}"),
        ),
    };
    let remedy = remedy.run(
        StepKind::Command,
        "When it is Ready on every node, take the host network back",
        patch("{\"hostNetwork\":null}"),
    );
    match broken {
        true => remedy.run(
            StepKind::ChartValue,
            "Keep the newer image in the chart's values, so that the next upgrade does not bring the old one back",
            target.set_values(None, &[format!("image.version={}", first_clean(ctx))]),
        ),
        false => remedy,
    }
}

/// How many pods a command names before it lists them instead.
const NAMED: usize = 20;

/// Deletes pods that were refused, by name where they are few.
pub(super) fn delete_failed(adds: &[&FailedAdd<'_>]) -> String {
    let mut by_namespace: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for add in adds {
        by_namespace.entry(add.namespace).or_default().insert(add.pod);
    }
    if adds.is_empty() || adds.len() > NAMED {
        return "kubectl get pods -A --field-selector status.phase=Pending".to_owned();
    }
    let lines = by_namespace.iter().map(|(namespace, pods)| {
        format!("kubectl -n {namespace} delete pod {}", pods.iter().copied().collect::<Vec<_>>().join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}
