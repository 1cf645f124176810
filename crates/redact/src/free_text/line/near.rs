//! Secrets near words that announce them: in the same sentence, within one token, or as a parameter of a URL; and ids,
//! which are kept in expected positions.

use super::super::keys::{Announced, is_sensitive};
use super::super::typed::{is_common, is_hex, is_uid};
use super::super::words::{is_url, lower};
use super::{NEAR, Scan, ValueRule};

/// Maximum length of the part of a URL in front of a parameter.
const URL: usize = 512;
/// Number of tokens after a word that announces a code.
pub(super) const CODE: u8 = 3;
/// Number of words behind a number that may announce it.
const BEHIND: usize = 7;
/// Shorter numbers are not codes.
const SHORT: usize = 4;
/// Ends of keys whose value may be a uid.
const UIDS: [&str; 1] = ["uid"];

impl Scan<'_> {
    /// Records whether a kept token announces a secret. `phrase`: together with the word before it.
    pub(super) fn announce(&mut self, token: &str, phrase: bool) {
        let word = lower(token);
        let sensitive = is_sensitive(self.known, token) && !self.known.precedes_name(&word, false);
        self.about |= sensitive || phrase;
        if self.known.is_near(&word) || sensitive || phrase {
            self.near = NEAR;
        } else if self.about && self.known.links_value(&word) {
            self.near = self.near.max(1);
        }
    }

    /// Counts the tokens after a word that announces a code, in which numbers are replaced.
    pub(super) fn count_code(&mut self, before: &str, token: &str) {
        let is_printed = matches!(token, "echo" | "printf");
        let announces = is_printed || self.known.announces_code(&lower(before), &lower(token));
        self.code = if announces { CODE } else { self.code.saturating_sub(1) };
    }

    /// Whether a number is named as a secret behind it: `482913 is your verification code`.
    pub(super) fn is_code_by_sentence(&self, token: &str) -> bool {
        let is_number = token.len() >= SHORT && token.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || self.place != ValueRule::Prose {
            return false;
        }
        let rest = &self.rest()[token.len()..];
        let sentence = rest.split(['.', ';', ',', '\n']).next().unwrap_or_default();
        let mut words = sentence.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let links = words.next().is_some_and(|word| matches!(&*lower(word), "is" | "was" | "as" | "isn't"));
        let mut before = "";
        links
            && words.take(BEHIND).any(|word| {
                let plain = lower(word);
                let announces = is_sensitive(self.known, word)
                    || self.known.is_near(&plain)
                    || self.known.announces_code(&lower(before), &plain);
                before = word;
                announces
            })
    }

    /// Whether a number, address or version is harmless here: near a secret and in a query, only common forms are.
    pub(super) fn allows_typed(&self, token: &str) -> bool {
        match self.place {
            ValueRule::Query => is_common(token),
            // In brackets or after them: an address and its port.
            ValueRule::Prose if self.near > 0 && !self.out.ends_with('[') && !self.out.ends_with("]:") => {
                is_common(token)
            }
            _ => true,
        }
    }

    /// Whether a token is one character in quotes, as parsers report it.
    pub(super) fn is_character(&self, token: &str) -> bool {
        self.quoted && self.near == 0 && token.len() == 1
    }

    /// Whether a part of a token announces a secret, and a later one may be its value: `password-123`.
    pub(super) fn holds_a_value(&self, token: &str) -> bool {
        let mut parts = token.split(['/', '-', '_', '.', ':']);
        parts.any(|part| !part.is_empty() && is_sensitive(self.known, part))
            && parts.any(|part| part.bytes().any(|byte| byte.is_ascii_digit()))
    }

    /// Start of the query of a URL that is harmless without it.
    pub(super) fn query(&self, token: &str) -> Option<usize> {
        let query = token.find('?')? + 1;
        let harmless = !self.glued && self.near == 0 && query < token.len();
        (harmless && token.contains("://") && is_url(self.known, &token[..query - 1])).then_some(query)
    }

    /// Whether the next token is the value of a parameter of a URL.
    pub(super) fn is_parameter(&self) -> bool {
        let line = &self.line.as_bytes()[..self.at];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<');
        let url = line.iter().rev().take(URL).take_while(|byte| !ends(byte)).count();
        let url = &line[line.len() - url..];
        let query = memchr::memmem::find(url, b"://").and_then(|scheme| memchr::memchr(b'?', &url[scheme..]));
        query.is_some()
    }

    /// Whether the value of the key in front may be a uid.
    fn takes_uid(&self) -> bool {
        let before = self.line[..self.at].trim_end_matches(['=', ':', ' ', '"', '\'', '\\']);
        let key = before.as_bytes();
        UIDS.iter()
            .any(|end| key.len() >= end.len() && key[key.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes()))
    }

    /// An id in an expected position: of a sandbox or container in quotes, of an object in brackets or after its kind.
    pub(super) fn is_id(&self, token: &str) -> bool {
        let before = lower(self.before);
        let bracket = self.out.ends_with('(') && self.named;
        let key = matches!(self.place, ValueRule::Value(Announced::Number(_) | Announced::Name | Announced::Uid))
            && self.takes_uid();
        is_uid(token) && (bracket || key || matches!(&*before, "uid" | "pod" | "precondition" | "meta"))
            || self.quoted && token.len() == 64 && is_hex(token) && matches!(&*before, "sandbox" | "container")
    }
}
