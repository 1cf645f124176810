//! The repair plan as a shell script. It stops at the first failure and at each manual step, and continues from the
//! step that is given as its argument.

use super::{configured, found_card, from_found_card, planned, proof_text};
use crate::checks;
use crate::checks::words::sentence;
use crate::command::{Arg, Command, Line, RunsOn, guard_apart};
use crate::finding::{Applies, NodeRound};
use crate::kubectl::shell::{Word, pipelines};
use crate::render::finding::explained_as;
use crate::render::text::{clean, wrap};
use crate::render::{repair, steps, subject};
use crate::repair::{JudgedPlan, Proof};
use crate::report::{PlanStep, Report};

/// Width of comments, in columns.
const WIDTH: usize = 100;

/// Whether a line shows what an apply would change: its status is 1 if there are differences, and higher if it fails.
fn shows_differences(line: &str) -> bool {
    subcommands(line).last().is_some_and(|last| last == "diff")
}

/// The subcommands of the calls of kubectl and argocd in a line, in their order; a name or namespace is none.
fn subcommands(line: &str) -> Vec<String> {
    let calls = pipelines(line).unwrap_or_default().into_iter().flat_map(|pipeline| pipeline.calls);
    calls.filter_map(|words| subcommand(&words).map(str::to_owned)).collect()
}

/// The subcommand of a call: the first word that is neither an option nor the value of one; `argocd app` has its own.
fn subcommand(words: &[Word]) -> Option<&str> {
    let mut words = words.iter().map(|word| word.text.as_str());
    let mut groups = match words.next()? {
        "kubectl" => 0,
        "argocd" => 1,
        _ => return None,
    };
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            if !word.contains('=') {
                words.next();
            }
        } else if groups == 0 {
            return Some(word);
        } else {
            groups -= 1;
        }
    }
    None
}

/// The functions of the script.
const FUNCTIONS: &str = r#"usage() {
  printf 'usage: sh %s [STEP], with a number from 1 to %s\n' "$0" "$last" >&2
  exit 2
}
[ $# -le 1 ] || usage
first=${1-1}
case "$first" in
  '' | *[!0-9]* | ??????*) usage ;;
esac
if [ "$first" -lt 1 ] || [ "$first" -gt "$last" ]; then usage; fi
failed() {
  if [ "$#" -gt 1 ] && [ "$(linkerd version --client --short)" != "$2" ]; then
    printf 'step %s was not done: it needs linkerd CLI %s\n' "$1" "$2" >&2
    printf 'Install it, then continue with: sh %s %s\n' "$0" "$1" >&2
    exit 1
  fi
  printf 'step %s failed: repair the cause, then continue with: sh %s %s\n' "$1" "$0" "$1" >&2
  exit 1
}
manual() {
  next=$3
  after=${4:-Do it, then continue with}
  printf 'step %s is manual: %s\n' "$1" "$2" >&2
  if [ "$#" -gt 4 ]; then
    shift 4
    printf '    %s\n' "$@" >&2
  fi
  if [ "$next" -gt "$last" ]; then
    printf 'It is the last step. The commands at the end of this file check the result\n' >&2
  else
    printf '%s: sh %s %s\n' "$after" "$0" "$next" >&2
  fi
  exit 1
}
"#;

pub fn script(report: &Report, plan: &JudgedPlan) -> String {
    let mut script = Script(String::from("#!/bin/sh\n"));
    let planned_steps = &report.repair.steps;
    script.comment(&format!(
        "Repair plan of meshdoctor for {} {}, judged at {}.",
        report.origin.kind, report.origin.name, report.at.0
    ));
    script.comment("Read it before you run it. To continue from a step, give its number as the argument.");
    configured(report).iter().for_each(|settings| script.comment(&format!("Configuration: {settings}.")));
    if planned_steps.is_empty() {
        script.comment(&format!("{}.", sentence(&super::nothing_to_repair(report))));
        return script.0;
    }
    script.0.push_str("#\n");
    for (planned, finding) in planned(report) {
        let about = subject::brief(finding.subjects.iter());
        script.comment(&format!("Finding {}: {} {}, {about}", planned.number, finding.severity, explained_as(finding)));
    }
    script.0.push('\n');
    script.line("set -eu");
    script.line(&format!("last={}", planned_steps.len()));
    script.0.push_str(FUNCTIONS);
    // Also for a later start from another step.
    let commands = planned_steps.iter().filter_map(|step| step.step.command.as_ref().filter(|_| !step.is_custom));
    let path = commands.filter(|command| command.installed_cli().is_some()).flat_map(Command::rendered);
    if let Some(path) = path.into_iter().find(|line| line.starts_with("export PATH=")) {
        script.line(&path);
    }
    for release in report.repair.missing_clis() {
        script.comment(&format!("This installs the linkerd CLI {release}, which steps need:"));
        let install = checks::cli_installation(release);
        install.iter().flat_map(Command::rendered).for_each(|line| script.command(&line));
        script.0.push('\n');
    }
    let rounds = report.repair.node_rounds();
    for (number, (step, proof)) in (1..).zip(planned_steps.iter().zip(&plan.proofs)) {
        let round = NodeRound::find(&rounds, number);
        let text = steps::in_plan(&report.repair, number, &step.step.text);
        script.step((number, planned_steps.len(), &text), (step, proof), round, found_card(report, step));
    }
    script.0.push('\n');
    script.comment("Check the result:");
    for line in repair::verify_lines(&report.repair.verify).concat() {
        script.command(&line);
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

    /// `round`: the steps to do together on one node before the next, which needs a person. `card`: the found file
    /// whose card recommends the step.
    fn step(
        &mut self,
        (number, all, text): (usize, usize, &str),
        (step, proof): (&PlanStep, &Proof),
        round: Option<&NodeRound<'_>>,
        card: Option<&str>,
    ) {
        self.0.push('\n');
        let repairs: Vec<String> = step.repairs.iter().map(ToString::to_string).collect();
        let repairs = match repairs.as_slice() {
            [one] => format!("finding {one}"),
            several => format!("findings {}", several.join(", ")),
        };
        let command = step.step.command.as_ref();
        let runs_alone = card.is_none() && round.is_none() && runs_by_itself(step, proof);
        let runs = proof.is_offered() && command.is_some() && runs_alone;
        // A step that stops the script prints its text there.
        let begins = round.is_none_or(|round| round.first == number);
        let stops = proof.is_offered() && !runs && begins && step.step.applies != Applies::Instead;
        let text = if stops && round.is_none() { String::new() } else { format!(": {text}") };
        self.comment(&format!("Step {number} of {all}, for {repairs}{text}"));
        if *proof != Proof::Manual {
            self.comment(&proof_text(proof));
        }
        if let Some(file) = card {
            self.comment(&from_found_card(file));
        }
        if proof.is_offered() && command.is_some_and(weakens) {
            self.comment("weakens a protection: not run automatically");
        }
        if !proof.is_offered() {
            return;
        }
        let last = round.map_or(number, |round| round.last);
        let stop = || {
            let (text, lines) = match round {
                Some(round) => {
                    let nodes = round.nodes.join(", ");
                    (format!("do steps {number} to {last} on one node before the next: {nodes}"), Vec::new())
                }
                None => match command.map(Command::rendered) {
                    Some(lines) if lines.len() == 1 => {
                        (format!("{}: {}", step.step.without_requirement(), lines[0]), Vec::new())
                    }
                    lines => (step.step.text.clone(), lines.unwrap_or_default()),
                },
            };
            let then = match step.step.applies {
                // Its own command replaces the rest of the script.
                Applies::First => " 'Only if they already fail, continue with'",
                Applies::Conditionally => " 'If this applies, do it. Then, or if it does not, continue with'",
                Applies::Always | Applies::Instead | Applies::Later if lines.is_empty() => "",
                Applies::Always | Applies::Instead | Applies::Later => " ''",
            };
            let word = |text: &str| Arg::from(clean(text).into_owned()).to_string();
            let lines: String = lines.iter().map(|line| format!(" \\\n  {}", word(line))).collect();
            format!("manual {number} {} {}{then}{lines}", word(&text), last + 1)
        };
        match command.filter(|_| runs_alone) {
            Some(command) => {
                self.line(&format!("if [ \"$first\" -le {number} ]; then"));
                self.commands(number, command);
                // The differences are for a person to review.
                if command.rendered().iter().any(|line| shows_differences(line)) {
                    self.line(&stop());
                }
                self.line("fi");
            }
            None => {
                for line in command.iter().flat_map(|command| command.rendered()) {
                    self.command(&line);
                }
                // An alternative is only needed if the step before it was not done.
                if stops {
                    self.line(&format!("[ \"$first\" -gt {last} ] || {}", stop()));
                }
            }
        }
    }

    /// The lines of a command; each that is complete stops the script if it fails.
    fn commands(&mut self, number: usize, command: &Command) {
        let failed = match command.required_cli() {
            Some(release) => format!("failed {number} {}", Arg::from(release)),
            None => format!("failed {number}"),
        };
        guarded(command, &failed).iter().for_each(|line| self.line(line));
    }
}

/// The lines of a command, once for each node that it is for. Each complete line runs `otherwise` if it fails.
pub fn guarded(command: &Command, otherwise: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for text in on_each_node(command) {
        // A command that is read as a whole is one or several lines, each a complete list of programs.
        let is_guarded = pipelines(&text).is_some();
        let mut unfinished = String::new();
        for line in text.split('\n') {
            unfinished.push_str(line);
            // A quoted word may contain line breaks.
            if is_guarded && pipelines(&unfinished).is_none() {
                unfinished.push('\n');
                continue;
            }
            let line = std::mem::take(&mut unfinished);
            let is_call = is_guarded && pipelines(&line).is_some_and(|read| !read.is_empty());
            let differs = if shows_differences(&line) { " || [ $? -eq 1 ]" } else { "" };
            // The status of another CLI must not pass for that of differences.
            let guard = guard_apart(&line).filter(|_| !differs.is_empty() && is_call);
            lines.extend(guard.map(|(guard, _)| format!("{guard} || {otherwise}")));
            lines.push(match is_call && !line.trim_start().starts_with("NODE=") {
                true => format!("{line}{differs} || {otherwise}"),
                false => line,
            });
        }
        lines.extend((!unfinished.is_empty()).then_some(unfinished));
    }
    lines
}

/// Whether a command runs without a person: not on a node, without an editor, and with every value known.
pub fn can_run(command: &Command) -> bool {
    !needs_person(command) && command.placeholders().is_empty()
}

/// Whether a command runs on a node or opens an editor.
fn needs_person(command: &Command) -> bool {
    let opens_editor = |line: &String| subcommands(line).iter().any(|word| word == "edit") || line.contains("&& vi ");
    command.runs_on() == RunsOn::Node || command.rendered().iter().any(opens_editor)
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

/// Whether a step needs no person: it has a command that is sure to apply, and that neither only reads, opens
/// an editor, nor runs on a node.
pub(super) fn runs_by_itself(step: &PlanStep, proof: &Proof) -> bool {
    let waits = |command: &Command| {
        let lines = command.rendered();
        lines.iter().all(|line| line.contains(" rollout status ") || subcommands(line) == ["wait"])
    };
    step.step.command.as_ref().is_some_and(|command| match proof {
        Proof::Conditional | Proof::Manual => false,
        Proof::Reads => waits(command),
        Proof::Simulated { added, .. } if !added.is_empty() => false,
        _ => !needs_person(command) && !weakens(command),
    })
}

/// Whether a command removes a protection that someone set: it opens a port to all clients, or lets pods start without
/// a proxy.
fn weakens(command: &Command) -> bool {
    const OPENS: [&str; 3] =
        [r#""accessPolicy":"audit""#, r#""accessPolicy":"all-unauthenticated""#, "webhookFailurePolicy=Ignore"];
    command.rendered().iter().any(|line| OPENS.iter().any(|change| line.contains(change)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Arg, kubectl, linkerd};

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
    fn differences_do_not_stop_the_script() {
        let command = Command::from(kubectl().words("--context prod diff -f -"));
        assert_eq!(guarded(&command, "failed 1"), ["kubectl --context prod diff -f - || [ $? -eq 1 ] || failed 1"]);
    }

    /// The status 1 of `grep` with another CLI is not that of `kubectl diff`.
    #[test]
    fn guarded_previews_stop_the_script_with_another_cli() {
        let preview = linkerd().words("viz install").pipe(kubectl().words("diff -f -"));
        let command = Command::from(Line::only_with_cli("edge-25.4.4", preview));
        let guard = "linkerd version --client --short | grep -Fx edge-25.4.4";
        let preview = "linkerd viz install | kubectl diff -f - || [ $? -eq 1 ] || failed 1 edge-25.4.4";
        assert_eq!(
            guarded(&command, "failed 1 edge-25.4.4"),
            [format!("{guard} || failed 1 edge-25.4.4"), format!("{guard} && {preview}")]
        );
    }

    #[test]
    fn commands_with_a_line_break_in_a_word_stop_the_script() {
        let command = Command::from(kubectl().words("annotate deploy web").operand("a\nb"));
        let lines = guarded(&command, "failed 1");
        assert!(lines.last().is_some_and(|line| line.ends_with(" || failed 1")), "{lines:?}");
    }

    #[test]
    fn words_that_end_with_a_line_break_stop_the_script() {
        for word in ["a\n", "\n", "a\n\n", "\na\n"] {
            let command = Command::from(kubectl().words("annotate").operand(word).words("-n shop"));
            let lines = guarded(&command, "failed 1");
            let guards = lines.iter().filter(|line| line.ends_with(" || failed 1")).count();
            assert!(guards == 1 && lines.last().is_some_and(|last| last.ends_with(" || failed 1")), "{lines:?}");
        }
    }

    #[test]
    fn names_are_no_subcommands() {
        let line = "kubectl -n diff get deploy/edit -o yaml | linkerd inject - | kubectl apply -f -";
        assert!(!shows_differences(line));
        assert_eq!(subcommands(line), ["get", "apply"]);
        assert_eq!(subcommands("kubectl --context=prod -n shop edit deploy/web"), ["edit"]);
    }

    #[test]
    fn complete_lines_stop_the_script() {
        let mut script = Script(String::new());
        let command = Command::lines([kubectl().words("apply -f a"), kubectl().words("delete pod b")]);
        script.commands(3, &command);
        assert_eq!(script.0, "kubectl apply -f a || failed 3\nkubectl delete pod b || failed 3\n");
    }
}
