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
    /// The round that a step is part of, by its number.
    pub fn find(steps: &[&'a Step], number: usize) -> Option<NodeRound<'a>> {
        let nodes = |step: &&'a Step, call| step.command.as_ref()?.nodes_of(call);
        (1..=number).rev().find_map(|first| {
            let cordoned = nodes(steps.get(first - 1)?, "cordon").filter(|nodes| nodes.len() > 1)?;
            let is_end = |step: &&'a Step| nodes(step, "uncordon").as_ref() == Some(&cordoned);
            let last = first + 1 + steps[first..].iter().position(is_end)?;
            (number <= last).then_some(NodeRound { first, last, nodes: cordoned })
        })
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
            .step(StepKind::Note, "Think")
            .run(StepKind::Command, "Cordon", on(nodes, "cordon"))
            .step(StepKind::NodeFile, "Edit a file")
            .run(StepKind::Command, "Uncordon", on(nodes, "uncordon"))
            .step(StepKind::Note, "Rest");
        let steps: Vec<&Step> = remedy.steps.iter().collect();
        let round = |number| NodeRound::find(&steps, number).map(|round| (round.first, round.last));
        (1..=steps.len()).map(round).collect()
    }

    #[test]
    fn a_round_ends_with_the_uncordoned_nodes() {
        assert_eq!(rounds(&["a", "b"]), [None, Some((2, 4)), Some((2, 4)), Some((2, 4)), None]);
        assert_eq!(rounds(&["a"]), [None; 5], "on a single node, nothing is repeated");
    }
}
