//! Parts of messages that programs print word for word (`messages` in `free-text.yaml`): kept unchanged if each hole
//! has content of its type. While the rest of a text is redacted, one character stands in for each part.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

use super::places::is_generated;
use super::typed::{Numbers, is_hex, is_typed, is_uid};
use super::words::{is_image, is_name, is_words};
use crate::knowledge::{FreeText, Hole, Knowledge};

/// Characters that stand in for parts: a private area, which is removed from texts before.
const PLACES: Range<u32> = 0xF_0000..0xF_FFFE;
/// The beginning of an answer of Gatekeeper, before the name of the first constraint.
const DENIED: &str = "denied the request: [";
/// Maximum length of the content of a hole.
const LONGEST: usize = 253;
/// Maximum length of the number of a temporary directory.
const DIGITS: usize = 10;
/// Maximum length of an id.
const ID: usize = 64;

/// Whether a character stands in for a part.
pub(crate) fn is_place(c: char) -> bool {
    PLACES.contains(&u32::from(c))
}

/// A text without its known parts.
pub(super) struct MaskedText<'a> {
    /// The text, with one character instead of each part.
    pub(super) text: String,
    parts: HashMap<char, &'a str>,
}

impl<'a> MaskedText<'a> {
    /// Takes out the known parts. `None` if there are none.
    pub(super) fn take(input: &'a str, without: &[&str]) -> Option<MaskedText<'a>> {
        let known = Knowledge::embedded().free_text();
        let spans = spans(known, input);
        let mut chars: HashMap<&str, char> = HashMap::new();
        let mut text = String::with_capacity(input.len());
        let mut done = 0;
        for span in spans {
            let part = &input[span.clone()];
            let next = u32::try_from(chars.len()).ok().and_then(|at| char::from_u32(PLACES.start + at));
            let Some(next) = next.filter(|c| is_place(*c) && !without.contains(&part)) else { continue };
            text.push_str(&input[done..span.start]);
            text.push(*chars.entry(part).or_insert(next));
            done = span.end;
        }
        text.push_str(&input[done..]);
        let parts: HashMap<char, &str> = chars.into_iter().map(|(part, c)| (c, part)).collect();
        (!parts.is_empty()).then_some(MaskedText { text, parts })
    }

    /// Puts the parts back into the redacted text.
    ///
    /// # Errors
    /// The parts that were replaced as the value of a secret.
    pub(super) fn restore(&self, clean: &str) -> Result<String, Vec<&'a str>> {
        let count = |text: &str| {
            let mut counts: HashMap<char, usize> = HashMap::new();
            text.chars().filter(|c| is_place(*c)).for_each(|c| *counts.entry(c).or_default() += 1);
            counts
        };
        let (before, after) = (count(&self.text), count(clean));
        let lost = self.parts.iter().filter(|(c, _)| before.get(*c) != after.get(*c));
        let lost: Vec<&str> = lost.map(|(_, part)| *part).collect();
        if !lost.is_empty() {
            return Err(lost);
        }
        let mut out = String::with_capacity(clean.len());
        for c in clean.chars() {
            match self.parts.get(&c) {
                Some(part) => out.push_str(part),
                None => out.push(c),
            }
        }
        Ok(out)
    }
}

/// The ranges of known parts, in order and without overlaps: the longest at each place.
fn spans(known: &FreeText, text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for template in known.messages() {
        for start in memmem::find_iter(text.as_bytes(), template.start.as_bytes()) {
            let begins = text[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            let behind = start + template.start.len();
            if begins && let Some(end) = filled(known, text, behind, &template.holes) {
                found.push(start..end);
            }
        }
    }
    found.extend(violations(known, text));
    found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    found.retain(|span| {
        let is_next = span.start >= end;
        if is_next {
            end = span.end;
        }
        is_next
    });
    found
}

/// The names of constraints at the beginning of further lines of an answer of Gatekeeper, which has one line for each
/// violation: `denied the request: [first] ...`, then `[second] ...`.
fn violations(known: &FreeText, text: &str) -> Vec<Range<usize>> {
    let Some(answer) = memmem::find(text.as_bytes(), DENIED.as_bytes()) else { return Vec::new() };
    let from = answer + DENIED.len();
    let breaks = ["\n[", "\\n["].into_iter().flat_map(|mark| {
        let at = memmem::find_iter(&text.as_bytes()[from..], mark.as_bytes()).map(move |at| from + at + mark.len());
        at.collect::<Vec<_>>()
    });
    let name = |at: usize| {
        let length = text[at..].find(']')?;
        let content = &text[at..at + length];
        let is_name = !content.is_empty() && content.len() <= LONGEST && is_object(known, content);
        (is_name && content.chars().all(|c| belongs(Hole::Name, c))).then_some(at - 1..at + length + 1)
    };
    breaks.filter_map(name).collect()
}

/// End of the holes and the texts behind them.
fn filled(known: &FreeText, text: &str, from: usize, holes: &[(Hole, String)]) -> Option<usize> {
    let mut at = from;
    for (hole, behind) in holes {
        let rest = &text[at..];
        let length = rest.find(|c| !belongs(*hole, c)).unwrap_or(rest.len());
        let content = match hole {
            Hole::Blank => &rest[..length],
            // The text behind it begins with characters that it may have.
            Hole::Escaped => &rest[..rest.find(behind.as_str()).filter(|at| *at < length)?],
            // A sentence may end behind a name.
            _ => rest[..length].trim_end_matches(['.', ':']),
        };
        if content.is_empty() || content.len() > LONGEST || !fits(known, *hole, content) {
            return None;
        }
        at += content.len();
        at += text[at..].starts_with(behind.as_str()).then_some(behind.len())?;
    }
    // The last word is whole.
    let last = text[..at].chars().next_back()?;
    let next = text[at..].chars().next();
    let goes_on = next.is_some_and(|c| c.is_alphanumeric() || "-_/@+$%!~?#^&*=".contains(c));
    (!goes_on || !last.is_alphanumeric()).then_some(at)
}

/// Whether a character may be in the content of a hole.
fn belongs(hole: Hole, c: char) -> bool {
    match hole {
        Hole::Blank => c.is_ascii_whitespace(),
        Hole::Hex => c.is_ascii_hexdigit(),
        Hole::Uid => c.is_ascii_hexdigit() || c == '-',
        Hole::Kind => c.is_ascii_alphabetic(),
        Hole::Digits => c.is_ascii_digit(),
        Hole::Escaped => c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '%'),
        Hole::Number => c.is_ascii_digit() || matches!(c, '.' | '/'),
        Hole::Name => c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'),
        Hole::Host => c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '[' | ']'),
        Hole::Path | Hole::Image | Hole::Reference => !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | '\\'),
    }
}

/// Whether a text is the content of a hole.
fn fits(known: &FreeText, hole: Hole, content: &str) -> bool {
    match hole {
        Hole::Blank => true,
        Hole::Hex => content.len() <= ID && is_hex(content),
        Hole::Number => is_typed(content, Numbers::Usual),
        Hole::Name => is_object(known, content),
        Hole::Host => is_host(content),
        Hole::Path => super::plain::path(content) == content && !content.contains(['?', '&', '=', '@']),
        Hole::Image => is_repository(known, content),
        Hole::Escaped => content.replace("%2F", "/").split('/').all(is_name),
        Hole::Reference => is_image(known, content, true),
        Hole::Uid => is_uid(content),
        Hole::Kind => is_words(known, content, false),
        Hole::Digits => content.len() <= DIGITS,
    }
}

/// The name of an object or sandbox. Tools begin or join names with a word, a version of Kubernetes or a uid.
fn is_object(known: &FreeText, content: &str) -> bool {
    let is_part = |part: &str| {
        is_name(part)
            || is_name(part.trim_start_matches("k8s"))
            || is_generated(known, part)
            || is_words(known, part, true)
    };
    let mut parts = content.split('_');
    is_part(content)
        || content.strip_prefix("pvc-").is_some_and(is_uid)
        || content.contains('_') && parts.all(|part| is_part(part) || is_uid(part))
}

fn is_host(content: &str) -> bool {
    let (host, port) = match content.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => (host, port),
        _ => (content, "1"),
    };
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_typed(content, Numbers::Usual)
        || is_typed(host.trim_start_matches('[').trim_end_matches(']'), Numbers::Usual) && is_port
        || is_port && is_name(host)
}

/// A repository with `/manifests/TAG` or `/blobs/DIGEST`, as a registry serves it.
fn is_repository(known: &FreeText, content: &str) -> bool {
    let parts = content.rsplit_once('/').and_then(|(path, last)| {
        let (repository, kind) = path.rsplit_once('/')?;
        Some((repository, kind, last))
    });
    let Some((repository, "manifests" | "blobs" | "tags", last)) = parts else { return false };
    let digest = last.strip_prefix("sha256:").is_some_and(|digest| digest.len() <= ID && is_hex(digest));
    repository.split('/').all(is_name) && (digest || is_image(known, &format!("x:{last}"), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_is_taken_out_and_put_back() {
        let text = "password=hunter2 failed to fetch token: serviceaccounts \"web\" not found, aB3xK9";
        let kept = MaskedText::take(text, &[]).unwrap();
        assert!(!kept.text.contains("serviceaccounts") && kept.text.contains("hunter2"), "{}", kept.text);
        assert_eq!(kept.restore(&kept.text).unwrap(), text);
        assert!(kept.restore("REDACTED(len=5)").is_err());
        assert!(MaskedText::take("serviceaccounts", &[]).is_none());
    }

    #[test]
    fn each_line_of_gatekeeper_keeps_its_constraint() {
        let text = "denied the request: [limits] no limits\n[limits] none either\n[allowed-repos] no\n[aB3xK9dE6gH9] x";
        let kept = MaskedText::take(text, &[]).unwrap();
        assert!(!kept.text.contains("limits]") && !kept.text.contains("allowed-repos"), "{}", kept.text);
        assert!(kept.text.contains("[aB3xK9dE6gH9]"), "{}", kept.text);
        assert_eq!(kept.restore(&kept.text).unwrap(), text);
        assert!(MaskedText::take("no answer\n[allowed-repos] no", &[]).is_none());
    }

    #[test]
    fn hole_holds_only_content_of_its_type() {
        let known = Knowledge::embedded().free_text();
        for (hole, content) in [
            (Hole::Name, "web-5d9f8c7b66-4xq7p"),
            (Hole::Hex, "ab12cd"),
            (Hole::Number, "1.5"),
            (Hole::Host, "10.244.1.17:8443"),
            (Hole::Host, "[fd00::1]:8443"),
            (Hole::Host, "registry.corp:5000"),
            (Hole::Path, "/api/v1/ready"),
            (Hole::Image, "linkerd/proxy/manifests/edge-26.8.3"),
            (Hole::Image, "linkerd/proxy/blobs/sha256:abcd"),
            (Hole::Escaped, "acme%2Fapi"),
            (Hole::Reference, "registry.corp:5000/team/api:1.0"),
            (Hole::Uid, "217b81da-a263-4a6e-8ca9-f7a4cab75af9"),
            (Hole::Name, "pvc-217b81da-a263-4a6e-8ca9-f7a4cab75af9"),
            (Hole::Name, "k8srequiredlabels-owner"),
        ] {
            assert!(fits(known, hole, content), "{hole:?} {content}");
        }
        for (hole, content) in [
            (Hole::Name, "aB3xK9dE6gH9"),
            (Hole::Name, "Summer7702"),
            (Hole::Hex, "zanzi"),
            (Hole::Host, "app:hunter2@db"),
            (Hole::Path, "/hook/T02AB3CD9x"),
            (Hole::Path, "/ready?auth=hunter2"),
            (Hole::Name, "217b81da-a263-4a6e-8ca9-f7a4cab75af9"),
            (Hole::Escaped, "acme%2FaB3xK9dE6gH9"),
            (Hole::Reference, "registry.corp/api:aB3xK9dE6gH9"),
            (Hole::Image, "linkerd/proxy/uploads/x"),
            (Hole::Image, "linkerd/proxy/manifests/aB3xK9dE6gH9"),
        ] {
            assert!(!fits(known, hole, content), "{hole:?} {content}");
        }
    }
}
