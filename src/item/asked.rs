//! What is asked beside objects: questions to the API server, to programs, to the operator's own command. Each stands in a file
//! of its own and says here what everybody else has to know of it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::given::OfLogs;
use super::version::OfServer;
use super::{Access, Kind, Probe, Program, Scope, Server};
use crate::close::Close;
use crate::fetched::Why;
use crate::objects::{self, Store};
use crate::redact::{self, Rule};

/// A question.
pub trait Asked {
    /// What its answer is filed as, and says it is in bundles: `ProbeAnswer`.
    fn answers(&self) -> &'static str;

    /// Which fields of the answer pass the sanitizer; see [`crate::objects::KindInfo::passes`].
    fn passes(&self) -> &'static str;

    /// An empty store for the answer; `None` where it becomes a value of the run.
    fn store(&self) -> Option<Box<dyn Store>> {
        None
    }

    /// What it brings, in reports: `permission to create secrets in linkerd`.
    fn in_words(&self, namespace: Option<&str>) -> String;

    /// What a request for it is called; `None`: as cards call it.
    fn requested(&self, namespace: Option<&str>) -> Option<String> {
        Some(self.in_words(namespace))
    }

    /// What it brings and what right it takes, in documentation.
    fn documented(&self) -> String;

    /// The right that it takes, where it was denied.
    fn right(&self) -> String;

    /// How to have the answer, where it is not there for this reason; `None`: as anything else.
    fn close(&self, why: &Why, namespace: Option<&str>) -> Option<Close>;

    /// Where a bundle keeps the answer: the folder, and what the file is called; `None` where its manifest does.
    fn kept(&self) -> Option<(String, String)> {
        None
    }

    /// Whether it is asked with `--probe` only: of programs, by forwarded ports.
    fn is_probed(&self) -> bool {
        false
    }

    /// What it means that captured evidence does not hold it.
    fn absent(&self) -> Why {
        Why::NotOffered
    }
}

/// The sanitizer's rule for what a question is answered with. It is made once, and stays as long as the process.
pub(super) fn rule(asked: &dyn Asked) -> &'static Rule {
    static RULES: Mutex<Option<HashMap<&'static str, &'static Rule>>> = Mutex::new(None);
    let mut rules = RULES.lock().unwrap_or_else(PoisonError::into_inner);
    rules.get_or_insert_default().entry(asked.answers()).or_insert_with(|| {
        // A test holds that every one can be read; of what cannot, nothing passes.
        Box::leak(Box::new(redact::rule(asked.passes()).unwrap_or(Rule::Other)))
    })
}

/// The sanitizer's rule for objects that say they are of a kind: one of Kubernetes', or an answer.
pub fn rule_of(kind: &str) -> &'static Rule {
    let known = Kind::ALL.iter().find(|known| known.info().kind == kind).map(|known| objects::rule(*known));
    let (access, probe) = (Access::new("", "", Scope::Cluster), Probe::of(Program::Prometheus));
    let all: [&dyn Asked; 5] = [&access, &probe, &Server::ProxyInjector, &OfServer, &OfLogs];
    known
        .or_else(|| all.into_iter().find(|asked| asked.answers() == kind).map(rule))
        .unwrap_or_else(redact::unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    #[test]
    fn what_passes_of_each_answer_can_be_read() {
        for kind in ["SelfSubjectAccessReview", "ProbeAnswer", "ServedCertificates", "Version", "Log"] {
            assert!(matches!(rule_of(kind), Rule::Fields(_)), "{kind}");
            assert!(!std::ptr::eq(rule_of(kind), redact::unknown()), "{kind}");
        }
        assert!(Knowledge::embedded().redaction().fields("{spec: nothing-of-the-kind}").is_err());
    }
}
