//! Additive policies, as those of Kubernetes and Cilium: traffic that one policy allows passes unless a
//! rule denies it, and one policy is enough to isolate a pod.

use super::form::{Action, Fits, Held, Rule};
use super::{Decides, Direction, Passage};

/// Evaluates the policies for a connection. `fits` decides whether a rule matches it.
pub(super) fn passage<'a>(
    direction: Direction,
    holding: &[(&Held<'a>, Fits)],
    fits: impl Fn(&Held<'a>, &Rule<'a>) -> Fits,
) -> Passage<'a> {
    let mut shutting = Vec::new();
    let mut through = None;
    let (mut may_shut, mut may_pass, mut may_deny) = (Vec::new(), Vec::new(), Vec::new());
    for &(held, holds) in holding {
        let doubt = |field: &str, why| held.doubt(field, why);
        match holds {
            Fits::Yes if held.shuts => shutting.push(decides(held, direction, &held.field, false)),
            Fits::Perhaps(why) if held.shuts => may_shut.push(doubt(&held.field, why)),
            Fits::Yes | Fits::No | Fits::Perhaps(_) => {}
        }
        for rule in &held.rules {
            match (holds.and(|| fits(held, rule)), rule.action) {
                (Fits::No, _) | (_, Action::Pass) => {}
                (Fits::Yes, Action::Deny) => {
                    return Passage::Shut(vec![decides(held, direction, &rule.field, true)]);
                }
                (Fits::Yes, Action::Allow) => {
                    through.get_or_insert_with(|| decides(held, direction, &rule.field, false));
                }
                (Fits::Perhaps(why), Action::Deny) => may_deny.push(doubt(&rule.field, why)),
                (Fits::Perhaps(why), Action::Allow) => may_pass.push(doubt(&rule.field, why)),
            }
        }
    }
    let shut = !shutting.is_empty();
    match through {
        // No rule allows it, whatever else may be denied.
        None if shut && may_pass.is_empty() => Passage::Shut(shutting),
        None if shut => Passage::Unknown(may_pass),
        _ if !may_deny.is_empty() => Passage::Unknown(may_deny),
        Some(decides) => Passage::Through(decides),
        None if may_shut.is_empty() => Passage::Open,
        None => Passage::Unknown(may_shut),
    }
}

/// A policy and its deciding field.
pub(super) fn decides<'a>(held: &Held<'a>, direction: Direction, field: &str, denies: bool) -> Decides<'a> {
    Decides { policy: held.policy, field: field.to_owned(), denies, said: held.in_words(direction) }
}
