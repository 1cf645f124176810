//! The commands that verify a repair, merged.

use super::lines_of;
use crate::command::Command;

/// The verification commands, as lines. Commands that differ only in the checks are merged.
pub fn verify_lines(commands: &[Command]) -> Vec<Vec<String>> {
    let mut runs: Vec<VerifyRun> = Vec::new();
    for command in commands {
        let run = VerifyRun::from_lines(lines_of(command));
        match runs.iter_mut().find(|known| known.is_like(&run)) {
            Some(known) => known.add(run),
            None => runs.push(run),
        }
    }
    runs.into_iter().map(VerifyRun::into_lines).collect()
}

/// A verification command: the parts of its text between `--only CHECKS`, if it runs the same checks everywhere; else
/// its lines.
struct VerifyRun {
    frame: Vec<String>,
    checks: Vec<String>,
}

impl VerifyRun {
    const ONLY: &str = " --only ";
    const WARNINGS: &str = " --fail-on warning";

    fn from_lines(lines: Vec<String>) -> VerifyRun {
        // Comments before the command stay above it.
        let is_single = lines.split_last().is_some_and(|(_, before)| before.iter().all(|line| line.starts_with('#')));
        let text = lines.join("\n");
        let mut parts = text.split(Self::ONLY);
        let mut frame = vec![parts.next().unwrap_or_default().to_owned()];
        let mut selected = Vec::new();
        for part in parts {
            let (checks, after) = part.split_at(part.find(' ').unwrap_or(part.len()));
            selected.push(checks);
            frame.push(after.to_owned());
        }
        selected.dedup();
        match selected.as_slice() {
            [checks] if is_single => VerifyRun { checks: checks.split(',').map(str::to_owned).collect(), frame },
            _ => VerifyRun { frame: lines, checks: Vec::new() },
        }
    }

    /// Whether one command can run the checks of both. The one for warnings also fails on errors.
    fn is_like(&self, other: &VerifyRun) -> bool {
        let ungated = |run: &VerifyRun| {
            let frame = run.frame.iter().map(|part| part.strip_suffix(Self::WARNINGS).unwrap_or(part));
            frame.map(str::to_owned).collect::<Vec<_>>()
        };
        !self.checks.is_empty() && !other.checks.is_empty() && ungated(self) == ungated(other)
    }

    fn add(&mut self, other: VerifyRun) {
        for check in other.checks {
            if !self.checks.contains(&check) {
                self.checks.push(check);
            }
        }
        if other.frame.last().is_some_and(|end| end.ends_with(Self::WARNINGS)) {
            self.frame = other.frame;
        }
    }

    fn into_lines(self) -> Vec<String> {
        match self.checks.is_empty() {
            true => self.frame,
            false => {
                let text = self.frame.join(&format!("{}{}", Self::ONLY, self.checks.join(",")));
                text.split('\n').map(str::to_owned).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Line, meshdoctor};

    #[test]
    fn verifications_below_one_comment_are_merged() {
        let run = |check: &str, end: &'static str| {
            let call = meshdoctor().words("check --diagnostics before.txt --only").arg(check.to_owned());
            Command::lines([Line::comment("# first collect these files again"), Line::from(call.words(end))])
        };
        let lines = verify_lines(&[run("a", ""), run("b", "--fail-on warning")]);
        assert_eq!(
            lines,
            [[
                "# first collect these files again",
                "meshdoctor check --diagnostics before.txt --only a,b --fail-on warning"
            ]]
        );
    }
}
