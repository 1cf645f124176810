//! Remedies that several checks of linkerd-cni share. They depend on the tool that manages it and on the
//! installed version.

use super::chart::{ChartValue, image_version, set};
use super::gitops;
use super::target::{CniDaemonSet, asked_for, target};
use crate::checks::Context;
use crate::checks::words::each_step;
use crate::command::{Command, Line, collect_from_nodes, kubectl, meshdoctor};
use crate::finding::{Remedy, StepKind};
use crate::knowledge::{IptablesMode, Signature};
use crate::model::cni;
use crate::version::{CniVersion, ImageRef};

/// The version that remedies install: the target of the upgrade if its installer cleans up after itself, or
/// else the newest known release. It is the same in all remedies, so that a plan does not change the version
/// twice.
pub(super) fn advised_version(ctx: &Context<'_>) -> String {
    let known = ctx.knowledge.cni_plugin();
    let cleans_up = |version: &&CniVersion| {
        known.for_version(version).is_some_and(|row| !row.clean_up_broken && row.modes.contains(&IptablesMode::Plain))
    };
    let version = asked_for(ctx).filter(cleans_up).cloned();
    let version = version.unwrap_or_else(|| CniVersion::Plugin(known.last_release().clone()));
    format!("v{}", version.to_string().trim_start_matches('v'))
}

/// The first version that supports a mode.
pub(super) fn first_with(ctx: &Context<'_>, mode: IptablesMode) -> String {
    ctx.knowledge.cni_plugin().first_with_mode(mode).map_or_else(|| "v1.6.0".to_owned(), |v| format!("v{v}"))
}

/// Commands that collect the files of nodes, and check them with the other evidence.
pub(super) fn with_node_files() -> Line {
    let check = meshdoctor().words("check --bundle nodes.tar.gz").offline();
    collect_from_nodes().words("--output nodes.tar.gz").and(check)
}

/// Restarts the installers, so that nodes get the chart's values. A version that leaves a dead token behind
/// each time it stops would lock its node, so it is replaced by a newer one.
pub(super) fn restarted(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let words = "Restart the DaemonSet: its pods do not restart when the ConfigMap changes, and nodes keep \
                 the old entry until then";
    restarted_for(ctx, remedy, words)
}

/// As [`restarted`], for another reason.
pub(super) fn restarted_for(ctx: &Context<'_>, remedy: Remedy, words: &str) -> Remedy {
    let target = target(ctx);
    if target.clean_up_broken(ctx) {
        return through_host_network(ctx, remedy);
    }
    remedy.command(words, Command::lines(target.restart()).whole())
}

/// The remedy of a known error of the plugin or its installer, with its restart if it needs one.
pub(super) fn of_signature(ctx: &Context<'_>, remedy: Remedy, signature: &Signature) -> Remedy {
    let mut steps: Vec<String> = each_step(&signature.remedy).collect();
    let words = steps.pop().unwrap_or_default();
    let remedy = steps.into_iter().fold(remedy, |remedy, step| remedy.step(StepKind::Note, step));
    match (signature.restart, target(ctx).clean_up_broken(ctx)) {
        (false, _) => remedy.note(words),
        (true, false) => restarted_for(ctx, remedy, &words),
        (true, true) => through_host_network(ctx, remedy.note(words)),
    }
}

/// Waits until a DaemonSet runs on every node.
pub(super) fn rolled_out(ctx: &Context<'_>) -> Line {
    target(ctx).settled()
}

/// Waits until a changed DaemonSet runs on every node; with the update strategy OnDelete, deletes its pods first.
pub(super) fn changed_rolled_out(ctx: &Context<'_>) -> Command {
    let mut lines = target(ctx).replaced();
    match (lines.pop(), lines.is_empty()) {
        (Some(wait), true) => wait.into(),
        (wait, _) => Command::lines(lines.into_iter().chain(wait)).whole(),
    }
}

/// Sets values of the chart and applies them to the nodes; `words` is the text of the step. If a restart of
/// the installed version would lock its nodes, a newer one replaces it first on the host network, and leaving
/// the host network is the restart.
pub(super) fn changed(
    ctx: &Context<'_>,
    remedy: Remedy,
    words: impl Into<String>,
    chart: Option<&str>,
    values: &[ChartValue],
) -> Remedy {
    let target = target(ctx);
    let broken = target.clean_up_broken(ctx);
    let clean = advised_version(ctx);
    let mut values = values.to_vec();
    if broken && !values.iter().any(|value| value.key == "image.version") {
        values.push(image_version(&clean));
    }
    if !broken {
        return restarted(ctx, set(ctx, remedy, words, chart, &values));
    }
    let remedy = gitops::paused(ctx, remedy);
    let remedy = target.onto_host_network(remedy, Some((&clean, LEAVES_TOKENS)));
    let remedy = set(ctx, remedy, words, chart, &values);
    gitops::resumed(ctx, target.off_host_network(remedy))
}

/// Starts the installer once on the host network, without the CNI that it repairs. A version that leaves dead
/// tokens behind would be locked out again afterwards, so it is replaced in the same step.
pub(super) fn through_host_network(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let clean = advised_version(ctx);
    let newer = target(ctx).clean_up_broken(ctx).then_some((clean.as_str(), LEAVES_TOKENS));
    onto_version(ctx, remedy, newer)
}

/// Why a version that does not clean up is replaced first.
const LEAVES_TOKENS: &str = "the installed version leaves a dead token behind each time it stops";

/// The same, with another version of the plugin (`v1.6.2`) and the reason, if given.
pub(super) fn onto_version(ctx: &Context<'_>, remedy: Remedy, newer: Option<(&str, &str)>) -> Remedy {
    let target = target(ctx);
    let remedy = gitops::paused(ctx, remedy);
    let remedy = target.off_host_network(target.onto_host_network(remedy, newer));
    let remedy = match newer {
        Some((version, _)) => set(
            ctx,
            remedy,
            format!("Keep {version} in the chart's values, so that the next upgrade does not restore the old one"),
            None,
            &[image_version(version)],
        ),
        None => remedy,
    };
    gitops::resumed(ctx, remedy)
}

impl CniDaemonSet<'_> {
    /// Restarts all pods, and waits for the new ones.
    fn restart(&self) -> Vec<Line> {
        match self.selector() {
            Some(_) => self.replaced(),
            None => vec![self.rollout("rollout restart"), self.settled()],
        }
    }

    /// Waits for the pods of a changed template. The update strategy OnDelete replaces only deleted pods.
    fn replaced(&self) -> Vec<Line> {
        let delete = |selector| kubectl().namespace(self.namespace).words("delete pods").option("-l", selector).into();
        self.selector().map(delete).into_iter().chain([self.settled()]).collect()
    }

    /// Waits until its pods are ready. `rollout status` refuses the update strategy OnDelete.
    fn settled(&self) -> Line {
        let Some(selector) = self.selector() else { return self.rollout("rollout status") };
        kubectl()
            .namespace(self.namespace)
            .words("wait pods --for=condition=Ready --timeout=5m")
            .option("-l", selector)
            .into()
    }

    /// The selector of the pods of a DaemonSet with the update strategy OnDelete.
    fn selector(&self) -> Option<String> {
        let set = self.set.filter(|set| set.spec.strategy.waits_for_deletion())?;
        Some(format!("k8s-app={}", set.spec.template.metadata.labels.get("k8s-app")?))
    }

    /// `kubectl rollout …` of the DaemonSet.
    fn rollout(&self, verb: &'static str) -> Line {
        kubectl().namespace(self.namespace).words(verb).operand(format!("daemonset/{}", self.name)).into()
    }

    fn onto_host_network(&self, remedy: Remedy, newer: Option<(&str, &str)>) -> Remedy {
        let image = self.image().and_then(|image| image.parse::<ImageRef>().ok());
        let why = "Run the installer once on the host network, so that it writes a new token and entry";
        let port = "An enabled repair controller needs port 9990";
        match (image, newer) {
            (Some(image), Some((version, because))) => {
                let image = format!("{}:{version}", image.path());
                let containers = serde_json::json!([{"name": cni::INSTALLER, "image": image}]);
                remedy.command(
                    format!("{why}, and set {version}, because {because}. {port}"),
                    self.patched(&serde_json::json!({"hostNetwork": true, "containers": containers})),
                )
            }
            _ => remedy.command(format!("{why}. {port}"), self.patched(&serde_json::json!({"hostNetwork": true}))),
        }
    }

    fn off_host_network(&self, remedy: Remedy) -> Remedy {
        remedy.command(
            "When it is Ready on every node, remove it from the host network",
            self.patched(&serde_json::json!({"hostNetwork": null})),
        )
    }

    /// Changes the DaemonSet's pods and waits for them.
    fn patched(&self, spec: &serde_json::Value) -> Command {
        let patch = serde_json::json!({"spec": {"template": {"spec": spec}}}).to_string();
        let patch = kubectl()
            .namespace(self.namespace)
            .words("patch daemonset")
            .operand(self.name)
            .words("--type strategic -p")
            .arg(patch);
        Command::lines([Line::from(patch)].into_iter().chain(self.replaced())).whole()
    }
}
