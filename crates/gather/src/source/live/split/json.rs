//! Lists in JSON. Tracks only where values begin and end: items are passed on as text, and the decoder validates them.
//!
//! This is not the reader of dumps (`source/json`). Here bytes are pushed as they arrive, an item is offered before it
//! is complete, and anything but one list is rejected; the other reads files of any layout.

use std::ops::Range;

use super::{ElementSink, Head, LARGEST_VALUE, NotAList};

/// An item is offered early once as many bytes have arrived as the previous item had, up to this limit.
const LIKELY: usize = 128 * 1024;

/// Position in the list's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    /// Before the opening brace.
    Start,
    /// Before a key of the list, or its closing brace.
    Key,
    /// Before the value of a key.
    Value(ListField),
    /// Inside `items`, before an item or the closing bracket.
    Item,
    /// After the closing brace.
    End,
}

/// The relevant keys of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListField {
    Metadata,
    Items,
    Other,
}

/// Progress within the value at the cursor.
#[derive(Debug, Clone, Copy)]
struct ValueProgress {
    /// The next byte to look at; may be past the buffer after a backslash.
    at: usize,
    depth: usize,
    in_text: bool,
}

/// The splitter. Feed it with [`Json::push`], end with [`Json::finish`].
pub(in super::super) struct Json {
    /// Unprocessed data. As text, since validating it once is much faster than for each string.
    buffer: String,
    /// The start of an incomplete character.
    tail: Vec<u8>,
    /// Everything before this offset has been processed.
    cursor: usize,
    /// Bytes that have left the buffer, for positions in messages.
    gone: u64,
    at: Cursor,
    reading: Option<ValueProgress>,
    seen_items: bool,
    /// Expected length of the next item, from the previous one.
    likely: usize,
}

impl Json {
    pub(super) fn new() -> Json {
        Json {
            buffer: String::new(),
            tail: Vec::new(),
            cursor: 0,
            gone: 0,
            at: Cursor::Start,
            reading: None,
            seen_items: false,
            likely: 0,
        }
    }

    /// Adds a part of the body; passes on complete items.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl ElementSink) -> Result<(), NotAList> {
        self.take(bytes);
        while self.step(sink)? {}
        if let Some(reading) = &mut self.reading {
            reading.at -= self.cursor;
        }
        self.gone += self.cursor as u64;
        self.buffer.drain(..self.cursor);
        self.cursor = 0;
        if self.buffer.len() > LARGEST_VALUE { Err(NotAList::TooLarge) } else { Ok(()) }
    }

    /// Ends the body.
    pub(super) fn finish(mut self, sink: &mut impl ElementSink) -> Result<(), NotAList> {
        loop {
            // Nothing more arrives, so do not wait for the expected length.
            self.likely = 0;
            if !self.step(sink)? {
                break;
            }
        }
        match self.at {
            Cursor::End if self.seen_items => Ok(()),
            Cursor::End => Err(NotAList::NoItems),
            Cursor::Start | Cursor::Key | Cursor::Value(_) | Cursor::Item => Err(NotAList::Truncated(self.place())),
        }
    }

    /// Adds to the text. An invalid UTF-8 byte becomes a character that JSON does not allow, so that its object is
    /// rejected like any broken one.
    fn take(&mut self, bytes: &[u8]) {
        let joined;
        let bytes = if self.tail.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.tail), bytes.to_vec()].concat();
            &joined
        };
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.buffer.push_str(text);
            return;
        }
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.buffer.push_str(chunk.valid());
            let cut = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if cut && chunks.peek().is_none() {
                self.tail = chunk.invalid().to_vec();
            } else {
                self.buffer.extend(chunk.invalid().iter().map(|_| '\0'));
            }
        }
    }

    fn place(&self) -> u64 {
        self.gone + (self.buffer.len() + self.tail.len()) as u64
    }

    fn broken(&self) -> NotAList {
        NotAList::Broken(self.gone + self.cursor as u64)
    }

    /// Moves the cursor to the first byte that is not a space, and returns it.
    fn peek(&mut self) -> Option<u8> {
        let space = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
        self.cursor += self.buffer.as_bytes()[self.cursor..].iter().take_while(|b| space(b)).count();
        self.buffer.as_bytes().get(self.cursor).copied()
    }

    /// One step; false if more bytes are needed.
    fn step(&mut self, sink: &mut impl ElementSink) -> Result<bool, NotAList> {
        let Some(byte) = self.peek() else { return Ok(false) };
        match self.at {
            Cursor::Start => match byte {
                b'{' => self.advance(Cursor::Key),
                b'<' => Err(NotAList::Html),
                b'[' => Err(NotAList::NoItems),
                _ => Err(NotAList::NoJson("text or binary data")),
            },
            Cursor::Key => match byte {
                b',' => self.advance(Cursor::Key),
                b'}' => self.advance(Cursor::End),
                b'"' => self.key(),
                _ => Err(self.broken()),
            },
            Cursor::Value(ListField::Items) if byte == b'[' && self.reading.is_none() => {
                self.seen_items = true;
                self.advance(Cursor::Item)
            }
            Cursor::Value(field) => {
                let Some(range) = self.value(byte)? else { return Ok(false) };
                match field {
                    ListField::Metadata => {
                        let head =
                            serde_json::from_str::<Option<Head>>(&self.buffer[range]).map_err(|_| self.broken())?;
                        let mut head = head.unwrap_or_default();
                        head.next = head.next.filter(|token| !token.is_empty());
                        sink.head(head);
                    }
                    // Some servers send an empty list as `"items": null`.
                    ListField::Items if &self.buffer[range] == "null" => self.seen_items = true,
                    ListField::Items => return Err(NotAList::NoItems),
                    ListField::Other => {}
                }
                self.at = Cursor::Key;
                Ok(true)
            }
            Cursor::Item => match byte {
                b',' => self.advance(Cursor::Item),
                b']' => self.advance(Cursor::Key),
                b'{' if self.reading.is_none() => {
                    let rest = &self.buffer[self.cursor..];
                    if rest.len() < self.likely {
                        return Ok(false);
                    }
                    match sink.begun(rest) {
                        Some(length) => {
                            self.likely = length.min(LIKELY);
                            self.cursor += length;
                            Ok(true)
                        }
                        None => self.item(byte, sink),
                    }
                }
                _ => self.item(byte, sink),
            },
            Cursor::End => Err(self.broken()),
        }
    }

    /// Searches for the end of an item, and passes it on.
    fn item(&mut self, first: u8, sink: &mut impl ElementSink) -> Result<bool, NotAList> {
        let Some(range) = self.value(first)? else { return Ok(false) };
        self.likely = range.len().min(LIKELY);
        sink.item(self.buffer[range].as_bytes());
        Ok(true)
    }

    fn advance(&mut self, to: Cursor) -> Result<bool, NotAList> {
        self.cursor += 1;
        self.at = to;
        Ok(true)
    }

    /// Reads `"key":` at the cursor.
    fn key(&mut self) -> Result<bool, NotAList> {
        let rest = &self.buffer.as_bytes()[self.cursor + 1..];
        let Some(end) = memchr::memchr(b'"', rest) else { return Ok(false) };
        let field = match &rest[..end] {
            b"metadata" => ListField::Metadata,
            b"items" => ListField::Items,
            _ => ListField::Other,
        };
        let colon = rest[end + 1..].iter().position(|b| !b.is_ascii_whitespace());
        match colon.map(|at| (at, rest[end + 1 + at])) {
            None => Ok(false),
            Some((at, b':')) => {
                self.cursor += 1 + end + 1 + at + 1;
                self.at = Cursor::Value(field);
                Ok(true)
            }
            Some(_) => Err(self.broken()),
        }
    }

    /// Reads the value at the cursor and moves past it; `None` if it is incomplete.
    fn value(&mut self, first: u8) -> Result<Option<Range<usize>>, NotAList> {
        let start = self.cursor;
        let mut reading = match (self.reading.take(), first) {
            (Some(reading), _) => reading,
            (None, b'{' | b'[') => ValueProgress { at: start + 1, depth: 1, in_text: false },
            (None, b'"') => ValueProgress { at: start + 1, depth: 0, in_text: true },
            (None, b'}' | b']' | b':' | b',') => return Err(self.broken()),
            (None, _) => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                return Ok(self.buffer.as_bytes()[start..].iter().position(ends).map(|length| {
                    self.cursor = start + length;
                    start..self.cursor
                }));
            }
        };
        if reading.read(self.buffer.as_bytes()) {
            self.cursor = reading.at;
            Ok(Some(start..self.cursor))
        } else {
            self.reading = Some(reading);
            Ok(None)
        }
    }
}

impl ValueProgress {
    /// Continues; true at the end of the value.
    fn read(&mut self, buffer: &[u8]) -> bool {
        while self.at < buffer.len() {
            if self.in_text {
                match memchr::memchr2(b'"', b'\\', &buffer[self.at..]) {
                    None => self.at = buffer.len(),
                    Some(skipped) if buffer[self.at + skipped] == b'\\' => self.at += skipped + 2,
                    Some(skipped) => {
                        self.at += skipped + 1;
                        self.in_text = false;
                        if self.depth == 0 {
                            return true;
                        }
                    }
                }
                continue;
            }
            let byte = buffer[self.at];
            self.at += 1;
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
