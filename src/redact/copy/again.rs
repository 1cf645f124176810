//! Parts of containers that were copied lately: the environment and the probes of a proxy are the same, byte for byte, in ten
//! thousand pods, and so is what passes of them.

use std::ptr;

use super::super::memo::Memo;
use super::{Place, Rule};

/// A shorter part is as soon copied as looked up.
const SHORTEST: usize = 64;

/// What passed of a part.
#[derive(Default)]
struct Passed {
    /// By which rule, and standing where.
    by: Option<(&'static Rule, Place)>,
    text: Vec<u8>,
    touched: bool,
}

thread_local! {
    static LATELY: Memo<Passed> = Memo::of(128);
}

/// Where nothing is known of a part, its key decides as well.
fn is_worth_it(raw: &str, rule: &Rule) -> bool {
    raw.len() >= SHORTEST && !matches!(rule, Rule::Other)
}

/// Appends to `out` what passed of the same part lately; whether anything of it was replaced or dropped.
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

/// Keeps what passed of a part.
pub(super) fn keep(raw: &str, rule: &'static Rule, place: Place, text: &[u8], touched: bool) {
    if is_worth_it(raw, rule) {
        LATELY
            .with(|lately| lately.put(raw, Passed { by: Some((rule, place)), text: text.to_vec(), touched }));
    }
}
