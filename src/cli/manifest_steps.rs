//! Remedies of findings about manifests that are not applied: edits of files instead of commands on a cluster.

use crate::command::Command;
use crate::finding::{Finding, ManifestLocation, Remedy, Step, StepKind, Subject, When};
use crate::kubectl::{Action, actions};

/// Maximum number of places in a step.
const MOST: usize = 3;
/// The parts of steps about applied objects that the edit of the manifest replaces.
const ALSO: [&str; 1] = [" (also in its source manifest)"];

/// The edit instead of `linkerd inject --manual` on an applied object.
const INJECT_AGAIN: &str = "Replace the proxy: remove it from the manifest, and pass the manifest to linkerd inject \
    --manual again, or set linkerd.io/inject: enabled instead";

/// The end of a command that applies what the linkerd CLI renders.
const APPLIED: &str = " | kubectl apply -f -";
/// Why it is not applied.
const RENDER_AGAIN: &str = "Git is their source, and would revert an applied change";

/// Rewrites the remedies of findings with a position in the manifests. `alone`: there is no cluster; otherwise
/// only findings that the change introduces are about files.
pub(super) fn rewrite(findings: &mut [Finding], alone: bool) {
    for finding in findings.iter_mut().filter(|finding| !finding.written.is_empty()) {
        if alone || finding.when == When::AfterChange {
            let places = places(&finding.written);
            let steps = std::mem::take(&mut finding.remedy.steps);
            let is_elsewhere = |step: &Step| !alone && changes_others(step, &finding.subjects);
            finding.remedy = in_files(steps, &places, is_elsewhere, finding.remedy.verify.take());
        }
    }
}

/// `a.yaml:3, b.yaml:7 and 2 more places`.
fn places(written: &[ManifestLocation]) -> String {
    let mut named: Vec<String> = Vec::new();
    for place in written.iter().map(|one| format!("{}:{}", one.file, one.line)) {
        if !named.contains(&place) {
            named.push(place);
        }
    }
    match named.len().saturating_sub(MOST) {
        0 => named.join(", "),
        more => format!("{} and {more} more places", named[..MOST].join(", ")),
    }
}

/// Whether the command of a step changes only objects of the cluster that the finding is not about.
fn changes_others(step: &Step, subjects: &[Subject]) -> bool {
    let Some(Ok(actions)) = step.command.as_ref().map(|command| actions(&command.to_string())) else {
        return false;
    };
    let is_subject = |kind: &str, name: &str| {
        subjects
            .iter()
            .any(|subject| matches!(subject, Subject::Object { kind: own, name: of, .. } if own == kind && of == name))
    };
    let is_other = |action: &Action| match action {
        Action::Edit { target, .. } => {
            !target.names.is_empty() && !target.names.iter().any(|name| is_subject(target.kind.info().kind, name))
        }
        Action::Create(..) => true,
        Action::Observe | Action::Restart(_) | Action::Delete { .. } => false,
    };
    !actions.is_empty() && actions.iter().all(is_other)
}

fn in_files(steps: Vec<Step>, places: &str, is_elsewhere: impl Fn(&Step) -> bool, verify: Option<Command>) -> Remedy {
    let mut kept: Vec<Step> = Vec::new();
    let mut is_placed = false;
    for step in steps {
        if is_elsewhere(&step) {
            kept.push(step);
        } else if let Some(mut edit) = as_edit(step) {
            if !std::mem::replace(&mut is_placed, true) {
                edit.text = format!("In {places}: {}", edit.text);
            }
            kept.push(edit);
        }
    }
    if kept.is_empty() {
        kept = Remedy::new().note(format!("Edit {places}")).steps;
    }
    Remedy { steps: kept, verify }
}

/// The step without a command on the cluster; `None` if only a running cluster needs it.
fn as_edit(step: Step) -> Option<Step> {
    let lines = step.command.as_ref().map(Command::rendered).unwrap_or_default();
    if lines.iter().any(|line| line.contains("inject --manual")) {
        return Some(Step { text: INJECT_AGAIN.to_owned(), command: None, kind: StepKind::Note, ..step });
    }
    if let [line] = lines.as_slice()
        && line.contains("linkerd ")
        && let Some(rendering) = line.strip_suffix(APPLIED)
    {
        // Without the guard for the release of the CLI, which the text names.
        let call = rendering.rsplit(" && ").next().unwrap_or(rendering);
        let text = format!("{}. Write the output of `{call}` to these manifests: {RENDER_AGAIN}", step.text);
        return Some(Step { text, command: None, kind: StepKind::Note, ..step });
    }
    let is_kubectl = lines.iter().any(|line| line.trim_start().starts_with("kubectl"));
    if !is_kubectl {
        return Some(step);
    }
    // The output of a reading command that another one applies is an edit.
    let applies = |line: &String| [" | kubectl ", " replace "].iter().all(|words| line.contains(words));
    const OF_CLUSTERS: [&str; 5] = [" get ", " describe ", " logs ", " rollout ", " delete pod"];
    // Other lines of such a step make something, such as a certificate.
    let is_of_clusters = |line: &String| OF_CLUSTERS.iter().any(|words| line.contains(words)) && !applies(line);
    if lines.iter().all(is_of_clusters) {
        return None;
    }
    let text = ALSO.iter().fold(step.text, |text, also| text.replace(also, ""));
    Some(Step { text, command: None, ..step })
}
