//! Regular expressions of routes: whether the policy controller can compile them.
//!
//! An expression of a few bytes, such as `\w{1,200}`, takes milliseconds and megabytes to compile, and every tenant can
//! write thousands. So the size is estimated first, and only an expression near the limit is compiled.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};
use regex_automata::nfa::thompson::{Compiler, NFA, WhichCaptures};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum size of a compiled expression in bytes, the default of the library that the controller uses. It compiles
/// expressions forward and in reverse, and both count.
const LIMIT: usize = 10 << 20;
/// Size of a state without transitions, and of a choice between two states, in bytes.
const STATE: usize = 32;
const CHOICE: usize = STATE + 8;
/// Estimates are at most this factor too small or too large.
const ACCURACY: usize = 3;
/// The number of expressions near the limit that are compiled; for others, the estimate decides.
const MOST_COMPILED: usize = 24;
/// The size in bytes up to which all expressions are compiled for matching, and the number of larger ones.
const SMALL: usize = 256 << 10;
const MOST_LARGE: usize = 100;

/// What is known of expressions already.
#[derive(Default)]
struct ExpressionBudget {
    valid: HashMap<Box<str>, bool>,
    /// The size of classes of characters.
    classes: HashMap<Vec<(u32, u32)>, usize>,
    compiled: usize,
}

/// Expressions that are compiled for matching, and the number of large ones.
#[derive(Default)]
struct Matchers {
    compiled: HashMap<Box<str>, Option<Regex>>,
    large: usize,
}

/// Whether a text is a regular expression within the size limit of the policy controller.
pub(super) fn is_valid(text: &str) -> bool {
    static KNOWN: LazyLock<Mutex<ExpressionBudget>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(valid) = known.valid.get(text) {
        return *valid;
    }
    let valid = regex_syntax::parse(text).is_ok_and(|hir| known.fits(&hir, LIMIT));
    known.valid.insert(text.into(), valid);
    valid
}

/// Whether an expression matches a whole path. An expression that is invalid, or large after many other large ones,
/// matches nothing.
pub(super) fn matches_whole(text: &str, path: &str) -> bool {
    static KNOWN: LazyLock<Mutex<Matchers>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.compiled.contains_key(text) {
        let compile = |most| RegexBuilder::new(&format!("^(?:{text})$")).size_limit(most).build().ok();
        let small = is_valid(text).then(|| compile(SMALL));
        let compiled = match small {
            Some(None) if known.large < MOST_LARGE => {
                known.large += 1;
                compile(LIMIT)
            }
            small => small.flatten(),
        };
        known.compiled.insert(text.into(), compiled);
    }
    known.compiled.get(text).and_then(Option::as_ref).is_some_and(|compiled| compiled.is_match(path))
}

impl ExpressionBudget {
    fn fits(&mut self, hir: &Hir, limit: usize) -> bool {
        let size = self.size(hir);
        if size.most < limit / ACCURACY || size.least > limit.saturating_mul(ACCURACY) {
            return size.most < limit;
        }
        self.compiled += 1;
        if self.compiled > MOST_COMPILED {
            return size.most < limit;
        }
        compile(hir, false, limit).is_some() && compile(hir, true, limit).is_some()
    }

    /// The estimated size of an expression. Repetitions are multiplied, not unfolded.
    fn size(&mut self, hir: &Hir) -> Size {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Size::exactly(STATE),
            HirKind::Literal(literal) => Size::exactly(literal.0.len() * STATE),
            HirKind::Class(class) => Size::exactly(self.class(class)),
            HirKind::Capture(capture) => self.size(&capture.sub).plus(2 * STATE),
            HirKind::Repetition(repetition) => {
                let times = repetition.max.unwrap_or(repetition.min.max(1));
                let one = self.size(&repetition.sub);
                one.plus(if Some(repetition.min) == repetition.max { 0 } else { CHOICE }).times(times).plus(STATE)
            }
            HirKind::Concat(parts) => parts.iter().fold(Size::exactly(0), |size, part| size.and(self.size(part))),
            HirKind::Alternation(parts) => {
                let all = parts.iter().fold(Size::exactly(CHOICE), |size, part| size.and(self.size(part)));
                let literal = |part: &Hir| matches!(part.kind(), HirKind::Literal(_));
                // Literals share their beginnings.
                if parts.iter().all(literal) { Size { least: 0, ..all } } else { all }
            }
        }
    }

    fn class(&mut self, class: &Class) -> usize {
        let ranges = match class {
            Class::Unicode(class) => class.iter().map(|one| (one.start().into(), one.end().into())).collect(),
            Class::Bytes(class) => class.iter().map(|one| (one.start().into(), one.end().into())).collect(),
        };
        if let Some(size) = self.classes.get(&ranges) {
            return *size;
        }
        let bytes = |hir: &Hir, reverse| compile(hir, reverse, LIMIT).map_or(LIMIT, |nfa| nfa.memory_usage());
        let one = Hir::class(class.clone());
        // Every compiled expression has tables of a constant size.
        let tables = bytes(&Hir::empty(), false);
        let size = bytes(&one, false).max(bytes(&one, true)).saturating_sub(tables).max(STATE);
        self.classes.insert(ranges, size);
        size
    }
}

/// Bounds of an estimate, in bytes.
#[derive(Debug, Clone, Copy)]
struct Size {
    least: usize,
    most: usize,
}

impl Size {
    fn exactly(bytes: usize) -> Size {
        Size { least: bytes, most: bytes }
    }

    fn and(self, other: Size) -> Size {
        Size { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }

    fn plus(self, bytes: usize) -> Size {
        self.and(Size::exactly(bytes))
    }

    fn times(self, count: u32) -> Size {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Size { least: self.least.saturating_mul(count), most: self.most.saturating_mul(count) }
    }
}

/// The compiled expression; `None` if it exceeds the limit.
fn compile(hir: &Hir, reverse: bool, limit: usize) -> Option<NFA> {
    let captures = if reverse { WhichCaptures::None } else { WhichCaptures::All };
    let config = NFA::config().utf8(true).nfa_size_limit(Some(limit)).shrink(false);
    let config = config.which_captures(captures).reverse(reverse);
    Compiler::new().configure(config).build_from_hir(hir).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expressions around a limit: pieces, repeated and combined.
    fn expressions() -> Vec<String> {
        const PIECES: [&str; 14] = [
            "a",
            "/api/v1",
            r"\d",
            r"\w",
            r"\p{L}",
            ".",
            "[a-z0-9-]",
            "(a|bc|[x-z])",
            "(?:ab)?",
            r"[^/]+",
            "(a{0,5}b)*",
            r"(?i)straße",
            r"\p{Greek}\b",
            "(?:foo|bar|baz|qux)",
        ];
        let counts = ["{7}", "{0,40}", "{1,200}", "{3,}", "*", "{900}", "{0,3000}"];
        let single = PIECES.iter().flat_map(|piece| counts.map(|count| format!("(?:{piece}){count}")));
        let nested = PIECES.iter().map(|piece| format!("^((?:{piece}){{0,30}}/){{0,20}}$"));
        let sums = PIECES.windows(2).map(|pair| format!("({}){{50}}|({}){{1,90}}", pair[0], pair[1]));
        single.chain(nested).chain(sums).collect()
    }

    #[test]
    fn estimates_agree_with_the_compiler() {
        for limit in [4 << 10, 64 << 10, 1 << 20] {
            let (mut decided, mut known) = (0, ExpressionBudget::default());
            for text in expressions() {
                let hir = regex_syntax::parse(&text).unwrap();
                let size = known.size(&hir);
                let fits = compile(&hir, false, limit).is_some() && compile(&hir, true, limit).is_some();
                if size.most < limit / ACCURACY {
                    decided += 1;
                    assert!(fits, "{text} exceeds {limit} bytes, but at most {} are estimated", size.most);
                }
                if size.least > limit * ACCURACY {
                    decided += 1;
                    assert!(!fits, "{text} fits into {limit} bytes, but {} are estimated", size.least);
                }
            }
            assert!(decided > expressions().len() / 2, "only {decided} are decided by their estimate");
        }
    }

    #[test]
    fn many_small_expressions_leave_room_for_large_ones() {
        for number in 0..300 {
            assert!(matches_whole(&format!("/a{number}"), &format!("/a{number}")));
        }
        assert!(matches_whole(r"/\w{1,200}", "/ready"));
        assert!(!matches_whole("(", "("));
    }

    #[test]
    fn huge_expressions_are_invalid_without_being_compiled() {
        assert!(is_valid(r"/api/v[0-9]+/\w+"));
        assert!(!is_valid("("));
        for number in 0..3000 {
            assert!(!is_valid(&format!(r"((((a{{0,100}}){{0,100}}){{0,100}}){{0,100}}){number}")));
        }
    }
}
