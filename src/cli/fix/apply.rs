//! `meshdoctor fix --apply`: runs the steps of a repair plan, each after a confirmation, and checks the
//! cluster again after each.

use std::io::Write;
use std::process::{Command, Stdio};

use super::cluster::{FixCluster, Reading};
use crate::cli::output::print_line;
use crate::cli::stop::Stop;
use crate::command::{self, own};
use crate::finding::{Applies, NodeRound};
use crate::render::fix as render;
use crate::repair::{JudgedPlan, Proof, State};
use crate::report::{PlanStep, RepairPlan, Report};

/// The shell that runs the commands.
const SHELL: &str = if cfg!(unix) { "/bin/sh" } else { "sh" };

/// An answer to a question on the terminal.
enum Confirmation {
    Yes,
    No,
    Quit,
}

/// Runs the plan, and returns the report of the cluster afterwards; `None` if nothing ran.
///
/// # Errors
/// A step failed, or the cluster cannot be read again.
pub(super) fn run(cluster: &FixCluster<'_>, reading: &Reading, plan: &JudgedPlan) -> anyhow::Result<Option<Report>> {
    let steps = &reading.report.repair.steps;
    let mut state = State::from_report(&reading.report);
    let mut latest = None;
    // An alternative is only needed if the step before it was not run.
    let mut declined = false;
    for (number, node) in turns(&reading.report.repair) {
        let (step, proof) = (&steps[number - 1], &plan.proofs[number - 1]);
        let command = step.step.command.as_ref();
        let command = command.map(|command| node.map_or_else(|| command.clone(), |node| command.only_on(node)));
        show((number, steps.len()), node, step, command.as_ref(), proof);
        if !proof.is_offered() || step.step.applies == Applies::Instead && !declined {
            continue;
        }
        let command = command.filter(|command| *proof != Proof::Manual && render::can_run(command));
        let question = match &command {
            Some(_) if *proof == Proof::Conditional => "Does it apply? Run it? [y]es, [n]o, [q]uit: ",
            Some(_) => "Run it? [y]es, [n]o, [q]uit: ",
            None => "Do it by hand. Is it done? [y]es, [n]o, [q]uit: ",
        };
        match (ask(question)?, &command) {
            (Confirmation::Yes, Some(command)) => execute(number, &render::guarded(command, "exit 1"))?,
            (Confirmation::Yes, None) => {}
            (Confirmation::No, Some(_)) => {
                print_line(&format!("step {number} skipped"));
                declined = true;
                continue;
            }
            (Confirmation::No, None) | (Confirmation::Quit, _) => {
                print_line(&format!("stopped before step {number}; {} plans the rest again", own("fix --apply")));
                return Ok(latest);
            }
        }
        declined = false;
        if *proof == Proof::Reads {
            continue;
        }
        let fresh = cluster.read()?.report;
        let now = State::from_report(&fresh);
        print_line(&render::effect_text(number, &state.change_to(&now)));
        (state, latest) = (now, Some(fresh));
    }
    Ok(latest)
}

/// The steps in the order in which they are run, by number. Those of a round come once for each of its nodes.
fn turns<'p>(plan: &'p RepairPlan) -> Vec<(usize, Option<&'p str>)> {
    let rounds = plan.node_rounds();
    let mut turns = Vec::new();
    for number in 1..=plan.steps.len() {
        match NodeRound::find(&rounds, number) {
            None => turns.push((number, None)),
            Some(NodeRound { first, last, nodes }) if *first == number => {
                let on_node = |node: &&'p str| {
                    let node = *node;
                    (number..=*last).map(move |step| (step, Some(node)))
                };
                turns.extend(nodes.iter().flat_map(on_node));
            }
            // Its first step adds it.
            Some(_) => {}
        }
    }
    turns
}

fn show(
    (number, all): (usize, usize),
    node: Option<&str>,
    step: &PlanStep,
    command: Option<&command::Command>,
    proof: &Proof,
) {
    print_line("");
    let place = node.map(|node| format!(" on {node}")).unwrap_or_default();
    print_line(&format!("step {number} of {all}{place}: {}", step.step.text));
    let lines = command.into_iter().flat_map(command::Command::rendered);
    lines.for_each(|line| print_line(&format!("  {line}")));
    let expected = render::proof_text(proof);
    match proof {
        Proof::Manual | Proof::Conditional => {}
        _ => print_line(&expected),
    }
}

/// Asks on the terminal; the end of input ends the run.
fn ask(question: &str) -> anyhow::Result<Confirmation> {
    let mut error = std::io::stderr();
    let _ = write!(error, "{question}").and_then(|()| error.flush());
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line)? == 0 {
        return Ok(Confirmation::Quit);
    }
    Ok(match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Confirmation::Yes,
        "n" | "no" => Confirmation::No,
        _ => Confirmation::Quit,
    })
}

/// Runs lines of shell. They get no input, so that they cannot take the answers.
fn execute(number: usize, lines: &[String]) -> Result<(), Stop> {
    let status = Command::new(SHELL).args(["-euc", &lines.join("\n")]).stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            let next = format!("repair the cause that the command printed, then run {} again", own("fix --apply"));
            Err(Stop::could_not_run(format!("step {number} failed, so the later steps were not run"), next))
        }
        Err(error) => {
            let cause = format!("step {number} was not run: cannot start {SHELL}: {error}");
            Err(Stop::could_not_run(cause, format!("use {} where sh exists", own("fix > fix.sh"))))
        }
    }
}
