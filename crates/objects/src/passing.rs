//! Redaction rules by kind.

use std::sync::OnceLock;

use super::Kind;
use crate::redact::{self, Rule};

/// The rule of a kind, created once per process.
pub fn rule(kind: Kind) -> &'static Rule {
    static RULES: [OnceLock<Rule>; Kind::ALL.len()] = [const { OnceLock::new() }; Kind::ALL.len()];
    if let Kind::Foreign(foreign) = kind {
        return foreign.rule();
    }
    let place = Kind::ALL.iter().position(|known| *known == kind);
    // A test ensures that all can be parsed; an invalid rule keeps nothing.
    let made = || redact::rule(kind.info().passes).unwrap_or(Rule::Other);
    place.map_or_else(redact::unknown, |place| RULES[place].get_or_init(made))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkerd_facts::knowledge::Knowledge;

    #[test]
    fn redaction_rules_parse_and_use_all_groups() {
        let table = Knowledge::embedded().redaction();
        let fields = Kind::ALL.iter().map(|kind| {
            let read = table.fields(kind.info().passes);
            read.unwrap_or_else(|error| panic!("{kind}: {error}"))
        });
        assert_eq!(table.unused(&fields.collect::<Vec<_>>()), Vec::<&str>::new());
    }
}
