//! Blocks of PEM as Go's reader knows them, by which every program of Linkerd's in Go reads certificates and keys: a block is
//! known by its lines. Where nothing but the certificates matters, and not whether Go finds them, `certificate::blocks` reads.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The next block: its label, its content, and the text after it.
pub(crate) fn block(text: &str) -> Option<(&str, Vec<u8>, &str)> {
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
    // Headers, which no certificate has, end where a line has no colon.
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

/// The first line without blanks at its end, and what comes after it.
fn line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end_matches([' ', '\t', '\r']), rest)
}
