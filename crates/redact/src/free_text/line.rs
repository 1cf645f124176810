//! Redacts free text token by token. Tokens are separated by blanks, quotes, brackets and similar; a token is kept
//! depending on its form and the preceding words.

mod assigned;
mod near;

use near::CODE;

use super::keys::{Announced, announced, is_sensitive, may_announce};
use super::places::{
    is_account, is_acme_error, is_attachment, is_file, is_generated, is_range, is_revision, is_source_file,
};
use super::templates::is_place;
use super::typed::{Numbers, is_typed};
use super::value::{Until, is_key, separates};
use super::words::{is_host, is_image, is_name, is_path, is_reference, is_url, is_words, lower};
use crate::knowledge::{FreeText, Knowledge};
use crate::marker::{Marker, stand_in};

/// Number of tokens after a secret-announcing word in which numbers and names are replaced.
const NEAR: u8 = 5;
/// Maximum length of a kept token.
const LONGEST: usize = 512;

/// The redacted text.
pub(super) fn lines(text: &str) -> String {
    let known = Knowledge::embedded().free_text();
    let mut out = String::with_capacity(text.len());
    // Indent of a key whose value is on the following lines.
    let mut below: Option<usize> = None;
    let mut near = 0;
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(key) = below
            && !line.trim().is_empty()
        {
            let first = line.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let goes_on = indent > key;
            below = goes_on.then_some(key);
            if !known.begins_sentence(&lower(first)) {
                replaced(&mut out, line);
                continue;
            }
        }
        let mut scan = Scan::new(known, line, &mut out, near);
        scan.run();
        // The value of the last word may be on the next line.
        near = if scan.near == NEAR || line.trim().is_empty() { scan.near } else { 0 };
        if scan.open {
            below = Some(indent);
        }
    }
    out
}

/// Writes a marker instead of a piece of text, between surrounding blanks. Existing markers stay.
fn replaced(out: &mut String, piece: &str) {
    let inner = piece.trim();
    let start = piece.len() - piece.trim_start().len();
    out.push_str(&piece[..start]);
    if inner.is_empty() || Marker::whole(inner.as_bytes()).is_some() || inner.bytes().all(is_mark) {
        out.push_str(inner);
    } else {
        out.push_str(&stand_in(inner.as_bytes()));
    }
    out.push_str(&piece[start + inner.len()..]);
}

fn is_mark(byte: u8) -> bool {
    byte.is_ascii_punctuation()
}

/// Rule for the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueRule {
    /// A sentence.
    Prose,
    /// The value of a known key.
    Value(Announced),
    /// After a one-letter option: only words.
    Option,
    /// A parameter of a URL: only small numbers, times and addresses.
    Query,
}

struct Scan<'a> {
    known: &'static FreeText,
    line: &'a str,
    at: usize,
    out: &'a mut String,
    place: ValueRule,
    /// The last token as written, if it can be a key.
    key: Option<&'a str>,
    /// The last kept word.
    before: &'a str,
    /// Whether the last token was kept as a name, and the word before it.
    named: bool,
    /// Whether a preposition follows a name, so that another name may follow.
    then: bool,
    /// Number of remaining tokens near a secret-announcing word.
    near: u8,
    /// Number of remaining tokens near a word that announces a code.
    code: u8,
    /// Whether this sentence mentions a secret.
    about: bool,
    /// Whether a token of this run of characters was replaced.
    glued: bool,
    /// Whether a quote directly precedes.
    quoted: bool,
    /// Whether the line ends before the value of a secret.
    open: bool,
}

impl<'a> Scan<'a> {
    fn new(known: &'static FreeText, line: &'a str, out: &'a mut String, near: u8) -> Scan<'a> {
        Scan {
            known,
            line,
            at: 0,
            out,
            place: ValueRule::Prose,
            key: None,
            before: "",
            named: false,
            then: false,
            near,
            code: 0,
            about: false,
            glued: false,
            quoted: false,
            open: false,
        }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            if let Some(marker) = Marker::at(self.line.as_bytes(), self.at) {
                self.out.push_str(&self.line[self.at..marker.end]);
                self.at = marker.end;
                self.hidden();
            } else if c.is_whitespace() {
                self.out.push(c);
                self.at += c.len_utf8();
                self.glued = false;
                self.quoted = false;
            } else if is_place(c) {
                self.known_part(c);
            } else if separates(c) || c == '\'' {
                self.sign(c);
            } else {
                let before = self.at;
                self.token();
                debug_assert!(self.at > before, "no progress at {:?}", self.rest());
                if self.at == before {
                    self.sign(c);
                }
            }
        }
    }

    /// Keeps a known part of a message, which announces nothing.
    fn known_part(&mut self, place: char) {
        self.out.push(place);
        self.at += place.len_utf8();
        (self.place, self.key, self.before) = (ValueRule::Prose, None, "");
        (self.named, self.then, self.glued, self.quoted) = (false, false, false, false);
        self.near = self.near.saturating_sub(1);
    }

    /// Resets the state after a replaced token.
    fn hidden(&mut self) {
        self.glued = true;
        self.key = Some("");
        self.before = "";
        self.named = false;
        self.then = false;
        self.quoted = false;
        self.place = ValueRule::Prose;
        self.near = self.near.saturating_sub(1);
    }

    fn sign(&mut self, c: char) {
        let next = self.line[self.at + c.len_utf8()..].chars().next();
        if matches!(c, '"' | '\'' | '`') && next.is_none_or(|next| separates(next) || matches!(next, ':' | '.')) {
            self.glued = false;
        }
        self.quoted = matches!(c, '"' | '\'' | '`');
        match c {
            '=' => return self.assigned(1),
            '>' if self.is_element() => return self.assigned(1),
            ',' if self.named => self.then = true,
            '(' | '{' | ',' | ';' | '&' | '|' => self.key = None,
            _ => {}
        }
        self.out.push(c);
        self.at += c.len_utf8();
    }

    /// Whether a `>` ends the opening tag of an element.
    fn is_element(&self) -> bool {
        let Some(key) = self.key.filter(|key| !key.is_empty()) else { return false };
        let before = &self.line[..self.at];
        before.ends_with(key) && before[..before.len() - key.len()].ends_with('<')
    }

    fn token(&mut self) {
        let rest = self.rest();
        let mut end = rest.find(separates).unwrap_or(rest.len());
        // A marker ends a token. At the beginning of a token it is not a valid one, and an ordinary word.
        if rest[end..].starts_with('(')
            && let Some(before) = rest[..end].strip_suffix("REDACTED").filter(|before| !before.is_empty())
        {
            end = before.len();
        }
        // An IPv6 address in a URL.
        if rest[..end].ends_with("://")
            && let Some(close) = rest[end..].strip_prefix('[').and_then(|rest| rest.find(']'))
        {
            let behind = end + close + 2;
            end = behind + rest[behind..].find(separates).unwrap_or(rest.len() - behind);
        }
        let token = &rest[..end];
        // A quote ends a token, an apostrophe does not.
        let token = match token.find('\'') {
            Some(at) if !is_apostrophe(token, at) => &token[..at],
            _ => token,
        };
        let whole = token.trim_end_matches(['.', ':', '!', '?', '\'']);
        // `10.0.0.1:80->10.0.0.2:80`
        let arrow = whole.len() == token.len() && rest[end..].starts_with('>');
        let whole = if arrow && whole.len() > 1 { whole.trim_end_matches('-') } else { whole };
        if whole.is_empty() {
            return self.signs(token);
        }
        let lead = whole.len() - whole.trim_start_matches([':', '.', '!']).len();
        if lead > 0 && !whole.starts_with("::") && lead < whole.len() {
            return self.signs(&whole[..lead]);
        }
        if self.passes(whole) {
            return self.shown(whole);
        }
        // `key:value`
        if whole.len() <= LONGEST
            && let Some((key, _)) =
                whole.split_once(':').filter(|(key, rest)| !key.is_empty() && !rest.starts_with("//"))
            && self.place != ValueRule::Option
            && !self.glued
            && is_key(key)
        {
            return self.pair(key);
        }
        self.hide(whole);
    }

    /// A key with its value directly after a colon.
    fn pair(&mut self, key: &'a str) {
        let shows = is_words(self.known, key, true);
        let class = announced(self.known, key);
        if shows {
            self.shown(key);
        } else {
            self.hide(key);
        }
        self.key = Some(key);
        if shows && class != Announced::Unknown {
            return self.assigned(1);
        }
        self.out.push(':');
        self.at += 1;
        self.glued = true;
    }

    /// Punctuation: only few characters are kept in sequence.
    fn signs(&mut self, signs: &str) {
        if signs.starts_with(':') && signs.len() == 1 {
            return self.assigned(1);
        }
        let ends = signs.starts_with(['.', '!', '?']);
        self.about &= !(ends && self.line[self.at + signs.len()..].starts_with([' ', '\t']));
        self.out.push_str(signs);
        self.at += signs.len();
    }

    fn shown(&mut self, token: &'a str) {
        self.out.push_str(token);
        self.at += token.len();
        self.quoted = false;
        self.glued = false;
        let named = is_generated(self.known, token) || self.names() && !is_words(self.known, token, true);
        let preposition = matches!(token, "to" | "in" | "on" | "from" | "of" | "by" | "at" | "for" | "and");
        self.then = self.named && preposition;
        self.named = named || self.names() && is_name(token) && !self.known.precedes_name(&lower(token), false);
        let phrase = self.known.is_phrase(&lower(self.before), &lower(token))
            || token.split_once('-').is_some_and(|(first, second)| self.known.is_phrase(&lower(first), &lower(second)));
        self.count_code(self.before, token);
        self.before = token;
        // An address or a time is not a key.
        self.key = (!is_typed(token, Numbers::Any)).then_some(token);
        self.near = self.near.saturating_sub(1);
        let option = token.trim_start_matches('-');
        let is_option = token.starts_with('-') && option.starts_with(|c: char| c.is_ascii_alphabetic());
        self.place = ValueRule::Prose;
        if is_option && option.len() == 1 {
            self.place = ValueRule::Option;
        } else if is_option && self.rest().starts_with([' ', '\t']) && is_sensitive(self.known, option) {
            self.take(Until::Blank);
        } else if is_option && self.known.takes_credentials(option) {
            self.place = ValueRule::Option;
        } else {
            self.announce(token, phrase);
        }
    }

    fn hide(&mut self, token: &str) {
        // Of a URL, only the query is replaced.
        if let Some(query) = self.query(token) {
            self.out.push_str(&token[..query]);
            self.at += query;
            return self.hide(&token[query..]);
        }
        let before = self.before;
        self.out.push_str(&stand_in(token.as_bytes()));
        self.at += token.len();
        self.hidden();
        self.count_code(before, token);
        // A name that is not known may announce a secret, too.
        if is_key(token) && is_sensitive(self.known, token) {
            self.near = NEAR;
        } else if is_key(token) && may_announce(token) {
            self.code = CODE;
        }
    }

    /// Whether a name is allowed here.
    fn names(&self) -> bool {
        let before = lower(self.before);
        let kind = before.split_once('.').map_or(&*before, |(kind, _)| kind);
        if self.near > 0 && !self.quoted {
            return false;
        }
        if self.place == ValueRule::Value(Announced::Name) || self.then {
            return true;
        }
        if self.place != ValueRule::Prose {
            return false;
        }
        let said = self.known.precedes_name(&before, self.quoted) || self.known.precedes_name(kind, self.quoted);
        said && (!self.quoted || !self.known.needs_more(kind) || self.goes_on())
    }

    /// Whether a sentence continues after the quoted token here.
    fn goes_on(&self) -> bool {
        let rest = self.rest();
        let close = rest.find(['"', '\'', '`']).unwrap_or(rest.len());
        let behind = rest[close..].trim_start_matches(['"', '\'', '`', '\\']);
        if let Some(colon) = behind.strip_prefix(':') {
            return colon.starts_with(' ');
        }
        let word = behind.strip_prefix(' ').and_then(|rest| rest.split(|c: char| !c.is_ascii_alphabetic()).next());
        word.is_some_and(|word| self.known.follows_name(word))
    }

    fn passes(&self, token: &str) -> bool {
        if self.glued || token.len() > LONGEST || self.is_code_by_sentence(token) {
            return false;
        }
        let known = self.known;
        let numbers = match self.place {
            ValueRule::Value(Announced::Number(digits)) => Numbers::UpTo(digits),
            // The port after an IPv6 address.
            _ if self.place == ValueRule::Prose && self.out.ends_with("]:") => Numbers::Usual,
            _ if self.near > 0 || self.code > 0 || self.place != ValueRule::Prose => Numbers::Small,
            _ => Numbers::Usual,
        };
        let digits = self.near == 0 && self.place != ValueRule::Option;
        if is_typed(token, numbers) && self.allows_typed(token) || self.is_character(token) || is_acme_error(token) {
            return true;
        }
        match self.place {
            ValueRule::Query => return matches!(token, "true" | "false"),
            ValueRule::Option => return is_words(known, token, false) && !token.contains(':'),
            ValueRule::Value(Announced::Unknown) => return false,
            _ => {}
        }
        if token.contains(':') && token.split(':').rev().skip(1).any(|key| is_sensitive(known, key))
            || token.split_once(':').is_some_and(|(user, _)| known.is_account(&lower(user)))
        {
            return false;
        }
        let is_option = token.starts_with('-') && token.trim_start_matches('-').len() == 1;
        let before = lower(self.before);
        is_option
            || is_words(known, token, digits) && !self.holds_a_value(token)
            || token.bytes().all(is_mark) && token.len() <= 3
            || self.is_id(token)
            || is_path(known, token)
            || is_url(known, token)
            || is_host(known, token)
            || is_image(known, token, lower(self.before).starts_with("image") && self.names())
            // Behind `user:` without a blank, it is a password and a host.
            || is_account(known, token, if self.out.ends_with(':') { "" } else { &before })
            || is_source_file(token)
            || is_file(known, token)
            || self.near == 0 && is_generated(known, token)
            || is_range(token)
            || is_revision(token)
            || self.out.ends_with('[') && is_attachment(known, token)
            || self.names() && is_reference(token)
    }
}

/// Whether the quote at `at` is the apostrophe of a word: `couldn't`.
fn is_apostrophe(token: &str, at: usize) -> bool {
    let behind = token[at + 1..].bytes().take_while(u8::is_ascii_alphabetic).count();
    at > 0 && token.as_bytes()[at - 1].is_ascii_alphabetic() && (1..=2).contains(&behind)
}
