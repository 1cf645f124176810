//! `viz-tap-api-unavailable`: the API server does not reach tap, which serves a part of its API.

use super::tap::API;
use crate::checks::extensions::{absent, extension_namespace, reinstall, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Severity, StepKind, Subject};
use crate::item::{Extension, Kind, Scope};
use crate::model::objects::ApiService;

/// What this is asked about, and what cannot be met where nothing registers the API.
const RUNNING: &str = "tap API service is running";
const TRUSTED: &str = "tap API server has valid cert";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespace = extension_namespace(ctx, Extension::Viz)?;
    let service = ctx.named::<ApiService>(Kind::APIService, Scope::Cluster, API)?;
    let Some(namespace) = namespace else {
        return match service.and_then(|service| left_behind(ctx, service)) {
            Some(finding) => Ok(vec![finding].into()),
            None => Ok(absent(Extension::Viz)),
        };
    };
    let home = namespace.metadata.name.as_str();
    let (evidence, gone) = match service {
        None => (Evidence::other(format!("APIService {API}"), "not there"), true),
        Some(service) => match service.status.conditions.iter().find(|c| c.kind == "Available") {
            Some(condition) if condition.status == "True" => return Ok(Verdict::fine()),
            Some(condition) => {
                let said = format!("{}: {}: {}", condition.status, condition.reason, condition.message);
                (Evidence::field(format!("APIService {API}"), "status.conditions[Available]", said), false)
            }
            None => {
                (Evidence::field(format!("APIService {API}"), "status.conditions", "no Available"), false)
            }
        },
    };
    Ok(vec![finding(ctx, home, gone).evidence(evidence)].into())
}

/// The APIService of a viz that is not there any more; `None` where it answers all the same.
fn left_behind(ctx: &Context<'_>, service: &ApiService) -> Option<Finding> {
    let condition = service.status.conditions.iter().find(|condition| condition.kind == "Available");
    if condition.is_some_and(|condition| condition.status == "True") {
        return None;
    }
    let said = condition.map_or_else(
        || "no Available".to_owned(),
        |condition| format!("{}: {}: {}", condition.status, condition.reason, condition.message),
    );
    let object = format!("APIService {API}");
    let served_by = service.spec.service.as_ref().map(|s| format!("{}/{}", s.namespace, s.name));
    let finding = ctx
        .finding(
            Subject::object("APIService", "", API),
            "viz is not installed, and the APIService of its tap is still there: nothing serves it, so no namespace can be deleted \
             completely, and kubectl prints errors",
        )
        .parameter("left-behind")
        .evidence(Evidence::other("Namespaces", "none has the label linkerd.io/extension=viz"))
        .evidences(served_by.map(|name| Evidence::field(&object, "spec.service", name)))
        .evidence(Evidence::field(&object, "status.conditions[Available]", said))
        .fails_rows([])
        .remedy(remedy(Extension::Viz).run(
            StepKind::Command,
            "Delete the APIService, unless viz is to be installed again",
            format!("kubectl delete apiservice {API}"),
        ));
    Some(finding)
}

fn finding(ctx: &Context<'_>, home: &str, gone: bool) -> Finding {
    let message = if gone {
        "nothing registers the API of tap: linkerd viz tap and the dashboard's live traffic do not work"
    } else {
        "the API server does not reach tap: linkerd viz tap does not work, and what asks for all parts of the API, such as \
         the deletion of a namespace, waits or fails"
    };
    let fix = remedy(Extension::Viz);
    let fix = if gone {
        fix.run(
            StepKind::Command,
            "Lay viz down again, with the command or the chart of its release",
            reinstall(Extension::Viz),
        )
    } else {
        fix.run(
            StepKind::Command,
            "See that a pod of tap is ready and behind its Service",
            format!("kubectl -n {home} get pods,endpointslices -l component=tap"),
        )
        .step(
            StepKind::Note,
            "Where it is, let the API server through to it: a firewall between control plane and nodes, or a network \
             policy, has to allow port 8089 of the pod",
        )
    };
    let finding = ctx.finding(Subject::object("APIService", "", API), message).remedy(fix);
    // Without it there is no bundle to judge tap's certificate by.
    if gone {
        finding.fails_rows([RUNNING, TRUSTED]).rows_as(Severity::Error)
    } else {
        finding.fails_rows([RUNNING])
    }
}
