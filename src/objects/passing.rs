//! What passes the sanitizer of objects of each kind, and of what is no object that we know.

use std::sync::OnceLock;

use serde_json::Value;

use super::Kind;
use crate::redact::{self, Counts, Rule};

/// The rule of a kind. It is made once, and stays as long as the process.
pub fn rule(kind: Kind) -> &'static Rule {
    static RULES: [OnceLock<Rule>; Kind::ALL.len()] = [const { OnceLock::new() }; Kind::ALL.len()];
    // A test holds that every one can be read; of what cannot, nothing passes.
    RULES[kind as usize].get_or_init(|| redact::rule(kind.info().passes).unwrap_or(Rule::Other))
}

/// Removes from an object what does not pass, by the kind that it says it is.
pub fn sanitize(value: &mut Value) -> Counts {
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    // A List, as kubectl prints it: item by item.
    if kind.ends_with("List")
        && let Some(Value::Array(items)) = value.get_mut("items")
    {
        let mut counts = Counts::default();
        items.iter_mut().for_each(|item| counts += sanitize(item));
        return counts;
    }
    let known = Kind::ALL.iter().find(|known| known.info().kind == kind);
    redact::object(&kind, known.map_or(redact::unknown(), |known| rule(*known)), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    #[test]
    fn what_passes_of_each_kind_can_be_read_and_every_shared_part_is_used() {
        let table = Knowledge::embedded().redaction();
        let fields = Kind::ALL.iter().map(|kind| {
            let read = table.fields(kind.info().passes);
            read.unwrap_or_else(|error| panic!("{kind}: {error}"))
        });
        assert_eq!(table.unused(&fields.collect::<Vec<_>>()), Vec::<&str>::new());
    }
}
