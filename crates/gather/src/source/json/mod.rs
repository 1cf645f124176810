//! Finds objects in JSON of any size, with only one in memory: items of Kubernetes Lists, standalone objects, and
//! several documents in sequence. It only tracks brackets, strings and the keys of a List; serde validates objects.
//! Logs between the lists of `kubectl cluster-info dump` are skipped.
//!
//! Responses of an API server are split in `source/live/split`: they are one list, and arrive in pieces.

use std::io::{self, Read};

use serde::Deserialize;

mod sections;

/// Maximum size of an object, in bytes. etcd rejects objects over 1.5 MiB.
pub const MAX_OBJECT: usize = 16 << 20;

/// The head of a document or of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Head {
    /// `v1`.
    pub api_version: Option<String>,
    /// `List`, `PodList`.
    pub kind: Option<String>,
    /// The field that shows whether the list continues.
    metadata: Option<HeadMeta>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HeadMeta {
    r#continue: Option<String>,
}

impl Head {
    /// Whether the list is one page of several: it has a continue token.
    pub fn goes_on(&self) -> bool {
        self.metadata.as_ref().and_then(|meta| meta.r#continue.as_deref()).is_some_and(|token| !token.is_empty())
    }

    /// Of a list of one kind.
    pub fn new(api_version: Option<&str>, kind: &str) -> Head {
        Head { api_version: api_version.map(str::to_owned), kind: Some(kind.to_owned()), metadata: None }
    }

    fn or(self, other: Head) -> Head {
        Head {
            api_version: self.api_version.or(other.api_version),
            kind: self.kind.or(other.kind),
            metadata: self.metadata.or(other.metadata),
        }
    }
}

/// Receives the results in order. Offsets are bytes from the start of the input.
pub trait JsonSink {
    /// An element of a list; the head of the list follows with [`JsonSink::list`] after the last element.
    fn item(&mut self, offset: u64, json: &[u8]);
    /// The end of a list; an array without a List has an empty head.
    fn list(&mut self, head: Head);
    /// An object that is not a list.
    fn object(&mut self, offset: u64, json: &[u8]);
    /// An object larger than [`MAX_OBJECT`] was skipped.
    fn too_large(&mut self, offset: u64);
}

/// Position and reason of an error. Earlier results were already passed to [`JsonSink`].
#[derive(Debug)]
pub struct Broken {
    /// Byte offset of the error.
    pub offset: u64,
    /// The error.
    pub why: Wrong,
    /// The head of the current list, as far as it was read.
    pub within: Option<Head>,
}

/// A syntax error.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// The text ends too early.
    #[error("it ends in the middle of {0}")]
    Ends(&'static str),
    /// Another character instead of a value or comma.
    #[error("expected {wanted}, found {found:?}")]
    Unexpected {
        /// The expected token.
        wanted: &'static str,
        /// The actual token.
        found: char,
    },
    /// A list has two keys "items".
    #[error("a list has \"items\" twice")]
    Twice,
    /// The head of a list is larger than [`MAX_OBJECT`].
    #[error("a part outside of list items is larger than {} MiB", MAX_OBJECT >> 20)]
    TooLarge,
    /// The start or end of a list is not valid JSON.
    #[error("{0}")]
    Json(serde_json::Error),
    /// It could not be read or unpacked.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Reads everything in `input`.
///
/// # Errors
/// No more can be read; earlier results were already passed to `found`.
pub fn scan(input: impl Read, found: &mut dyn JsonSink) -> Result<(), Broken> {
    let mut scanner = Scanner {
        input,
        chunk: vec![0; 1 << 16],
        start: 0,
        end: 0,
        passed: 0,
        kept: Vec::new(),
        keeping: false,
        within: None,
    };
    scanner.documents(found).map_err(|why| Broken { offset: scanner.passed, why, within: scanner.within.take() })
}

struct Scanner<R> {
    input: R,
    chunk: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `chunk[start]`.
    passed: u64,
    /// Bytes consumed while `keeping`.
    kept: Vec<u8>,
    keeping: bool,
    within: Option<Head>,
}

impl<R: Read> Scanner<R> {
    /// The rest of the chunk; empty only at the end of the input.
    fn fill(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end {
            match self.input.read(&mut self.chunk) {
                Ok(0) => return Ok(&[]),
                Ok(count) => (self.start, self.end) = (0, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.chunk[self.start..self.end])
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }

    fn consume(&mut self, count: usize) {
        if self.keeping {
            // One byte over the limit shows that it was exceeded.
            let room = (MAX_OBJECT + 1).saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&self.chunk[self.start..self.start + count.min(room)]);
        }
        self.start += count;
        self.passed += count as u64;
    }

    fn keep(&mut self, beginning: &[u8]) {
        self.kept.clear();
        self.kept.extend_from_slice(beginning);
        self.keeping = true;
    }

    fn space(&mut self) -> io::Result<()> {
        loop {
            let chunk = self.fill()?;
            let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let all = blank == chunk.len() && blank > 0;
            self.consume(blank);
            if !all {
                return Ok(());
            }
        }
    }

    fn documents(&mut self, found: &mut dyn JsonSink) -> Result<(), Wrong> {
        loop {
            self.space()?;
            match self.peek()? {
                None => return Ok(()),
                Some(b'{') => self.document(found)?,
                Some(b'[') => {
                    self.within = Some(Head::default());
                    self.array(found)?;
                    self.within = None;
                    found.list(Head::default());
                }
                // A byte order mark, also between joined files; `---` between documents.
                Some(0xEF) => self.literal(b"\xEF\xBB\xBF")?,
                Some(b'-') => self.literal(b"---")?,
                Some(b'=') => self.logs()?,
                Some(other) => return Err(unexpected("a JSON object", other)),
            }
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Wrong> {
        for wanted in word {
            match self.peek()? {
                Some(byte) if byte == *wanted => self.consume(1),
                Some(other) => return Err(unexpected("a JSON object", other)),
                None => return Err(Wrong::Ends("a document")),
            }
        }
        Ok(())
    }

    /// One top-level object: a list, whose elements are passed one by one, or another object, which is passed as a
    /// whole.
    fn document(&mut self, found: &mut dyn JsonSink) -> Result<(), Wrong> {
        let begin = self.passed;
        self.keep(b"");
        self.consume(1);
        let mut list: Option<Head> = None;
        loop {
            self.space()?;
            match self.peek()? {
                Some(b'}') => {
                    self.consume(1);
                    break;
                }
                Some(b',') => self.consume(1),
                Some(b'"') => {
                    let key = self.key()?;
                    self.space()?;
                    match self.peek()? {
                        Some(b':') => self.consume(1),
                        Some(other) => return Err(unexpected("a colon", other)),
                        None => return Err(Wrong::Ends("an object")),
                    }
                    self.space()?;
                    if key == b"\"items\"" && list.is_some() {
                        // Readers disagree on which of the two applies.
                        return Err(Wrong::Twice);
                    }
                    if key == b"\"items\"" && self.peek()? == Some(b'[') {
                        let before = self.head(b"null}")?;
                        self.within = Some(before.clone());
                        list = Some(before);
                        self.array(found)?;
                        self.keep(b"{\"items\":null");
                    } else {
                        self.value("an object")?;
                    }
                }
                Some(other) => return Err(unexpected("a key", other)),
                None => return Err(Wrong::Ends("an object")),
            }
        }
        self.keeping = false;
        match list {
            Some(before) => {
                let after = self.head(b"")?;
                self.within = None;
                found.list(before.or(after));
            }
            None if self.kept.len() > MAX_OBJECT => found.too_large(begin),
            None => found.object(begin, &self.kept),
        }
        Ok(())
    }

    /// The kept head of a list, closed with `ending`.
    fn head(&mut self, ending: &[u8]) -> Result<Head, Wrong> {
        self.keeping = false;
        if self.kept.len() > MAX_OBJECT {
            return Err(Wrong::TooLarge);
        }
        self.kept.extend_from_slice(ending);
        serde_json::from_slice(&self.kept).map_err(Wrong::Json)
    }

    fn array(&mut self, found: &mut dyn JsonSink) -> Result<(), Wrong> {
        self.keeping = false;
        self.consume(1);
        loop {
            self.space()?;
            match self.peek()? {
                Some(b']') => {
                    self.consume(1);
                    return Ok(());
                }
                Some(b',') => self.consume(1),
                Some(_) => {
                    let begin = self.passed;
                    self.keep(b"");
                    self.value("an item of a list")?;
                    self.keeping = false;
                    if self.kept.len() > MAX_OBJECT {
                        found.too_large(begin);
                    } else {
                        found.item(begin, &self.kept);
                    }
                }
                None => return Err(Wrong::Ends("a list")),
            }
        }
    }

    /// A key with its quotes; only the start of a long one.
    fn key(&mut self) -> Result<Vec<u8>, Wrong> {
        const LONG: usize = 64;
        let mut key = Vec::new();
        let mut escaped = false;
        loop {
            let Some(byte) = self.peek()? else { return Err(Wrong::Ends("a key")) };
            self.consume(1);
            if key.len() < LONG {
                key.push(byte);
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' if key.len() > 1 => return Ok(key),
                _ => {}
            }
        }
    }

    /// Skips one value with balanced brackets.
    fn value(&mut self, within: &'static str) -> Result<(), Wrong> {
        let mut depth = 0_usize;
        let mut quoted = false;
        let mut escaped = false;
        let mut began = false;
        loop {
            let chunk = self.fill()?;
            if chunk.is_empty() {
                // A number may end with the text.
                return if began && depth == 0 && !quoted { Ok(()) } else { Err(Wrong::Ends(within)) };
            }
            let mut done = None;
            let mut next = 0;
            while let Some(byte) = chunk.get(next) {
                let at = next;
                next += 1;
                if quoted {
                    if std::mem::take(&mut escaped) {
                        continue;
                    }
                    // Most of a document is inside strings.
                    let Some(passed) = memchr::memchr2(b'"', b'\\', &chunk[at..]) else { break };
                    next = at + passed + 1;
                    if chunk[at + passed] == b'\\' {
                        escaped = true;
                    } else {
                        quoted = false;
                        if depth == 0 {
                            done = Some(next);
                            break;
                        }
                    }
                    continue;
                }
                match byte {
                    b'"' if depth == 0 && began => {
                        done = Some(at);
                        break;
                    }
                    b'"' => quoted = true,
                    b'{' | b'[' if depth == 0 && began => {
                        done = Some(at);
                        break;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth > 0 => {
                        depth -= 1;
                        if depth == 0 {
                            done = Some(at + 1);
                            break;
                        }
                    }
                    b'}' | b']' | b',' | b':' if depth == 0 => {
                        done = Some(at);
                        break;
                    }
                    _ if depth == 0 && byte.is_ascii_whitespace() => {
                        done = Some(at);
                        break;
                    }
                    _ => {}
                }
                began = true;
            }
            let first = chunk[0];
            let count = done.unwrap_or(chunk.len());
            if count == 0 && !began {
                return Err(unexpected("a value", first));
            }
            self.consume(count);
            if done.is_some() {
                return Ok(());
            }
        }
    }
}

fn unexpected(wanted: &'static str, byte: u8) -> Wrong {
    Wrong::Unexpected { wanted, found: char::from(byte) }
}

#[cfg(test)]
mod tests;
