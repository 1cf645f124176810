//! How a Service without a ready endpoint gets one.

use crate::checks::prelude::*;
use crate::model::endpoints::NoEndpoint;
use crate::model::managed_by::ManagedBy;

/// The steps for the cause.
pub fn remedy(service: &Service, cause: &NoEndpoint<'_>) -> Remedy {
    let (namespace, name) = service.metadata.key();
    let kubectl = || kubectl().namespace(namespace);
    match cause {
        NoEndpoint::ScaledToZero(kind, workload) => scaled_up(*kind, workload),
        NoEndpoint::NotReady(pod, _) => not_ready(pod),
        NoEndpoint::NoPod(kind, workload) => Remedy::new().command(
            format!("Find out why the {kind} creates no pod"),
            kubectl().words("describe").operand(target(*kind, workload)),
        ),
        NoEndpoint::NothingSelected => Remedy::new().run(
            StepKind::Command,
            "Correct the Service's selector, so that it matches the labels of the pods",
            kubectl().words("get pods --show-labels"),
        ),
        NoEndpoint::NoSelector => {
            Remedy::new().note("Give the Service a selector, or correct whatever maintains its EndpointSlices")
        }
        NoEndpoint::NotListed(_) => Remedy::new().command(
            "Compare the EndpointSlices with the pods: the controller that maintains them lags behind or lists others",
            kubectl().words("get endpointslices -o yaml").option("-l", format!("kubernetes.io/service-name={name}")),
        ),
    }
}

fn target(kind: Kind, workload: &Workload) -> String {
    format!("{}/{}", kind.to_string().to_ascii_lowercase(), workload.metadata.name)
}

fn scaled_up(kind: Kind, workload: &Workload) -> Remedy {
    let text = format!("Scale the {kind} up, or stop the clients from calling the Service");
    match ManagedBy::from_metadata(&workload.metadata).in_git() {
        Some(git) => Remedy::new().note(format!("{text}; {git}")),
        None => Remedy::new().command(
            text,
            kubectl()
                .namespace(&workload.metadata.namespace)
                .words("scale --replicas=1")
                .operand(target(kind, workload)),
        ),
    }
}

fn not_ready(pod: &Pod) -> Remedy {
    let (namespace, name) = pod.metadata.key();
    let kubectl = || kubectl().namespace(namespace);
    let mut statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    let ended = statuses.find(|status| status.restart_count > 0 && !status.ready);
    let remedy =
        Remedy::new().command("Find out why the pod is not ready", kubectl().words("describe pod").operand(name));
    match ended {
        Some(status) => remedy.command(
            format!("Read the last lines of container {} before it ended", status.name),
            kubectl().words("logs").operand(name).option("-c", &*status.name).words("--previous --tail=50"),
        ),
        None => remedy,
    }
}
