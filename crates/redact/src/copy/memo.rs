//! Cache of recently redacted parts of containers: environment and probes of a proxy are identical in thousands of
//! pods.

use std::ptr;

use super::super::memo::Memo;
use super::{Place, Rule};

/// Shorter parts are copied as fast as looked up.
const SHORTEST: usize = 64;

/// A cached result.
#[derive(Default)]
struct Passed {
    /// Its rule and position.
    by: Option<(&'static Rule, Place)>,
    text: Vec<u8>,
    touched: bool,
}

thread_local! {
    static LATELY: Memo<Passed> = Memo::with_slots(128);
}

/// For unknown parts, the key also matters.
fn is_worth_it(raw: &str, rule: &Rule) -> bool {
    raw.len() >= SHORTEST && !matches!(rule, Rule::Other)
}

/// Appends the cached result of a part to `out`; returns whether anything of it was replaced or dropped.
pub(super) fn copied(raw: &str, rule: &'static Rule, place: Place, out: &mut Vec<u8>) -> Option<bool> {
    if !is_worth_it(raw, rule) {
        return None;
    }
    LATELY.with(|lately| {
        lately.find(raw, |passed| {
            passed.by.filter(|(by, at)| ptr::eq(*by, rule) && *at == place)?;
            out.extend_from_slice(&passed.text);
            Some(passed.touched)
        })
    })
}

/// Caches the result of a part.
pub(super) fn keep(raw: &str, rule: &'static Rule, place: Place, text: &[u8], touched: bool) {
    if is_worth_it(raw, rule) {
        LATELY.with(|lately| lately.put(raw, Passed { by: Some((rule, place)), text: text.to_vec(), touched }));
    }
}
