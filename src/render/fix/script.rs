//! The repair plan as a shell script. It stops at the first failure and at each manual step, and continues from the
//! step that is given as its argument.

use super::{planned, proof_text};
use crate::command::{Arg, Command, Line, RunsOn};
use crate::kubectl::shell::pipelines;
use crate::render::subject;
use crate::render::text::{clean, wrap};
use crate::repair::{JudgedPlan, Proof};
use crate::report::{PlanStep, Report};

/// Width of comments, in columns.
const WIDTH: usize = 100;

/// The functions of the script.
const FUNCTIONS: &str = r#"set -eu
first=${1:-1}
failed() {
  printf 'step %s failed: repair the cause, then continue with: sh SCRIPT %s\n' "$1" "$1" >&2
  exit 1
}
manual() {
  printf 'step %s is manual: %s\n' "$1" "$2" >&2
  printf 'Do it, then continue with: sh SCRIPT %s\n' "$3" >&2
  exit 1
}
"#;

/// The script.
pub fn script(report: &Report, plan: &JudgedPlan) -> String {
    let mut script = Script(String::from("#!/bin/sh\n"));
    let steps = &report.repair.steps;
    script.comment(&format!(
        "Repair plan of meshdoctor for {} {}, judged at {}.",
        report.origin.kind, report.origin.name, report.at.0
    ));
    script.comment("Read it before you run it. To continue from a step, give its number as the argument.");
    if steps.is_empty() {
        script.comment("No finding of warning or above needs a repair.");
        return script.0;
    }
    script.0.push_str("#\n");
    for (planned, finding) in planned(report) {
        let about = subject::brief(finding.subjects.iter());
        script
            .comment(&format!("Finding {}: {} {}, {about}", planned.number, finding.severity, finding.check));
    }
    script.0.push('\n');
    script.0.push_str(FUNCTIONS);
    for (at, (step, proof)) in steps.iter().zip(&plan.proofs).enumerate() {
        script.step((at + 1, steps.len()), step, proof);
    }
    script.0.push('\n');
    script.comment("Check the result:");
    for command in &report.repair.verify {
        command.rendered().iter().for_each(|line| script.command(line));
    }
    script.0
}

struct Script(String);

impl Script {
    /// Adds a comment. Text of a cluster cannot end it: line breaks and control characters are escaped.
    fn comment(&mut self, text: &str) {
        for line in wrap(&clean(text), WIDTH - 2) {
            self.0.push_str(format!("# {line}").trim_end());
            self.0.push('\n');
        }
    }

    /// Adds a command as a comment, in one line to copy.
    fn command(&mut self, line: &str) {
        self.0.push_str(&format!("#   {}\n", clean(line)));
    }

    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn step(&mut self, (number, all): (usize, usize), step: &PlanStep, proof: &Proof) {
        self.0.push('\n');
        let repairs: Vec<String> = step.repairs.iter().map(ToString::to_string).collect();
        let repairs = match repairs.as_slice() {
            [one] => format!("finding {one}"),
            several => format!("findings {}", several.join(", ")),
        };
        self.comment(&format!("Step {number} of {all}, for {repairs}: {}", step.step.text));
        self.comment(&proof_text(number, proof));
        if !proof.is_offered() {
            return;
        }
        let command = step.step.command.as_ref();
        match command.filter(|_| !is_manual(step, proof)) {
            Some(command) => {
                self.line(&format!("if [ \"$first\" -le {number} ]; then"));
                self.commands(number, command);
                self.line("fi");
            }
            None => {
                for line in command.iter().flat_map(|command| command.rendered()) {
                    self.command(&line);
                }
                let next = number + 1;
                let text = Arg::from(clean(&step.step.text).into_owned());
                self.line(&format!("[ \"$first\" -gt {number} ] || manual {number} {text} {next}"));
            }
        }
    }

    /// The lines of a command; each that is complete stops the script if it fails.
    fn commands(&mut self, number: usize, command: &Command) {
        for text in on_each_node(command) {
            // A command that is read as a whole is one or several lines, each a complete list of programs.
            let guarded = pipelines(&text).is_some();
            for line in text.split('\n') {
                let is_call = guarded && pipelines(line).is_some_and(|read| !read.is_empty());
                match is_call && !line.trim_start().starts_with("NODE=") {
                    true => self.line(&format!("{line} || failed {number}")),
                    false => self.line(line),
                }
            }
        }
    }
}

/// The text of a command, once for each node that it is for.
fn on_each_node(command: &Command) -> Vec<String> {
    let text = command.to_string();
    let (Some(first), others) = (command.node(), command.other_nodes()) else { return vec![text] };
    let set = |node: &str| format!("{}\n", Line::set("NODE", node));
    let Some(rest) = text.strip_prefix(&set(first)) else { return vec![text] };
    let rest = rest.to_owned();
    let nodes = std::iter::once(first).chain(others.iter().map(String::as_str));
    nodes.map(|node| format!("{}{rest}", set(node))).collect()
}

/// Whether a person must act: there is no command, it is conditional, only reads, opens an editor, or runs on a node.
fn is_manual(step: &PlanStep, proof: &Proof) -> bool {
    let waits = |command: &Command| {
        let lines = command.rendered();
        lines.iter().all(|line| line.contains(" rollout status ") || line.contains(" wait "))
    };
    let Some(command) = &step.step.command else { return true };
    match proof {
        Proof::Conditional => true,
        Proof::Reads => !waits(command),
        _ => {
            let opens_editor = |line: &String| line.starts_with("kubectl ") && line.contains(" edit ");
            command.runs_on() == RunsOn::Node || command.rendered().iter().any(opens_editor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Arg, kubectl};

    #[test]
    fn a_command_for_several_nodes_runs_on_each() {
        let on = |node| Command::about_node(node, [kubectl().words("cordon").arg(Arg::node())]);
        let mut command = on("n-1");
        command.join([&on("n-2")]);
        let expected = ["NODE=n-1\nkubectl cordon \"$NODE\"", "NODE=n-2\nkubectl cordon \"$NODE\""];
        assert_eq!(on_each_node(&command), expected);
    }

    #[test]
    fn text_of_a_cluster_stays_in_its_comment() {
        let mut script = Script(String::new());
        script.comment("a\nrm -rf /\r\u{1b}[0m");
        assert!(script.0.lines().all(|line| line.starts_with("# ")), "{}", script.0);
    }

    #[test]
    fn complete_lines_stop_the_script() {
        let mut script = Script(String::new());
        let command = Command::lines([kubectl().words("apply -f a"), kubectl().words("delete pod b")]);
        script.commands(3, &command);
        assert_eq!(script.0, "kubectl apply -f a || failed 3\nkubectl delete pod b || failed 3\n");
    }
}
