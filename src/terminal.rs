//! What a terminal must never be given: characters that could drive it, hide text or reorder it.

/// Whether a character could drive a terminal, hide text or reorder it. Line breaks and tabs are among them: what was one
/// value stays one line.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
