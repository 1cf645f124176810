//! Detects the format of a text by its beginning, never by its name. UTF-16, which PowerShell writes, is converted to
//! UTF-8.

use std::io::{self, BufReader, BufWriter, Read, Write};

use crate::archive::spool::{Blob, Spool};
use crate::redact;
use crate::source::diagnostics;
use crate::yaml;

/// Number of bytes to look at.
const HEAD: u64 = 4096;

/// Format of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// JSON, one document or several.
    Json,
    /// YAML, one document or several.
    Yaml,
    Empty,
    /// Another format, with a description.
    Neither(String),
}

/// Detects the format from the beginning of a text.
///
/// # Errors
/// It cannot be read.
pub fn sniff(blob: &Blob) -> io::Result<Text> {
    Ok(of_head(&blob.head(HEAD)?))
}

/// Detects the format from the first bytes.
pub fn of_head(head: &[u8]) -> Text {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    if head.contains(&0) {
        return Text::Neither("neither text nor a supported archive (gzip, zstd, tar)".to_owned());
    }
    let Some(first) = head.iter().find(|byte| !byte.is_ascii_whitespace()) else { return Text::Empty };
    if matches!(first, b'{' | b'[') {
        return Text::Json;
    }
    let text = String::from_utf8_lossy(head);
    let idle = |line: &&str| {
        let line = line.trim();
        line.is_empty() || line.starts_with(['#', '%']) || yaml::is_separator(line)
    };
    let Some(line) = text.lines().find(|line| !idle(line)) else { return Text::Yaml };
    let line = line.strip_prefix("--- ").unwrap_or(line);
    if line.starts_with("==== START logs for ") || line.starts_with(['{', '[']) {
        return Text::Json;
    }
    if line.starts_with("NAME ") || line.starts_with("NAMESPACE ") || line.starts_with("LAST SEEN ") {
        return Text::Neither("a table of kubectl; use -o json or -o yaml".to_owned());
    }
    if line.starts_with("Name:  ") {
        return Text::Neither("output of kubectl describe; use kubectl get -o json or -o yaml".to_owned());
    }
    let lower = line.to_ascii_lowercase();
    if lower.starts_with("error:") || lower.starts_with("error from server") || lower.starts_with("no resources found")
    {
        let shown = redact::free_text(&line.trim_end().chars().take(60).collect::<String>()).into_owned();
        return Text::Neither(format!("a message of kubectl: {shown:?}"));
    }
    // Nothing of the text is quoted: it may be a password, under any name of a file.
    let other = || match lower.starts_with('<') {
        true => "an HTML or XML document, neither JSON nor YAML".to_owned(),
        false => "neither JSON nor YAML".to_owned(),
    };
    if is_yaml(line) { Text::Yaml } else { Text::Neither(other()) }
}

/// Whether the first bytes are those of a supported text in any encoding; not only blanks.
pub fn is_text(head: &[u8]) -> bool {
    matches!(of_head(head), Text::Json | Text::Yaml) || utf16(head).is_some() || diagnostics::begins_metrics(head)
}

/// Whether a line can begin a YAML mapping or sequence.
fn is_yaml(line: &str) -> bool {
    let line = line.trim_end();
    if line == "-" || line.starts_with("- ") {
        return true;
    }
    let key = line.find(": ").map(|at| &line[..at]).or_else(|| line.strip_suffix(':'));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '"' | '\'');
    key.is_some_and(|key| !key.is_empty() && key.chars().all(plain))
}

/// Whether the first bytes are UTF-16: little-endian or not, and the length of the byte order mark.
fn utf16(head: &[u8]) -> Option<(bool, u64)> {
    match head {
        [0xFF, 0xFE, ..] => Some((true, 2)),
        [0xFE, 0xFF, ..] => Some((false, 2)),
        // Without a mark: an ASCII character whose other byte is zero.
        [byte, 0, other, 0, ..] if byte.is_ascii() && other.is_ascii() && *byte != 0 => Some((true, 0)),
        [0, byte, 0, other, ..] if byte.is_ascii() && other.is_ascii() && *byte != 0 => Some((false, 0)),
        _ => None,
    }
}

/// Converts UTF-16 to UTF-8; leaves other texts unchanged.
///
/// # Errors
/// It cannot be read, or the result cannot be stored.
pub fn utf8(blob: Blob) -> io::Result<Blob> {
    let Some((little, skip)) = utf16(&blob.head(4)?) else { return Ok(blob) };
    let mut input = BufReader::with_capacity(1 << 16, blob.slice(skip, blob.len()).reader()?);
    let mut failed = None;
    let units = std::iter::from_fn(|| {
        let mut unit = [0; 2];
        match input.read_exact(&mut unit) {
            Ok(()) => Some(if little { u16::from_le_bytes(unit) } else { u16::from_be_bytes(unit) }),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    });
    let mut output = BufWriter::with_capacity(1 << 16, Spool::new());
    let mut buffer = [0; 4];
    for c in char::decode_utf16(units) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        output.write_all(c.encode_utf8(&mut buffer).as_bytes())?;
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(output.into_inner().map_err(io::IntoInnerError::into_error)?.finish()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(bytes: &[u8]) -> Blob {
        let mut spool = Spool::new();
        spool.write_all(bytes).unwrap();
        spool.finish()
    }

    #[test]
    fn format_is_detected_by_its_beginning() {
        let neither = |text: &[u8], part: &str| {
            let Text::Neither(why) = of_head(text) else { panic!("{:?}", String::from_utf8_lossy(text)) };
            assert!(why.contains(part), "{why}");
        };
        for json in ["{}", "\u{FEFF}\r\n {", "[", "---\n{\"a\":1}", "==== START logs for container a of pod b/c ====\n"]
        {
            assert_eq!(of_head(json.as_bytes()), Text::Json, "{json:?}");
        }
        for yaml in ["apiVersion: v1\n", "# x\n\n---\nitems:\n", "%YAML 1.2\n---\nkind: Pod", "- a\n", "\"kind\": x"] {
            assert_eq!(of_head(yaml.as_bytes()), Text::Yaml, "{yaml:?}");
        }
        assert_eq!(of_head(b" \r\n"), Text::Empty);
        neither(b"NAME   READY   STATUS\n", "-o json");
        neither(b"Name:         web\nNamespace:    shop\n", "describe");
        neither(b"Error from server (Forbidden): pods is forbidden", "message of kubectl");
        neither(b"2026-01-15T12:00:00Z info: started", "neither JSON nor YAML");
        neither(b"\x7FELF\0\0", "neither text");
        neither(b"<!DOCTYPE html>\n<html>", "HTML");
    }

    #[test]
    fn utf_16_is_read_with_a_mark_and_without() {
        let text = "{\"kind\":\"Größe 🎈\"}";
        let units = |little: bool| -> Vec<u8> {
            text.encode_utf16().flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
        };
        for bytes in [
            [vec![0xFF, 0xFE], units(true)].concat(),
            [vec![0xFE, 0xFF], units(false)].concat(),
            units(true),
            units(false),
            text.as_bytes().to_vec(),
        ] {
            assert_eq!(utf8(blob(&bytes)).unwrap().bytes(1000).unwrap(), text.as_bytes());
        }
    }
}
