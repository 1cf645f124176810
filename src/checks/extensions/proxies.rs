//! Whether the proxies in namespaces of an extension are well.

use super::running::status;
use super::{by_owner, names, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::objects::Pod;
use crate::model::pod_status::unwell;

/// Meshed pods in the namespaces that do not run or whose proxy is not ready; and namespaces that have none. Reads `pods`,
/// and, where they are there, `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, homes: &[&str]) -> Judgement {
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let meshed = |home: &str| {
        let home = home.to_owned();
        let of = move |pod: &&Pod| {
            pod.metadata.namespace == home && pod.metadata.label(CONTROL_PLANE_NS).is_some()
        };
        pods.iter().filter(of)
    };
    let mut findings: Vec<Finding> = Vec::new();
    for home in homes {
        if meshed(home).next().is_none() {
            ctx.every::<Pod>(Kind::Pod)?;
            findings.push(none(ctx, extension, home));
        }
        let ill = meshed(home).filter(|pod| unwell(pod).is_some()).map(|pod| ((), pod));
        findings.extend(by_owner(ctx, ill).iter().map(|((owner, ()), pods)| {
            ctx.finding(
                owner.subject(names(pods)),
                "meshed pods of the extension do not run, or their proxy is not ready: what they serve is refused or \
                 waits",
            )
            .evidences(pods.iter().map(|pod| status(pod)))
            .remedy(remedy(extension).run(
                StepKind::Command,
                "Read what the proxy says",
                format!("kubectl -n {home} logs {} -c linkerd-proxy --tail 20", pods[0].metadata.name),
            ))
        }));
    }
    Ok(Verdict::from(findings))
}

fn none(ctx: &Context<'_>, extension: Extension, home: &str) -> Finding {
    ctx.finding(
        Subject::object("Namespace", "", home),
        format!("no pod of the extension {extension} takes part in the mesh"),
    )
    .parameter("none")
    .evidence(Evidence::other(format!("Pods in {home}"), format!("none has the label {CONTROL_PLANE_NS}")))
    .remedy(remedy(extension).run(
        StepKind::Command,
        "See what pods there are, and whether they have a proxy",
        format!("kubectl -n {home} get pods -L {CONTROL_PLANE_NS}"),
    ))
}
