//! `api-server-unreadable`: the API server did not return a readable version.

use crate::checks::prelude::*;

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
            "the API server denies this user its version, which every authenticated user may read: the \
            credentials are wrong or expired, or a role was removed",
            remedy
                .command("Show the user that the API server sees", kubectl().words("auth whoami"))
                .note("Log in again, or bind the ClusterRole system:public-info-viewer to that user"),
        ),
        Why::TimedOut { .. } | Why::OutOfTime { .. } => (
            "the request for the API server's version timed out",
            remedy
                .command(
                    "Check whether the API server is up, and how long it takes to answer",
                    kubectl().words("get --raw=/readyz?verbose"),
                )
                .note("If it is only slow, raise --request-timeout"),
        ),
        Why::NotServed | Why::Malformed { .. } | Why::NoValue { .. } | Why::NotJudged { .. } => (
            "the answer does not come from an API server, or was changed on the way: the version cannot be \
            read",
            remedy
                .command("Show the answer at the address in the kubeconfig", kubectl().words("get --raw=/version -v=6"))
                .note("Look for a proxy or a login page between here and the cluster"),
        ),
        Why::Failed { .. } => (
            "the request for the API server's version failed",
            remedy.command(
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
    Ok(finding.into())
}
