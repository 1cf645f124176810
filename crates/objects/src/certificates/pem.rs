//! Reads certificate bundles like identity and `linkerd check`. Linkerd uses Go's PEM reader, but stops at a
//! block that is not a certificate, and rejects text after the last block.

use super::{Certificate, from_base64, from_der};
use std::borrow::Cow;

use crate::redact::{Marker, PemDamage, pem_block, restored_pem};

/// The certificates in a bundle of trust anchors.
///
/// # Errors
/// Linkerd rejects the text; contains the reason.
pub fn from_bundle(text: &str) -> Result<Vec<Certificate>, String> {
    let mut found = Vec::new();
    let key = redacted_key(text);
    let mut rest = key.map_or(text, |at| &text[..at]);
    while !rest.is_empty() {
        let Some((label, der, after)) = pem_block(rest) else {
            return match (key, found.is_empty()) {
                (Some(_), _) => Ok(found),
                (None, true) => Err("no certificate in it".to_owned()),
                (None, false) => {
                    Err("the text continues after the last certificate, even if only with an empty line".to_owned())
                }
            };
        };
        // Blocks after a block of another type are ignored.
        if label != "CERTIFICATE" {
            break;
        }
        found.push(from_der(der)?);
        rest = after;
    }
    Ok(found)
}

/// The certificates that a bundle of trust anchors is meant to hold: [`from_bundle`] of the text without
/// [`damage`].
///
/// # Errors
/// Linkerd rejects the restored text; contains the reason.
pub fn from_restored_bundle(text: &str) -> Result<Vec<Certificate>, String> {
    from_bundle(&restored_text(text))
}

/// The damage that hides certificates of a bundle from Linkerd's programs in Go, if it can be undone.
pub fn damage(text: &str) -> Option<PemDamage> {
    restored_pem(text).map(|(damage, _)| damage)
}

/// The text of a bundle without damage.
pub fn restored_text(text: &str) -> Cow<'_, str> {
    restored_pem(text).map_or(Cow::Borrowed(text), |(_, whole)| Cow::Owned(whole))
}

/// The label of the first block in a bundle that is not a certificate, and the certificates after it. Linkerd's
/// programs in Go stop reading there; proxies read on. That of a redacted key ends with `KEY` too.
pub fn foreign_block(text: &str) -> Option<(String, Vec<Certificate>)> {
    let key = redacted_key(text);
    let head = key.map_or(text, |at| &text[..at]);
    let blocks = |text| std::iter::successors(pem_block(text), |(.., rest)| pem_block(rest));
    let other = blocks(head).find(|(label, ..)| *label != "CERTIFICATE");
    let (label, rest) = match (other, key) {
        (Some((label, _, after)), _) => (label.to_owned(), &text[head.len() - after.len()..]),
        (None, Some(at)) => ("PRIVATE KEY".to_owned(), &text[at..]),
        (None, None) => return None,
    };
    let after = blocks(rest).filter(|(label, ..)| *label == "CERTIFICATE");
    Some((label, after.filter_map(|(_, der, _)| from_der(der).ok()).collect()))
}

/// The certificates that the API server reads from a `caBundle`; it ignores other contents. Redaction keeps
/// certificates, so a text that is redacted as a whole holds none.
///
/// # Errors
/// The text is not base64.
pub fn from_base64_pool(text: &str) -> Result<Vec<Certificate>, String> {
    if Marker::whole(text.trim().as_bytes()).is_some() {
        return Ok(Vec::new());
    }
    let text = from_base64(text)?;
    let text = String::from_utf8_lossy(&text);
    let blocks = std::iter::successors(pem_block(&text), |(.., rest)| pem_block(rest));
    let certificates = blocks.filter(|(label, ..)| *label == "CERTIFICATE");
    Ok(certificates.filter_map(|(_, der, _)| from_der(der).ok()).collect())
}

/// The beginning of a private key whose lines were redacted to their lengths. The last line is
/// shorter than the first by the difference between `END` and `BEGIN`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};

    #[test]
    fn a_pool_without_certificates_is_empty() {
        let redacted = crate::redact::text("cGxhY2Vob2xkZXI=");
        for text in ["", "Cg==", "cGxhY2Vob2xkZXI=", "REDACTED(len=4)", redacted.as_ref()] {
            assert_eq!(from_base64_pool(text), Ok(Vec::new()), "{text}");
        }
        assert!(from_base64_pool("REDACTED(len=4) and (more)").is_err());
    }

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
            // A ConfigMap is read after its keys were redacted.
            assert_eq!(count(&crate::redact::text(&text)), found, "redacted: {what}");
        }
    }

    #[test]
    fn damaged_bundles_are_restored() {
        let one = || {
            let key = KeyPair::generate().expect("a key");
            let root = CertificateParams::new(vec!["root.linkerd".to_owned()]).expect("a name").self_signed(&key);
            root.expect("a root").pem().replace("\r\n", "\n")
        };
        let (a, b, c) = (one(), one(), one());
        let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
        let base64 = |text: &str| {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.encode(text)
        };
        let key = KeyPair::generate().expect("a key").serialize_pem();
        use PemDamage::{Encoded, Escaped, Indented, Joined};
        for (what, text, found) in [
            ("two are joined", format!("{}{b}", a.trim_end()), Some((Joined, 2))),
            ("blanks between", format!("{}  {b}", a.trim_end()), Some((Joined, 2))),
            ("a third follows", format!("{}{b}{c}", a.trim_end()), Some((Joined, 3))),
            ("indented", indented(&format!("{a}{b}")), Some((Indented, 2))),
            ("escaped", a.replace('\n', "\\n"), Some((Escaped, 1))),
            ("encoded", base64(&a), Some((Encoded, 1))),
            ("encoded, and joined", base64(&format!("{}{b}", a.trim_end())), Some((Encoded, 2))),
            ("nothing", String::new(), None),
            ("as it should be", format!("# old\n{a}\n# new\n{b}"), None),
            ("indented comments", format!("  # old\n{a}"), None),
            ("an empty line at the end", format!("{a}\n"), None),
            ("words", "none yet".to_owned(), None),
            ("cut short", a[..a.len() / 2].to_owned(), None),
            ("an indented key", format!("{a}{}", key.replace("-----B", "  -----B")), None),
        ] {
            let read = |text: &str| {
                damage(text).map(|damage| (damage, from_restored_bundle(text).map_or(0, |found| found.len())))
            };
            assert_eq!(read(&text), found, "{what}");
            let kept = crate::redact::text(&text);
            assert_eq!(from_bundle(&kept).ok(), from_bundle(&text).ok(), "redacted: {what}");
        }
    }
}
