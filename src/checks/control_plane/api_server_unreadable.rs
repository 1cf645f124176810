//! `api-server-unreadable`: the API server returned no readable version.

use crate::checks::{Context, Judgement, Verdict};
use crate::command::kubectl;
use crate::fetched::Why;
use crate::finding::{Evidence, Remedy, StepKind, Subject};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let missing = match ctx.server_version() {
        Ok(_) => return Ok(Verdict::fine()),
        Err(missing) => missing,
    };
    let remedy = Remedy::new();
    let (message, remedy) = match &missing.why {
        // The version was not requested.
        Why::NotCaptured | Why::NotOffered | Why::PerhapsMore | Why::NotInManifests => {
            return Err(missing.into());
        }
        Why::Denied { .. } => (
            "the API server denies this user access to its version, which every authenticated user may \
                read: the credentials are wrong or expired, or a role was removed",
            remedy
                .run(
                    StepKind::Command,
                    "Show the user that the API server sees",
                    kubectl().words("auth whoami"),
                )
                .step(
                    StepKind::Note,
                    "Sign in again, or bind the ClusterRole system:public-info-viewer to that user",
                ),
        ),
        Why::TimedOut { .. } => (
            "the API server did not answer the request for its version in time",
            remedy
                .run(
                    StepKind::Command,
                    "Check whether it is up and how fast it answers",
                    kubectl().words("get --raw=/readyz?verbose"),
                )
                .step(StepKind::Note, "If it is only slow, give more time with --request-timeout"),
        ),
        Why::NotServed | Why::Malformed { .. } | Why::NoValue { .. } | Why::NotJudged { .. } => (
            "the server that answered is not an API server, or its answer was changed on the way: its \
                version is unreadable",
            remedy
                .run(
                    StepKind::Command,
                    "Check which server answers at the address in the kubeconfig",
                    kubectl().words("get --raw=/version -v=6"),
                )
                .step(StepKind::Note, "Look for a proxy or a login page between here and the cluster"),
        ),
        Why::Failed { .. } => (
            "the request for the API server's version failed",
            remedy.run(
                StepKind::Command,
                "Find out why the connection fails: address, network, certificate or credentials",
                kubectl().words("get --raw=/version -v=6"),
            ),
        ),
    };
    let finding = ctx
        .finding(Subject::thing("API server"), message)
        .evidence(Evidence::other("API server /version", missing.why.to_string()))
        .fails_rows(["can query the Kubernetes API"])
        .remedy(remedy);
    Ok(vec![finding].into())
}
