//! `viz-address-unreachable`: a component of viz is configured with an address of a Service that is missing,
//! does not declare the port, or has no ready endpoint.

use super::external_prometheus::external;
use super::own_services;
use crate::checks::extensions::{installed_in, reinstall_with};
use crate::checks::prelude::*;
use crate::command::helm_set;
use crate::item::EXTENSION_LABEL;
use crate::model::endpoints::NoEndpoint;
use crate::model::service_address::{Lookup, ServiceAddress, Services};
use crate::objects::{EndpointSlice, ServicePort};

/// An address in the arguments of a component.
struct AddressArgument {
    component: &'static str,
    /// Its argument, without dashes.
    flag: &'static str,
    /// The chart value behind the argument.
    value: &'static str,
    /// Whether the value is a URL. Others are a host and a port.
    is_url: bool,
    /// What fails without an answer.
    effect: &'static str,
}

const SETTINGS: [AddressArgument; 3] = [
    AddressArgument {
        component: "metrics-api",
        flag: "prometheus-url",
        value: "prometheusUrl",
        is_url: true,
        effect: "linkerd viz and the dashboard have no metrics to show",
    },
    AddressArgument {
        component: "web",
        flag: "grafana-addr",
        value: "grafana.url",
        is_url: false,
        effect: "links from the dashboard to Grafana fail",
    },
    AddressArgument {
        component: "web",
        flag: "jaeger-addr",
        value: "jaegerUrl",
        is_url: false,
        effect: "links from the dashboard to Jaeger fail",
    },
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = installed_in(ctx, Extension::Viz)?;
    let viz = namespace.metadata.name.as_str();
    let deployments = ctx.partial_list::<Deployment>()?;
    let services = ctx.complete_list::<Service>()?;
    let slices = ctx.or_note(ctx.complete_list::<EndpointSlice>());
    let among = Services { services, slices, pods: ctx.optional_list::<Pod>() };
    let mut findings = own_services::findings(ctx, viz, deployments, services);
    let faults: Vec<AddressFault<'_>> = SETTINGS
        .iter()
        .filter_map(|setting| {
            let (deployment, written) = written(deployments, viz, setting)?;
            let state = state(ctx, namespace, setting, written, among)?;
            Some(AddressFault { setting, deployment, written, state })
        })
        .collect();
    for (at, fault) in faults.iter().enumerate() {
        // A step for one value must not set another back.
        let others = faults
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .filter_map(|(_, other)| other.correction().filter(|_| !(fault.is_open() && other.is_open())));
        findings.push(fault.finding(ctx, &others.collect::<Vec<_>>()));
    }
    Ok(findings.into())
}

/// What is wrong with an address.
enum AddressState<'a> {
    /// It has a scheme, which the dashboard does not expect.
    Scheme,
    NoService(ServiceAddress<'a>),
    NoPort(ServiceAddress<'a>, &'a Service),
    NoEndpoint(&'a Service, NoEndpoint<'a>),
}

/// A setting with a wrong address.
struct AddressFault<'a> {
    setting: &'static AddressArgument,
    deployment: &'a Workload,
    written: &'a str,
    state: AddressState<'a>,
}

/// What is wrong with the address of a setting; `None` if nothing is.
fn state<'a>(
    ctx: &Context<'a>,
    viz: &Namespace,
    setting: &AddressArgument,
    written: &'a str,
    among: Services<'a>,
) -> Option<AddressState<'a>> {
    if !setting.is_url && written.contains("://") {
        return Some(AddressState::Scheme);
    }
    let address = address(written)?;
    if (address.namespace, address.name) == (viz.metadata.name.as_str(), "prometheus") {
        return None;
    }
    match address.lookup(among, ctx.optional_workloads()) {
        Lookup::Outside | Lookup::Found(..) => None,
        Lookup::NoEndpoint(_, NoEndpoint::NotReady(pod, _)) if ctx.is_starting(pod) => None,
        // Reported with the annotation that linkerd viz check reads.
        Lookup::NoService if setting.is_url && external(viz).is_some() => None,
        Lookup::NoService => Some(AddressState::NoService(address)),
        Lookup::NoPort(service) => Some(AddressState::NoPort(address, service)),
        Lookup::NoEndpoint(service, cause) => Some(AddressState::NoEndpoint(service, cause)),
    }
}

impl AddressFault<'_> {
    /// Whether the reader chooses the right address.
    fn is_open(&self) -> bool {
        matches!(self.state, AddressState::NoService(_) | AddressState::NoPort(..))
    }

    /// The argument of `--set` that corrects it; `None` if the address is right.
    fn correction(&self) -> Option<Arg> {
        match &self.state {
            AddressState::Scheme => Some(helm_set(self.setting.value, host(self.written)).into()),
            AddressState::NoEndpoint(..) => None,
            AddressState::NoService(_) | AddressState::NoPort(..) => Some(chosen(self.setting)),
        }
    }

    /// `others`: the corrections of other settings.
    fn finding(&self, ctx: &Context<'_>, others: &[Arg]) -> Finding {
        let AddressFault { setting, deployment, written, state } = self;
        let finding = match state {
            AddressState::Scheme => return with_scheme(ctx, setting, (deployment, written), others),
            AddressState::NoService(address) => no_service(ctx, setting, *address, others),
            AddressState::NoPort(address, service) => no_port(ctx, setting, (*address, service), others),
            AddressState::NoEndpoint(service, cause) => no_endpoint(ctx, setting, service, cause),
        };
        finding.evidence(argument(deployment, setting, written))
    }
}

/// The Deployment of metrics-api and the address of the Prometheus that it queries, if that is not the one of viz.
pub(super) fn other_prometheus<'a>(deployments: &'a [Workload], viz: &str) -> Option<(&'a Workload, &'a str)> {
    let found = written(deployments, viz, &SETTINGS[0])?;
    let is_own = |address: ServiceAddress<'_>| (address.namespace, address.name) == (viz, "prometheus");
    (!address(found.1).is_some_and(is_own)).then_some(found)
}

/// The Deployment of a component and the address in its arguments.
fn written<'a>(deployments: &'a [Workload], viz: &str, setting: &AddressArgument) -> Option<(&'a Workload, &'a str)> {
    let deployment = deployments.iter().find(|deployment| {
        let meta = &deployment.metadata;
        meta.namespace == viz
            && meta.label(EXTENSION_LABEL) == Some(Extension::Viz.name())
            && meta.label("component") == Some(setting.component)
    })?;
    let args = deployment.spec.template.spec.containers.iter().flat_map(|container| &container.args);
    let value = |arg: &'a String| {
        let (name, value) = arg.trim_start_matches('-').split_once('=')?;
        (name == setting.flag && !value.is_empty()).then_some(value)
    };
    args.filter_map(value).next_back().map(|value| (deployment, value))
}

/// The Service in an address, with the default port of its scheme. The dashboard calls hosts over HTTP.
fn address(written: &str) -> Option<ServiceAddress<'_>> {
    let parsed = ServiceAddress::parse(written)?;
    let default = if written.starts_with("https://") { 443 } else { 80 };
    Some(ServiceAddress { port: parsed.port.or(Some(default)), ..parsed })
}

fn argument(deployment: &Workload, setting: &AddressArgument, written: &str) -> Evidence {
    let (namespace, name) = deployment.metadata.key();
    let path = format!("spec.template.spec.containers[].args: -{}", setting.flag);
    Evidence::field(format!("Deployment {namespace}/{name}"), path, written)
}

/// An address without its scheme.
fn host(written: &str) -> &str {
    written.split_once("://").map_or(written, |(_, rest)| rest)
}

fn with_scheme(
    ctx: &Context<'_>,
    setting: &AddressArgument,
    (deployment, written): (&Workload, &str),
    others: &[Arg],
) -> Finding {
    let (namespace, name) = deployment.metadata.key();
    let AddressArgument { value, effect, .. } = setting;
    let host = host(written);
    let message = format!("{value} contains a scheme, but the dashboard expects a host and a port: {effect}");
    ctx.finding(Subject::object(Kind::Deployment, namespace, name), message)
        .parameter(format!("{value} scheme"))
        .evidence(argument(deployment, setting, written))
        .remedy(reinstall_with(
            ctx,
            Remedy::new(),
            Extension::Viz,
            &format!(" with {value}={host}"),
            &[&[helm_set(value, host).into()], others].concat(),
        ))
}

/// The argument of `--set` for an address which the reader chooses.
fn chosen(setting: &AddressArgument) -> Arg {
    Arg::from(format!("{}=", setting.value)).then(Arg::placeholder("ADDRESS"))
}

/// The remedy that sets the value to an address which the reader chooses.
fn with_address(ctx: &Context<'_>, setting: &AddressArgument, of: &str, others: &[Arg]) -> Remedy {
    let form = if setting.is_url { "a URL" } else { "HOST:PORT" };
    let why = format!(" with {} set to ADDRESS, {of} as {form}", setting.value);
    reinstall_with(ctx, Remedy::new(), Extension::Viz, &why, &[&[chosen(setting)], others].concat())
}

fn no_service(ctx: &Context<'_>, setting: &AddressArgument, address: ServiceAddress<'_>, others: &[Arg]) -> Finding {
    let AddressArgument { component, value, effect, .. } = setting;
    let ServiceAddress { namespace, name, .. } = address;
    let message = format!("{component} of viz uses this Service, which does not exist: {effect}");
    let remedy = with_address(ctx, setting, "an existing Service", others);
    ctx.finding(Subject::object(Kind::Service, namespace, name), message)
        .parameter(*value)
        .evidence(Evidence::other(format!("Service {namespace}/{name}"), "does not exist"))
        .remedy(remedy)
}

fn no_port(
    ctx: &Context<'_>,
    setting: &AddressArgument,
    (address, service): (ServiceAddress<'_>, &Service),
    others: &[Arg],
) -> Finding {
    let AddressArgument { component, value, effect, .. } = setting;
    let (namespace, name) = service.metadata.key();
    let port = address.port.unwrap_or_default();
    let numbers: Vec<String> = service.spec.ports.iter().map(|port: &ServicePort| port.port.to_string()).collect();
    let declared = numbers.join(", ");
    let message =
        format!("{component} of viz uses port {port} of this Service, which does not declare the port: {effect}");
    let remedy = with_address(ctx, setting, &format!("the Service with one of its ports ({declared})"), others);
    ctx.finding(Subject::object(Kind::Service, namespace, name), message)
        .parameter(format!("{value} port"))
        .evidence(Evidence::field(format!("Service {namespace}/{name}"), "spec.ports", declared))
        .remedy(remedy)
}

fn no_endpoint(ctx: &Context<'_>, setting: &AddressArgument, service: &Service, cause: &NoEndpoint<'_>) -> Finding {
    let AddressArgument { component, value, effect, .. } = setting;
    let (namespace, name) = service.metadata.key();
    let message =
        format!("{component} of viz uses this Service, and none of its endpoints is ready, because {cause}: {effect}");
    let slices = kubectl().namespace(namespace).words("get endpointslices");
    ctx.finding(Subject::object(Kind::Service, namespace, name), message)
        .parameter(format!("{value} endpoints"))
        .evidences(cause.evidence())
        .remedy(Remedy::new().command(
            "Find out why the Service has no ready endpoint",
            slices.option("-l", format!("kubernetes.io/service-name={name}")),
        ))
}
