//! `server-selects-nothing`: a Server that matches no workload, or whose port name no selected pod
//! declares.

use std::collections::{BTreeSet, HashMap};

use super::survey::{Survey, about, each, field, on, survey};
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::policy::ReadServer;
use crate::names::is_port_name;
use crate::objects::{CronJob, DaemonSet, Job, PodTemplate, Server, ServerPort, StatefulSet};

/// The workloads that a Server selects.
#[derive(Default)]
struct Selection<'a> {
    /// The name of the first workload.
    first: Option<&'a str>,
    /// Whether a workload has its port.
    has_port: bool,
    /// Whether the template of a workload matches, which may have no pod now.
    has_template: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = match survey(ctx) {
        // Some Servers select nothing, whatever the workloads are.
        Err(Unjudged::Missing(missing)) if missing.why == Why::NotInManifests => {
            let servers = each(ctx)?.objects.servers.iter();
            let judged = servers.filter(|server| ctx.judges(&server.metadata.namespace));
            return Ok(judged.filter_map(|server| impossible(ctx, server)).collect());
        }
        survey => survey?,
    };
    let mut templates: Vec<(&str, &PodTemplate)> = Vec::new();
    let workloads = ctx
        .complete_list::<Deployment>()?
        .iter()
        .chain(ctx.complete_list::<StatefulSet>()?)
        .chain(ctx.complete_list::<DaemonSet>()?);
    templates.extend(workloads.map(|one| (one.metadata.namespace.as_str(), &one.spec.template)));
    templates.extend(
        ctx.complete_list::<CronJob>()?
            .iter()
            .map(|one| (one.metadata.namespace.as_str(), &one.spec.job_template.spec.template)),
    );
    templates
        .extend(ctx.complete_list::<Job>()?.iter().map(|one| (one.metadata.namespace.as_str(), &one.spec.template)));
    let mut selections: HashMap<*const Server, Selection<'_>> = HashMap::new();
    for (_, workload) in survey.alike().map(|group| group[0]) {
        for read in survey.index.selecting_at_any_port(workload) {
            let selection = selections.entry(std::ptr::from_ref(read.server)).or_default();
            selection.first.get_or_insert(workload.meta.name.as_str());
            selection.has_port |= !read.ports(workload).is_empty();
        }
    }
    for (namespace, template) in templates {
        let labels = &template.metadata.labels;
        for read in survey.index.perhaps_selecting_pods(namespace, labels).filter(|read| fits(read, template)) {
            selections.entry(std::ptr::from_ref(read.server)).or_default().has_template = true;
        }
    }
    let namespaces: BTreeSet<&str> =
        survey.objects.servers.iter().map(|server| server.metadata.namespace.as_str()).collect();
    let read = namespaces.into_iter().flat_map(|namespace| survey.index.servers(namespace));
    let read: HashMap<*const Server, &ReadServer<'_>> =
        read.map(|read| (std::ptr::from_ref(read.server), read)).collect();
    let mut findings: Vec<Finding> = Vec::new();
    // Extensions create Servers for optional parts, such as mirrors without a Link.
    let own = |server: &&Server| server.metadata.label(EXTENSION_LABEL).is_none();
    let judged = survey.objects.servers.iter().filter(|server| ctx.judges(&server.metadata.namespace));
    for server in judged.filter(own) {
        let place = std::ptr::from_ref(server);
        let Some(read) = read.get(&place) else { continue };
        let selection = selections.remove(&place).unwrap_or_default();
        // Workloads without a pod may get one again.
        if selection.has_port || selection.first.is_none() && selection.has_template {
            continue;
        }
        let found = impossible(ctx, server).or_else(|| of_init_container(ctx, survey, read));
        findings.push(found.unwrap_or_else(|| finding(ctx, read, selection.first)));
    }
    Ok(findings.into())
}

/// Whether the Server would select pods of a template.
fn fits(read: &ReadServer<'_>, template: &PodTemplate) -> bool {
    let selector = read.server.spec.pod_selector.as_ref();
    let named = |port: &str| {
        let ports = template.spec.all_containers().flat_map(|container| &container.ports);
        ports.into_iter().any(|known| known.name == port)
    };
    selector.is_some_and(|selector| selector.matches(&template.metadata.labels))
        && match &read.server.spec.port {
            Some(ServerPort::Name(name)) => named(name),
            _ => true,
        }
}

/// A Server that can select nothing because of its own fields.
fn impossible(ctx: &Context<'_>, server: &Server) -> Option<Finding> {
    let meta = &server.metadata;
    let selectors = [
        ("spec.podSelector", &server.spec.pod_selector),
        ("spec.externalWorkloadSelector", &server.spec.external_workload_selector),
    ];
    let mut faults = selectors.into_iter().filter_map(|(path, selector)| {
        Some((path, selector.as_ref()?.matches_nothing_in_policy()?, "Correct the selector of the Server"))
    });
    let (path, why, step) = faults.next().or_else(|| match &server.spec.port {
        Some(ServerPort::Name(name)) if !is_port_name(name) => Some((
            "spec.port",
            format!("no container port can have the name {name}"),
            "Use the name of a container port (at most 15 characters), or the port number, in the Server",
        )),
        _ => None,
    })?;
    let message = format!("The Server selects nothing: {why}. The Server and its policies have no effect");
    let remedy = Remedy::new().command(step, on("edit", Kind::Server, meta));
    Some(about(ctx, Kind::Server, meta, message).evidence(field(Kind::Server, meta, path, why)).remedy(remedy))
}

/// A Server for a named port of an init container, such as a native sidecar, in a release that does not read these.
fn of_init_container(ctx: &Context<'_>, survey: &Survey<'_>, read: &ReadServer<'_>) -> Option<Finding> {
    if survey.index.controller.quirks.init_container_ports {
        return None;
    }
    let meta = &read.server.metadata;
    let name = read.port().to_string();
    let selector = read.server.spec.pod_selector.as_ref()?;
    let selected = survey.pods_of(&meta.namespace).iter().map(|(pod, _)| pod);
    let mut selected = selected.filter(|pod| selector.matches(&pod.metadata.labels));
    let (pod, port) = selected.find_map(|pod| {
        let mut ports = pod.spec.init_containers.iter().flat_map(|container| &container.ports);
        Some((pod, ports.find(|port| port.name == name)?.container_port))
    })?;
    let message = format!(
        "Port {name} belongs to an init container, such as a native sidecar, whose named ports this release of the \
         policy controller does not read: the Server and its policies have no effect"
    );
    let change = serde_json::json!({"spec": {"port": port}}).to_string();
    let first = ctx.knowledge.policy_controller().init_container_ports.0;
    let remedy = Remedy::new()
        .command(
            "Use the number of the port in the Server",
            on("patch", Kind::Server, meta).words("--type=merge -p").arg(change),
        )
        .step(StepKind::Upgrade, format!("Or upgrade the control plane to {first} or newer, which reads such names"));
    let finding = about(ctx, Kind::Server, meta, message)
        .evidence(field(Kind::Server, meta, "spec.port", name))
        .evidence(Evidence::field(pod.described(), "spec.initContainers[].ports", port.to_string()))
        .remedy(remedy);
    Some(finding)
}

fn finding(ctx: &Context<'_>, read: &ReadServer<'_>, selected: Option<&str>) -> Finding {
    let meta = &read.server.metadata;
    let remedy = Remedy::new();
    let (message, evidence, remedy) = match selected {
        None => (
            format!(
                "No meshed pod or ExternalWorkload in namespace {} has the labels that the Server selects. \
                 The Server and its policies have no effect",
                meta.namespace
            ),
            field(Kind::Server, meta, "spec.podSelector", "matches nothing"),
            remedy.note(
                "Use the labels of the workload's pod template, in the Server's own \
                namespace",
            ),
        ),
        Some(pod) => (
            format!(
                "The selected pods, such as {pod}, declare no port named {}. The Server and its policies \
                 have no effect",
                read.port()
            ),
            field(Kind::Server, meta, "spec.port", read.port()),
            remedy
                .note(format!("Name the container's port {} in the pod template, or use the port number", read.port())),
        ),
    };
    about(ctx, Kind::Server, meta, message)
        .evidence(evidence)
        .remedy(remedy.command(format!("Correct Server {}", meta.name), on("edit", Kind::Server, meta)))
}
