//! `gitops-apply-failed`: Flux or Argo CD cannot apply Linkerd's charts, or objects that Linkerd's webhooks reject.

use crate::checks::firewall::let_api_server_in;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::serving::{component_missing, definition_missing};
use crate::checks::upgrades::gitops::taken_of;
use crate::model::control_plane::CORE;
use crate::model::managed_by::GitOps;
use crate::model::refusal::{self, Refusal};
use crate::objects::{Application, ArgoApplication, FluxObject, HelmRelease, Kustomization};

/// Reasons of a condition that is not yet, or no longer, the result of an attempt.
const WAITING: [&str; 4] = ["DependencyNotReady", "Progressing", "ProgressingWithRetry", "Suspended"];
const ARGO_CD: &str = "Argo CD";
/// Phases of a sync that has ended without success.
const FAILED: [&str; 2] = ["Error", "Failed"];

/// A failure that a GitOps tool reports in the status of one of its objects.
struct Failure<'a> {
    path: String,
    said: &'a str,
}

/// An object of a GitOps tool whose last attempt failed.
struct Failing<'a> {
    kind: Kind,
    meta: &'a Meta,
    tool: &'static str,
    owner: GitOps<'a>,
    /// The first chart of Linkerd that it installs.
    chart: Option<&'a str>,
    /// Whether its objects are for another cluster.
    is_elsewhere: bool,
    /// The namespace of the chart's objects, if the object sets it.
    namespace: &'a str,
    failures: Vec<Failure<'a>>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let kustomizations = ctx.or_note(defined::<Kustomization>(ctx)).unwrap_or_default();
    let releases = ctx.or_note(defined::<HelmRelease>(ctx)).unwrap_or_default();
    let applications = ctx.or_note(defined::<Application>(ctx)).unwrap_or_default();
    let control_plane = ctx.namespaces().control_plane.as_str();
    let failing = kustomizations
        .iter()
        .map(|object| flux(Kind::Kustomization, object))
        .chain(releases.iter().map(|object| flux(Kind::HelmRelease, object)))
        .chain(applications.iter().map(argo_cd));
    let failing = failing.filter(|one| !one.is_elsewhere && !one.is_of_other_control_plane(control_plane));
    let findings: Vec<Finding> = failing.filter_map(|failing| finding(ctx, &failing)).collect();
    Ok(findings.into())
}

impl Failing<'_> {
    /// Whether it installs a control plane in another namespace than that of the checked one.
    fn is_of_other_control_plane(&self, control_plane: &str) -> bool {
        let is_set = !self.namespace.is_empty() && self.namespace != control_plane;
        is_set && self.chart.is_some_and(is_control_plane)
    }
}

fn flux(kind: Kind, object: &FluxObject) -> Failing<'_> {
    let meta = &object.metadata;
    let (namespace, name) = (Some(meta.namespace.as_ref()), meta.name.as_str());
    let has_failed = object.status.conditions.iter().filter(|condition| {
        condition.kind == "Ready" && condition.status == "False" && !WAITING.contains(&&*condition.reason)
    });
    Failing {
        kind,
        meta,
        tool: "Flux",
        owner: match kind {
            Kind::HelmRelease => GitOps::HelmRelease(namespace, name),
            _ => GitOps::Kustomization(namespace, name),
        },
        chart: object.chart().filter(|chart| is_linkerds(chart)),
        is_elsewhere: object.spec.kube_config.is_some(),
        namespace: &object.spec.target_namespace,
        failures: has_failed
            .map(|condition| Failure { path: "status.conditions[Ready]".to_owned(), said: condition.message.as_ref() })
            .collect(),
    }
}

fn argo_cd(object: &ArgoApplication) -> Failing<'_> {
    let status = &object.status;
    let operation = &status.operation_state;
    let mut failures: Vec<Failure<'_>> = status
        .conditions
        .iter()
        .filter(|condition| condition.kind.ends_with("Error"))
        .map(|condition| Failure {
            path: format!("status.conditions[{}]", &*condition.kind),
            said: condition.message.as_ref(),
        })
        .collect();
    if FAILED.contains(&&*operation.phase) {
        let rejected = operation.sync_result.resources.iter().filter(|object| object.status == "SyncFailed");
        let rejected = rejected.map(|object| Failure {
            path: format!("status.operationState.syncResult: {} {}/{}", object.kind, object.namespace, object.name),
            said: object.message.as_ref(),
        });
        let before = failures.len();
        failures.extend(rejected);
        if failures.len() == before {
            failures
                .push(Failure { path: "status.operationState.message".to_owned(), said: operation.message.as_ref() });
        }
    }
    Failing {
        kind: Kind::Application,
        meta: &object.metadata,
        tool: ARGO_CD,
        owner: GitOps::ArgoCd(&object.metadata.name),
        chart: object.charts().find(|chart| is_linkerds(chart)),
        is_elsewhere: object.spec.destination.is_other_cluster(),
        namespace: &object.spec.destination.namespace,
        failures,
    }
}

/// Whether a chart installs the control plane.
pub(super) fn is_control_plane(chart: &str) -> bool {
    let name = chart.rsplit('/').next().unwrap_or_default();
    ["linkerd-control-plane", "linkerd-enterprise-control-plane", "linkerd2"].contains(&name)
}

/// Whether a chart is one of Linkerd's: linkerd-crds, linkerd2-cni, linkerd-enterprise-control-plane.
pub(super) fn is_linkerds(chart: &str) -> bool {
    chart.rsplit('/').next().unwrap_or_default().starts_with("linkerd")
}

/// The webhook of Linkerd that denied an object or could not be called.
fn webhook(said: &str) -> Option<(&str, bool)> {
    let (name, is_denied) = match refusal::read(said) {
        Refusal::Denied { webhook } => (webhook, true),
        Refusal::Uncalled { webhook, .. } => (webhook, false),
        _ => return None,
    };
    name.ends_with(".linkerd.io").then_some((name, is_denied))
}

/// A failure concerns the mesh if the object installs a chart of Linkerd, or if one of Linkerd's webhooks caused it.
fn finding(ctx: &Context<'_>, failing: &Failing<'_>) -> Option<Finding> {
    let Failing { kind, meta, tool, owner, chart, failures, .. } = failing;
    let by_webhook = failures.iter().find_map(|failure| webhook(failure.said));
    let message = match (chart, by_webhook) {
        _ if failures.is_empty() => return None,
        (_, Some((name, true))) if failures.iter().any(|failure| unknown_value(failure.said).is_some()) => {
            format!(
                "Linkerd's webhook {name} denies a correct object, because this release does not know one of its \
                 values, so {tool} does not apply the change"
            )
        }
        (_, Some((name, true))) => {
            format!("Linkerd's webhook {name} denies an object, so {tool} does not apply the change")
        }
        (_, Some((name, false))) => {
            format!("the API server cannot call Linkerd's webhook {name}, so {tool} does not apply the change")
        }
        (Some(chart), None) => {
            format!("{tool} cannot apply the chart {chart}: its objects are missing, or stay as they were")
        }
        (None, None) => return None,
    };
    let subject = Subject::object(*kind, &meta.namespace, &meta.name);
    let shown = failures.iter().filter(|failure| chart.is_some() || webhook(failure.said).is_some());
    let evidence = shown.map(|failure| Evidence::field(subject.clone(), failure.path.as_str(), failure.said));
    let remedy = remedy(ctx, tool, failures.iter().map(|failure| failure.said), by_webhook)
        .command(format!("Let {tool} apply it again, and wait until it is done"), taken_of(*owner, meta));
    let finding = ctx.finding(subject.clone(), message).evidences(evidence).remedy(remedy);
    Some(ties(chart.unwrap_or_default()).into_iter().fold(finding, Finding::tie))
}

/// What is missing while a chart is not applied.
fn ties(chart: &str) -> Vec<Tie> {
    let definitions = || ["destination", "policy"].map(definition_missing);
    match chart.rsplit('/').next().unwrap_or_default() {
        "linkerd-crds" | "linkerd-enterprise-crds" => definitions().into(),
        "linkerd-control-plane" | "linkerd-enterprise-control-plane" => {
            CORE.into_iter().map(component_missing).collect()
        }
        "linkerd2" => CORE.into_iter().map(component_missing).chain(definitions()).collect(),
        _ => Vec::new(),
    }
}

/// Errors of an API server about a webhook that does not answer.
const TIMEOUTS: [&str; 4] = ["context deadline exceeded", "i/o timeout", "connection timed out", "no route to host"];
/// The webhooks of the control plane, by the beginning of their names, with the Deployment and container of each.
const SERVERS: [(&str, &str, &str); 3] = [
    ("linkerd-policy-validator", "linkerd-destination", "policy"),
    ("linkerd-sp-validator", "linkerd-destination", "sp-validator"),
    ("linkerd-proxy-injector", "linkerd-proxy-injector", "proxy-injector"),
];

/// The steps for a webhook that the API server cannot call. Only if it does not answer in time, no other check may find
/// the cause.
fn uncalled<'a>(ctx: &Context<'_>, webhook: &str, mut said: impl Iterator<Item = &'a str>) -> Remedy {
    let is_silent = said.any(|said| TIMEOUTS.iter().any(|timeout| said.contains(timeout)));
    let server = SERVERS.iter().find(|(begins, ..)| webhook.starts_with(begins));
    let Some((_, deployment, container)) = server.filter(|_| is_silent) else {
        return Remedy::new().note("Repair the webhook first: other findings name the cause");
    };
    let log = kubectl().namespace(&ctx.namespaces().control_plane).words("logs");
    let log = log.arg(format!("deployment/{deployment}")).option("-c", *container).words("--tail=50");
    Remedy::new()
        .command("See in the log whether the webhook received the requests. If it did, skip the next step", log)
        .note(let_api_server_in(ctx))
}

fn remedy<'a>(
    ctx: &Context<'_>,
    tool: &str,
    mut said: impl Iterator<Item = &'a str> + Clone,
    by_webhook: Option<(&str, bool)>,
) -> Remedy {
    match by_webhook {
        Some((_, true)) => {
            if let Some(value) = said.clone().find_map(unknown_value) {
                let upgrade = format!(
                    "Keep the object, whose value {value} is correct, and upgrade the control plane to edge-26.4.4 \
                     (2.20) or newer. Its webhook admits values that Linkerd does not know"
                );
                let until = format!(
                    "Until then, remove the part with {value} from the object in Git, and configure it in the \
                     Gateway's own policy"
                );
                return Remedy::new().step(StepKind::Upgrade, upgrade).note(until);
            }
            let text = match said.find_map(reference_without_group) {
                Some(kind) => format!(
                    "In Git, add group: policy.linkerd.io to the reference of kind {kind} in \
                     spec.requiredAuthenticationRefs of the AuthorizationPolicy"
                ),
                None => "Correct in Git the object that the message names".to_owned(),
            };
            return Remedy::new().note(text);
        }
        Some((name, false)) => {
            return uncalled(ctx, name, said);
        }
        None => {}
    }
    if said.clone().any(|said| said.contains("nil pointer evaluating interface {}")) {
        let text = match tool {
            "Flux" => {
                "Remove preserveValues from spec.upgrade of the HelmRelease: the values that it keeps from the older \
                 chart lack one that the new templates read. If it is not set, remove the null from your values"
            }
            _ => "Remove the null from your values that replaces a map of the chart, which its templates read",
        };
        return Remedy::new().note(text);
    }
    // A client-side apply copies the object into an annotation.
    if tool == ARGO_CD && said.clone().any(|said| said.contains("metadata.annotations: Too long")) {
        return Remedy::new().note(
            "Add ServerSideApply=true to spec.syncPolicy.syncOptions of the Application: without it, Argo CD copies \
             the object into an annotation, for which it is too large",
        );
    }
    match said.find_map(Unowned::read) {
        Some(object) => object.adopted(),
        None => Remedy::new().note("Repair the cause that the message names, in Git or in the cluster"),
    }
}

/// The value that Linkerd's policy webhook does not know. The schema of the definition was tested before, so that the
/// value is correct.
fn unknown_value(said: &str) -> Option<&str> {
    let (name, is_denied) = webhook(said)?;
    let (_, rest) = said.split_once("unknown variant `").filter(|_| is_denied)?;
    let (value, rest) = rest.split_once('`')?;
    // The variants of a route's filter: other types of Linkerd are not in the schema.
    let is_of_filter = rest.starts_with(", expected one of `") && rest.contains("`RequestHeaderModifier`");
    (name.starts_with("linkerd-policy-validator") && is_of_filter).then_some(value)
}

/// The kind of a reference that Linkerd's webhook denies only because its group is missing.
fn reference_without_group(said: &str) -> Option<&'static str> {
    let (_, kinds) = said.split_once("unsupported authentication kind(s): ")?;
    let kinds: Vec<&str> = kinds.split([',', ' ', '"', '\n', ';']).collect();
    ["MeshTLSAuthentication", "NetworkAuthentication"].into_iter().find(|kind| kinds.contains(kind))
}

/// An object that another tool created, so that Helm refuses to change it. The message is that of Helm 3 and 4.
struct Unowned<'a> {
    kind: &'a str,
    name: &'a str,
    namespace: &'a str,
    /// Name and namespace of the release that Helm expects in its annotations.
    release: Option<(&'a str, &'a str)>,
}

impl<'a> Unowned<'a> {
    fn read(said: &'a str) -> Option<Unowned<'a>> {
        let (before, wanted) = said.split_once(" exists and cannot be imported into the current release")?;
        let (before, namespace) = before.rsplit_once(" in namespace ")?;
        let (kind, name) = before.rsplit_once(' ')?;
        let kind = kind.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().filter(|kind| !kind.is_empty())?;
        let value = |key: &str| {
            let (_, rest) = wanted.split_once(key)?;
            rest.split_once("must be set to \"")?.1.split_once('"').map(|(value, _)| value)
        };
        let release = value("\"meta.helm.sh/release-name\"").zip(value("\"meta.helm.sh/release-namespace\""));
        Some(Unowned { kind, name: name.trim_matches('"'), namespace: namespace.trim_matches('"'), release })
    }

    /// The step that lets Helm adopt it.
    fn adopted(&self) -> Remedy {
        let set = |key: &'static str, value: Option<&str>, placeholder: &'static str| match value {
            Some(value) => Arg::known(key).then(value.to_owned()),
            None => Arg::known(key).then(Arg::placeholder(placeholder)),
        };
        let on = |verb: &'static str| {
            let call = match self.namespace {
                "" => kubectl(),
                namespace => kubectl().namespace(namespace),
            };
            call.words(verb).arg(self.kind.to_ascii_lowercase()).operand(self.name)
        };
        let (name, namespace) = (self.release.map(|(name, _)| name), self.release.map(|(_, home)| home));
        let annotate = on("annotate").arg(set("meta.helm.sh/release-name=", name, "RELEASE")).arg(set(
            "meta.helm.sh/release-namespace=",
            namespace,
            "NAMESPACE",
        ));
        Remedy::new().command(
            format!("If the release shall own {} {}, let Helm adopt it", self.kind, self.name),
            Command::lines([on("label").arg("app.kubernetes.io/managed-by=Helm"), annotate]),
        )
    }
}
