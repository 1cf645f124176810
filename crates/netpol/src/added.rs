//! Additive policies, as those of Kubernetes and Cilium: traffic that one policy allows passes unless a
//! rule denies it, and one policy is enough to isolate a pod.

use super::form::{Action, AppliedPolicy, Match, Rule};
use super::{DecidedBy, Direction, Verdict};

/// Evaluates the policies for a connection. `fits` decides whether a rule matches it.
pub(super) fn passage<'a>(
    direction: Direction,
    holding: &[(&AppliedPolicy<'a>, Match)],
    fits: impl Fn(&AppliedPolicy<'a>, &Rule<'a>) -> Match,
) -> Verdict<'a> {
    let mut shutting = Vec::new();
    let mut through = None;
    let (mut may_shut, mut may_pass, mut may_deny) = (Vec::new(), Vec::new(), Vec::new());
    for &(held, holds) in holding {
        let doubt = |field: &str, why| held.doubt(field, why);
        match holds {
            Match::Yes if held.shuts => shutting.push(decides(held, direction, &held.field, false)),
            Match::Perhaps(why) if held.shuts => may_shut.push(doubt(&held.field, why)),
            Match::Yes | Match::No | Match::Perhaps(_) => {}
        }
        for rule in &held.rules {
            match (holds.and(|| fits(held, rule)), rule.action) {
                (Match::No, _) | (_, Action::Pass) => {}
                (Match::Yes, Action::Deny) => {
                    return Verdict::Shut(vec![decides(held, direction, &rule.field, true)]);
                }
                (Match::Yes, Action::Allow) => {
                    through.get_or_insert_with(|| decides(held, direction, &rule.field, false));
                }
                (Match::Perhaps(why), Action::Deny) => may_deny.push(doubt(&rule.field, why)),
                (Match::Perhaps(why), Action::Allow) => may_pass.push(doubt(&rule.field, why)),
            }
        }
    }
    let shut = !shutting.is_empty();
    match through {
        // No rule allows it, whatever else may be denied.
        None if shut && may_pass.is_empty() => Verdict::Shut(shutting),
        None if shut => Verdict::Unknown(may_pass),
        _ if !may_deny.is_empty() => Verdict::Unknown(may_deny),
        Some(decides) => Verdict::Through(decides),
        None if may_shut.is_empty() => Verdict::Open,
        None => Verdict::Unknown(may_shut),
    }
}

/// A policy and its deciding field.
pub(super) fn decides<'a>(held: &AppliedPolicy<'a>, direction: Direction, field: &str, denies: bool) -> DecidedBy<'a> {
    DecidedBy { policy: held.policy, field: field.to_owned(), denies, said: held.describe(direction) }
}
