//! `upgrade-image-refused`: a ValidatingAdmissionPolicy accepts today's images and rejects those of the target.

mod policy;
mod request;

use std::collections::{BTreeMap, BTreeSet};

use super::Upgrade;
use crate::checks::prelude::*;
use crate::expression::{Known, Scope};
use crate::objects::{Listed, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use crate::version::K8sMinor;
use policy::{ImagePolicy, selects};
use request::Request;

/// The first Kubernetes that serves the kinds at v1.
const SINCE: K8sMinor = K8sMinor::new(1, 30);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let policies = list::<ValidatingAdmissionPolicy>(ctx)?;
    let bindings = list::<ValidatingAdmissionPolicyBinding>(ctx)?;
    let namespaces = ctx.partial_list::<Namespace>()?;
    let pods = ctx.partial_list::<Pod>()?;
    let policies: Vec<_> =
        policies.iter().filter_map(ImagePolicy::read).filter_map(|policy| enforced(policy, bindings)).collect();
    if policies.is_empty() {
        return Ok(Vec::new().into());
    }
    let by_name: BTreeMap<&str, &Namespace> = namespaces.iter().map(|one| (one.metadata.name.as_str(), one)).collect();
    let requests = request::requests(ctx, &way, (pods, &by_name))?;
    let mut findings = Vec::new();
    for (policy, bindings) in &policies {
        findings.extend(of_policy(ctx, &way, policy, bindings, &requests, &by_name));
    }
    Ok(findings.into())
}

/// The policies or bindings.
///
/// # Errors
/// They are not available, or the API server is too old to have any.
fn list<'a, K: Listed>(ctx: &Context<'a>) -> Result<&'a [K::Object], Unjudged> {
    let too_old = || ctx.server_version().is_ok_and(|version| version.minor() < SINCE);
    ctx.partial_list::<K>().map_err(|missing| match too_old() {
        true => Unjudged::not_applicable("the API server has no ValidatingAdmissionPolicies at v1"),
        false => Unjudged::from(missing),
    })
}

/// A policy with the bindings that deny; `None` without any.
fn enforced<'a>(
    policy: ImagePolicy<'a>,
    bindings: &'a [ValidatingAdmissionPolicyBinding],
) -> Option<(ImagePolicy<'a>, Vec<&'a ValidatingAdmissionPolicyBinding>)> {
    let name = &policy.object.metadata.name;
    let denies = |one: &ValidatingAdmissionPolicyBinding| {
        one.spec.policy_name == *name && one.spec.validation_actions.iter().any(|action| action == "Deny")
    };
    let bindings: Vec<_> = bindings.iter().filter(|one| denies(one)).collect();
    (!bindings.is_empty()).then_some((policy, bindings))
}

/// The findings for one policy. Requests that cannot be evaluated are gaps.
fn of_policy(
    ctx: &Context<'_>,
    way: &Upgrade<'_>,
    policy: &ImagePolicy<'_>,
    bindings: &[&ValidatingAdmissionPolicyBinding],
    requests: &[Request<'_>],
    namespaces: &BTreeMap<&str, &Namespace>,
) -> Vec<Finding> {
    let root = Scope::new(Known::default());
    let mut unknown = BTreeSet::new();
    let mut findings = Vec::new();
    for request in requests {
        let namespace = namespaces.get(request.namespace).copied();
        let chosen = selects(&policy.object.spec.match_constraints, request, namespace, false);
        let mut bound =
            bindings.iter().map(|binding| (binding, selects(&binding.spec.match_resources, request, namespace, true)));
        let (binding, chosen) = match chosen {
            Some(true) => match bound.clone().find(|(_, chosen)| *chosen == Some(true)) {
                Some((binding, _)) => (Some(binding), Some(true)),
                None => (None, if bound.any(|(_, chosen)| chosen.is_none()) { None } else { Some(false) }),
            },
            other => (None, other),
        };
        let Some(binding) = binding else {
            if chosen.is_none() {
                unknown.insert(format!("the labels of namespace {} are not known", request.namespace));
            }
            continue;
        };
        let today = policy.answer(&root, request, &request.today, namespace);
        if today.rejected_by.is_some() {
            continue;
        }
        let then = policy.answer(&root, request, &request.then, namespace);
        // The rejecting expression was evaluated for both.
        let is_known = today.unknown.is_subset(&then.unknown);
        unknown.extend(today.unknown.into_iter().chain(then.unknown));
        if let Some(rejected_by) = then.rejected_by.filter(|_| is_known) {
            findings.push(finding(ctx, way, policy, binding, request, &rejected_by));
        }
    }
    let name = &policy.object.metadata.name;
    for message in unknown {
        let item = Item::List(Kind::ValidatingAdmissionPolicy);
        ctx.gap(ctx.missing(item, Why::NotJudged { message }, format!("whether {name} accepts the target's images")));
    }
    findings
}

fn finding(
    ctx: &Context<'_>,
    way: &Upgrade<'_>,
    policy: &ImagePolicy<'_>,
    binding: &ValidatingAdmissionPolicyBinding,
    request: &Request<'_>,
    (path, expression): &(String, String),
) -> Finding {
    let name = policy.object.metadata.name.as_str();
    let effect = match request.operation {
        "UPDATE" => "the API server rejects this change of the upgrade",
        _ => "the API server rejects every new pod after the upgrade",
    };
    let message =
        format!("the admission policy {name} accepts today's images and rejects those of the target: {effect}");
    let images: BTreeSet<&str> = request.changed.iter().map(|(_, _, image)| image.as_str()).collect();
    let images: Vec<&str> = images.into_iter().collect();
    let changed = request.changed.iter().map(|(container, before, after)| {
        Evidence::other(format!("container {container}"), format!("{before} today, {after} with the target"))
    });
    let remedy = Remedy::new()
        .command("Show the policy", kubectl().words("get validatingadmissionpolicy").operand(name).words("-o yaml"))
        .note(format!("Before the upgrade, change it so that it accepts {}", images.join(", ")));
    ctx.finding(request.subject.clone(), message)
        .evidence(Evidence::field(format!("ValidatingAdmissionPolicy {name}"), path, one_line(expression)))
        .evidence(Evidence::field(
            format!("ValidatingAdmissionPolicyBinding {}", binding.metadata.name),
            "spec.validationActions",
            binding.spec.validation_actions.join(", "),
        ))
        .evidences(changed)
        .evidence(way.target.clone())
        .parameter(name)
        .remedy(remedy)
}

/// An expression without line breaks.
fn one_line(expression: &str) -> String {
    expression.split_whitespace().collect::<Vec<_>>().join(" ")
}
