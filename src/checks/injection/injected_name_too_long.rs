//! `injected-name-too-long`: the injector adds the name of the workload as a label, and a label has at most
//! 63 characters.

use crate::checks::admission::Rules;
use crate::checks::pod_owners::makers;
use crate::checks::prelude::*;

/// Maximum length of the value of a label.
const MOST: usize = 63;
/// Kinds of which the injector adds the name.
const LABELLED: [&str; 4] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let makers = makers(ctx)?;
    let rules = rules?;
    let is_long = |name: &str| name.len() > MOST;
    let long = makers.iter().filter(|maker| {
        LABELLED.contains(&maker.owner.kind.as_str())
            && is_long(&maker.owner.name)
            && ctx.judges(maker.namespace())
            && rules.is_meshed(maker)
    });
    let findings =
        long.map(|maker| {
            let (kind, name) = (maker.owner.kind.to_ascii_lowercase(), maker.owner.name.as_str());
            let label = format!("metadata.labels[linkerd.io/proxy-{kind}]");
            ctx.finding(
            maker.subject(),
            "the injector adds the name of the workload to its pods as a label, and the name is too long for one: the \
             API server rejects every pod",
        )
        .evidence(maker.field(&label, format!("{name} ({} characters, at most {MOST} are allowed)", name.len())))
        .remedy(Remedy::new().note(
            "Create the workload again with a name of at most 63 characters; no annotation changes this label",
        ))
        });
    Ok(findings.collect())
}
