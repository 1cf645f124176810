//! Lines of a text of any size, and the separators between documents.

use std::io::{self, BufRead};

use crate::source::json::MAX_OBJECT;

/// A separator line.
pub(super) enum Boundary {
    /// `...`
    Ends,
    /// `---`
    Begins,
}

pub(super) fn boundary(line: &[u8]) -> Option<Boundary> {
    let (boundary, rest) = match line {
        [b'-', b'-', b'-', rest @ ..] => (Boundary::Begins, rest),
        [b'.', b'.', b'.', rest @ ..] => (Boundary::Ends, rest),
        _ => return None,
    };
    rest.first().is_none_or(u8::is_ascii_whitespace).then_some(boundary)
}

/// The lines of a file.
pub(super) struct Lines<R> {
    input: R,
    /// Number of bytes read so far.
    pub(super) passed: u64,
    number: u64,
}

/// A line without its end. Only the start of an overlong line is kept.
#[derive(Default, Clone)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// From 1.
    pub(super) number: u64,
    /// Length with line end and truncated part.
    pub(super) len: u64,
    pub(super) too_long: bool,
}

impl Line {
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes
    }
}

impl<R: BufRead> Lines<R> {
    /// From the beginning.
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input, passed: 0, number: 0 }
    }

    /// Reads the next line in place of the last one; `false` at the end.
    pub(super) fn next(&mut self, line: &mut Line) -> io::Result<bool> {
        line.bytes.clear();
        line.len = 0;
        line.too_long = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() && line.len == 0 {
                return Ok(false);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let text = &chunk[..end.unwrap_or(chunk.len())];
            let room = MAX_OBJECT.saturating_sub(line.bytes.len());
            line.too_long |= text.len() > room;
            line.bytes.extend_from_slice(&text[..text.len().min(room)]);
            let count = text.len() + usize::from(end.is_some());
            let done = end.is_some() || chunk.is_empty();
            self.input.consume(count);
            line.len += count as u64;
            self.passed += count as u64;
            if done {
                break;
            }
        }
        self.number += 1;
        line.number = self.number;
        if line.bytes.last() == Some(&b'\r') {
            line.bytes.pop();
        }
        if self.number == 1 && line.bytes.starts_with(b"\xEF\xBB\xBF") {
            line.bytes.drain(..3);
        }
        Ok(true)
    }
}
