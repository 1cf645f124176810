//! Ordered policies, as those of Calico: tier by tier, and in a tier policy by policy, the first matching
//! rule decides. Traffic that a policy of a tier selects but no rule matches is denied there, or passed to
//! the next tier. Traffic that no tier selects is allowed.

use super::added::decides;
use super::form::{Action, AppliedPolicy, Match, Rule};
use super::{DecidedBy, Direction, Doubt, Verdict};

/// Evaluates the policies for a connection. `fits` decides whether a rule matches it.
pub(super) fn passage<'a>(
    direction: Direction,
    mut holding: Vec<(&AppliedPolicy<'a>, Match)>,
    fits: impl Fn(&AppliedPolicy<'a>, &Rule<'a>) -> Match,
) -> Verdict<'a> {
    holding.sort_by(|(a, _), (b, _)| a.place.compare(&b.place));
    let lost = holding.iter().filter(|(held, _)| held.place.tier.is_none());
    let lost = lost.map(|(held, _)| held.doubt("spec.tier", "the order of its tier"));
    let lost: Vec<Doubt<'a>> = lost.collect();
    if !lost.is_empty() {
        return Verdict::Unknown(lost);
    }
    // Possible earlier decisions.
    let mut perhaps: Vec<(Action, Doubt<'a>)> = Vec::new();
    let mut passed = None;
    for tier in holding.chunk_by(|(a, _), (b, _)| a.place.tier_name == b.place.tier_name) {
        let mut about: Vec<DecidedBy<'a>> = Vec::new();
        let mut may_be_about = Vec::new();
        let mut goes_on = false;
        'tier: for &(held, holds) in tier {
            let doubt = |field: &str, why| held.doubt(field, why);
            match holds {
                Match::Yes => about.push(decides(held, direction, &held.field, false)),
                Match::Perhaps(why) => may_be_about.push(doubt(&held.field, why)),
                Match::No => {}
            }
            for rule in &held.rules {
                match (holds.and(|| fits(held, rule)), rule.action) {
                    (Match::No, _) => {}
                    (Match::Perhaps(why), action) => perhaps.push((action, doubt(&rule.field, why))),
                    (Match::Yes, Action::Allow) => {
                        return let_through(perhaps, Some(decides(held, direction, &rule.field, false)));
                    }
                    (Match::Yes, Action::Deny) => {
                        return denied(perhaps, vec![decides(held, direction, &rule.field, true)]);
                    }
                    (Match::Yes, Action::Pass) => {
                        passed = Some(decides(held, direction, &rule.field, false));
                        goes_on = true;
                        break 'tier;
                    }
                }
            }
        }
        let denies = !goes_on && tier.iter().any(|(held, _)| !held.place.passes_on);
        if denies && !about.is_empty() {
            return denied(perhaps, about);
        }
        if denies {
            perhaps.extend(may_be_about.into_iter().map(|doubt| (Action::Deny, doubt)));
        }
    }
    let_through(perhaps, passed)
}

/// The final result is allow, unless an earlier rule may deny it or pass it on.
fn let_through<'a>(perhaps: Vec<(Action, Doubt<'a>)>, by: Option<DecidedBy<'a>>) -> Verdict<'a> {
    let doubts: Vec<Doubt<'a>> = except(perhaps, Action::Allow);
    match by {
        _ if !doubts.is_empty() => Verdict::Unknown(doubts),
        Some(decides) => Verdict::Through(decides),
        None => Verdict::Open,
    }
}

/// The final result is deny, unless an earlier rule may allow it or pass it on.
fn denied<'a>(perhaps: Vec<(Action, Doubt<'a>)>, by: Vec<DecidedBy<'a>>) -> Verdict<'a> {
    let doubts = except(perhaps, Action::Deny);
    if doubts.is_empty() { Verdict::Shut(by) } else { Verdict::Unknown(doubts) }
}

fn except<'a>(perhaps: Vec<(Action, Doubt<'a>)>, same: Action) -> Vec<Doubt<'a>> {
    perhaps.into_iter().filter(|(action, _)| *action != same).map(|(_, doubt)| doubt).collect()
}
