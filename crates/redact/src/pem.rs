//! PEM blocks as Go's reader parses them, which Linkerd's Go programs use for certificates and keys: a block is
//! recognized by its lines. `certificate::blocks` reads certificates that Go might not find.

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
    let (body, end) = body
        .strip_prefix("-----END ")
        .map_or_else(|| body.split_once("\n-----END "), |end| Some(("", end)))?;
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
