//! Options of a command that are needed only until other pods are recreated. In a plan whose earlier steps
//! recreate them, they are left out.

use std::collections::BTreeSet;

use super::{Restarts, Step};
use crate::command::{Command, Connection};

/// The part of a step's text about a restart of the control plane that cuts off running proxies.
pub const CUTS_OFF: &str = ", which old proxies cannot reach until they are replaced";

/// The part of a step's text instead of the reason, once the option is removed.
const WAITS: &str = ". The command first waits for the new pods";

/// An option that a command needs only until some workloads are restarted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Forced {
    /// The part of the step's text about the option.
    pub reason: &'static str,
    /// The workloads: namespace, and name as `deployment/web`.
    pub until: BTreeSet<(String, String)>,
    /// The command without the option. It begins with waiting for those workloads.
    pub without: Command,
}

impl Forced {
    /// The same, with the connection to the checked cluster.
    pub(super) fn aimed(self, connection: &Connection) -> Forced {
        Forced { without: self.without.aimed(connection), ..self }
    }

    /// For a step that runs this one and another one; `None` if their options differ.
    pub fn joined(&self, other: &Forced) -> Option<Forced> {
        let mut without = self.without.clone();
        without.join([&other.without]);
        let until = self.until.union(&other.until).cloned().collect();
        (self.reason == other.reason).then_some(Forced { reason: self.reason, until, without })
    }
}

/// Removes options from steps, in order, whose workloads an earlier step restarts.
pub fn lift_forced<'a>(steps: impl IntoIterator<Item = &'a mut Step>) {
    let mut restarted: Vec<Vec<String>> = Vec::new();
    for step in steps {
        let is_restarted = |(namespace, workload): &(String, String)| {
            restarted.iter().any(|words| {
                let is_in = words.windows(2).any(|pair| pair[0] == "-n" && pair[1] == *namespace);
                is_in && words.contains(workload)
            })
        };
        let lifted = step.forced.as_ref().filter(|forced| forced.until.iter().all(is_restarted));
        if let Some(forced) = lifted.cloned() {
            step.text = step.text.replace(forced.reason, WAITS).replace(CUTS_OFF, "");
            step.command = Some(forced.without.clone());
            step.forced = None;
        }
        if step.restarts == Restarts::Workloads && !step.is_conditional() {
            restarted.extend(step.command.iter().flat_map(renewing_lines));
        }
    }
}

/// The words of each line that gives workloads new proxies.
fn renewing_lines(command: &Command) -> Vec<Vec<String>> {
    let lines = command.rendered();
    let renews = |line: &&String| line.contains(" rollout restart ") || line.contains(" inject --manual ");
    let words = |line: &String| line.split_whitespace().map(str::to_owned).collect();
    lines.iter().filter(renews).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{kubectl, linkerd};
    use crate::finding::Remedy;

    const REASON: &str = ". Forced";

    fn steps(restart: &'static str) -> Vec<Step> {
        let upgrade = linkerd().words("upgrade --force");
        let remedy = Remedy::new()
            .command("Restart", kubectl().words(restart))
            .restarting(Restarts::Workloads)
            .command(format!("Upgrade{REASON}"), upgrade)
            .forced(Some(Forced {
                reason: REASON,
                until: BTreeSet::from([("shop".to_owned(), "deployment/web".to_owned())]),
                without: linkerd().words("upgrade").into(),
            }));
        remedy.steps
    }

    fn lifted(restart: &'static str) -> (String, String) {
        let mut steps = steps(restart);
        lift_forced(&mut steps);
        (steps[1].text.clone(), steps[1].command.as_ref().expect("a command").to_string())
    }

    #[test]
    fn an_option_that_a_restart_made_needless_is_removed() {
        for restart in [
            "-n shop rollout restart deployment/api deployment/web",
            "-n shop get deployment/web -o yaml | linkerd inject --manual - | kubectl apply -f -",
        ] {
            let waiting = format!("Upgrade{WAITS}");
            assert_eq!(lifted(restart), (waiting, "linkerd upgrade".to_owned()), "{restart}");
        }
    }

    #[test]
    fn an_option_stays_if_other_workloads_are_restarted() {
        for restart in ["-n shop rollout restart deployment/api", "-n blog rollout restart deployment/web"] {
            let (text, command) = lifted(restart);
            assert_eq!((text.as_str(), command.as_str()), ("Upgrade. Forced", "linkerd upgrade --force"));
        }
    }
}
