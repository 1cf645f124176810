//! The steps of the repair plan, for pages: those that repair a finding, and their commands. A symptom is
//! repaired by the steps of its causes, never by steps of its own.

use std::borrow::Cow;

use super::table::Folding;
use crate::finding::{Applies, Step};
use crate::report::{PlanStep, RepairPlan, Report};

/// The text of a step of the plan, from 1. An alternative names the step that it replaces: numbered steps
/// read as a sequence. A step names its alternatives if there are several, or other steps come between.
pub(super) fn in_plan<'t>(plan: &RepairPlan, number: usize, text: &'t str) -> Cow<'t, str> {
    let of_same = |one: &PlanStep, other: &PlanStep| !one.repairs.is_disjoint(&other.repairs);
    let replaced = |number| replaced(&plan.steps[..number], |step| step.step.applies, of_same);
    let text = instead(replaced(number), text);
    let others: Vec<usize> = (number + 1..=plan.steps.len()).filter(|other| replaced(*other) == Some(number)).collect();
    match others.as_slice() {
        [] => text,
        [next] if *next == number + 1 => text,
        others => {
            let others: Vec<String> = others.iter().map(|number| format!("step {number}")).collect();
            Cow::Owned(format!("{text} (or {} instead)", others.join(" or ")))
        }
    }
}

/// The text of a step of a remedy, from 1. An alternative names the step that it replaces.
pub(super) fn in_remedy<'t>(steps: &[Step], number: usize, text: &'t str) -> Cow<'t, str> {
    instead(replaced(&steps[..number], |step| step.applies, |_, _| true), text)
}

/// The numbers of the alternatives to the first step of the plan.
pub(super) fn alternatives_to_first(plan: &RepairPlan) -> Vec<usize> {
    let Some((first, others)) = plan.steps.split_first() else { return Vec::new() };
    let of_first = others.iter().take_while(|step| !step.repairs.is_disjoint(&first.repairs));
    let is_instead = |(_, step): &(usize, &PlanStep)| step.step.applies == Applies::Instead;
    (2..).zip(of_first).take_while(is_instead).map(|(number, _)| number).collect()
}

/// The number of the step that the last one replaces, if that is an alternative: the last one before it of the same
/// repair that is not an alternative itself.
fn replaced<S>(steps: &[S], applies: impl Fn(&S) -> Applies, of_same: impl Fn(&S, &S) -> bool) -> Option<usize> {
    let (step, earlier) = steps.split_last().filter(|(step, _)| applies(step) == Applies::Instead)?;
    let at = earlier.iter().rposition(|one| applies(one) != Applies::Instead && of_same(one, step))?;
    Some(at + 1)
}

/// `Instead of step 2: let pods start unmeshed` for `Or let pods start unmeshed`.
fn instead(replaced: Option<usize>, text: &str) -> Cow<'_, str> {
    let act = text.strip_prefix("Or ").or_else(|| text.strip_prefix("Alternatively, "));
    match (replaced, act, text.strip_prefix("Or, ")) {
        (Some(number), Some(act), _) => Cow::Owned(format!("Instead of step {number}: {act}")),
        (Some(number), None, Some(case)) => Cow::Owned(format!("Instead of step {number}, {case}")),
        _ => Cow::Borrowed(text),
    }
}

/// The numbers of the steps that repair a finding of the plan, from 1, with the decision before them; empty if the plan
/// does not contain it.
pub(super) fn of_finding(report: &Report, at: usize) -> Vec<usize> {
    let Some(planned) = report.repair.findings.get(&at).filter(|_| report.change.is_none()) else {
        return Vec::new();
    };
    let steps = &report.repair.steps;
    let is_own = |step: &&PlanStep| step.repairs.contains(&planned.number);
    let decides = |step: &PlanStep| {
        step.step.applies == Applies::First
            && steps.iter().filter(is_own).any(|own| !own.repairs.is_disjoint(&step.repairs))
    };
    (1..).zip(steps).filter(|(_, step)| is_own(step) || decides(step)).map(|(number, _)| number).collect()
}

/// The root causes of a symptom, each with `, steps 1 to 4` or nothing; empty for a root.
pub(super) fn causes(report: &Report, folding: &Folding, at: usize) -> Vec<(usize, String)> {
    let steps = |root: usize| match describe(&of_finding(report, root)) {
        words if words.is_empty() => words,
        words => format!(", {words}"),
    };
    folding.roots(at).iter().map(|&root| (root, steps(root))).collect()
}

/// Whether every line is a separate command.
pub(super) fn are_commands<T: AsRef<str>>(lines: &[T]) -> bool {
    let is_command = |line: &str| {
        line.starts_with(|c: char| c.is_ascii_lowercase())
            && !line.ends_with(['\\', '{', '|', '('])
            && !line.contains("<<")
            && !["if ", "for ", "while ", "do ", "done", "then", "fi", "else"].iter().any(|word| line.starts_with(word))
    };
    lines.iter().all(|line| is_command(line.as_ref()))
}

/// `step 5`, `steps 1 to 4`, `steps 1, 3 and 4`; empty without a step.
pub(super) fn describe(steps: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &step in steps {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == step => *last = step,
            _ => ranges.push((step, step)),
        }
    }
    // Two in a row are listed one by one, so that `and` stands once.
    let parts = ranges.into_iter().flat_map(|(first, last)| match last - first {
        0 | 1 => (first..=last).map(|step| step.to_string()).collect(),
        _ => vec![format!("{first} to {last}")],
    });
    let parts: Vec<String> = parts.collect();
    let listed = match parts.as_slice() {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => return String::new(),
    };
    format!("{} {listed}", if steps.len() == 1 { "step" } else { "steps" })
}

#[cfg(test)]
mod tests {
    use super::{are_commands, describe};

    #[test]
    fn steps_are_ranges() {
        for (steps, words) in [
            (&[][..], ""),
            (&[5][..], "step 5"),
            (&[1, 2][..], "steps 1 and 2"),
            (&[1, 2, 3, 4][..], "steps 1 to 4"),
            (&[1, 3][..], "steps 1 and 3"),
            (&[1, 3, 4][..], "steps 1, 3 and 4"),
            (&[1, 2, 4, 6, 7, 8][..], "steps 1, 2, 4 and 6 to 8"),
        ] {
            assert_eq!(describe(steps), words);
        }
    }

    #[test]
    fn lines_of_a_script_are_not_commands() {
        assert!(are_commands(&["kubectl get pods", "test -n a && linkerd upgrade"]));
        assert!(!are_commands(&["cat <<EOF > a", "x", "EOF"]));
        assert!(!are_commands(&["kubectl apply \\", "  -f -"]));
        assert!(!are_commands(&["NODE=a", "kubectl get node \"$NODE\""]));
    }
}
