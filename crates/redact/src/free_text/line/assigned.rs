//! Values after `=`, `:` and the end of a tag: which values the key before the sign allows, and which are
//! replaced.

use super::super::keys::{Announced, announced};
use super::super::templates::is_place;
use super::super::value::{Until, closing, without_signs};
use super::super::words::lower;
use super::{NEAR, Scan, ValueRule, replaced};
use crate::marker::Marker;

impl Scan<'_> {
    /// The value of the last token, behind `signs` bytes of `=`, `:` or the end of a tag.
    pub(super) fn assigned(&mut self, signs: usize) {
        let sign = &self.line[self.at..self.at + signs];
        let key = self.key.take();
        self.out.push_str(sign);
        self.at += signs;
        // `=>`, `:=`, `==`
        while let Some(more) = self.rest().chars().next().filter(|c| matches!(c, '=' | '>') && sign != ">") {
            self.out.push(more);
            self.at += 1;
        }
        let blank = self.rest().starts_with([' ', '\t']) || self.rest().is_empty();
        let glued = sign != ":" || !blank;
        let Some(key) = key else {
            // A sign behind nothing that could be a key: `("":`.
            return;
        };
        let class = match key {
            "" => Announced::Unknown,
            user if sign == ":" && glued && self.known.is_account(&lower(user)) => Announced::Secret,
            key => announced(self.known, key),
        };
        match class {
            Announced::Secret => self.secret(glued),
            Announced::Unknown if glued => self.take(Until::Blank),
            Announced::Unknown => self.near = NEAR,
            // After a colon and a blank the sentence continues, or a name follows its kind.
            Announced::Usual if !glued => {}
            class => {
                self.glued = false;
                self.place = if self.is_parameter() { ValueRule::Query } else { ValueRule::Value(class) };
            }
        }
    }

    /// Replaces the value of a key that announces a secret, unless a sentence follows.
    fn secret(&mut self, glued: bool) {
        let value = self.rest().trim_start_matches([' ', '\t']);
        let first = value.trim_start_matches(['"', '\'', '\\']);
        let word = first.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let nothing = ["true", "false", "null", "nil", "<nil>", "none", "{}", "[]"].iter().any(|nothing| {
            first.strip_prefix(nothing).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        });
        let opens = first.starts_with(['{', '[']) && first.len() == 1;
        let begins = self.known.begins_sentence(&lower(word)) || value.starts_with(is_place);
        let is_sentence = !glued && value == first && begins;
        if nothing || opens || is_sentence {
            self.near = NEAR;
        } else if value.is_empty()
            || matches!(value, "|" | ">" | "|-" | ">-" | "|+" | "\\")
            || Marker::whole(value.as_bytes()).is_some_and(|marker| marker.original_len <= 2)
        {
            self.open = true;
            self.near = NEAR;
        } else {
            self.take(Until::Pair);
            self.near = NEAR;
        }
    }

    /// Replaces a value from here on.
    pub(super) fn take(&mut self, until: Until) {
        let rest = self.rest();
        let start = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let value = &rest[start..];
        let quotes = value.len() - value.trim_start_matches(['"', '\'', '`', '\\']).len();
        let end = if quotes > 0 { closing(value, quotes) } else { until.end(value) };
        let inner = without_signs(&value[quotes.min(end)..end]);
        self.out.push_str(&rest[..start + quotes.min(end)]);
        self.at += start + quotes.min(end);
        if inner.is_empty() {
            self.key = None;
            return;
        }
        replaced(self.out, inner);
        self.at += inner.len();
        self.hidden();
        if inner.ends_with([':', '=']) {
            self.near = NEAR;
        }
    }
}
