//! Cuts the body of a list into its items as the bytes come, so that no page is ever held as one text and one broken
//! object spoils only itself. It knows where JSON values begin and end, not what they mean: each item is handed on as
//! text, for whoever decodes it to accept or refuse.

use std::ops::Range;

use serde::Deserialize;

/// Items are handed on in blocks of about this many bytes.
const BLOCK: usize = 256 * 1024;
/// No Kubernetes object comes near this; what is larger is no list of objects.
const LARGEST_VALUE: usize = 64 * 1024 * 1024;

/// Whole items, one behind the other in one buffer.
#[derive(Debug)]
pub(super) struct Block {
    bytes: Vec<u8>,
    items: Vec<Range<usize>>,
}

impl Block {
    /// The items' texts, in order.
    pub(super) fn items(&self) -> impl Iterator<Item = &[u8]> {
        self.items.iter().map(|range| &self.bytes[range.clone()])
    }
}

/// What a list says of itself.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Head {
    /// The token that gets the next page; `None` on the last one.
    #[serde(rename = "continue")]
    pub(super) next: Option<String>,
}

/// A part of a list, in the order in which the server wrote it.
#[derive(Debug)]
pub(super) enum Part {
    /// The list's own metadata.
    Head(Head),
    /// Some of its items.
    Items(Block),
}

/// Why a body is no list. Never quotes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAList {
    #[error("the answer is no JSON (it begins like {0})")]
    NoJson(&'static str),
    #[error("the answer is broken JSON, at byte {0}")]
    Broken(u64),
    #[error("the answer ends in the middle, at byte {0}")]
    Truncated(u64),
    #[error("the answer is JSON, but no Kubernetes list")]
    NoItems,
    #[error("one value in the answer is larger than {} MB", LARGEST_VALUE / (1024 * 1024))]
    TooLarge,
}

/// Where in the list's text the splitter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before the opening brace.
    Start,
    /// Before a key of the list, or its closing brace.
    Key,
    /// Before the value of a key.
    Value(Field),
    /// Inside `items`, before an item or the closing bracket.
    Item,
    /// After the closing brace.
    End,
}

/// The keys of a list that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Metadata,
    Items,
    Other,
}

/// How far the value at the cursor has been read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// The next byte to look at; may lie past the buffer behind a backslash.
    at: usize,
    depth: usize,
    in_text: bool,
}

/// The cutter. Feed it with [`Splitter::push`], end with [`Splitter::finish`].
pub(super) struct Splitter {
    buffer: Vec<u8>,
    /// Everything in the buffer before this is dealt with.
    cursor: usize,
    /// Bytes that have left the buffer, for places in messages.
    gone: u64,
    at: At,
    reading: Option<Reading>,
    items: Vec<Range<usize>>,
    seen_items: bool,
}

impl Splitter {
    pub(super) fn new() -> Splitter {
        Splitter {
            buffer: Vec::with_capacity(BLOCK + BLOCK / 4),
            cursor: 0,
            gone: 0,
            at: At::Start,
            reading: None,
            items: Vec::new(),
            seen_items: false,
        }
    }

    /// Takes more of the body; hands on what became whole.
    pub(super) fn push(&mut self, bytes: &[u8], hand_on: &mut impl FnMut(Part)) -> Result<(), NotAList> {
        self.buffer.extend_from_slice(bytes);
        while self.step(hand_on)? {
            if self.items.last().is_some_and(|last| last.end >= BLOCK) {
                self.flush(hand_on);
            }
        }
        if self.buffer.len() - self.cursor > LARGEST_VALUE {
            return Err(NotAList::TooLarge);
        }
        Ok(())
    }

    /// The body is over.
    pub(super) fn finish(mut self, hand_on: &mut impl FnMut(Part)) -> Result<(), NotAList> {
        self.flush(hand_on);
        match self.at {
            At::End if self.seen_items => Ok(()),
            At::End => Err(NotAList::NoItems),
            At::Start | At::Key | At::Value(_) | At::Item => Err(NotAList::Truncated(self.place())),
        }
    }

    fn place(&self) -> u64 {
        self.gone + self.buffer.len() as u64
    }

    fn broken(&self) -> NotAList {
        NotAList::Broken(self.gone + self.cursor as u64)
    }

    fn flush(&mut self, hand_on: &mut impl FnMut(Part)) {
        if self.items.is_empty() {
            return;
        }
        let mut rest = Vec::with_capacity(BLOCK + BLOCK / 4);
        rest.extend_from_slice(&self.buffer[self.cursor..]);
        self.gone += self.cursor as u64;
        if let Some(reading) = &mut self.reading {
            reading.at -= self.cursor;
        }
        self.cursor = 0;
        let bytes = std::mem::replace(&mut self.buffer, rest);
        hand_on(Part::Items(Block { bytes, items: std::mem::take(&mut self.items) }));
    }

    /// The first byte at or after the cursor that is no space, with the cursor moved to it.
    fn peek(&mut self) -> Option<u8> {
        let space = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
        self.cursor += self.buffer[self.cursor..].iter().take_while(|b| space(b)).count();
        self.buffer.get(self.cursor).copied()
    }

    /// One step; false when more bytes are needed first.
    fn step(&mut self, hand_on: &mut impl FnMut(Part)) -> Result<bool, NotAList> {
        let Some(byte) = self.peek() else { return Ok(false) };
        match self.at {
            At::Start => match byte {
                b'{' => self.advance(At::Key),
                b'<' => Err(NotAList::NoJson("HTML")),
                b'[' => Err(NotAList::NoItems),
                _ => Err(NotAList::NoJson("text or binary data")),
            },
            At::Key => match byte {
                b',' => self.advance(At::Key),
                b'}' => self.advance(At::End),
                b'"' => self.key(),
                _ => Err(self.broken()),
            },
            At::Value(Field::Items) if byte == b'[' && self.reading.is_none() => {
                self.seen_items = true;
                self.advance(At::Item)
            }
            At::Value(field) => {
                let Some(range) = self.value(byte)? else { return Ok(false) };
                match field {
                    Field::Metadata => {
                        let head = serde_json::from_slice::<Option<Head>>(&self.buffer[range])
                            .map_err(|_| self.broken())?;
                        let mut head = head.unwrap_or_default();
                        head.next = head.next.filter(|token| !token.is_empty());
                        hand_on(Part::Head(head));
                    }
                    // An empty list from some servers: `"items": null`.
                    Field::Items if &self.buffer[range] == b"null" => self.seen_items = true,
                    Field::Items => return Err(NotAList::NoItems),
                    Field::Other => {}
                }
                self.at = At::Key;
                Ok(true)
            }
            At::Item => match byte {
                b',' => self.advance(At::Item),
                b']' => self.advance(At::Key),
                _ => match self.value(byte)? {
                    Some(range) => {
                        self.items.push(range);
                        Ok(true)
                    }
                    None => Ok(false),
                },
            },
            At::End => Err(self.broken()),
        }
    }

    fn advance(&mut self, to: At) -> Result<bool, NotAList> {
        self.cursor += 1;
        self.at = to;
        Ok(true)
    }

    /// Reads `"key":` at the cursor.
    fn key(&mut self) -> Result<bool, NotAList> {
        let rest = &self.buffer[self.cursor + 1..];
        let Some(end) = memchr::memchr(b'"', rest) else { return Ok(false) };
        let field = match &rest[..end] {
            b"metadata" => Field::Metadata,
            b"items" => Field::Items,
            _ => Field::Other,
        };
        let colon = rest[end + 1..].iter().position(|b| !b.is_ascii_whitespace());
        match colon.map(|at| (at, rest[end + 1 + at])) {
            None => Ok(false),
            Some((at, b':')) => {
                self.cursor += 1 + end + 1 + at + 1;
                self.at = At::Value(field);
                Ok(true)
            }
            Some(_) => Err(self.broken()),
        }
    }

    /// Reads the value at the cursor and moves behind it; `None` when its end has not come yet.
    fn value(&mut self, first: u8) -> Result<Option<Range<usize>>, NotAList> {
        let start = self.cursor;
        let mut reading = match (self.reading.take(), first) {
            (Some(reading), _) => reading,
            (None, b'{' | b'[') => Reading { at: start + 1, depth: 1, in_text: false },
            (None, b'"') => Reading { at: start + 1, depth: 0, in_text: true },
            (None, b'}' | b']' | b':' | b',') => return Err(self.broken()),
            (None, _) => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                return Ok(self.buffer[start..].iter().position(ends).map(|length| {
                    self.cursor = start + length;
                    start..self.cursor
                }));
            }
        };
        if reading.read(&self.buffer) {
            self.cursor = reading.at;
            Ok(Some(start..self.cursor))
        } else {
            self.reading = Some(reading);
            Ok(None)
        }
    }
}

impl Reading {
    /// Reads on; true at the end of the value.
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The head and the items of a body that comes in pieces of `piece` bytes.
    fn split(body: &[u8], piece: usize) -> Result<(Option<Head>, Vec<Vec<u8>>), NotAList> {
        let (mut head, mut items) = (None, Vec::new());
        let mut hand_on = |part: Part| match part {
            Part::Head(h) => head = Some(h),
            Part::Items(block) => items.extend(block.items().map(<[u8]>::to_vec)),
        };
        let mut splitter = Splitter::new();
        for bytes in body.chunks(piece) {
            splitter.push(bytes, &mut hand_on)?;
        }
        splitter.finish(&mut hand_on)?;
        Ok((head, items))
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
            r#"[\\"{}\[\],:]*"#.prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(".*", inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_list_in_any_pieces_splits_into_its_items(
            items in prop::collection::vec(json(), 0..8),
            token in "[a-zA-Z0-9=]{0,8}",
            pretty in any::<bool>(),
            piece in 1_usize..64,
        ) {
            let list = serde_json::json!({
                "kind": "PodList", "apiVersion": "v1", "items": items,
                "metadata": { "continue": token, "resourceVersion": "12" },
            });
            let text = if pretty { serde_json::to_vec_pretty(&list) } else { serde_json::to_vec(&list) }.unwrap();
            let (head, found) = split(&text, piece).unwrap();
            let found: Vec<serde_json::Value> =
                found.iter().map(|item| serde_json::from_slice(item).unwrap()).collect();
            prop_assert_eq!(found, items);
            prop_assert_eq!(head.unwrap().next, Some(token).filter(|t| !t.is_empty()));
        }

        #[test]
        fn a_list_cut_anywhere_is_truncated_and_keeps_the_whole_items(cut in 0_usize..1000, piece in 1_usize..64) {
            let list = br#"{"kind":"PodList","metadata":{"continue":"x"},"items":[{"a":"}"},{"b":[1,2]},{"c":"\"]"}]}"#;
            let cut = cut % list.len();
            let mut whole = 0;
            let mut hand_on = |part: Part| if let Part::Items(block) = part { whole += block.items().count() };
            let mut splitter = Splitter::new();
            for bytes in list[..cut].chunks(piece) {
                splitter.push(bytes, &mut hand_on).unwrap();
            }
            prop_assert_eq!(splitter.finish(&mut hand_on), Err(NotAList::Truncated(cut as u64)));
            let ends = [r#"{"a":"}"}"#, r#"{"b":[1,2]}"#, r#"{"c":"\"]"}"#]
                .map(|item| list.windows(item.len()).position(|w| w == item.as_bytes()).unwrap() + item.len());
            prop_assert_eq!(whole, ends.iter().filter(|end| cut >= **end).count());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1_usize..16) {
            let _ = split(&bytes, piece);
        }
    }

    #[test]
    fn blocks_stay_small_however_long_the_list() {
        let item = format!(r#"{{"a":"{}"}}"#, "x".repeat(10_000));
        let list = format!(r#"{{"items":[{}],"metadata":{{}}}}"#, vec![item.as_str(); 200].join(","));
        let (mut largest, mut count) = (0, 0);
        let mut hand_on = |part: Part| {
            if let Part::Items(block) = part {
                largest = largest.max(block.bytes.len());
                count += block.items().count();
            }
        };
        let mut splitter = Splitter::new();
        list.as_bytes().chunks(8_192).for_each(|bytes| splitter.push(bytes, &mut hand_on).unwrap());
        splitter.finish(&mut hand_on).unwrap();
        assert_eq!(count, 200);
        assert!(largest < 2 * BLOCK, "{largest}");
    }

    #[test]
    fn what_is_no_list_is_told_apart() {
        let why = |body: &str| split(body.as_bytes(), 7).unwrap_err();
        assert_eq!(why("<!DOCTYPE html><html>"), NotAList::NoJson("HTML"));
        assert_eq!(why("404 page not found"), NotAList::NoJson("text or binary data"));
        assert_eq!(why("[1]"), NotAList::NoItems);
        assert_eq!(why("please log in"), NotAList::NoJson("text or binary data"));
        assert_eq!(why(r#"{"kind":"Status","status":"Failure"}"#), NotAList::NoItems);
        assert_eq!(why(r#"{"items":{"a":1}}"#), NotAList::NoItems);
        assert_eq!(why(r#"{"items":[]} {"#), NotAList::Broken(13));
        assert_eq!(why(""), NotAList::Truncated(0));
        assert_eq!(split(br#"{"items":null}"#, 3).unwrap().1.len(), 0);
    }
}
