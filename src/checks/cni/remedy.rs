//! The remedies that several checks of linkerd-cni share, fitted to how it was installed, to the version that runs and to
//! the operating system of the node.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::Context;
use crate::finding::{Remedy, StepKind};
use crate::item::Kind;
use crate::knowledge::IptablesMode;
use crate::model::cni::{self, InstalledBy};
use crate::model::objects::Workload;
use crate::model::sandbox::AddFailure;
use crate::version::{CniVersion, ImageRef};

/// The command that shows whether a remedy of a node worked.
pub(super) const VERIFY: &str = "meshdoctor check --only cni";

/// Helm's own annotation on what it installs.
const HELM_RELEASE: &str = "meta.helm.sh/release-name";
/// The release that Linkerd's documentation installs.
const RELEASE: &str = "linkerd-cni";

/// The DaemonSet that remedies name: the one in the namespace of linkerd-cni, else what charts call it.
pub(super) struct Target<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// How it was installed; `None` where no DaemonSet is known.
    pub(super) by: Option<InstalledBy>,
    /// The Helm release.
    pub(super) release: &'a str,
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
                by: Some(cni::installed_by(set)),
                release: set.metadata.annotation(HELM_RELEASE).unwrap_or(RELEASE),
                version: cni::version_of(&set.spec.template),
                image: container.map(|container| container.image.as_str()),
            }
        }
        None => {
            Target { namespace, name: "linkerd-cni", by: None, release: RELEASE, version: None, image: None }
        }
    }
}

impl Target<'_> {
    /// Sets values of the chart, keeping the chart that is installed, or taking another.
    pub(super) fn set_values(&self, chart: Option<&str>, values: &[String]) -> String {
        match self.by {
            Some(InstalledBy::Cli) => Self::by_cli(values),
            Some(InstalledBy::Helm) => self.by_helm(chart, values),
            None => format!(
                "# where it is: kubectl get daemonsets -A -l k8s-app=linkerd-cni\n\
                 # if Helm installed it:\n{}\n\
                 # if the linkerd CLI did:\n{}",
                self.by_helm(chart, values),
                Self::by_cli(values)
            ),
        }
    }

    fn by_cli(values: &[String]) -> String {
        format!(
            "linkerd install-cni{} | kubectl apply -f -    # with the options that it was installed with, too",
            set_flags(values)
        )
    }

    fn by_helm(&self, chart: Option<&str>, values: &[String]) -> String {
        let Target { namespace: ns, release, .. } = self;
        let set = set_flags(values);
        match chart {
            Some(chart) => format!(
                "helm repo add linkerd-edge https://helm.linkerd.io/edge --force-update\n\
                 helm upgrade {release} linkerd-edge/linkerd2-cni -n {ns} --version {chart} --reset-then-reuse-values{set}"
            ),
            None => format!(
                "CHART=$(helm -n {ns} list --filter '^{release}$' -o yaml | sed -n 's/^ *chart: linkerd2-cni-//p')\n\
                 helm upgrade {release} linkerd-edge/linkerd2-cni -n {ns} --version \"$CHART\" --reuse-values{set}"
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
pub(super) fn first_with(ctx: &Context<'_>, mode: IptablesMode) -> String {
    ctx.knowledge.cni_plugin().first_with_mode(mode).map_or_else(|| "v1.6.0".to_owned(), |v| format!("v{v}"))
}

/// Makes the installers start again, so that nodes get what the chart says. A version that leaves a dead token behind each
/// time it stops would lock its node by that; a newer one comes with it then.
pub(super) fn restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let words = "Restart the DaemonSet: its pods do not change with the ConfigMap, and nodes keep the old entry until they start again";
    restarted_for(ctx, remedy, words)
}

/// As [`restarted`], for another reason.
pub(super) fn restarted_for(ctx: &Context<'_>, remedy: Remedy, words: &str) -> Remedy {
    let target = target(ctx);
    if target.clean_up_broken(ctx) {
        return through_host_network(ctx, remedy);
    }
    remedy.run(StepKind::Command, words, target.restart())
}

/// Sets values of the chart and brings them to the nodes; `words` say why. Where the version that runs would lock its nodes
/// by being restarted, a newer one takes its place first, and the way back from the host network is the restart.
pub(super) fn changed(
    ctx: &Context<'_>,
    remedy: Remedy,
    words: impl Into<String>,
    chart: Option<&str>,
    values: &[String],
) -> Remedy {
    let target = target(ctx);
    let broken = target.clean_up_broken(ctx);
    let clean = first_clean(ctx);
    let mut values = values.to_vec();
    if broken && !values.iter().any(|value| value.starts_with("image.version=")) {
        values.push(format!("image.version={clean}"));
    }
    let remedy =
        if broken { target.onto_host_network(remedy, Some((&clean, LEAVES_TOKENS))) } else { remedy };
    let remedy = remedy.run(StepKind::ChartValue, words, target.set_values(chart, &values));
    if broken { target.off_host_network(remedy) } else { restarted(ctx, remedy) }
}

/// Lets the installer start once without the CNI that it is to repair. With a version that leaves dead tokens behind the
/// way back would lock it out again, so a newer one comes in the same step.
pub(super) fn through_host_network(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let clean = first_clean(ctx);
    let newer = target(ctx).clean_up_broken(ctx).then_some((clean.as_str(), LEAVES_TOKENS));
    onto_version(ctx, remedy, newer)
}

/// Why a version that does not clean up is replaced before anything else is changed.
const LEAVES_TOKENS: &str = "the installed version leaves a dead token behind each time it stops";

/// The same, and with it another version of the plugin, if one is named (`v1.6.2`), and why.
pub(super) fn onto_version(ctx: &Context<'_>, remedy: Remedy, newer: Option<(&str, &str)>) -> Remedy {
    let target = target(ctx);
    let remedy = target.off_host_network(target.onto_host_network(remedy, newer));
    match newer {
        Some((version, _)) => remedy.run(
            StepKind::ChartValue,
            format!("Keep {version} in the chart's values, so that the next upgrade does not bring the other one back"),
            target.set_values(None, &[format!("image.version={version}")]),
        ),
        None => remedy,
    }
}

impl Target<'_> {
    fn onto_host_network(&self, remedy: Remedy, newer: Option<(&str, &str)>) -> Remedy {
        let image = self.image.and_then(|image| image.parse::<ImageRef>().ok());
        let why = "Let the installer start on the host network once, where it does not need the CNI: it writes a fresh token and entry";
        let port = "Port 9990 must be free where the repair controller is on";
        match (image, newer) {
            (Some(image), Some((version, because))) => {
                let image = format!("{}:{version}", image.path());
                let container = format!("[{{\"name\":\"{}\",\"image\":\"{image}\"}}]", cni::INSTALLER);
                remedy.run(
                    StepKind::Command,
                    format!("{why}. Take {version} in the same step, since {because}. {port}"),
                    self.patched(&format!("{{\"hostNetwork\":true,\"containers\":{container}}}")),
                )
            }
            _ => remedy.run(
                StepKind::Command,
                format!("{why}. {port}"),
                self.patched("{\"hostNetwork\":true}"),
            ),
        }
    }

    fn off_host_network(&self, remedy: Remedy) -> Remedy {
        remedy.run(
            StepKind::Command,
            "When it is Ready on every node, take the host network back",
            self.patched("{\"hostNetwork\":null}"),
        )
    }

    /// Changes the DaemonSet's pods and waits for them.
    fn patched(&self, spec: &str) -> String {
        let Target { namespace: ns, name, .. } = self;
        format!(
            "kubectl -n {ns} patch daemonset {name} --type strategic -p '{{\"spec\":{{\"template\":{{\"spec\":{spec}}}}}}}'\n\
             kubectl -n {ns} rollout status daemonset/{name}"
        )
    }
}

fn set_flags(values: &[String]) -> String {
    values.iter().map(|value| format!(" --set {value}")).collect()
}

/// How many pods a command names before it lists them instead.
const NAMED: usize = 20;

/// Deletes pods that were refused, by name where they are few.
pub(super) fn delete_failed(adds: &[&AddFailure<'_>]) -> String {
    let mut by_namespace: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for add in adds {
        by_namespace.entry(add.namespace.as_ref()).or_default().insert(add.pod.as_ref());
    }
    if adds.is_empty() || adds.len() > NAMED {
        return "kubectl get pods -A --field-selector status.phase=Pending".to_owned();
    }
    let lines = by_namespace.iter().map(|(namespace, pods)| {
        format!("kubectl -n {namespace} delete pod {}", pods.iter().copied().collect::<Vec<_>>().join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The text with a capital letter.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
