//! `deleted-profile-in-use`: a client's proxy still uses routes of a ServiceProfile that does not exist.

use std::collections::{BTreeSet, HashSet};

use crate::checks::diagnosed::{by_workload, growing, quoted, within};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::words::counted;
use crate::knowledge::MetricMeaning::ProfileResponses;
use crate::objects::ServiceProfile;

/// The number of quoted Services per workload.
const QUOTED: usize = 5;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let profiles = ctx.complete_list::<ServiceProfile>()?;
    let known: HashSet<&str> = profiles.iter().map(|profile| profile.metadata.name.as_str()).collect();
    // Routes of a ServiceProfile have a name; the default route has none.
    let is_deleted = |dst: &str| !known.contains(dst.rsplit_once(':').map_or(dst, |(host, _)| host));
    let used = growing(ctx, ProfileResponses, |series| {
        !series.label("rt_route").is_empty() && is_deleted(series.label("dst"))
    })?;
    let each = used.iter().map(|growth| (growth.pod, growth));
    let findings = by_workload(ctx, each).into_iter().map(|(subject, all)| {
        let said = all.iter().flat_map(|(pod, growth)| {
            let services: BTreeSet<&str> = growth.grown.iter().map(|(series, _)| series.label("dst")).collect();
            services.into_iter().map(move |dst| {
                let of = growth.grown.iter().filter(|(series, _)| series.label("dst") == dst);
                let count: u64 = of.map(|(_, count)| count).sum();
                quoted(pod, format!("{} on its routes to {dst} {}", counted(count, "response"), within(growth.metrics)))
            })
        });
        let mut remedy = Remedy::new();
        if let Some((first, _)) = all.first() {
            let names: Vec<String> = all.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
            let owner = ctx.owners().owner(first);
            remedy.steps.push(renew(ctx, &owner, &names, Needs::NewPods, "its proxy then gets current routes"));
        }
        ctx.finding(
            subject,
            "the proxy still uses routes of a ServiceProfile that does not exist: its retries and timeouts apply",
        )
        .evidences(said.take(QUOTED))
        .remedy(remedy)
    });
    Ok(findings.collect())
}
