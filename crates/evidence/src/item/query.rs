//! Evidence that is not a Kubernetes object: access reviews, responses of programs, CLI output. Each has its own file.
//! Implement the trait to add one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;
use crate::objects::Store;
use crate::redact::{self, Rule};

/// A query.
pub trait Query {
    /// Kind of its result in files and bundles: `ProbeAnswer`.
    fn answers(&self) -> &'static str;

    /// Redaction rules for its result; see [`crate::objects::KindInfo::passes`].
    fn passes(&self) -> &'static str;

    /// An empty store for the result; `None` if it is a single value of the run.
    fn store(&self) -> Option<Box<dyn Store>> {
        None
    }

    /// Its name in reports: `permission to create secrets in linkerd`.
    fn describe(&self, namespace: Option<&str>) -> String;

    /// Whether it exists several times in a run, so that its name includes the target. Otherwise reports use the name
    /// in cards.
    fn is_one_of_many(&self) -> bool {
        false
    }

    /// Its result and required permission, for documentation.
    fn documented(&self) -> String;

    /// The required permission, if it was denied.
    fn right(&self) -> String {
        "access to it".to_owned()
    }

    /// How to provide missing evidence, for this reason; `None`: the default.
    fn close(&self, why: &Why, namespace: Option<&str>) -> Option<GapRemediation>;

    /// Folder and file name in a bundle; `None` if the manifest contains it.
    fn bundle_path(&self) -> Option<(String, String)> {
        None
    }

    /// Whether it needs `--probe`, because it queries programs through port-forwards.
    fn is_probed(&self) -> bool {
        false
    }

    /// Reason for missing evidence in a bundle.
    fn absent(&self) -> Why {
        Why::NotOffered
    }
}

/// Redaction rule for the results of a query, created once per process.
pub(super) fn rule(asked: &dyn Query) -> &'static Rule {
    static RULES: Mutex<Option<HashMap<&'static str, &'static Rule>>> = Mutex::new(None);
    let mut rules = RULES.lock().unwrap_or_else(PoisonError::into_inner);
    rules.get_or_insert_default().entry(asked.answers()).or_insert_with(|| {
        // A test ensures that all can be parsed; an invalid rule keeps nothing.
        Box::leak(Box::new(redact::rule(asked.passes()).unwrap_or(Rule::Other)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;
    use crate::knowledge::Knowledge;

    #[test]
    fn redaction_rules_of_queries_parse() {
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
