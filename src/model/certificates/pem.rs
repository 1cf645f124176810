//! Bundles of certificates as identity and `linkerd check` read them. Go's reader of PEM knows a block by its line, and
//! Linkerd's around it stops at a block that is no certificate and refuses a text that goes on after its last block.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Certificate, from_der};
use crate::redact::Marker;

/// The certificates in a bundle of trust anchors.
///
/// # Errors
/// Linkerd refuses the text; says why.
pub fn from_bundle(text: &str) -> Result<Vec<Certificate>, String> {
    let mut found = Vec::new();
    let key = redacted_key(text);
    let mut rest = key.map_or(text, |at| &text[..at]);
    while !rest.is_empty() {
        let Some((label, der, after)) = block(rest) else {
            return match (key, found.is_empty()) {
                (Some(_), _) => Ok(found),
                (None, true) => Err("no certificate in it".to_owned()),
                (None, false) => {
                    Err("after the last certificate the text goes on, if only with an empty line".to_owned())
                }
            };
        };
        // What comes after another kind of block is not looked at.
        if label != "CERTIFICATE" {
            break;
        }
        found.push(from_der(der)?);
        rest = after;
    }
    Ok(found)
}

/// Where a private key begins, of which redacting left the lengths of its lines. Its last line is shorter than its first by
/// what `END` is shorter than `BEGIN`.
fn redacted_key(text: &str) -> Option<usize> {
    const SHORTER: usize = "BEGIN".len() - "END".len();
    let mut at = 0;
    let mut first: Option<(usize, usize)> = None;
    for line in text.split_inclusive('\n') {
        let redacted = Marker::whole(line.trim_end().as_bytes()).map(|marker| marker.original_len);
        match (first, redacted) {
            (Some((start, begin)), Some(len)) if len + SHORTER == begin => return Some(start),
            (Some(_), Some(_)) => {}
            (None, Some(len)) => first = Some((at, len)),
            (_, None) => first = None,
        }
        at += line.len();
    }
    None
}

/// The next block: its label, its content, and the text after it.
fn block(text: &str) -> Option<(&str, Vec<u8>, &str)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};

    #[test]
    fn a_bundle_is_read_as_linkerd_reads_it() {
        let one = || {
            let key = KeyPair::generate().expect("a key");
            CertificateParams::new(vec!["root.linkerd".to_owned()]).expect("a name").self_signed(&key)
        };
        let (a, b) = (one().expect("a root").pem(), one().expect("a root").pem());
        let key = KeyPair::generate().expect("a key").serialize_pem();
        let (a, b) = (a.replace("\r\n", "\n"), b.replace("\r\n", "\n"));
        let count = |text: &str| from_bundle(text).map(|found| found.len()).map_err(|_| ());
        for (what, text, found) in [
            ("empty", String::new(), Ok(0)),
            ("one", a.clone(), Ok(1)),
            ("without its last line end", a.trim_end().to_owned(), Ok(1)),
            ("two, with words before each", format!("# old\n{a}\n# new\n{b}"), Ok(2)),
            ("lines end as on Windows", format!("{a}{b}").replace('\n', "\r\n"), Ok(2)),
            ("an empty line at the end", format!("{a}\n"), Err(())),
            ("words at the end", format!("{a}# the end\n"), Err(())),
            ("words alone", "none yet".to_owned(), Err(())),
            ("a key between", format!("{a}{key}{b}"), Ok(1)),
            ("a key before", format!("{key}{a}"), Ok(0)),
            ("a key, and words after it", format!("{a}{key}\n# the end\n"), Ok(1)),
            ("a key after words", format!("{a}# my key\n{key}"), Ok(1)),
            ("a key that is moved in", format!("{a}{}", key.replace("-----B", "  -----B")), Err(())),
            ("every line is moved in", a.replace("-----B", "  -----B"), Err(())),
            ("two run into each other", format!("{}{b}", a.trim_end()), Err(())),
            ("one cut short", a[..a.len() / 2].to_owned(), Err(())),
            (
                "no certificate inside",
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned(),
                Err(()),
            ),
        ] {
            assert_eq!(count(&text), found, "{what}");
            // A ConfigMap is read after its keys were taken out.
            assert_eq!(count(&crate::redact::text(&text)), found, "redacted: {what}");
        }
    }
}
