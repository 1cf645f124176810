//! `calico-connect-time-balancing`: Calico selects the pod behind a Service at connect time, so proxies
//! never see the Service.

use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::checks::sockets;
use crate::model::managed_by::ManagedBy;
use crate::objects::FelixConfiguration;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let configurations = defined::<FelixConfiguration>(ctx)?;
    let Some(all) = sockets::of_all_nodes(configurations) else {
        return Err(Unjudged::not_applicable("no FelixConfiguration default exists"));
    };
    let Some(at_sockets) = sockets::calico(all) else { return Ok(Verdict::fine()) };
    let message = "Calico selects the pod behind a Service at connect time, before the proxy sees the \
        connection. Meshed clients stay on one pod per connection; routes, ServiceProfiles and balancing by \
        request have no effect";
    let finding = ctx
        .finding(Subject::object("FelixConfiguration", "", "default"), message)
        .evidences(at_sockets.evidence)
        .remedy(remedy(all))
        .likely();
    Ok(finding.into())
}

fn remedy(all: &FelixConfiguration) -> Remedy {
    let look = "Check that the environment of calico-node does not set it already: \
        FELIX_BPFCONNECTTIMELOADBALANCING: Disabled overrides the FelixConfiguration";
    let words = "Let Calico balance in the pods' network instead, also for the host's own processes";
    let remedy = Remedy::new().command(look, kubectl().words("describe pods --all-namespaces -l k8s-app=calico-node"));
    let spec = serde_json::json!({"spec": {
        "bpfConnectTimeLoadBalancing": "Disabled",
        "bpfHostNetworkedNATWithoutCTLB": "Enabled",
    }});
    let remedy = match ManagedBy::from_metadata(&all.metadata).in_git() {
        Some(git) => remedy.note(format!(
            "{words} (bpfConnectTimeLoadBalancing: Disabled, bpfHostNetworkedNATWithoutCTLB: \
                 Enabled); {git}"
        )),
        None => remedy.command(
            format!(
                "{words}. Old releases of Calico lack the second field; there the host's processes lose \
                 access to Services"
            ),
            Command::from(kubectl().words("patch felixconfiguration default --type merge -p").arg(spec.to_string())),
        ),
    };
    remedy.note("Restart long-lived clients: open connections stay on their pod")
}
