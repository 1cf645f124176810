//! `policy-answer-differs`: the policy controller's answer for a port differs from the policy that follows
//! from the objects.

use super::survey::survey;
use crate::checks::diagnosed::answers;
use crate::checks::prelude::*;
use crate::command::{linkerd, meshdoctor};
use crate::item::diagnostic::{Answer, InboundAnswer};
use crate::model::policy::to_json;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let given = answers(ctx, Answer::of_port, "answers of the policy controller")?;
    let survey = survey(ctx)?;
    let mut findings = Vec::new();
    for policy in given {
        let key = (policy.namespace.as_str(), policy.pod.as_str());
        let Some((pod, workload)) = survey.pods.iter().find(|(pod, _)| pod.metadata.key() == key) else {
            let part = format!("an answer for an existing pod instead of {}/{}", key.0, key.1);
            ctx.gap(ctx.missing(Item::Diagnostics, Why::NotOffered, part));
            continue;
        };
        let Some(now) = InboundAnswer::parse(&to_json(&survey.index.inbound(workload, policy.port))) else {
            continue;
        };
        if now == policy.answer {
            continue;
        }
        let target = format!("{}/{}:{}", key.0, key.1, policy.port);
        let namespace = ctx.namespaces().control_plane.as_str();
        findings.push(
            ctx.finding(
                ctx.owners().owner(pod).subject(vec![policy.pod.clone()]),
                "the policy controller's answer differs from the objects: it is outdated, or was captured \
                 before they changed",
            )
            .likely()
            .parameter(policy.port.to_string())
            .evidences(differences(&policy.answer, &now).into_iter().flat_map(|(what, said, objects)| {
                [
                    Evidence::other(format!("linkerd diagnostics policy, {target}, {what}"), said),
                    Evidence::other(format!("the objects, {target}, {what}"), objects),
                ]
            }))
            .remedy(
                Remedy::new()
                    .command(
                        "Run the command again",
                        linkerd()
                            .words("diagnostics policy")
                            .option("-n", policy.namespace.as_str())
                            .arg(Arg::known("po/").then(policy.pod.as_str()))
                            .arg(policy.port.to_string())
                            .words("-o json"),
                    )
                    .command(
                        "Compare with the result from the objects",
                        meshdoctor().words("policy").arg(target.as_str()).words("-o controller"),
                    )
                    .command(
                        "If it still differs, restart the controller",
                        kubectl().namespace(namespace).words("rollout restart deploy/linkerd-destination"),
                    ),
            ),
        );
    }
    Ok(findings.into())
}

/// The differences of two answers: the property, and both values.
fn differences(said: &InboundAnswer, now: &InboundAnswer) -> Vec<(&'static str, String, String)> {
    let list = |of: &[String]| if of.is_empty() { "no policy".to_owned() } else { of.join(", ") };
    let none = |of: &[String]| if of.is_empty() { "none".to_owned() } else { of.join(", ") };
    let pairs = [
        ("taken by", said.server.clone(), now.server.clone()),
        ("protocol", said.protocol.clone(), now.protocol.clone()),
        ("authorized by", list(&said.authorizations), list(&now.authorizations)),
        ("routes", none(&said.routes), none(&now.routes)),
    ];
    pairs.into_iter().filter(|(_, said, now)| said != now).collect()
}
