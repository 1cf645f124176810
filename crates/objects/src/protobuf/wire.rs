//! The wire format: varints, and fields with a number and a type. Zero-copy. See
//! <https://protobuf.dev/programming-guides/encoding/>.

/// Truncated or invalid input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidMessage {
    /// More bytes are needed.
    Short,
    /// Invalid protobuf.
    Wrong,
}

/// Maximum length of a varint: 64 bits in groups of seven.
const LONGEST: usize = 10;

/// The varint at the start of `bytes`, and its length.
fn varint(bytes: &[u8]) -> Result<(u64, usize), InvalidMessage> {
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().take(LONGEST).enumerate() {
        let piece = u64::from(byte & 0x7f);
        if place == LONGEST - 1 && piece > 1 {
            return Err(InvalidMessage::Wrong);
        }
        value |= piece << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((value, place + 1));
        }
    }
    Err(if bytes.len() < LONGEST { InvalidMessage::Short } else { InvalidMessage::Wrong })
}

/// The start of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The field's number.
    pub number: u64,
    /// The value, if it is a number.
    pub value: Option<u64>,
    /// Bytes before the value, or including it for a number.
    pub before: usize,
    /// Length of the value after them.
    pub length: usize,
}

/// Reads the start of the field at the start of `bytes`.
pub fn header(bytes: &[u8]) -> Result<Header, InvalidMessage> {
    let (tag, taken) = varint(bytes)?;
    let plain = |length| Ok(Header { number: tag >> 3, value: None, before: taken, length });
    match tag & 7 {
        _ if tag >> 3 == 0 => Err(InvalidMessage::Wrong),
        0 => {
            let (value, more) = varint(&bytes[taken..])?;
            Ok(Header { number: tag >> 3, value: Some(value), before: taken + more, length: 0 })
        }
        1 => plain(8),
        2 => {
            let (length, more) = varint(&bytes[taken..])?;
            let length = usize::try_from(length).map_err(|_| InvalidMessage::Wrong)?;
            Ok(Header { number: tag >> 3, value: None, before: taken + more, length })
        }
        5 => plain(4),
        _ => Err(InvalidMessage::Wrong),
    }
}

/// One field of a complete message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireField<'de> {
    pub(super) number: u64,
    pub(super) value: WireValue<'de>,
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'de> {
    Number(u64),
    /// A text, a message, or a number of fixed length.
    Bytes(&'de [u8]),
}

/// The fields of a complete message, in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'de> {
    rest: &'de [u8],
}

impl<'de> Fields<'de> {
    pub(super) fn new(message: &'de [u8]) -> Fields<'de> {
        Fields { rest: message }
    }

    /// The next field; `None` at the end. A message that ends within a field is invalid.
    pub(super) fn next(&mut self) -> Result<Option<WireField<'de>>, InvalidMessage> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let header = header(self.rest)?;
        let end = header.before.checked_add(header.length).ok_or(InvalidMessage::Wrong)?;
        let value = self.rest.get(header.before..end).ok_or(InvalidMessage::Short)?;
        self.rest = &self.rest[end..];
        let value = header.value.map_or(WireValue::Bytes(value), WireValue::Number);
        Ok(Some(WireField { number: header.number, value }))
    }

    /// The next field, if it has the same number.
    pub(super) fn next_of(&mut self, number: u64) -> Result<Option<WireValue<'de>>, InvalidMessage> {
        let mut ahead = *self;
        match ahead.next()? {
            Some(field) if field.number == number => {
                *self = ahead;
                Ok(Some(field.value))
            }
            _ => Ok(None),
        }
    }
}
