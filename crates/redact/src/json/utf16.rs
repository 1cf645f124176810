//! UTF-16, as written by Windows editors: decoded as text, and encoded again.

/// Text in two-byte units.
#[derive(Clone, Copy)]
pub(super) struct Utf16Reader {
    big_endian: bool,
}

impl Utf16Reader {
    pub(super) fn new(input: &[u8]) -> Option<Utf16Reader> {
        match input {
            [0xFF, 0xFE, ..] => return Some(Utf16Reader { big_endian: false }),
            [0xFE, 0xFF, ..] => return Some(Utf16Reader { big_endian: true }),
            _ => {}
        }
        // Without a byte-order mark: every other byte of an ASCII text is zero.
        let sample = &input[..input.len().min(4096)];
        let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        let many = sample.len() / 4;
        if many == 0 || even.max(odd) <= many {
            return None;
        }
        Some(Utf16Reader { big_endian: even > odd })
    }

    pub(super) fn decode(self, input: &[u8]) -> String {
        let units = input.chunks(2).map(|pair| match (pair, self.big_endian) {
            ([high, low], true) => u16::from_be_bytes([*high, *low]),
            ([low, high], false) => u16::from_le_bytes([*low, *high]),
            // An odd last byte is not a character.
            _ => 0xFFFD,
        });
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    pub(super) fn encode(self, text: &str) -> Vec<u8> {
        text.encode_utf16()
            .flat_map(|unit| if self.big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    }
}
