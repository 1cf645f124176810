//! `policy-audits`: audit policies allow every client and log unauthorized ones.

use super::server_http_on_opaque_port::opaque_ports;
use super::survey::{about, field, survey};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::model::policy::DefaultPolicy;
use crate::objects::Server;

/// The annotation with the default policy of pods.
const KEY: &str = "config.linkerd.io/default-inbound-policy";
const ACT: &str = "When the log no longer shows clients that should have access, set \
                   config.linkerd.io/default-inbound-policy: \"deny\"";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let mut findings: Vec<Finding> = Vec::new();
    let judged = survey.objects.servers.iter().filter(|server| ctx.judges(&server.metadata.namespace));
    let mut auditing = judged.filter(|server| server.spec.access_policy.as_deref() == Some("audit")).peekable();
    // `server-http-on-opaque-port` reports these: they deny meshed clients.
    let closed = auditing.peek().map(|_| opaque_ports(survey)).unwrap_or_default();
    let is_closed = |server: &Server| closed.iter().any(|port| std::ptr::eq(port.server, server));
    for server in auditing {
        if !is_closed(server) {
            let meta = &server.metadata;
            findings.push(
                about(ctx, Kind::Server, meta, "The Server allows every client, and only logs unauthorized clients")
                    .evidence(field(Kind::Server, meta, "spec.accessPolicy", "audit"))
                    .remedy(
                        Remedy::new().command(
                            "When the log no longer shows clients that should have access, deny the rest",
                            kubectl()
                                .namespace(&meta.namespace)
                                .words("patch servers.policy.linkerd.io")
                                .operand(&meta.name)
                                .words("--type=merge -p")
                                .arg(serde_json::json!({"spec": {"accessPolicy": "deny"}}).to_string()),
                        ),
                    ),
            );
        }
    }
    let owners = ctx.owners();
    let mut told = std::collections::BTreeSet::new();
    for (pod, workload) in survey.pods.iter().filter(|(pod, _)| ctx.judges(&pod.metadata.namespace)) {
        let owner = owners.owner(pod);
        if workload.default_policy == Some(DefaultPolicy::Audit) && told.insert(owner.clone()) {
            let object = Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name);
            findings.push(
                ctx.finding(
                    owner.subject(Vec::new()),
                    "Ports without a Server allow every client, and only log unauthorized clients",
                )
                .evidence(Evidence::field(
                    object,
                    "metadata.annotations[config.linkerd.io/default-inbound-policy]",
                    "audit",
                ))
                .remedy(rewrite::of_owner(ctx, Remedy::new(), ACT, &owner, &[(KEY, Some("deny"))])),
            );
        }
    }
    if survey.index.controller.default_policy == DefaultPolicy::Audit {
        findings.push(
            ctx.finding(
                Subject::thing("cluster default policy"),
                "Ports without a Server allow every client in the whole cluster, and only log unauthorized clients",
            )
            .evidence(Evidence::other("policy controller --default-policy", "audit"))
            .remedy(Remedy::new().step(
                StepKind::ChartValue,
                "When the log no longer shows clients that should have access, set \
                     proxy.defaultInboundPolicy to the intended policy",
            )),
        );
    }
    Ok(findings.into())
}
