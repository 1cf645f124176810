//! `caller-without-identity`: the policy of a port requires a mesh identity, and callers of it can never have
//! one: the API server, and clients outside of the cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::authorize;
use super::backend_policy::behind;
use super::survey::{rule_of, survey};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::command::meshdoctor;
use crate::item::EXTENSION_LABEL;
use crate::model::policy::{Client, Entry, Inbound, TakenBy};
use crate::model::skipped::{IN, skipped};
use crate::objects::{APIService, MutatingWebhookConfiguration, ServicePort, ValidatingWebhookConfiguration};

/// The annotation with ports that the proxy does not receive.
const SKIP: &str = IN.annotation();
/// The port of the proxy that receives all inbound connections. Multicluster gateways name it in their Service.
const PROXY_INBOUND: u16 = 4143;

/// Callers without an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Caller {
    /// The API server calls a webhook, whose failure rejects requests.
    Webhook,
    /// The API server calls a webhook, whose failure is ignored.
    LenientWebhook,
    /// The API server forwards requests of an API.
    Api,
    /// Clients of a load balancer.
    Balancer,
    /// Clients of a node port.
    NodePort,
}

/// A port of a Service, and the object that makes the caller use it.
struct CalledServicePort<'a> {
    caller: Caller,
    service: &'a Service,
    port: &'a ServicePort,
    by: Evidence,
    is_observed: bool,
}

/// The ports of an owner's pods that deny a caller.
#[derive(Default)]
struct DenyingPorts<'a> {
    ports: BTreeMap<u16, Inbound<'a>>,
    by: Vec<Evidence>,
    pods: BTreeSet<&'a str>,
    is_observed: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let home = ctx.namespaces().control_plane.as_str();
    let is_own = |pod: &Pod| pod.metadata.namespace == home || pod.metadata.label(EXTENSION_LABEL).is_some();
    let mut refused: BTreeMap<(Owner, Caller), DenyingPorts<'_>> = BTreeMap::new();
    for called in called(ctx)? {
        for (pod, workload, number) in behind(survey, called.service, called.port) {
            let is_skipped = skipped(pod, IN, ctx.cni_skips()).is_some_and(|ports| ports.holds(number));
            if is_skipped || number == PROXY_INBOUND || is_own(pod) || !ctx.judges(&pod.metadata.namespace) {
                continue;
            }
            let inbound = survey.index.inbound(workload, number);
            // An unknown address matches every network, so only policies that require an identity remain.
            if inbound.connect(Client::default()) == Entry::Admitted {
                continue;
            }
            let one = refused.entry((ctx.owners().owner(pod), called.caller)).or_default();
            one.ports.entry(number).or_insert(inbound);
            one.pods.insert(pod.metadata.name.as_str());
            one.is_observed |= called.is_observed;
            if !one.by.contains(&called.by) {
                one.by.push(called.by.clone());
            }
        }
    }
    Ok(refused.iter().map(|(key, one)| finding(ctx, key, one)).collect())
}

/// All Service ports that such callers use.
fn called<'a>(ctx: &Context<'a>) -> Result<Vec<CalledServicePort<'a>>, crate::missing::Missing> {
    let services = ctx.complete_list::<Service>()?;
    let find = |namespace: &str, name: &str, number: u16| {
        let is_it = |one: &&Service| one.metadata.namespace == namespace && one.metadata.name == name;
        let service = services.iter().find(is_it)?;
        Some((service, service.spec.ports.iter().find(|port| port.port == number)?))
    };
    let mut all = Vec::new();
    let mutating = ctx.or_note(ctx.complete_list::<MutatingWebhookConfiguration>()).unwrap_or_default();
    let validating = ctx.or_note(ctx.complete_list::<ValidatingWebhookConfiguration>()).unwrap_or_default();
    let of_kind = [("MutatingWebhookConfiguration", mutating), ("ValidatingWebhookConfiguration", validating)];
    for (kind, configuration) in of_kind.into_iter().flat_map(|(kind, all)| all.iter().map(move |one| (kind, one))) {
        for webhook in configuration.webhooks.iter().filter(|webhook| !webhook.rules.is_empty()) {
            let Some(to) = &webhook.client_config.service else { continue };
            let Some((service, port)) = find(&to.namespace, &to.name, to.port.unwrap_or(443)) else {
                continue;
            };
            let is_strict = matches!(webhook.failure_policy.as_str(), "Fail" | "");
            let object = format!("{kind} {}", configuration.metadata.name);
            let by = Evidence::field(
                object,
                format!("webhooks[{}].failurePolicy", webhook.name),
                match is_strict {
                    true => "Fail",
                    false => "Ignore",
                },
            );
            let caller = if is_strict { Caller::Webhook } else { Caller::LenientWebhook };
            all.push(CalledServicePort { caller, service, port, by, is_observed: false });
        }
    }
    for api in ctx.or_note(ctx.complete_list::<APIService>()).unwrap_or_default() {
        let Some(to) = &api.spec.service else { continue };
        let Some((service, port)) = find(&to.namespace, &to.name, to.port.unwrap_or(443)) else { continue };
        let available = api.status.conditions.iter().find(|condition| condition.kind == "Available");
        let is_observed = available.is_some_and(|condition| condition.status == "False");
        let object = format!("APIService {}", api.metadata.name);
        let by = match available.filter(|_| is_observed) {
            Some(condition) => Evidence::field(object, "status.conditions[Available]", condition.message.to_string()),
            None => Evidence::field(object, "spec.service", format!("{}/{}", to.namespace, to.name)),
        };
        all.push(CalledServicePort { caller: Caller::Api, service, port, by, is_observed });
    }
    for service in services {
        let caller = match service.spec.kind.as_str() {
            "LoadBalancer" => Caller::Balancer,
            "NodePort" => Caller::NodePort,
            _ => continue,
        };
        let object = service.metadata.described("Service");
        for port in service.spec.tcp_ports() {
            let by = Evidence::field(&object, "spec.type", service.spec.kind.as_str());
            all.push(CalledServicePort { caller, service, port, by, is_observed: false });
        }
    }
    Ok(all)
}

fn finding(ctx: &Context<'_>, (owner, caller): &(Owner, Caller), one: &DenyingPorts<'_>) -> Finding {
    let (who, effect, severity) = match caller {
        Caller::Webhook => (
            "the API server",
            "its calls of the webhook fail, and it rejects the requests that the webhook covers",
            Severity::Error,
        ),
        Caller::LenientWebhook => {
            ("the API server", "its calls of the webhook fail, and the webhook has no effect", Severity::Warning)
        }
        Caller::Api => ("the API server", "requests of this API fail", Severity::Error),
        Caller::Balancer => ("clients of the load balancer", "their connections are denied", Severity::Warning),
        Caller::NodePort => ("clients of the node port", "their connections are denied", Severity::Info),
    };
    let ports: Vec<String> = one.ports.keys().map(u16::to_string).collect();
    let policy = match ports.as_slice() {
        [port] => format!("policy of port {port} requires"),
        [first @ .., last] => format!("policies of ports {} and {last} require", first.join(", ")),
        [] => String::new(),
    };
    let message = format!("the {policy} a mesh identity, which {who} cannot have: {effect}");
    let mut by: Vec<Evidence> = Vec::new();
    for rule in one.ports.iter().map(|(port, inbound)| rule_of(inbound, *port)) {
        if !by.contains(&rule) {
            by.push(rule);
        }
    }
    let pods: Vec<String> = one.pods.iter().map(|name| (*name).to_owned()).collect();
    let target = one.pods.first().copied().unwrap_or_default();
    let remedy = Remedy::new().command(
        "Check which clients are authorized",
        Command::lines(
            ports
                .iter()
                .map(|port| meshdoctor().words("policy").operand(format!("{}/{target}:{port}", owner.namespace))),
        ),
    );
    let act = "Authorize the networks of these callers: an AuthorizationPolicy for the Server of each port that \
               requires a NetworkAuthentication";
    let of_server = |inbound: &Inbound<'_>| match inbound.taken_by {
        TakenBy::Server(server) => Some(authorize::network(&server.metadata, "callers", "CALLER_NETWORK")),
        TakenBy::Default(_) => None,
    };
    let remedy = match one.ports.values().map(of_server).collect::<Option<Vec<_>>>() {
        Some(commands) => remedy.run(StepKind::Command, act, Command::lines(commands.concat()).whole()),
        None => remedy.step(StepKind::Note, act),
    };
    let pod = ctx.optional_list::<Pod>().iter().find(|pod| pod.metadata.key() == (owner.namespace.as_str(), target));
    let what = if ports.len() == 1 { "port" } else { "ports" };
    let remedy = rewrite::extend_list(ctx, remedy, owner, (SKIP, pod), &ports.join(","), |list| {
        format!("Or exclude the {what} from the proxy, and so from policy, with {SKIP}: {list:?}")
    });
    let mut finding = ctx
        .finding(owner.subject(pods), message)
        .parameter(format!("{} {who}", ports.join(",")))
        .severity(severity)
        .evidences(one.by.iter().take(3).cloned())
        .evidences(by)
        .remedy(remedy);
    if !one.is_observed {
        finding = finding.likely();
    }
    finding
}
