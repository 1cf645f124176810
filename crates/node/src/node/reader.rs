//! A JSON reader that accepts the same input as the runtimes' own parser and records positions.
//!
//! CNI configurations are read by Go's `encoding/json`, whose verdict differs from `serde_json`'s: invalid
//! UTF-8 and lone surrogates in strings are accepted, and nesting may be deep. YAML readers with spans
//! differ in the opposite way (they accept a byte-order mark and reject duplicate keys). So this reader
//! provides both the verdict and the positions; a property test compares it with `serde_json` where the two
//! must agree. Positions are those of the original file: the length in a redaction marker is counted in.

use super::conflist::{Defect, DefectKind};
use super::json::{Json, Located, Member, Position, Span};
use crate::redact::{Marker, markers};

/// Maximum depth. Go's limit is 10,000; real configurations are far below.
const MAX_DEPTH: usize = 200;
/// Maximum number of values in one file; a configuration has some hundred.
const MAX_VALUES: usize = 100_000;

/// Reads one JSON document by Go's rules.
pub(super) fn read(bytes: &[u8]) -> Result<Located, Defect> {
    let mut reader = Reader { bytes, at: 0, depth: 0, values: 0, places: OffsetMap::new(bytes) };
    reader.blanks();
    if reader.at == bytes.len() {
        return Err(reader.defect(DefectKind::Empty, "unexpected end of JSON input"));
    }
    let value = reader.value()?;
    reader.blanks();
    if reader.at < bytes.len() {
        return Err(reader.unexpected("after top-level value"));
    }
    Ok(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    values: usize,
    places: OffsetMap,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn defect(&self, kind: DefectKind, message: impl Into<String>) -> Defect {
        Defect { kind, message: message.into(), place: Some(self.places.place(self.at)), json_path: None }
    }

    /// Go's error for the current byte.
    fn unexpected(&self, context: &str) -> Defect {
        let Some(byte) = self.peek() else {
            return self.defect(DefectKind::Syntax, "unexpected end of JSON input");
        };
        let kind = match self.bytes {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => DefectKind::Utf16,
            [0xEF, 0xBB, 0xBF, ..] if self.at == 0 => DefectKind::ByteOrderMark,
            _ if byte == 0 => DefectKind::Utf16,
            _ => DefectKind::Syntax,
        };
        let shown = match byte {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            _ if byte.is_ascii_control() => format!("'{}'", char::from(byte).escape_default()),
            // Go shows a byte as the character with that code.
            _ => format!("'{}'", char::from(byte)),
        };
        self.defect(kind, format!("invalid character {shown} {context}"))
    }

    fn value(&mut self) -> Result<Located, Defect> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.defect(DefectKind::TooComplex, format!("more than {MAX_VALUES} values")));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Json::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Json::Number(self.number()?),
            Some(b't') => self.literal("true", Json::Bool(true))?,
            Some(b'f') => self.literal("false", Json::Bool(false))?,
            Some(b'n') => self.literal("null", Json::Null)?,
            Some(_) | None => return Err(self.unexpected("looking for beginning of value")),
        };
        let span = Span { start: self.places.place(start), end: self.places.place(self.at - 1) };
        Ok(Located { span, value })
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Json, Defect>) -> Result<Json, Defect> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.defect(DefectKind::TooComplex, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Json, Defect> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key_place = self.places.place(self.at);
            let key = self.string()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            self.blanks();
            let value = self.value()?;
            members.push(Member { key, key_place, value });
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                Some(_) | None => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn array(&mut self) -> Result<Json, Defect> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.blanks();
            items.push(self.value()?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                Some(_) | None => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn literal(&mut self, word: &str, value: Json) -> Result<Json, Defect> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<String, Defect> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else if self.digits() == 0 {
            return Err(self.unexpected("in numeric literal"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        if text.parse::<f64>().is_ok_and(f64::is_infinite) {
            self.at = start;
            return Err(self.defect(
                DefectKind::WrongShape,
                format!("json: cannot unmarshal number {text} into Go value of type float64"),
            ));
        }
        Ok(text)
    }

    fn string(&mut self) -> Result<String, Defect> {
        self.at += 1;
        let mut text: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.unexpected("in string literal")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                Some(b'\\') => {
                    self.at += 1;
                    let decoded = self.escape()?;
                    text.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(byte) if byte < 0x20 => return Err(self.unexpected("in string literal")),
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Defect> {
        let simple = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            Some(_) | None => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        Ok(simple)
    }

    fn hex(&mut self) -> Result<u32, Defect> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// A `\u` escape, or a pair of them; a lone surrogate becomes the replacement character, as in Go.
    fn unicode(&mut self) -> Result<char, Defect> {
        let high = self.hex()?;
        if !(0xD800..0xDC00).contains(&high) || !self.bytes[self.at..].starts_with(b"\\u") {
            return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let back = self.at;
        self.at += 2;
        let low = self.hex()?;
        if (0xDC00..0xE000).contains(&low) {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at = back;
        Ok(char::REPLACEMENT_CHARACTER)
    }
}

/// Converts offsets of a redacted file to positions in the original.
struct OffsetMap {
    /// Offset of the first byte of each line.
    lines: Vec<usize>,
    markers: Vec<Marker>,
}

impl OffsetMap {
    fn new(bytes: &[u8]) -> OffsetMap {
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        OffsetMap { lines: std::iter::once(0).chain(ends).collect(), markers: markers(bytes) }
    }

    fn place(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines[line - 1];
        Position { line, column: self.original(offset) - self.original(start) + 1, offset: self.original(offset) }
    }

    /// The offset in the original; inside a marker, the start of the secret.
    fn original(&self, offset: usize) -> usize {
        let mut original = 0;
        let mut done = 0;
        for marker in self.markers.iter().take_while(|marker| marker.start < offset) {
            original += marker.start - done;
            if offset < marker.end {
                return original;
            }
            original += marker.original_len;
            done = marker.end;
        }
        original + offset - done
    }
}

#[cfg(test)]
mod tests;
