//! `calico-connect-time-balancing`: Calico chooses the pod behind a Service when a process connects, so proxies never see the Service.

use crate::checks::policy::defined;
use crate::checks::{Context, Judgement, Unjudged, Verdict, sockets};
use crate::command::{Command, kubectl};
use crate::finding::{Remedy, StepKind, Subject};
use crate::model::managed_by::ManagedBy;
use crate::objects::FelixConfiguration;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let configurations = defined::<FelixConfiguration>(ctx)?;
    let Some(all) = sockets::of_all_nodes(configurations) else {
        return Err(Unjudged::not_applicable("there is no FelixConfiguration default"));
    };
    let Some(at_sockets) = sockets::calico(all) else { return Ok(Verdict::fine()) };
    let message = "Calico picks the pod behind a Service when a process connects, before the proxy sees the connection: meshed clients' \
                   calls to Services go to one pod each connection, and routes, ServiceProfiles and balancing by request don't apply";
    let finding = ctx
        .finding(Subject::object("FelixConfiguration", "", "default"), message)
        .evidences(at_sockets.evidence)
        .remedy(remedy(all))
        .likely();
    Ok(vec![finding].into())
}

fn remedy(all: &FelixConfiguration) -> Remedy {
    let look = "See that the environment of calico-node does not say so already (FELIX_BPFCONNECTTIMELOADBALANCING: Disabled counts before \
                the FelixConfiguration)";
    let words = "Let Calico balance in the network of pods instead, for the host's own processes too";
    let remedy = Remedy::new().run(
        StepKind::Command,
        look,
        kubectl().words("describe pods --all-namespaces -l k8s-app=calico-node"),
    );
    let spec = serde_json::json!({"spec": {
        "bpfConnectTimeLoadBalancing": "Disabled",
        "bpfHostNetworkedNATWithoutCTLB": "Enabled",
    }});
    let remedy = match ManagedBy::of(&all.metadata).in_git() {
        Some(git) => remedy.step(
            StepKind::Note,
            format!("{words} (bpfConnectTimeLoadBalancing: Disabled, bpfHostNetworkedNATWithoutCTLB: Enabled); {git}"),
        ),
        None => remedy.run(
            StepKind::Command,
            format!("{words}. Without the second field, which old releases of Calico do not know, processes of the host lose Services"),
            Command::from(kubectl().words("patch felixconfiguration default --type merge -p").arg(spec.to_string())),
        ),
    };
    remedy.step(
        StepKind::Note,
        "Connections that are open keep the pod that they were given: restart long-lived clients",
    )
}
