//! `native-sidecar-kubernetes-too-old`: native sidecars are requested, but the API server or a
//! kubelet does not support them.

use std::collections::{BTreeMap, BTreeSet};

use super::family::Survey;
use super::wording;
use crate::checks::control_plane::installation::config;
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::rewrite::{self, Act};
use crate::checks::upgrade::{self, Options};
use crate::request::Request;
use crate::version::{K8sMinor, K8sVersion};

/// Limit of requests for native sidecars that are quoted as evidence.
const QUOTED: usize = 5;

/// The status reason of a pod that a kubelet rejected for a restartable init container.
const REJECTED: &str = "InitContainerRestartPolicyForbidden";

/// Links pods that request native sidecars to the version of the API server.
pub(super) const ASKED: &str = "native sidecars are requested";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let native = ctx.knowledge.native_sidecar();
    let enough = native.kubernetes_on_by_default();
    let server = ctx.or_note(ctx.server_version());
    let nodes = ctx.seen_or_gap::<Node>();
    let old_server = server.filter(|version| version.minor() < enough);
    let mut old_nodes: Vec<(&Node, K8sVersion)> = nodes
        .iter()
        .filter(|node| node.status.node_info.operating_system != "windows")
        .filter_map(|node| Some((node, kubelet(ctx, node)?)))
        .filter(|(_, version)| version.minor() < enough)
        .collect();
    if old_server.is_none() && old_nodes.is_empty() {
        return Ok(Verdict::fine());
    }
    let survey = Survey::from_context(ctx)?;
    let asks = NativeSidecarRequests::from_survey(ctx, survey);
    if asks.evidence.is_empty() {
        // The chart may request them.
        config(ctx)?;
        return Ok(Verdict::fine());
    }
    let gate = Gate::new(ctx);
    // An API server with the gate off drops the field before it stores the pod; newer ones keep it anyway.
    let gated = native.kubernetes_minimum();
    let on = gate.stored && server.is_none_or(|version| version.minor() == gated);
    let mut findings = Vec::new();
    if let Some(version) = old_server.filter(|_| !on) {
        let evidence = Evidence::other("API server /version", version.to_string());
        let mut finding = asks.finding(ctx, Subject::thing("API server"), version.minor(), evidence, SERVER);
        finding.ties.extend(asks.ties.iter().cloned());
        // Kubelets as old as the API server are covered by its finding: the API server rejects the pods first.
        let (as_old, older): (Vec<_>, Vec<_>) =
            old_nodes.into_iter().partition(|(_, kubelet)| version.minor() < gated || kubelet.minor() >= gated);
        finding.evidence.extend(as_old.iter().take(QUOTED).map(|(node, version)| of_kubelet(node, version)));
        old_nodes = older;
        findings.push(finding);
    }
    old_nodes.retain(|(node, version)| {
        let name = node.metadata.name.as_str();
        let off = gate.rejected.contains_key(name) || !on;
        version.minor() < gated || (off && !gate.nodes.contains(name))
    });
    for (node, version) in &old_nodes {
        let name = &node.metadata.name;
        let evidence = of_kubelet(node, version);
        let finding = asks.finding(ctx, Subject::node(name), version.minor(), evidence, KUBELET);
        findings.push(match gate.rejected.get(name.as_str()) {
            Some(pod) => finding.severity(Severity::Error).evidence(rejection(pod)),
            None => finding,
        });
    }
    Ok(findings.into())
}

/// A kubelet's version; an unreadable one is a gap.
fn kubelet(ctx: &Context<'_>, node: &Node) -> Option<K8sVersion> {
    let version = &node.status.node_info.kubelet_version;
    if version.is_empty() {
        // Nodes of manifests have no status.
        let request = Request::new(Item::List(Kind::Node));
        ctx.gap(Missing::part(request, Why::NotOffered, format!("the kubelet of {}", node.metadata.name)));
        return None;
    }
    let parsed = version.parse();
    if let Err(error) = &parsed {
        let why = Why::Malformed { message: format!("{error}") };
        let request = Request::new(Item::List(Kind::Node));
        ctx.gap(Missing::part(request, why, format!("the kubelet of {}", node.metadata.name)));
    }
    parsed.ok()
}

fn of_kubelet(node: &Node, version: &K8sVersion) -> Evidence {
    let name = &node.metadata.name;
    Evidence::field(format!("Node {name}"), "status.nodeInfo.kubeletVersion", version.to_string())
}

fn rejection(pod: &Pod) -> Evidence {
    Evidence::field(pod.described(), "status.reason", pod.status.reason.as_str())
}

/// The consequences if the feature does not exist, and if its gate is off.
struct Harm {
    what: &'static str,
    absent: &'static str,
    off: &'static str,
}

const SERVER: Harm = Harm {
    what: "the API server",
    absent: "it drops the field that makes a sidecar, then rejects the pod because init containers may \
        not have probes",
    off: "While it is off, the API server rejects every pod with a native sidecar",
};
const KUBELET: Harm = Harm {
    what: "this kubelet",
    absent: "it waits forever for the proxy to end before it starts the application",
    off: "While it is off, the kubelet rejects every pod with a native sidecar",
};

/// Maximum number of changed objects.
const CHANGED: usize = 12;

/// The requests for native sidecars: annotations and the chart.
struct NativeSidecarRequests {
    evidence: Vec<Evidence>,
    by_chart: bool,
    ties: Vec<Tie>,
    /// The steps that turn off the annotations.
    off: Remedy,
}

impl NativeSidecarRequests {
    fn from_survey(ctx: &Context<'_>, survey: &Survey<'_>) -> NativeSidecarRequests {
        let mut ties = vec![Tie::Fact(ASKED.to_owned())];
        let mut evidence = Vec::new();
        let by_chart = survey.switch.default == Some(true);
        if by_chart {
            let path = ctx.knowledge.native_sidecar().chart_value();
            let namespace = &ctx.namespaces().control_plane;
            evidence.push(Evidence::field(
                format!("ConfigMap {namespace}/linkerd-config"),
                format!("data.values: {path}"),
                "true, or the default of this release",
            ));
        }
        for (object, quoted) in &survey.asked {
            ties.push(Tie::Workload(
                object.kind.to_string(),
                object.meta.namespace.to_string(),
                object.meta.name.clone(),
            ));
            if evidence.len() < QUOTED {
                evidence.push(quoted.clone());
            }
        }
        evidence.extend(survey.switch.reader.evidence().filter(|_| !evidence.is_empty()));
        NativeSidecarRequests { evidence, by_chart, ties, off: off(ctx, survey) }
    }

    fn finding(&self, ctx: &Context<'_>, subject: Subject, minor: K8sMinor, evidence: Evidence, harm: Harm) -> Finding {
        let native = ctx.knowledge.native_sidecar();
        let (exists, free) = (native.kubernetes_minimum(), native.kubernetes_on_by_default());
        let what = harm.what;
        let (severity, message) = if minor < exists {
            let harm = harm.absent;
            (
                Severity::Error,
                format!(
                    "native sidecars are requested, but Kubernetes {minor} of {what} does not support \
                    them: {harm}"
                ),
            )
        } else {
            let harm = harm.off;
            (
                Severity::Warning,
                format!(
                    "native sidecars are requested, but in Kubernetes {minor} of {what} the feature \
                    gate SidecarContainers is off by default. {harm}"
                ),
            )
        };
        let mut remedy = wording::remedy()
            .step(StepKind::Upgrade, format!("Upgrade the API server and the kubelets to Kubernetes {free} or newer"));
        if severity == Severity::Warning {
            remedy = remedy.note(
                "Alternatively, enable the feature gate SidecarContainers on the API server, the \
                scheduler and every kubelet",
            );
        }
        remedy = self.without(ctx, remedy);
        ctx.finding(subject, message)
            .severity(severity)
            .evidence(evidence)
            .evidences(self.evidence.iter().cloned())
            .remedy(remedy)
    }

    /// Adds the step that turns off native sidecars until the upgrade.
    fn without(&self, ctx: &Context<'_>, remedy: Remedy) -> Remedy {
        let mut remedy = remedy;
        remedy.steps.extend(self.off.steps.iter().cloned());
        if !self.by_chart {
            return remedy;
        }
        let value = ctx.knowledge.native_sidecar().chart_value();
        let options = Options::none().set(value, "false");
        let act = "Until then, turn off native sidecars in the chart";
        let remedy = upgrade::with_values(ctx, remedy, act, options);
        let remedy = upgrade::injector_awaited(ctx, remedy);
        restart::all_meshed(
            ctx,
            remedy,
            restart::Needs::NewProxy,
            "Restart the meshed workloads: a pod gets the setting when it is created",
        )
    }
}

/// The steps that turn off the annotations that request native sidecars.
fn off(ctx: &Context<'_>, survey: &Survey<'_>) -> Remedy {
    let keys = ctx.knowledge.native_sidecar().all_keys();
    survey.asked.iter().take(CHANGED).fold(Remedy::new(), |remedy, (object, _)| {
        let has = |key: &&String| object.sites.iter().any(|site| site.meta.annotation(key).is_some());
        let changes: Vec<(&str, Option<&str>)> =
            keys.iter().filter(has).map(|key| (key.as_str(), Some("false"))).collect();
        let names: Vec<String> = changes.iter().map(|(key, _)| format!("{key}: \"false\"")).collect();
        let act = format!("Until then, set {}", names.join(", "));
        let remedy = rewrite::template(ctx, remedy, Act::Put(&act), object, &changes);
        rewrite::restart(ctx, remedy, object)
    })
}

/// Evidence of the feature gate from pods.
struct Gate<'a> {
    /// Whether the API server stored a pod with a native sidecar of any kind.
    stored: bool,
    /// Nodes on which a pod with a native sidecar started its application.
    nodes: BTreeSet<&'a str>,
    /// Nodes whose kubelet rejected a pod for its native sidecar, with one such pod.
    rejected: BTreeMap<&'a str, &'a Pod>,
}

impl<'a> Gate<'a> {
    fn new(ctx: &Context<'a>) -> Gate<'a> {
        let mut gate = Gate { stored: false, nodes: BTreeSet::new(), rejected: BTreeMap::new() };
        for pod in ctx.partial_list::<Pod>().unwrap_or_default() {
            if !pod.spec.init_containers.iter().any(|c| c.restart_policy.as_deref() == Some("Always")) {
                continue;
            }
            gate.stored = true;
            if matches!(pod.status.phase.as_str(), "Running" | "Succeeded") {
                gate.nodes.insert(&pod.node_name);
            }
            if pod.status.reason.as_str() == REJECTED {
                gate.rejected.entry(&pod.node_name).or_insert(pod);
            }
        }
        gate
    }
}
