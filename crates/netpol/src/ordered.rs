//! Ordered policies, as those of Calico: tier by tier, and in a tier policy by policy, the first matching
//! rule decides. Traffic that a policy of a tier selects but no rule matches is denied there, or passed to
//! the next tier. Traffic that no tier selects is allowed.

use super::added::decides;
use super::form::{Action, Fits, Held, Rule};
use super::{Decides, Direction, Doubt, Passage};

/// Evaluates the policies for a connection. `fits` decides whether a rule matches it.
pub(super) fn passage<'a>(
    direction: Direction,
    mut holding: Vec<(&Held<'a>, Fits)>,
    fits: impl Fn(&Held<'a>, &Rule<'a>) -> Fits,
) -> Passage<'a> {
    holding.sort_by(|(a, _), (b, _)| a.place.compare(&b.place));
    let lost = holding.iter().filter(|(held, _)| held.place.tier.is_none());
    let lost = lost.map(|(held, _)| held.doubt("spec.tier", "the order of its tier"));
    let lost: Vec<Doubt<'a>> = lost.collect();
    if !lost.is_empty() {
        return Passage::Unknown(lost);
    }
    // Possible earlier decisions.
    let mut perhaps: Vec<(Action, Doubt<'a>)> = Vec::new();
    let mut passed = None;
    for tier in holding.chunk_by(|(a, _), (b, _)| a.place.tier_name == b.place.tier_name) {
        let mut about: Vec<Decides<'a>> = Vec::new();
        let mut may_be_about = Vec::new();
        let mut goes_on = false;
        'tier: for &(held, holds) in tier {
            let doubt = |field: &str, why| held.doubt(field, why);
            match holds {
                Fits::Yes => about.push(decides(held, direction, &held.field, false)),
                Fits::Perhaps(why) => may_be_about.push(doubt(&held.field, why)),
                Fits::No => {}
            }
            for rule in &held.rules {
                match (holds.and(|| fits(held, rule)), rule.action) {
                    (Fits::No, _) => {}
                    (Fits::Perhaps(why), action) => perhaps.push((action, doubt(&rule.field, why))),
                    (Fits::Yes, Action::Allow) => {
                        return let_through(perhaps, Some(decides(held, direction, &rule.field, false)));
                    }
                    (Fits::Yes, Action::Deny) => {
                        return shut(perhaps, vec![decides(held, direction, &rule.field, true)]);
                    }
                    (Fits::Yes, Action::Pass) => {
                        passed = Some(decides(held, direction, &rule.field, false));
                        goes_on = true;
                        break 'tier;
                    }
                }
            }
        }
        let denies = !goes_on && tier.iter().any(|(held, _)| !held.place.passes_on);
        if denies && !about.is_empty() {
            return shut(perhaps, about);
        }
        if denies {
            perhaps.extend(may_be_about.into_iter().map(|doubt| (Action::Deny, doubt)));
        }
    }
    let_through(perhaps, passed)
}

/// The final result is allow, unless an earlier rule may deny it or pass it on.
fn let_through<'a>(perhaps: Vec<(Action, Doubt<'a>)>, by: Option<Decides<'a>>) -> Passage<'a> {
    let doubts: Vec<Doubt<'a>> = except(perhaps, Action::Allow);
    match by {
        _ if !doubts.is_empty() => Passage::Unknown(doubts),
        Some(decides) => Passage::Through(decides),
        None => Passage::Open,
    }
}

/// The final result is deny, unless an earlier rule may allow it or pass it on.
fn shut<'a>(perhaps: Vec<(Action, Doubt<'a>)>, by: Vec<Decides<'a>>) -> Passage<'a> {
    let doubts = except(perhaps, Action::Deny);
    if doubts.is_empty() { Passage::Shut(by) } else { Passage::Unknown(doubts) }
}

fn except<'a>(perhaps: Vec<(Action, Doubt<'a>)>, same: Action) -> Vec<Doubt<'a>> {
    perhaps.into_iter().filter(|(action, _)| *action != same).map(|(_, doubt)| doubt).collect()
}
