//! `opaque-defaults-lost`: a list of opaque ports leaves out a default opaque port that a Service exposes.

use std::collections::{BTreeMap, BTreeSet};

use super::exposed::{Mesh, Treated};
use super::opaque::{self, ANNOTATION};
use super::opaque_port_missing::remedy;
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::restart::after_change;
use crate::checks::rewrite::{self, Operator};
use crate::checks::upgrade::{self, Options};
use crate::knowledge::First;
use crate::objects::Server;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.partial_list::<Service>();
    let mesh = Mesh::from_context(ctx)?;
    let default = &ctx.knowledge.protocols().default_opaque;
    let mut findings = Vec::new();
    let mut workloads: BTreeMap<Owner, (&Pod, BTreeSet<u16>)> = BTreeMap::new();
    let mut of_mesh: BTreeMap<u16, BTreeSet<String>> = BTreeMap::new();
    for service in services?.iter().filter(|service| ctx.judges(&service.metadata.namespace)) {
        let own = opaque::of_service(service);
        let mut lost = BTreeSet::new();
        for port in service.spec.tcp_ports().filter(|port| default.contains(&port.port)) {
            let behind = mesh.behind(ctx, service, port);
            if !behind.is_empty() && behind.iter().all(|(_, pod, number)| mesh.is_told(pod, *number)) {
                continue;
            }
            let speaks_http = ["http", "grpc"].iter().any(|word| port.name.starts_with(word));
            if service.spec.cluster_ip.is_some() && !speaks_http && mesh.treats(service, port) == Treated::Detected {
                match &own {
                    Some(_) => {
                        lost.insert(port.port);
                    }
                    None => {
                        let name = format!("{}/{}", service.metadata.namespace, service.metadata.name);
                        of_mesh.entry(port.port).or_default().insert(name);
                    }
                }
            }
            for (owner, pod, number) in behind {
                let list = opaque::of_pod(pod).filter(|_| pod.spec.proxy().is_some() && !speaks_http);
                let leaves_out = list.is_some_and(|list| !list.marks(number)) && default.contains(&number);
                if leaves_out && !mesh.is_told(pod, number) {
                    workloads.entry(owner).or_insert_with(|| (pod, BTreeSet::new())).1.insert(number);
                }
            }
        }
        if !lost.is_empty() {
            let subject = Subject::object(Kind::Service, &service.metadata.namespace, &service.metadata.name);
            let object = service.metadata.described("Service");
            let list = service.metadata.annotation(ANNOTATION).unwrap_or_default();
            let finding = finding(ctx, subject, &lost)
                .evidence(Evidence::field(&object, format!("metadata.annotations[{ANNOTATION}]"), list))
                .evidence(Evidence::field(&object, "spec.ports[].port", words(&lost)))
                .remedy(remedy(service, &mesh.default, &lost));
            findings.push(finding);
        }
    }
    findings.extend(workloads.iter().map(|(owner, (pod, lost))| of_workload(ctx, owner, pod, lost)));
    if !of_mesh.is_empty() {
        findings.push(of_config(ctx, &mesh, &of_mesh));
    }
    if !findings.is_empty() {
        // A Server may set the protocol of the port.
        ctx.or_note(defined::<Server>(ctx));
    }
    Ok(findings.into())
}

fn words(ports: &BTreeSet<u16>) -> String {
    ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A finding about ports that a list leaves out: a warning if the server sends first on one of them.
fn finding(ctx: &Context<'_>, subject: Subject, lost: &BTreeSet<u16>) -> Finding {
    let first = ctx
        .knowledge
        .protocols()
        .protocols
        .iter()
        .any(|known| known.first == First::Server && known.ports.iter().any(|port| lost.contains(port)));
    let ports = words(lost);
    let message = match first {
        true => format!(
            "a list of opaque ports replaces the default list and leaves out {ports}, on which the server \
             sends first. Connections wait ten seconds for protocol detection"
        ),
        false => format!(
            "a list of opaque ports replaces the default list and leaves out {ports}. Protocol detection \
             delays connections on which the client does not send at once"
        ),
    };
    ctx.finding(subject, message).severity(if first { Severity::Warning } else { Severity::Info })
}

fn of_workload(ctx: &Context<'_>, owner: &Owner, pod: &Pod, lost: &BTreeSet<u16>) -> Finding {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    let before = opaque::of_pod(pod).unwrap_or_default();
    let list = before.with(lost);
    let of_list = |remedy| rewrite::of_owners_list(remedy, owner, (ANNOTATION, Some(&list)), &before.list());
    let text = "Add the default ports to the list, in the pod template or on its namespace. Change the \
     source manifest too";
    let by_operator = Operator::of_owner(ctx, owner).is_some();
    let remedy = match owner.restartable() {
        Some(_) => {
            let patch = serde_json::json!({"spec": {"template": {"metadata": {"annotations": {ANNOTATION: list}}}}});
            let patched = |target: &str| {
                let call = crate::command::kubectl().namespace(&owner.namespace).words("patch").operand(target);
                call.words("--type merge -p").arg(patch.to_string())
            };
            let named = format!("Set {ANNOTATION}: \"{list}\" in the pod template or on its namespace");
            let text = if by_operator { &named } else { text };
            let kind = StepKind::Annotation;
            let remedy = of_list(rewrite::template_with(ctx, Remedy::new(), kind, text, owner, patched));
            match by_operator {
                true => remedy,
                false => after_change(ctx, remedy, &owner.kind, &owner.namespace, &owner.name),
            }
        }
        None => of_list(Remedy::new().step(StepKind::Annotation, format!("{text}: {ANNOTATION}: \"{list}\""))),
    };
    finding(ctx, owner.subject(vec![name.clone()]), lost)
        .evidence(Evidence::field(
            format!("Pod {namespace}/{name}"),
            format!("metadata.annotations[{ANNOTATION}]"),
            pod.metadata.annotation(ANNOTATION).unwrap_or_default(),
        ))
        .remedy(remedy)
}

fn of_config(ctx: &Context<'_>, mesh: &Mesh<'_>, lost: &BTreeMap<u16, BTreeSet<String>>) -> Finding {
    let home = &ctx.namespaces().control_plane;
    let ports: BTreeSet<u16> = lost.keys().copied().collect();
    let services: BTreeSet<&str> = lost.values().flatten().map(String::as_str).collect();
    let services: Vec<&str> = services.into_iter().take(5).collect();
    let list = format!("{},{}", mesh.default_text.trim_end_matches(','), words(&ports).replace(' ', ""));
    finding(ctx, Subject::object(Kind::ConfigMap, home, "linkerd-config"), &ports)
        .evidence(Evidence::field(
            format!("ConfigMap {home}/linkerd-config"),
            "data.values: proxy.opaquePorts",
            &mesh.default_text,
        ))
        .evidence(Evidence::other("Services with such a port", services.join(", ")))
        .remedy(
            upgrade::with_values(
                ctx,
                Remedy::new(),
                "Add the default ports to the chart's list of opaque ports",
                Options::none().set("proxy.opaquePorts", list.trim_start_matches(',')),
            )
            .note("Restart meshed workloads that expose these ports"),
        )
}
