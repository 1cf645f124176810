//! Whether it is worth waiting for a run to come out well: a pod that starts gets ready, and a certificate that has expired does not
//! come back. What may go by itself stands on the cards (`heals`).

use std::collections::BTreeSet;

use super::Report;
use crate::exit;
use crate::finding::{Confidence, Finding, Standing};

/// What waiting promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// Nothing fails.
    Fine,
    /// What fails may go by itself; the ids of these checks.
    May(BTreeSet<&'static str>),
    /// Something stays as it is, however long one waits.
    Stays(Lasting),
}

/// What does not go by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lasting {
    /// A finding of this check.
    Check(&'static str),
    /// A finding of the second check comes of one of the first.
    Cause(&'static str, &'static str),
    /// Evidence that was asked for could not be had.
    NotChecked,
}

impl Lasting {
    /// In words, to stand after "not waited: ".
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
    /// What waiting promises for the exit status of this report.
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

/// Of findings of which one fails the run at least. A cause that was only inferred does not end the waiting.
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

    fn of(findings: &[Finding]) -> Outlook {
        outlook(findings, &|id| HEALS.contains(&id))
    }

    #[test]
    fn what_fails_and_may_go_is_waited_for() {
        let unserved = finding("unserved", Standing::Fails, &[]);
        let unready = finding("unready", Standing::Fails, &[&unserved]);
        let accepted = finding("expired", Standing::Passes, &[]);
        assert_eq!(of(&[unserved, unready, accepted]), Outlook::May(HEALS.into()));
    }

    #[test]
    fn what_fails_and_stays_ends_it() {
        let findings = [finding("unready", Standing::Fails, &[]), finding("expired", Standing::Fails, &[])];
        assert_eq!(of(&findings), Outlook::Stays(Lasting::Check("expired")));
    }

    #[test]
    fn so_does_a_cause_that_stays_whatever_it_is_to_the_gate_unless_it_is_a_guess() {
        let cause = finding("expired", Standing::Passes, &[]);
        let unready = finding("unready", Standing::Fails, &[&cause]);
        let guess = cause.clone().likely();
        assert_eq!(of(&[cause, unready.clone()]), Outlook::Stays(Lasting::Cause("expired", "unready")));
        assert_eq!(of(&[guess, unready]), Outlook::May(["unready"].into()));
    }
}
