//! `viz-tap-api-unavailable`: the API of tap is unavailable, or its APIService is left over.

use super::tap::API;
use crate::checks::extensions::{absent, extension_namespace, own, reinstall, runs};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::command::Call;
use crate::objects::{APIService, Condition};

/// The row of `linkerd check` that this check answers, and the one that also fails if the APIService is
/// missing.
const RUNNING: &str = "tap API service is running";
const TRUSTED: &str = "tap API server has valid cert";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = extension_namespace(ctx, Extension::Viz)?;
    let service = ctx.object::<APIService>(Scope::Cluster, API)?;
    let installed = namespace.ok_or_else(|| absent(Extension::Viz)).and_then(|namespace| {
        runs(ctx, Extension::Viz)?;
        Ok(namespace)
    });
    let namespace = match installed {
        Ok(namespace) => namespace,
        Err(absent) => {
            let finding = service.and_then(|service| left_behind(ctx, service)).ok_or(absent)?;
            return Ok(finding.into());
        }
    };
    let namespace = namespace.metadata.name.as_str();
    let taps: Vec<&Pod> = own(ctx.optional_list::<Pod>(), namespace, Extension::Viz)
        .filter(|pod| pod.metadata.label("component") == Some("tap"))
        .collect();
    let (evidence, state) = match service {
        None => (Evidence::other(format!("APIService {API}"), "does not exist"), TapProblem::Gone),
        Some(service) => match service.status.conditions.iter().find(|c| c.kind == "Available") {
            Some(condition) if condition.status == "True" => return Ok(Verdict::fine()),
            Some(condition) => {
                let socket = egress_socket(&condition.message).map(str::to_owned);
                (available(condition), TapProblem::Unreached { socket })
            }
            None => (
                Evidence::field(format!("APIService {API}"), "status.conditions", "no Available"),
                TapProblem::Unreached { socket: None },
            ),
        },
    };
    Ok(spared(finding(ctx, namespace, &state).evidence(evidence), ctx.are_starting(&taps)).into())
}

/// The finding for the APIService of an uninstalled viz; `None` if it still answers.
fn left_behind(ctx: &Context<'_>, service: &APIService) -> Option<Finding> {
    let condition = service.status.conditions.iter().find(|condition| condition.kind == "Available");
    if condition.is_some_and(|condition| condition.status == "True") {
        return None;
    }
    let said = condition.map_or_else(
        || "no Available".to_owned(),
        |condition| format!("{}: {}: {}", condition.status, condition.reason, condition.message),
    );
    let object = format!("APIService {API}");
    let served_by = service.spec.service.as_ref().map(|s| format!("{}/{}", s.namespace, s.name));
    let finding = ctx
        .finding(
            Subject::object("APIService", "", API),
            "viz is not installed, and the APIService of its tap was left behind: nothing serves it, so \
             deleted namespaces stay Terminating, and kubectl prints errors",
        )
        .parameter("left-behind")
        .evidence(Evidence::other(
            "Deployments and pods with linkerd.io/extension=viz",
            "none in a namespace with that label",
        ))
        .evidences(served_by.map(|name| Evidence::field(&object, "spec.service", name)))
        .evidence(Evidence::field(&object, "status.conditions[Available]", said))
        .fails_rows([])
        .remedy(Remedy::new().command(
            "Delete the APIService, unless you plan to reinstall viz",
            kubectl().words("delete apiservice").arg(API),
        ));
    Some(finding)
}

/// Why the API of tap is unavailable.
enum TapProblem {
    /// Its APIService is missing.
    Gone,
    /// The API server does not reach it.
    Unreached {
        /// The socket of the API server's egress proxy, if that does not answer.
        socket: Option<String>,
    },
}

/// The condition of tap's APIService, if the API server cannot open the socket of its egress proxy, through which it
/// also calls webhooks. Reads the APIService.
pub(in crate::checks) fn egress_is_down(ctx: &Context<'_>) -> Option<Evidence> {
    let service = ctx.object::<APIService>(Scope::Cluster, API).ok().flatten()?;
    let condition = service.status.conditions.iter().find(|condition| condition.kind == "Available")?;
    egress_socket(&condition.message).filter(|_| condition.status != "True")?;
    Some(available(condition))
}

/// The condition as evidence. An error of the egress proxy is quoted without the addresses before it, which it does not
/// depend on.
fn available(condition: &Condition) -> Evidence {
    let message = match condition.message.find(DIAL).filter(|_| egress_socket(&condition.message).is_some()) {
        Some(at) => format!("…{}", &condition.message[at..]),
        None => condition.message.to_string(),
    };
    let said = format!("{}: {}: {message}", condition.status, condition.reason);
    Evidence::field(format!("APIService {API}"), "status.conditions[Available]", said)
}

/// The beginning of an error of a Unix socket.
const DIAL: &str = "dial unix ";

/// The path of a Unix socket that could not be opened: `dial unix /run/egress.sock: connect: ...`. The API server uses
/// one only for its egress proxy.
fn egress_socket(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once(DIAL)?;
    rest.split_once(": ").map(|(path, _)| path).filter(|path| path.starts_with('/'))
}

/// A command about konnectivity, with the labels of the manifests in Kubernetes' documentation.
fn konnectivity(words: &'static str) -> Call {
    kubectl().namespace("kube-system").words(words)
}

/// Whether nodes are instances of AWS, whose API server reaches only pods with addresses of the VPC.
fn is_on_eks(ctx: &Context<'_>) -> bool {
    ctx.optional_list::<Node>().iter().any(|node| node.spec.provider_id.starts_with("aws://"))
}

/// Adds the steps for nodes whose pods have addresses of an overlay. The proxy that tap needs cannot be added on the
/// node's network, which is why that is no way out as it is for webhooks.
fn with_overlay(remedy: Remedy) -> Remedy {
    remedy
        .step(
            StepKind::Note,
            "If the nodes use an overlay, run viz on nodes with the VPC CNI: the API server of EKS reaches no other \
             pod, and tap cannot run on the node's network",
        )
        .command(
            "If that is not possible, do without tap: delete its APIService, which delays the API server (it returns \
             with the next upgrade of viz)",
            kubectl().words("delete apiservice").arg(API),
        )
}

fn finding(ctx: &Context<'_>, namespace: &str, state: &TapProblem) -> Finding {
    let gone = matches!(state, TapProblem::Gone);
    let message = match state {
        TapProblem::Gone => {
            "the APIService of tap is missing: linkerd viz tap and the dashboard's live traffic do not work"
        }
        TapProblem::Unreached { socket: None } => {
            "the API server does not reach tap: linkerd viz tap does not work, and requests that list all API \
             groups, such as the deletion of a namespace, wait or fail"
        }
        TapProblem::Unreached { socket: Some(_) } => {
            "The API server's egress proxy does not answer. linkerd viz tap does not work, requests that list all API \
             groups wait or fail, and webhooks such as the injector's may not be called"
        }
    };
    let fix = match state {
        TapProblem::Gone => reinstall(ctx, Remedy::new(), Extension::Viz, ""),
        TapProblem::Unreached { socket: Some(path) } => Remedy::new()
            .command(
                format!(
                    "Repair the API server's egress proxy (konnectivity) on the Kubernetes control-plane nodes: the \
                     API server cannot open {path}. These commands show its pods and log (some providers hide them)"
                ),
                Command::lines([
                    konnectivity("get pods -o wide -l").arg("k8s-app in (konnectivity-server,konnectivity-agent)"),
                    konnectivity("logs --tail=50 -l k8s-app=konnectivity-server"),
                ]),
            )
            .command(
                "Check that the API server reaches tap: the column AVAILABLE shows True",
                kubectl().words("get apiservices.apiregistration.k8s.io").arg(API),
            ),
        TapProblem::Unreached { socket: None } => Remedy::new()
            .command(
                "Check that a pod of tap is ready and that its Service has an endpoint",
                kubectl().namespace(namespace).words("get pods,endpointslices -l component=tap"),
            )
            .note(
                "If so, allow the API server to reach port 8089 of the pod, in firewalls between control \
                 plane and nodes and in NetworkPolicies",
            ),
    };
    let is_unanswered = matches!(state, TapProblem::Unreached { socket: None });
    let fix = if is_unanswered && is_on_eks(ctx) { with_overlay(fix) } else { fix };
    let finding = ctx.finding(Subject::object("APIService", "", API), message).remedy(fix);
    // Without the APIService, no CA bundle exists to verify tap's certificate with.
    if gone { finding.fails_rows([RUNNING, TRUSTED]).rows_as(Severity::Error) } else { finding.fails_rows([RUNNING]) }
}
