//! Whether waiting can make a run succeed: a starting pod becomes ready, but an expired certificate stays
//! expired. Cards declare checks whose findings can resolve themselves (`heals`).

use std::collections::BTreeSet;

use super::Report;
use crate::exit;
use crate::finding::{Confidence, Finding, Standing};

/// The prospect of waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// Nothing fails.
    Fine,
    /// All failures may resolve themselves; the ids of these checks.
    May(BTreeSet<&'static str>),
    /// Something does not resolve itself.
    Stays(Lasting),
}

/// The reason that something does not resolve itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lasting {
    /// A finding of this check.
    Check(&'static str),
    /// A finding of the second check results from one of the first.
    Cause(&'static str, &'static str),
    /// Requested evidence was unavailable.
    NotChecked,
}

impl Lasting {
    /// The text after "not waited: ".
    pub fn words(&self) -> String {
        match self {
            Lasting::Check(id) => format!("{id} does not resolve itself"),
            Lasting::Cause(cause, symptom) => {
                format!("{symptom} results from {cause}, which does not resolve itself")
            }
            Lasting::NotChecked => {
                "unreadable evidence stays unreadable; the report names the required permission".to_owned()
            }
        }
    }
}

impl Report {
    /// Whether waiting can change the exit status of this report.
    pub fn outlook(&self) -> Outlook {
        match self.verdict.status {
            exit::FINE => Outlook::Fine,
            exit::FINDINGS => outlook(&self.findings, &heals),
            _ => Outlook::Stays(Lasting::NotChecked),
        }
    }
}

fn heals(id: &str) -> bool {
    crate::checks::find(id).is_some_and(|check| check.card().front.heals)
}

/// From findings, at least one of which fails the run. A cause that was only inferred does not end the
/// waiting.
fn outlook(findings: &[Finding], heals: &dyn Fn(&str) -> bool) -> Outlook {
    let failing = || findings.iter().filter(|finding| finding.standing == Standing::Fails);
    if let Some(stays) = failing().find(|finding| !heals(finding.check)) {
        return Outlook::Stays(Lasting::Check(stays.check));
    }
    let lasting = |cause: &&Finding| !heals(cause.check) && cause.confidence == Confidence::Observed;
    for finding in failing() {
        let mut causes = findings.iter().filter(|cause| finding.caused_by.contains(&cause.fingerprint()));
        if let Some(cause) = causes.find(lasting) {
            return Outlook::Stays(Lasting::Cause(cause.check, finding.check));
        }
    }
    Outlook::May(failing().map(|finding| finding.check).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Evidence, Severity, Subject};

    const HEALS: [&str; 2] = ["unready", "unserved"];

    fn finding(check: &'static str, standing: Standing, causes: &[&Finding]) -> Finding {
        let finding = Finding::new(check, Severity::Error, Subject::node("n1"), format!("{check} happened"));
        Finding {
            standing,
            caused_by: causes.iter().map(|cause| cause.fingerprint()).collect(),
            ..finding.evidence(Evidence::other("n1", "x"))
        }
    }

    fn count(findings: &[Finding]) -> Outlook {
        outlook(findings, &|id| HEALS.contains(&id))
    }

    #[test]
    fn what_fails_and_may_go_is_waited_for() {
        let unserved = finding("unserved", Standing::Fails, &[]);
        let unready = finding("unready", Standing::Fails, &[&unserved]);
        let accepted = finding("expired", Standing::Passes, &[]);
        assert_eq!(count(&[unserved, unready, accepted]), Outlook::May(HEALS.into()));
    }

    #[test]
    fn what_fails_and_stays_ends_it() {
        let findings = [finding("unready", Standing::Fails, &[]), finding("expired", Standing::Fails, &[])];
        assert_eq!(count(&findings), Outlook::Stays(Lasting::Check("expired")));
    }

    #[test]
    fn so_does_a_cause_that_stays_whatever_it_is_to_the_gate_unless_it_is_a_guess() {
        let cause = finding("expired", Standing::Passes, &[]);
        let unready = finding("unready", Standing::Fails, &[&cause]);
        let guess = cause.clone().likely();
        assert_eq!(count(&[cause, unready.clone()]), Outlook::Stays(Lasting::Cause("expired", "unready")));
        assert_eq!(count(&[guess, unready]), Outlook::May(["unready"].into()));
    }
}
