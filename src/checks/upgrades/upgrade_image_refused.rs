//! `upgrade-image-refused`: a ValidatingAdmissionPolicy accepts today's images and rejects those of the target.

mod policy;
mod request;

use std::collections::{BTreeMap, BTreeSet};

use super::Way;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::expression::{Known, Scope};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::item::{Item, Kind};
use crate::missing::Missing;
use crate::objects::{Listed, Namespace, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use crate::version::K8sMinor;
use policy::{Policy, selects};
use request::Request;

/// The first Kubernetes that serves the kinds at v1.
const SINCE: K8sMinor = K8sMinor::new(1, 30);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Way::of(ctx)?;
    let policies: Vec<Policy<'_>> =
        list::<ValidatingAdmissionPolicy>(ctx)?.iter().filter_map(Policy::read).collect();
    if policies.is_empty() {
        return Ok(Vec::new().into());
    }
    let bindings = list::<ValidatingAdmissionPolicyBinding>(ctx)?;
    let enforced = |policy: &Policy<'_>| -> Vec<&ValidatingAdmissionPolicyBinding> {
        let is_its = |one: &&ValidatingAdmissionPolicyBinding| {
            one.spec.policy_name == policy.object.metadata.name
                && one.spec.validation_actions.iter().any(|action| action == "Deny")
        };
        bindings.iter().filter(is_its).collect()
    };
    let policies: Vec<_> = policies.into_iter().map(|policy| (enforced(&policy), policy)).collect();
    if policies.iter().all(|(bindings, _)| bindings.is_empty()) {
        return Ok(Vec::new().into());
    }
    let namespaces = ctx.seen::<Namespace>()?;
    let requests = request::requests(ctx, &way, namespaces)?;
    let by_name: BTreeMap<&str, &Namespace> =
        namespaces.iter().map(|one| (one.metadata.name.as_str(), one)).collect();
    let mut findings = Vec::new();
    for (bindings, policy) in &policies {
        findings.extend(of_policy(ctx, &way, policy, bindings, &requests, &by_name));
    }
    Ok(findings.into())
}

/// The policies or bindings; none if the API server does not serve the kind.
///
/// # Errors
/// They are not available.
fn list<'a, K: Listed>(ctx: &Context<'a>) -> Result<&'a [K::Object], Missing> {
    ctx.seen::<K>().or_else(|missing| match missing.why {
        Why::NotServed => Ok(&[][..]),
        _ if ctx.server_version().is_ok_and(|version| version.minor() < SINCE) => Ok(&[][..]),
        _ => Err(missing),
    })
}

/// The findings about one policy. Requests that cannot be judged are gaps.
fn of_policy(
    ctx: &Context<'_>,
    way: &Way<'_>,
    policy: &Policy<'_>,
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
        let mut bound = bindings
            .iter()
            .map(|binding| (binding, selects(&binding.spec.match_resources, request, namespace, true)));
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
        match then.rejected_by {
            Some(rejected_by) => {
                unknown.extend(today.unknown);
                findings.push(finding(ctx, way, policy, binding, request, &rejected_by));
            }
            None => unknown.extend(today.unknown.into_iter().chain(then.unknown)),
        }
    }
    let name = &policy.object.metadata.name;
    for message in unknown {
        let item = Item::List(Kind::ValidatingAdmissionPolicy);
        ctx.gap(ctx.lacking(
            item,
            Why::NotJudged { message },
            format!("whether {name} accepts the target's images"),
        ));
    }
    findings
}

fn finding(
    ctx: &Context<'_>,
    way: &Way<'_>,
    policy: &Policy<'_>,
    binding: &ValidatingAdmissionPolicyBinding,
    request: &Request<'_>,
    (path, expression): &(String, String),
) -> Finding {
    let name = policy.object.metadata.name.as_str();
    let effect = match request.operation {
        "UPDATE" => "the API server rejects this change of the upgrade",
        _ => "the API server rejects every new pod after the upgrade",
    };
    let message = format!(
        "the admission policy {name} accepts today's images and rejects those of the target: {effect}"
    );
    let images: BTreeSet<&str> = request.changed.iter().map(|(_, _, image)| image.as_str()).collect();
    let images: Vec<&str> = images.into_iter().collect();
    let changed = request.changed.iter().map(|(container, before, after)| {
        Evidence::other(format!("container {container}"), format!("{before} today, {after} with the target"))
    });
    let remedy = Remedy::new()
        .run(
            StepKind::Command,
            "Show the policy",
            kubectl().words("get validatingadmissionpolicy").operand(name).words("-o yaml"),
        )
        .step(
            StepKind::Note,
            format!("Before the upgrade, change it so that it accepts {}", images.join(", ")),
        );
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
