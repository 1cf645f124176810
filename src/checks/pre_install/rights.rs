//! What the operator may not do, as one finding: the reviews that a check's card names, answered by the API server.

use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::ReviewStatus;
use crate::item::{Access, Scope};
use crate::missing::Missing;

/// Something that an installation does.
pub(super) struct Right {
    /// `create`, `get`.
    pub(super) verb: &'static str,
    /// `secrets`, `deployments.apps`.
    pub(super) resource: &'static str,
    /// The row of `linkerd check` that asks the same.
    pub(super) row: Option<&'static str>,
}

/// The rights that are lacking in a scope, as one finding; what could not be asked is a gap.
pub(super) fn lacking(
    ctx: &Context<'_>,
    rights: &[Right],
    scope: &Scope,
    message: &str,
) -> Result<Option<Finding>, Missing> {
    let namespace = ctx.namespaces().of(scope);
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
            Evidence::other("API server", format!("{command}: {}", said(answer)))
        }))
        .fails_rows(denied.iter().filter_map(|(right, _, _)| right.row))
        .remedy(
            Remedy::new()
                .step(StepKind::Note, "Have somebody with the rights of cluster-admin install Linkerd")
                .step(
                    StepKind::Note,
                    "Or have them grant what is lacking to whoever installs; roles can only be created by those who hold \
                     every right in them",
                ),
        );
    Ok(Some(finding))
}

/// Whether a right is held in the whole cluster.
pub(super) fn holds(ctx: &Context<'_>, right: &Right) -> Result<bool, Missing> {
    Ok(ctx.access(&Access::new(right.verb, right.resource, Scope::Cluster))?.allowed)
}

/// Notes what could not be asked: once for each reason, as it is mostly one for all of them.
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

/// The verdict of findings that may be there or not.
pub(super) fn verdict(finding: Option<Finding>) -> Judgement {
    Ok(finding.into_iter().collect::<Vec<_>>().into())
}

/// `no`, and why, where the API server says so.
fn said(answer: &ReviewStatus) -> String {
    let reasons = [&answer.reason, &answer.evaluation_error].into_iter().filter(|text| !text.is_empty());
    let reasons: Vec<String> = reasons.map(|text| crate::redact::text(text).into_owned()).collect();
    if reasons.is_empty() { "no".to_owned() } else { format!("no ({})", reasons.join("; ")) }
}
