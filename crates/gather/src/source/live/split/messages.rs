//! Lists in protobuf, as API servers write them: four magic bytes, an envelope (`runtime.Unknown`) with the type, the
//! list in it, and its length-prefixed items.

use super::{ElementSink, Head, LARGEST_VALUE, NotAList};
use crate::protobuf::{Header, InvalidMessage, MAGIC, header, text_in};

/// Position in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Start,
    /// Before a field of the envelope.
    Envelope,
    /// Before a field of the list, with the number of remaining bytes.
    List(usize),
}

/// The splitter. Feed it with [`Messages::push`], end with [`Messages::finish`].
pub(in super::super) struct Messages {
    /// The kind of the items.
    kind: &'static str,
    /// Unprocessed data.
    buffer: Vec<u8>,
    /// Everything before this offset has been processed.
    cursor: usize,
    /// Bytes that have left the buffer, for positions in messages.
    gone: u64,
    at: Cursor,
    /// Whether the envelope has named this type.
    named: bool,
    seen_list: bool,
}

impl Messages {
    pub(super) fn new(kind: &'static str) -> Messages {
        let (buffer, cursor, gone) = (Vec::new(), 0, 0);
        Messages { kind, buffer, cursor, gone, at: Cursor::Start, named: false, seen_list: false }
    }

    /// See [`super::Splitter::push`].
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl ElementSink) -> Result<(), NotAList> {
        self.buffer.extend_from_slice(bytes);
        while self.step(sink)? {}
        self.gone += self.cursor as u64;
        self.buffer.drain(..self.cursor);
        self.cursor = 0;
        Ok(())
    }

    /// See [`super::Splitter::finish`].
    pub(super) fn finish(self) -> Result<(), NotAList> {
        match self.at {
            Cursor::Envelope if !self.buffer.is_empty() => Err(NotAList::Truncated(self.end())),
            Cursor::Envelope if self.seen_list => Ok(()),
            Cursor::Envelope if !self.named && self.end() > MAGIC.len() as u64 => Err(NotAList::OtherList(self.kind)),
            Cursor::Start | Cursor::Envelope | Cursor::List(_) => Err(NotAList::Truncated(self.end())),
        }
    }

    fn end(&self) -> u64 {
        self.gone + self.buffer.len() as u64
    }

    fn broken(&self) -> NotAList {
        NotAList::BrokenMessage(self.gone + self.cursor as u64)
    }

    /// One step; false if more bytes are needed.
    fn step(&mut self, sink: &mut impl ElementSink) -> Result<bool, NotAList> {
        match self.at {
            Cursor::Start => self.start(),
            Cursor::Envelope => self.envelope(),
            Cursor::List(0) => {
                self.at = Cursor::Envelope;
                Ok(true)
            }
            Cursor::List(left) => self.list(left, sink),
        }
    }

    fn start(&mut self) -> Result<bool, NotAList> {
        match self.buffer.get(..MAGIC.len()) {
            Some(MAGIC) => {
                self.cursor = MAGIC.len();
                self.at = Cursor::Envelope;
                Ok(true)
            }
            Some(_) => Err(self.broken()),
            None => Ok(false),
        }
    }

    fn envelope(&mut self) -> Result<bool, NotAList> {
        let Some(header) = self.header()? else { return Ok(false) };
        if header.number == 2 && header.value.is_none() {
            if !self.named {
                return Err(NotAList::OtherList(self.kind));
            }
            self.seen_list = true;
            self.cursor += header.before;
            self.at = Cursor::List(header.length);
            return Ok(true);
        }
        let Some(value) = self.value(header)? else { return Ok(false) };
        let value = &self.buffer[value];
        if header.number == 1 {
            self.named = text_in(value, 2).is_some_and(|kind| kind.strip_suffix("List") == Some(self.kind));
        }
        self.cursor += header.before + header.length;
        Ok(true)
    }

    fn list(&mut self, left: usize, sink: &mut impl ElementSink) -> Result<bool, NotAList> {
        let header = match self.header()? {
            Some(header) => header,
            // Its header would extend past the list.
            None if self.buffer.len() - self.cursor >= left => return Err(self.broken()),
            None => return Ok(false),
        };
        let length = header.before.saturating_add(header.length);
        let Some(left) = left.checked_sub(length) else { return Err(self.broken()) };
        let Some(value) = self.value(header)? else { return Ok(false) };
        let value = &self.buffer[value];
        match (header.number, header.value) {
            (1, None) => {
                let next = text_in(value, 3).filter(|token| !token.is_empty()).map(str::to_owned);
                sink.head(Head { next, remaining: number_in(value, 4) });
            }
            (2, None) if !sink.message(value) => return Err(NotAList::OtherList(self.kind)),
            _ => {}
        }
        self.cursor += length;
        self.at = Cursor::List(left);
        Ok(true)
    }

    /// The header of the field at the cursor; `None` if it is incomplete.
    fn header(&self) -> Result<Option<Header>, NotAList> {
        match header(&self.buffer[self.cursor..]) {
            Ok(header) => Ok(Some(header)),
            Err(InvalidMessage::Short) => Ok(None),
            Err(InvalidMessage::Wrong) => Err(self.broken()),
        }
    }

    /// Range of the value of the field at the cursor; `None` if it is incomplete.
    fn value(&self, header: Header) -> Result<Option<std::ops::Range<usize>>, NotAList> {
        if header.length > LARGEST_VALUE {
            return Err(NotAList::TooLarge);
        }
        let begin = self.cursor + header.before;
        let end = begin + header.length;
        Ok((end <= self.buffer.len()).then_some(begin..end))
    }
}

/// A number in a message, by its field number.
fn number_in(mut message: &[u8], number: u64) -> Option<i64> {
    while !message.is_empty() {
        let header = header(message).ok()?;
        if header.number == number {
            return i64::try_from(header.value?).ok();
        }
        message = message.get(header.before.checked_add(header.length)?..)?;
    }
    None
}

#[cfg(test)]
mod tests;
