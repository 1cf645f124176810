//! Encodings of texts that people save: UTF-8, and UTF-16 as shells on Windows write it.

/// The text of bytes. A byte order mark names UTF-16; other bytes are UTF-8, without invalid ones.
pub fn decoded(bytes: &[u8]) -> String {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] | rest => String::from_utf8_lossy(rest).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn byte_order_mark_selects_the_encoding() {
        assert_eq!(decoded(b"\xFF\xFEa\0\n\0"), "a\n");
        assert_eq!(decoded(b"\xFE\xFF\0a\0\n"), "a\n");
        assert_eq!(decoded("\u{FEFF}a".as_bytes()), "a");
        assert_eq!(decoded("ä".as_bytes()), "ä");
    }
}
