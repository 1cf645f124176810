//! `app-runs-as-proxy`: an application container runs with the proxy's uid, whose traffic is not
//! redirected.

use crate::checks::admission::Rules;
use crate::checks::pod_owners::{Maker, makers, running_pods};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::finding::Place;
use crate::model::refusal::LINKERDS;

/// The proxy's default uid.
const UID: i64 = 2102;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let makers = makers(ctx)?;
    let rules = rules?;
    let meshed = |maker: &&Maker<'_>| ctx.judges(maker.namespace()) && rules.is_meshed(maker);
    let mut pods = running_pods(ctx, makers);
    let findings = makers.iter().filter(meshed).filter_map(|maker| {
        let of_template = judge_one(ctx, &rules, maker);
        // Other webhooks change pods, not templates.
        of_template.or_else(|| {
            let pods = pods.remove(&maker.owner)?;
            let finding = pods.iter().find_map(|pod| judge_one(ctx, &rules, pod))?;
            Some(finding.evidence(Evidence::other("The pod template", "does not set it")))
        })
    });
    Ok(findings.collect())
}

fn judge_one(ctx: &Context<'_>, rules: &Rules<'_>, maker: &Maker<'_>) -> Option<Finding> {
    let of_proxy = maker.spec.proxy().and_then(|proxy| proxy.security_context.as_deref());
    let setting = |key: &str, path: &str| rules.setting(maker, key, path);
    let number = |text: &str| text.parse::<i64>().ok();
    let uid_set = setting("config.linkerd.io/proxy-uid", "proxy.uid");
    let uid = of_proxy
        .and_then(|context| context.run_as_user)
        .or_else(|| uid_set.as_ref().and_then(|setting| number(&setting.value)))
        .unwrap_or(UID);
    let gid = of_proxy
        .and_then(|context| context.run_as_group)
        .or_else(|| setting("config.linkerd.io/proxy-gid", "proxy.gid").and_then(|set| number(&set.value)))
        .filter(|gid| *gid > 0);
    let of_pod = &maker.spec.security_context;
    // Init containers do this on purpose, to reach the network before the proxy runs.
    let own = maker.spec.containers.iter().filter(|container| !LINKERDS.contains(&container.name.as_str()));
    let as_proxy: Vec<Evidence> = own
        .filter_map(|container| {
            let context = container.security_context.as_deref();
            let user = context.and_then(|context| context.run_as_user).or(of_pod.run_as_user);
            let group = context.and_then(|context| context.run_as_group).or(of_pod.run_as_group);
            let (field, value) = match (user == Some(uid), gid.is_some() && group == gid) {
                (true, _) => ("runAsUser", uid),
                (false, true) => ("runAsGroup", gid?),
                (false, false) => return None,
            };
            let own = context.is_some_and(|context| match field {
                "runAsUser" => context.run_as_user.is_some(),
                _ => context.run_as_group.is_some(),
            });
            let path = match own {
                true => format!("spec.containers[{}].securityContext.{field}", container.name),
                false => format!("spec.securityContext.{field}"),
            };
            Some(maker.field(&path, format!("{value}, the proxy's ({})", container.name)))
        })
        .collect();
    if as_proxy.is_empty() {
        return None;
    }
    let remedy = Remedy::new().note(
        "Run the application as another user (securityContext.runAsUser) or, if the group is the \
             proxy's, as another group",
    );
    let is_user =
        as_proxy.iter().any(|one| matches!(&one.place, Place::Field { path, .. } if path.ends_with("runAsUser")));
    let (key, word, current) = match is_user {
        true => ("config.linkerd.io/proxy-uid", "uid", uid),
        false => ("config.linkerd.io/proxy-gid", "gid", gid.unwrap_or(UID)),
    };
    let free = unused(maker, current).to_string();
    let act = format!("Or give the proxy another {word} that no container of the pod uses, {key}: {free:?},");
    let remedy = rewrite::of_owner(ctx, remedy, &act, &maker.owner, &[(key, Some(&free))]);
    Some(
        ctx.finding(
            maker.subject(),
            "an application container runs as the proxy's own user, whose connections are not \
             redirected. Its traffic bypasses the proxy, unencrypted and unmeasured, and is denied \
             wherever a mesh identity is required",
        )
        .evidences(as_proxy)
        .evidences(uid_set.map(|setting| setting.evidence))
        .remedy(remedy),
    )
}

/// A user or group after the proxy's that no container of the pod has.
fn unused(maker: &Maker<'_>, current: i64) -> i64 {
    let of_pod = &maker.spec.security_context;
    let of_containers = maker.spec.all_containers().filter_map(|container| container.security_context.as_deref());
    let mut used: Vec<i64> = of_containers.flat_map(|one| [one.run_as_user, one.run_as_group]).flatten().collect();
    used.extend([of_pod.run_as_user, of_pod.run_as_group].into_iter().flatten());
    (current + 1..).find(|id| !used.contains(id)).unwrap_or(current)
}
