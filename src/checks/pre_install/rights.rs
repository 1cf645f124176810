//! Missing permissions as one finding, from the API server's answers to access reviews.

use crate::checks::prelude::*;
use crate::item::Access;
use crate::item::ReviewStatus;

/// A permission that an installation needs.
pub(super) struct Right {
    /// `create`, `get`.
    pub(super) verb: &'static str,
    /// `secrets`, `deployments.apps`.
    pub(super) resource: &'static str,
    /// The row of `linkerd check` for the same permission.
    pub(super) row: Option<&'static str>,
}

/// The missing permissions in a scope, as one finding. An unanswered review is a gap.
pub(super) fn missing_rights(
    ctx: &Context<'_>,
    rights: &[Right],
    scope: &Scope,
    message: &str,
) -> Result<Option<Finding>, Missing> {
    let namespace = ctx.namespaces().namespace_for(scope);
    let mut denied: Vec<(&Right, Access, &ReviewStatus)> = Vec::new();
    let mut unanswered: Vec<Missing> = Vec::new();
    for right in rights {
        let access = Access::new(right.verb, right.resource, scope.clone());
        match ctx.access(&access) {
            Ok(answer) if answer.allowed => {}
            Ok(answer) => denied.push((right, access, answer)),
            Err(missing) => unanswered.push(missing),
        }
    }
    note(ctx, unanswered);
    let Some((first, others)) = denied.split_first() else { return Ok(None) };
    let place = namespace.map(|namespace| format!(" in {namespace}")).unwrap_or_default();
    let subject = |access: &Access| Subject::thing(&format!("{} {}{place}", access.verb, access.resource));
    let finding = others
        .iter()
        .fold(ctx.finding(subject(&first.1), message), |finding, (_, access, _)| finding.subject(subject(access)))
        .evidences(denied.iter().map(|(_, access, answer)| {
            let command = access.command(namespace);
            Evidence::other("API server", format!("{command}: {}", describe(answer)))
        }))
        .fails_rows(denied.iter().filter_map(|(right, _, _)| right.row))
        .remedy(
            Remedy::new().step(StepKind::Note, "Have a user with cluster-admin permissions install Linkerd").run(
                StepKind::Command,
                "Or have such a user grant you cluster-admin for the installation (kubectl auth whoami shows \
                     your USER_NAME)",
                kubectl()
                    .words("create clusterrolebinding linkerd-installer --clusterrole=cluster-admin")
                    .arg(Arg::known("--user=").then(Arg::placeholder("USER_NAME"))),
            ),
        );
    Ok(Some(finding))
}

/// Whether the user has a permission in the whole cluster.
pub(super) fn holds(ctx: &Context<'_>, right: &Right) -> Result<bool, Missing> {
    Ok(ctx.access(&Access::new(right.verb, right.resource, Scope::Cluster))?.allowed)
}

/// Notes unanswered reviews as gaps, one for each reason, because most share one reason.
fn note(ctx: &Context<'_>, unanswered: Vec<Missing>) {
    let mut reasons: Vec<(Missing, usize)> = Vec::new();
    for missing in unanswered {
        match reasons.iter_mut().find(|(first, _)| first.why == missing.why) {
            Some((_, others)) => *others += 1,
            None => reasons.push((missing, 0)),
        }
    }
    for (first, others) in reasons {
        ctx.gap(match others {
            0 => first,
            1 => Missing { part: Some("and 1 other permission".to_owned()), ..first },
            _ => Missing { part: Some(format!("and {others} other permissions")), ..first },
        });
    }
}

/// The verdict of an optional finding.
pub(super) fn verdict(finding: Option<Finding>) -> Judgement {
    Ok(finding.into_iter().collect())
}

/// `no`, with the API server's reason if it has one.
fn describe(answer: &ReviewStatus) -> String {
    let reasons = [&answer.reason, &answer.evaluation_error].into_iter().filter(|text| !text.is_empty());
    let reasons: Vec<String> = reasons.map(|text| crate::redact::text(text).into_owned()).collect();
    if reasons.is_empty() { "no".to_owned() } else { format!("no ({})", reasons.join("; ")) }
}
