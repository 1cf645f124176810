//! What is asked beside objects: questions to the API server, to programs, to the operator's own command. Each stands in a file
//! of its own and says here what everybody else has to know of it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::close::Close;
use crate::fetched::Why;
use crate::objects::Store;
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

    /// Whether it is asked for each of several, which the words for it name. What there is one of in a run is called as
    /// cards call it.
    fn is_one_of_many(&self) -> bool {
        false
    }

    /// What it brings and what right it takes, in documentation.
    fn documented(&self) -> String;

    /// The right that it takes, where it was denied.
    fn right(&self) -> String {
        "access to it".to_owned()
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;
    use crate::knowledge::Knowledge;

    #[test]
    fn what_passes_of_each_answer_can_be_read() {
        for text in [
            "access/get/pods",
            "probe/prometheus",
            "served/sp-validator",
            "server-version",
            "cli-version",
            "logs",
            "diagnostics",
        ] {
            let rule = text.parse::<Item>().expect("an item").rule();
            assert!(matches!(rule, Rule::Fields(_)), "{text}");
            assert!(!std::ptr::eq(rule, redact::unknown()), "{text}");
        }
        assert!(Knowledge::embedded().redaction().fields("{spec: nothing-of-the-kind}").is_err());
    }
}
