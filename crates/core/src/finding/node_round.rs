//! Steps that are done together on one node before the next.

use super::Step;

/// The steps from one that cordons each of several nodes to the one that uncordons them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRound<'a> {
    /// The number of the first step.
    pub first: usize,
    /// The number of the last step.
    pub last: usize,
    pub nodes: Vec<&'a str>,
}

impl<'a> NodeRound<'a> {
    /// The rounds of steps, in order.
    pub fn all(steps: impl IntoIterator<Item = &'a Step>) -> Vec<NodeRound<'a>> {
        let steps: Vec<&Step> = steps.into_iter().collect();
        let nodes = |step: &&'a Step, call| step.command.as_ref()?.nodes_of(call);
        let mut rounds = Vec::new();
        let mut at = 0;
        while at < steps.len() {
            let cordoned = nodes(&steps[at], "cordon").filter(|nodes| nodes.len() > 1);
            at += 1;
            let Some(cordoned) = cordoned else { continue };
            let is_end = |step: &&'a Step| nodes(step, "uncordon").as_ref() == Some(&cordoned);
            if let Some(more) = steps[at..].iter().position(is_end) {
                let first = at;
                at += more + 1;
                rounds.push(NodeRound { first, last: at, nodes: cordoned });
            }
        }
        rounds
    }

    /// The round that a step is part of, by its number.
    pub fn find<'r>(rounds: &'r [NodeRound<'a>], number: usize) -> Option<&'r NodeRound<'a>> {
        rounds.iter().find(|round| (round.first..=round.last).contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Arg, Command, kubectl};
    use crate::finding::{Remedy, StepKind};

    fn on(nodes: &[&str], words: &'static str) -> Command {
        let one = |node: &str| Command::about_node(node, [kubectl().words(words).arg(Arg::node())]);
        let mut all = one(nodes[0]);
        nodes[1..].iter().for_each(|node| all.join([&one(node)]));
        all
    }

    fn rounds(nodes: &[&str]) -> Vec<Option<(usize, usize)>> {
        let remedy = Remedy::new()
            .note("Think")
            .command("Cordon", on(nodes, "cordon"))
            .step(StepKind::NodeFile, "Edit a file")
            .command("Uncordon", on(nodes, "uncordon"))
            .note("Rest");
        let all = NodeRound::all(&remedy.steps);
        let round = |number| NodeRound::find(&all, number).map(|round| (round.first, round.last));
        (1..=remedy.steps.len()).map(round).collect()
    }

    #[test]
    fn a_round_ends_with_the_uncordoned_nodes() {
        assert_eq!(rounds(&["a", "b"]), [None, Some((2, 4)), Some((2, 4)), Some((2, 4)), None]);
        assert_eq!(rounds(&["a"]), [None; 5], "on a single node, nothing is repeated");
    }
}
