//! `cni-rbac-missing`: linkerd-cni's service account lacks permissions that the plugin or the repair
//! controller needs.

use super::add_failures::everywhere;
use super::chart;
use super::installers::{REPAIR, installers, shown, subject};
use crate::checks::prelude::*;
use crate::objects::meta::Meta;
use crate::objects::rbac::{AnyBinding, AnyRole, ClusterRole, ClusterRoleBinding, may};

/// API group, resource, verb.
type Right = (&'static str, &'static str, &'static str);

/// Requests of the plugin: the pod at every start, the namespace of a meshed pod, the Service `kubernetes`
/// for a control-plane pod.
const PLUGIN: [Right; 3] = [("", "pods", "get"), ("", "namespaces", "get"), ("", "services", "get")];

/// Requests of the repair controller.
const CONTROLLER: [Right; 4] =
    [("", "pods", "list"), ("", "pods", "watch"), ("", "pods", "delete"), ("events.k8s.io", "events", "create")];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = installers(ctx)?;
    if sets.is_empty() {
        return Ok(Verdict::fine());
    }
    // Only complete lists of both prove that a permission is missing.
    let rights = (ctx.complete_list::<ClusterRole>()?, ctx.complete_list::<ClusterRoleBinding>()?);
    let mut findings = Vec::new();
    for set in sets {
        let spec = &set.spec.template.spec;
        let account = spec.account();
        let holder = (set.metadata.namespace.as_str(), account);
        let lacking = |wanted: &[Right]| -> Vec<String> {
            wanted.iter().filter(|right| !may(rights, holder, **right)).map(describe).collect()
        };
        let of_plugin = lacking(&PLUGIN);
        if !of_plugin.is_empty() {
            let message = "pods cannot start: linkerd-cni's service account lacks permission for the objects \
                           that the plugin reads from the API server when a pod starts";
            let finding = finding(ctx, set, rights, message, &of_plugin, holder);
            findings.push(finding.tie(everywhere("rbac-forbidden")));
        }
        let of_controller = lacking(&CONTROLLER);
        if spec.container(REPAIR).is_some() && !of_controller.is_empty() {
            let message = "the repair controller of linkerd-cni lacks permissions: it cannot repair pods \
                           that started before the plugin was ready";
            let finding = finding(ctx, set, rights, message, &of_controller, holder);
            findings.push(finding.parameter(REPAIR).severity(Severity::Warning));
        }
    }
    Ok(findings.into())
}

/// `get pods`, `create events.events.k8s.io`.
fn describe((group, resource, verb): &Right) -> String {
    if group.is_empty() { format!("{verb} {resource}") } else { format!("{verb} {resource}.{group}") }
}

fn finding(
    ctx: &Context<'_>,
    set: &Workload,
    rights: (&[AnyRole], &[AnyBinding]),
    message: &str,
    lacking: &[String],
    (namespace, account): (&str, &str),
) -> Finding {
    let ask = lacking.first().map_or("get pods", String::as_str);
    let asked = kubectl()
        .words("auth can-i")
        .operands(ask.split(' '))
        .words("-A --as")
        .arg(format!("system:serviceaccount:{namespace}:{account}"));
    let remedy = chart::install_again(
        ctx,
        Remedy::verified_by(asked),
        "Apply the chart again with the same values: it contains the ClusterRole, and a ClusterRoleBinding \
         that names the namespace of the DaemonSet",
    );
    ctx.finding(subject(set), message)
        .evidence(Evidence::field(
            shown(set),
            "spec.template.spec.serviceAccountName",
            format!("{account}, which no ClusterRoleBinding allows to {}", lacking.join(", ")),
        ))
        .evidences(bindings_of_the_chart(rights, namespace))
        .remedy(remedy)
}

/// Evidence about the bindings with the chart's name or role.
fn bindings_of_the_chart((roles, bindings): (&[AnyRole], &[AnyBinding]), namespace: &str) -> Vec<Evidence> {
    let is_charts = |meta: &Meta| meta.name == "linkerd-cni" || meta.label("linkerd.io/cni-resource") == Some("true");
    let found: Vec<Evidence> = bindings
        .iter()
        .filter(|binding| is_charts(&binding.metadata))
        .map(|binding| {
            let to: Vec<String> = binding
                .subjects
                .iter()
                .map(|subject| format!("{} {}/{}", subject.kind, subject.namespace, subject.name))
                .collect();
            let to = if to.is_empty() { "no subject".to_owned() } else { to.join(", ") };
            let elsewhere = binding.subjects.iter().all(|subject| subject.namespace != namespace);
            let role = &binding.role_ref.name;
            let object = format!("ClusterRoleBinding {}", binding.metadata.name);
            match roles.iter().any(|known| known.metadata.name == *role) {
                false => Evidence::field(object, "roleRef.name", format!("{role}, which does not exist")),
                true if elsewhere => {
                    Evidence::field(object, "subjects", format!("{to}; the DaemonSet is in {namespace}"))
                }
                true => Evidence::field(object, "roleRef.name", format!("{role}, granted to {to}")),
            }
        })
        .collect();
    if found.is_empty() {
        return vec![Evidence::other("ClusterRoleBindings", "none for linkerd-cni")];
    }
    found
}
