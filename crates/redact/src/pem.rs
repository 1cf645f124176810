//! PEM blocks as Go's reader parses them, which Linkerd's Go programs use for certificates and keys: a block is
//! recognized by its lines. `certificate::blocks` reads certificates that Go might not find.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The next block: label, content, and remaining text.
pub fn block(text: &str) -> Option<(&str, Vec<u8>, &str)> {
    const BEGIN: &str = "\n-----BEGIN ";
    let mut rest = text;
    loop {
        rest = match rest.strip_prefix(&BEGIN[1..]) {
            Some(rest) => rest,
            None => rest.split_once(BEGIN)?.1,
        };
        let (line, body) = line(rest);
        rest = body;
        let Some(label) = line.strip_suffix("-----") else { continue };
        if let Some((der, after)) = content(label, body) {
            return Some((label, der, after));
        }
    }
}

fn content<'a>(label: &str, text: &'a str) -> Option<(Vec<u8>, &'a str)> {
    let mut body = text;
    // Headers, which certificates do not have, end at a line without a colon.
    while let (header, after) = line(body)
        && header.contains(':')
    {
        body = after;
    }
    let (body, end) =
        body.strip_prefix("-----END ").map_or_else(|| body.split_once("\n-----END "), |end| Some(("", end)))?;
    let after = end.strip_prefix(label)?.strip_prefix("-----")?;
    let (trailer, after) = line(after);
    let base64: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    (trailer.is_empty()).then_some(())?;
    Some((STANDARD.decode(base64).ok()?, after))
}

/// The first line without trailing blanks, and the remaining text.
fn line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end_matches([' ', '\t', '\r']), rest)
}

/// Damage that hides certificates in a text from Go's reader, and that can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PemDamage {
    /// The line break between the end of a block and the beginning of the next is missing.
    Joined,
    /// Its lines are indented.
    Indented,
    /// Its line breaks are the two characters `\n`.
    Escaped,
    /// The text is base64 of PEM.
    Encoded,
}

impl PemDamage {
    /// What a text with this damage looks like.
    pub fn describe(self) -> &'static str {
        match self {
            PemDamage::Joined => {
                "a line break is missing: -----BEGIN CERTIFICATE----- follows the end of the certificate before it \
                 on the same line"
            }
            PemDamage::Indented => "its lines are indented, so none begins with -----BEGIN CERTIFICATE-----",
            PemDamage::Escaped => r"its line breaks are the two characters \n",
            PemDamage::Encoded => "it is base64 of PEM instead of PEM",
        }
    }

    /// Damages the certificates of a text that was restored as the original is.
    pub(super) fn again(self, whole: &str, original: &str) -> String {
        match self {
            PemDamage::Joined => {
                let joined: Vec<bool> = parts(original).map(|part| part.is_joined).collect();
                // If blocks are missing, or other damage was undone too, all are joined.
                let is_known = joined.len() == whole.matches(BEGIN).count();
                let mut again = String::new();
                for (at, part) in parts(whole).enumerate() {
                    again.push_str(part.before);
                    if again.ends_with("-----\n") && if is_known { joined[at] } else { at > 0 } {
                        again.pop();
                    }
                    again.push_str(part.text);
                }
                again
            }
            PemDamage::Indented => whole.lines().map(|line| format!("  {line}\n")).collect(),
            PemDamage::Escaped => whole.replace('\n', r"\n"),
            PemDamage::Encoded => STANDARD.encode(whole),
        }
    }
}

/// Undoes one kind of damage, if a text has it.
type Repair = (PemDamage, fn(&str) -> Option<String>);

/// The text whose certificates Go's reader finds, if damage hides some of them; and the damage.
pub fn restored(text: &str) -> Option<(PemDamage, String)> {
    let mut whole = Cow::Borrowed(text);
    let mut damage = None;
    let repairs: [Repair; 4] = [
        (PemDamage::Encoded, decoded),
        (PemDamage::Escaped, unescaped),
        (PemDamage::Joined, apart),
        (PemDamage::Indented, outdented),
    ];
    for (of, repair) in repairs {
        if let Some(better) = repair(&whole) {
            damage = damage.or(Some(of));
            whole = Cow::Owned(better);
        }
    }
    let damage = damage?;
    (certificates(&whole) > certificates(text)).then(|| (damage, whole.into_owned()))
}

/// The number of certificates that Go's reader finds.
fn certificates(text: &str) -> usize {
    let blocks = std::iter::successors(block(text), |(.., rest)| block(rest));
    blocks.filter(|(label, ..)| *label == "CERTIFICATE").count()
}

const BEGIN: &str = "-----BEGIN ";

fn decoded(text: &str) -> Option<String> {
    if text.contains(BEGIN) {
        return None;
    }
    let base64: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(base64).ok()?;
    String::from_utf8(bytes).ok().filter(|pem| pem.contains(BEGIN))
}

fn unescaped(text: &str) -> Option<String> {
    (text.contains(BEGIN) && text.contains(r"\n")).then(|| text.replace(r"\n", "\n"))
}

/// A beginning of a block, up to the next.
struct PemPart<'a> {
    /// Text before the first beginning; empty for the others.
    before: &'a str,
    text: &'a str,
    /// Whether it follows the end of another block on the same line.
    is_joined: bool,
}

fn parts(text: &str) -> impl Iterator<Item = PemPart<'_>> {
    let places: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    let ends: Vec<usize> = places.iter().skip(1).copied().chain([text.len()]).collect();
    places.into_iter().zip(ends).enumerate().map(move |(number, (at, end))| {
        let line = text[..at].rsplit_once('\n').map_or(&text[..at], |(_, line)| line).trim();
        PemPart {
            before: if number == 0 { &text[..at] } else { "" },
            text: &text[at..end],
            is_joined: line.starts_with("-----END ") && line.ends_with("-----"),
        }
    })
}

/// The text with a line break before each beginning of a block that follows the end of another on its line.
fn apart(text: &str) -> Option<String> {
    let mut whole = String::new();
    for part in parts(text) {
        whole.push_str(part.before);
        if part.is_joined {
            whole.truncate(whole.trim_end_matches([' ', '\t']).len());
            whole.push('\n');
        }
        whole.push_str(part.text);
    }
    (!whole.is_empty() && whole != text).then_some(whole)
}

/// The text without the blocks that proxies do not read: they skip the rest of a line that ends a block.
pub fn read_by_proxies(text: &str) -> Cow<'_, str> {
    if !parts(text).any(|part| part.is_joined) {
        return Cow::Borrowed(text);
    }
    parts(text).filter(|part| !part.is_joined).flat_map(|part| [part.before, part.text]).collect()
}

/// The text without blanks at the beginnings of its lines.
fn outdented(text: &str) -> Option<String> {
    let whole: String = text.split_inclusive('\n').map(|line| line.trim_start_matches([' ', '\t'])).collect();
    (text.contains(BEGIN) && whole != text).then_some(whole)
}
