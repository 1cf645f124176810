//! `service-account-missing`: a ServiceAccount of the control plane is missing.

use crate::checks::control_plane::installation::{config, unmarked};
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::model::control_plane::components;
use crate::objects::ServiceAccount;

const HEARTBEAT: &str = "heartbeat";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = &ctx.namespaces().control_plane;
    let deployments = components(ctx.optional_list::<Deployment>(), namespace);
    let without_heartbeat = config(ctx).map(|config| {
        let values = config.and_then(ConfigMap::chart_values);
        values.and_then(|values| values.bool("disableHeartBeat")) == Some(true)
    });
    let mut findings = Vec::new();
    for (account, component) in ctx.knowledge.control_plane().accounts() {
        let deployment = deployments.iter().find(|known| known.name == component);
        let there = ctx.object::<ServiceAccount>(Scope::ControlPlane, account);
        let is_heartbeat = component == HEARTBEAT;
        if is_heartbeat && without_heartbeat == Ok(true) {
            continue;
        }
        let row = if is_heartbeat { "heartbeat ServiceAccount exist" } else { "control plane ServiceAccounts exist" };
        match there {
            Ok(Some(there)) => {
                let subject = Subject::object("ServiceAccount", namespace, account);
                findings.extend(unmarked(ctx, subject, &there.metadata, row));
                continue;
            }
            Ok(None) => {}
            Err(missing) => {
                ctx.gap(missing);
                continue;
            }
        }
        // Perhaps the heartbeat is disabled.
        if let (true, Err(missing)) = (is_heartbeat, &without_heartbeat) {
            ctx.gap(missing.clone());
            continue;
        }
        let message = if is_heartbeat {
            "the ServiceAccount of the heartbeat is missing: its Jobs cannot create pods, and linkerd check \
            fails. No traffic depends on it"
        } else {
            "a ServiceAccount of the control plane is missing: pods that use it lose their permissions now, \
            and new ones cannot be created"
        };
        let remedy = Remedy::new();
        let again = "Reapply the control plane";
        let remedy = upgrade::reapply(ctx, remedy, again);
        let remedy = match deployment {
            Some(known) => remedy.command(
                "Restart the pods that use it: their tokens are bound to the deleted account",
                kubectl()
                    .namespace(namespace)
                    .words("rollout restart")
                    .arg(format!("deployment/{}", known.deployment.metadata.name)),
            ),
            None => remedy,
        };
        let finding = ctx
            .finding(Subject::object("ServiceAccount", namespace, account), message)
            .evidence(Evidence::other(format!("ServiceAccount {namespace}/{account}"), "does not exist"))
            .fails_rows([row])
            .rows_as(Severity::Error)
            .severity(if is_heartbeat { Severity::Warning } else { Severity::Error })
            .remedy(remedy);
        findings.push(match deployment {
            Some(known) => finding.tie(Tie::Workload(
                "Deployment".to_owned(),
                namespace.clone(),
                known.deployment.metadata.name.clone(),
            )),
            None => finding,
        });
    }
    Ok(findings.into())
}
